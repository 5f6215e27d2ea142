# METIS comes without a pkg-config module.
find_library(METIS_LIBRARY metis)
find_path(METIS_INCLUDE metis.h)
if(NOT METIS_LIBRARY OR NOT METIS_INCLUDE)
    message(FATAL_ERROR "metis not found: apt-get install libmetis-dev")
endif()
add_library(METIS::METIS UNKNOWN IMPORTED GLOBAL)
set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE})
