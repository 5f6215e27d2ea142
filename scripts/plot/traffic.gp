# Two panels from what traffic.awk wrote into the folder `work`; `base` is the size of the font,
# `dot` that of the points. Colours are Okabe and Ito's, which most colour-blind people tell apart.
load work."/head.gp"
series = work."/series.dat"
full = work."/full.dat"
array colour[8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", \
                   "#8A6D3B"]
array shape[8] = [7, 5, 9, 13, 11, 6, 4, 8]
pick(i) = (i - 1) % 8 + 1

set border 3 lc rgb "#444444"
set tics nomirror out scale 0.6
set grid xtics ytics back lt 1 lw 0.4 lc rgb "#d0d0d0"
set xrange [0:1]
set xlabel "offered load, share of the link rate"
set label 1 title_text at screen 0.055,0.95 left noenhanced font sprintf(",%d", 1.4 * base)
set label 2 "solid: mean, dashed: 99 % of packets; hollow: saturated" at screen 0.055,0.90 left \
    noenhanced textcolor rgb "#555555"

set multiplot
set tmargin at screen 0.79
set bmargin at screen 0.14

set lmargin at screen 0.07
set rmargin at screen 0.375
set label 3 "latency, us" at graph 0,1.045 left
set logscale y
set yrange [us_low:us_high]
set key off
plot for [i = 1:patterns] series index i - 1 using 1:3 with linespoints \
         lc rgb colour[pick(i)] pt shape[pick(i)] ps dot lw 1.3 notitle, \
     for [i = 1:patterns] series index i - 1 using 1:4 with lines \
         lc rgb colour[pick(i)] lw 1 dt 2 notitle

set label 1 ""
set label 2 ""
set lmargin at screen 0.455
set rmargin at screen 0.765
set label 3 "accepted load, share of the link rate"
unset logscale y
set ytics autofreq
set yrange [0:1]
set key at screen 0.78,0.80 left top Left reverse noenhanced samplen 1.6 spacing 1.4
plot x with lines lw 0.8 lc rgb "#bbbbbb" title "all of it", \
     for [i = 1:patterns] series index i - 1 using 1:2 with linespoints \
         lc rgb colour[pick(i)] pt shape[pick(i)] ps dot lw 1.3 title name[i], \
     for [i = 1:patterns] full index i - 1 using 1:2 with points \
         lc rgb colour[pick(i)] pt 6 ps dot lw 1.3 notitle
unset multiplot
