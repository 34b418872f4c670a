# Tests of examples/gallery/: each spec against an exact solution, a law or a table, over the public library alone.
add_library(gallery STATIC gallery/gallery.c)
target_include_directories(gallery PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(gallery PUBLIC stencilgen::stencilgen PkgConfig::CMOCKA m)

file(GLOB files CONFIGURE_DEPENDS gallery/*.c)
list(FILTER files EXCLUDE REGEX "/gallery\\.c$")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  add_executable(gallery_${name} ${file})
  target_link_libraries(gallery_${name} PRIVATE gallery)
  sg_test(gallery.${name} 300 gallery_${name})
endforeach()
