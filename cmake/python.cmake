# The Python package's binaries: the shared library, the command, and the libraries that they need and a machine may not
# have (Lua, SQLite, libmd), side by side. Debian's static Lua is not position independent, so the package has the shared
# ones, found by $ORIGIN, as `auditwheel repair` would put them there. pyproject.toml installs the component `python` into
# a wheel; the target `wheel-lib` makes the whole package as a folder for PYTHONPATH, build/wheel-lib.
add_library(stencilgen_python SHARED EXCLUDE_FROM_ALL ${sg_objects})
set_target_properties(
  stencilgen_python
  PROPERTIES OUTPUT_NAME stencilgen LINKER_LANGUAGE C LINK_DEPENDS ${map}
             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python BUILD_WITH_INSTALL_RPATH ON
             INSTALL_RPATH "$ORIGIN")
target_link_options(stencilgen_python PRIVATE LINKER:--version-script=${map} LINKER:--as-needed
                    LINKER:-Bsymbolic-functions LINKER:-z,defs)
target_link_libraries(stencilgen_python PRIVATE PkgConfig::LUA PkgConfig::MD PkgConfig::SQLITE
                      Threads::Threads ${CMAKE_DL_LIBS} m)
if(NOT LUA_STATIC OR NOT MD_STATIC OR NOT SQLITE_STATIC OR (PNG_FOUND AND NOT (PNG_STATIC AND Z_STATIC))) # the command needs shared libraries too
  set_property(TARGET stencilgen PROPERTY INSTALL_RPATH "$ORIGIN/../lib")
endif()

install(TARGETS stencilgen_python COMPONENT python EXCLUDE_FROM_ALL DESTINATION stencilgen/lib)
install(TARGETS stencilgen COMPONENT python EXCLUDE_FROM_ALL DESTINATION stencilgen/bin)
install(SCRIPT cmake/python-needs.cmake COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY python/stencilgen COMPONENT python_sources EXCLUDE_FROM_ALL DESTINATION .
        FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)

set(folder ${PROJECT_BINARY_DIR}/wheel-lib)
add_custom_target(
  wheel-lib
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${folder} --component python --strip
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${folder} --component python_sources
  COMMENT "making the Python package in ${folder}"
  VERBATIM)
add_dependencies(wheel-lib stencilgen_python stencilgen)
