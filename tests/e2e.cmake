# End-to-end tests: the program as a user runs it. See tests/README.md.

# podsim_run_test(LABEL NAME): case NAME of tests/LABEL/run.
function(podsim_run_test label name)
    add_test(NAME ${label}/${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${label}/run $<TARGET_FILE:podsim> ${name}
             WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${label})
    set_tests_properties(${label}/${name} PROPERTIES LABELS ${label} TIMEOUT 60 SKIP_RETURN_CODE 77)
    if(PODSIM_SANITIZE)
        set_tests_properties(${label}/${name} PROPERTIES ENVIRONMENT PODSIM_NO_MEMORY_LIMIT=1)
    endif()
endfunction()

set(golden_cases algorithm-file all-leaves-out
    deadlock-free fat-tree-all faulty-ring slices-over-dcn topo-compare-faults topo-fabrics topo-faults
    collective-matrix collective-rooted collective-send collective-skew collective-slices collective-together collective-tune collective-twisted-axis presets-algorithms
    collective-auto collective-groups collective-bound collective-coalesce collective-json collective-packet collective-packet-json broadcast-byte packet-cycles packet-queue packet-stall collective-sizes collective-text group-of-one-csv
    group-of-one-json group-of-one-text help-collective limited-by-buffers limited-by-rails help-presets help-step help-topo help-traffic help-validate help mesh-gather-line
    one-byte permute-link-stats permute-messages permute-next permute-pairs presets-models step-csv step-text
    topo-availability topo-availability-csv topo-availability-json topo-compare topo-compare-csv topo-compare-json topo-fits topo-repair
    topo-shapes topo-shapes-csv topo-csv topo-four-axes topo-json topo-line-of-one topo-text torus-gather-direct traffic-text traffic-csv traffic-json traffic-booksim traffic-hotspots traffic-link-stats validate validate-csv v4-gather-x v4-gather-xy
    v4-reduce-z v5e-gather-line v5p-gather-x version zero-bytes)
file(GLOB golden_files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/golden CONFIGURE_DEPENDS golden/*.args)
list(TRANSFORM golden_files REPLACE "\\.args$" "")
list(SORT golden_cases)
list(SORT golden_files)
if(NOT golden_files STREQUAL golden_cases)
    message(FATAL_ERROR "tests/golden holds ${golden_files}, tests/e2e.cmake lists ${golden_cases}")
endif()
foreach(name IN LISTS golden_cases)
    podsim_run_test(golden ${name})
endforeach()
set_tests_properties(golden/validate PROPERTIES TIMEOUT 300) # routes of 512 chips around faults, slow in debug builds

# The table is the list: a line "case NAME" each.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/invalid/cases)
file(STRINGS invalid/cases invalid_cases REGEX "^case ")
list(TRANSFORM invalid_cases REPLACE "^case +" "")
foreach(name IN LISTS invalid_cases)
    podsim_run_test(invalid ${name})
endforeach()

add_test(NAME golden/invariants COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/golden/invariants $<TARGET_FILE:podsim>)
set_tests_properties(golden/invariants PROPERTIES LABELS e2e TIMEOUT 120)

# What scripts/ holds, and what needs a script; the pictures are skipped without gnuplot.
foreach(name auto_by_name buffers choice chunks compare_astra compare_booksim crossing every_group every_value idle_memory jobs link_bytes not_faster phases plot_collective plot_traffic trains transfer_time)
    add_test(NAME e2e/${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/${name} $<TARGET_FILE:podsim>)
    set_tests_properties(e2e/${name} PROPERTIES LABELS e2e TIMEOUT 120 SKIP_RETURN_CODE 77)
endforeach()
if(PODSIM_SANITIZE)
    set_tests_properties(e2e/idle_memory PROPERTIES ENVIRONMENT PODSIM_NO_MEMORY_LIMIT=1)
endif()
set_tests_properties(e2e/choice PROPERTIES TIMEOUT 600) # some 4,000 runs, slow in debug builds
set_tests_properties(e2e/auto_by_name e2e/every_group PROPERTIES TIMEOUT 600) # a thousand runs each

# podsim_fuzz_test(NAME LAYER): fuzz/NAME.c over its corpus and seeded mutations; libfuzzer_NAME to search by hand.
function(podsim_fuzz_test name layer)
    add_executable(fuzz_${name} fuzz/${name}.c fuzz/replay.c)
    target_link_libraries(fuzz_${name} PRIVATE podsim::${layer} podsim_flags)
    add_test(NAME fuzz/${name} COMMAND fuzz_${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name} 50000)
    set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz TIMEOUT 120)
    if(PODSIM_SANITIZE MATCHES fuzzer)
        add_executable(libfuzzer_${name} fuzz/${name}.c)
        target_link_libraries(libfuzzer_${name} PRIVATE podsim::${layer} podsim_flags)
        target_link_options(libfuzzer_${name} PRIVATE -fsanitize=fuzzer)
    endif()
endfunction()
podsim_fuzz_test(quantity base)
podsim_fuzz_test(yaml base)
podsim_fuzz_test(spec topo)
podsim_fuzz_test(graph topo)
podsim_fuzz_test(group topo)
podsim_fuzz_test(study workloads)
set_tests_properties(fuzz/study PROPERTIES TIMEOUT 600) # each study chooses algorithms, slow in debug builds
podsim_fuzz_test(msccl collectives)
podsim_fuzz_test(pairs cli)
