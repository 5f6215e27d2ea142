# Warnings, sanitizers and the flags that keep results the same on every compiler, on one target.
add_library(podsim_flags INTERFACE)
target_compile_options(podsim_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
    -Wno-missing-field-initializers  # option and schema tables name the fields they need
    -ffp-contract=off                # a*b+c must round the same everywhere (results are compared bit for bit)
    $<$<BOOL:${PODSIM_WERROR}>:-Werror>)
target_compile_definitions(podsim_flags INTERFACE _POSIX_C_SOURCE=200809L)
if(PODSIM_SANITIZE)
    target_compile_options(podsim_flags INTERFACE -fsanitize=${PODSIM_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
    target_link_options(podsim_flags INTERFACE -fsanitize=${PODSIM_SANITIZE})
endif()
if(PODSIM_COVERAGE)
    target_compile_options(podsim_flags INTERFACE --coverage -O0)
    target_link_options(podsim_flags INTERFACE --coverage)
endif()

# podsim_layer(NAME SOURCES ... LINK ... PRIVATE ...): one static library per layer, alias podsim::NAME.
function(podsim_layer name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
    add_library(podsim_${name} STATIC ${arg_SOURCES})
    add_library(podsim::${name} ALIAS podsim_${name})
    set_target_properties(podsim_${name} PROPERTIES EXPORT_NAME ${name})
    target_include_directories(podsim_${name} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/podsim>)
    target_link_libraries(podsim_${name} PUBLIC ${arg_LINK}
        PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:podsim_flags>)
endfunction()
