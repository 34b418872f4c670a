# Puts the libraries that the Python package's binaries need next to them, under their sonames, with their licences.
# Run while installing. The C library's own are everywhere, in the versions that the wheel's manylinux tag promises.
set(package $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/stencilgen)
file(GET_RUNTIME_DEPENDENCIES
     LIBRARIES ${package}/lib/libstencilgen.so
     EXECUTABLES ${package}/bin/stencilgen
     RESOLVED_DEPENDENCIES_VAR needed
     UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread)\\.so"
     POST_EXCLUDE_REGEXES "^${package}/")
if(missing)
  message(FATAL_ERROR "the Python package needs ${missing}, which are not here")
endif()
foreach(library IN LISTS needed)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} real)
  message(STATUS "Bundling: ${real} as ${name}")
  file(COPY_FILE ${real} ${package}/lib/${name})
  string(REGEX REPLACE "\\.so.*" "" stem ${name})
  file(GLOB licences /usr/share/doc/${stem}-[0-9]/copyright /usr/share/doc/${stem}[0-9]/copyright)
  foreach(licence IN LISTS licences)
    file(COPY_FILE ${licence} ${package}/lib/${stem}.copyright)
  endforeach()
endforeach()
