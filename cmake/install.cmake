# What `cmake --install BUILD --prefix P` installs. Nothing depends on P, so the installation can be moved.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stencilgen)
set(share ${CMAKE_INSTALL_DATAROOTDIR}/stencilgen)

install(TARGETS stencilgen)
install(TARGETS stencilgen_shared EXPORT stencilgen-shared)
install(TARGETS stencilgen_static EXPORT stencilgen-static)
install(FILES runtime/stencilgen.h TYPE INCLUDE)
install(DIRECTORY runtime/stencilgen TYPE INCLUDE FILES_MATCHING PATTERN *.h)
install(FILES mpi/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stencilgen)
if(TARGET stencilgen_mpi)
  install(TARGETS stencilgen_mpi DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES docs/stencilgen.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY specs DESTINATION ${share} FILES_MATCHING PATTERN annotations EXCLUDE
        PATTERN *.lua)
install(DIRECTORY specs/annotations DESTINATION ${share})
install(DIRECTORY plans DESTINATION ${share} FILES_MATCHING PATTERN *.plans)
install(FILES README.md LICENSE TYPE DOC)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md
        PATTERN *.png PATTERN *.svg)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING REGEX
        "[.](c|h|lua|pgm|py)$")

# find_package(stencilgen)
install(EXPORT stencilgen-shared NAMESPACE stencilgen:: DESTINATION ${package})
install(EXPORT stencilgen-static NAMESPACE stencilgen:: DESTINATION ${package})
configure_package_config_file(cmake/stencilgen-config.cmake.in stencilgen-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stencilgen-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stencilgen-config.cmake
              ${PROJECT_BINARY_DIR}/stencilgen-config-version.cmake DESTINATION ${package})

# pkg-config. A folder that was configured as an absolute path stays absolute.
file(RELATIVE_PATH SG_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
cmake_path(APPEND SG_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND SG_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
set(folders ${LUA_LIBRARY_DIRS} ${MD_LIBRARY_DIRS} ${SQLITE_LIBRARY_DIRS})
list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
list(REMOVE_DUPLICATES folders)
list(TRANSFORM folders PREPEND -L)
set(names ${LUA_LIBRARIES} ${MD_LIBRARIES} ${SQLITE_LIBRARIES} dl m)
list(TRANSFORM names PREPEND -l)
list(JOIN folders " " folders)
list(JOIN names " " names)
string(STRIP "${folders} -pthread ${names}" SG_PC_PRIVATE)
configure_file(stencilgen.pc.in stencilgen.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stencilgen.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The NVRTC that setup.sh fetched, only on request: `cmake --install BUILD --component nvrtc`.
install(DIRECTORY ${PROJECT_BINARY_DIR}/cuda/nvidia COMPONENT nvrtc EXCLUDE_FROM_ALL
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/stencilgen/cuda OPTIONAL)
