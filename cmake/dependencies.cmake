# Third-party libraries. A missing one stops with the Debian package that has it.
find_package(PkgConfig)
if(NOT PKG_CONFIG_FOUND)
    message(FATAL_ERROR "pkg-config not found: apt-get install pkg-config")
endif()

# podsim_require(TARGET MODULE PACKAGE): PkgConfig::TARGET from pkg-config module MODULE.
function(podsim_require target module package)
    pkg_check_modules(${target} QUIET IMPORTED_TARGET GLOBAL ${module})
    if(NOT ${target}_FOUND)
        message(FATAL_ERROR "${module} not found: apt-get install ${package}")
    endif()
endfunction()

podsim_require(YAML yaml-0.1 libyaml-dev)
podsim_require(YAJL yajl libyajl-dev)
podsim_require(EXPAT expat libexpat1-dev)
podsim_require(IGRAPH igraph libigraph-dev)

include(cmake/FindPodsimMetis.cmake)
if(PODSIM_MPI)
    podsim_require(OMPI ompi-c "libopenmpi-dev openmpi-bin")
endif()
if(PODSIM_TESTS)
    podsim_require(CHECK check check)
endif()
