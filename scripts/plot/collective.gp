# Two panels from what collective.awk wrote into the folder `work`; `base` is the size of
# the font, `dot` that of the points.
# Colours are Okabe and Ito's, which most colour-blind people tell apart, from the ninth on dashed.
load work."/head.gp"
series = work."/series.dat"
bound = has_bound ? work."/bound.dat" : "/dev/null"
array colour[8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", \
                   "#8A6D3B"]
array shape[8] = [7, 5, 9, 13, 11, 6, 4, 8]
pick(i) = (i - 1) % 8 + 1
dash(i) = i > 8 ? 2 : 1

reach = "transparent solid 0.45 noborder" # the grid shows through
set logscale xy
set border 3 lc rgb "#444444"
set tics nomirror out scale 0.6
set grid xtics ytics back lt 1 lw 0.4 lc rgb "#d0d0d0"
set xlabel "bytes in the buffer"
set label 1 title_text at screen 0.055,0.95 left noenhanced font sprintf(",%d", 1.4 * base)
set label 2 detail_text at screen 0.055,0.90 left noenhanced textcolor rgb "#555555"

set multiplot
set tmargin at screen 0.79
set bmargin at screen 0.14

set lmargin at screen 0.07
set rmargin at screen 0.375
set label 3 "bus bandwidth, GB/s" at graph 0,1.045 left
set yrange [rate_low:rate_high]
set format y "%g"
set key off
plot bound using 1:2:(rate_high) with filledcurves fc rgb "#bbbbbb" fs @reach notitle, \
     bound using 1:2 with lines lw 1.2 lc rgb "#777777" notitle, \
     for [i = 1:algorithms] series index i - 1 using 1:2 with linespoints \
         lc rgb colour[pick(i)] pt shape[pick(i)] ps dot lw 1.3 dt dash(i) notitle

set label 1 ""
set label 2 ""
set lmargin at screen 0.455
set rmargin at screen 0.765
set label 3 "time"
set yrange [us_low:us_high]
set ytics (@us_tics)
set key at screen 0.78,0.80 left top Left reverse noenhanced samplen 1.6 \
    spacing (algorithms > 12 ? 1.1 : 1.4)
plot for [i = 1:algorithms] series index i - 1 using 1:3 with linespoints \
         lc rgb colour[pick(i)] pt shape[pick(i)] ps dot lw 1.3 dt dash(i) title name[i], \
     bound using 1:3:(us_low) with filledcurves fc rgb "#bbbbbb" fs @reach \
         title (has_bound ? "out of reach" : ""), \
     bound using 1:3 with lines lw 1.2 lc rgb "#777777" notitle
unset multiplot
