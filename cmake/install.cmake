# Program, libraries, headers, and what other builds need to find them.
install(TARGETS podsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(layers base topo netsim collectives workloads)
foreach(layer IN LISTS layers)
    install(TARGETS podsim_${layer} EXPORT podsim-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${layer}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/podsim/${layer}
            FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE
            PATTERN "packet_*.h" EXCLUDE) # the parts of packet.h's engine
endforeach()
install(EXPORT podsim-targets NAMESPACE podsim:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/podsim)

include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/podsim)
configure_package_config_file(cmake/podsim-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/podsim-config.cmake
                              INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/podsim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/podsim-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/podsim-config-version.cmake
              cmake/FindPodsimMetis.cmake
        DESTINATION ${config_dir})

# Paths start at the file itself, since the tree may be moved after installing.
file(RELATIVE_PATH pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/podsim.pc.in ${CMAKE_CURRENT_BINARY_DIR}/podsim.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/podsim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
