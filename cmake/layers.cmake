# The layers: each folder of cmake/layers.txt is an object library of its .c files, sg_gen_stencil for gen/stencil.
# Makes: sg_layers, their names bottom up, and sg_objects, the objects of all; sg_cli_layers and sg_cli_objects, those
# of the command, without its main.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/layers.txt)
file(STRINGS cmake/layers.txt lines REGEX "^[a-z]")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([a-z/]+):(.*)$" line "${line}")
  set(folder ${CMAKE_MATCH_1})
  string(STRIP "${CMAKE_MATCH_2}" below)
  string(REPLACE / _ layer ${folder})
  string(REPLACE / _ below "${below}")
  separate_arguments(below)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/methods/*.c)
  list(FILTER sources EXCLUDE REGEX "/main\\.c$")
  if(NOT sources)
    continue()
  endif()
  add_library(sg_${layer} OBJECT ${sources})
  target_include_directories(sg_${layer} PRIVATE ${PROJECT_SOURCE_DIR})
  if(folder MATCHES "^cli")
    list(APPEND sg_cli_layers ${layer})
    list(APPEND sg_cli_objects $<TARGET_OBJECTS:sg_${layer}>)
  else()
    list(APPEND sg_layers ${layer})
    list(APPEND sg_objects $<TARGET_OBJECTS:sg_${layer}>)
  endif()
  # All that the folder may call, itself included.
  set(reach_${layer} ${layer})
  foreach(lower IN LISTS below)
    list(APPEND reach_${layer} ${reach_${lower}})
  endforeach()
  list(REMOVE_DUPLICATES reach_${layer})
endforeach()

# Proves the layering by linking: a folder with those below it, and nothing else, makes a whole
# program. A call of a folder above stays undefined and fails the build.
function(sg_prove_layers)
  set(main ${PROJECT_BINARY_DIR}/embedded/empty_main.c)
  file(GENERATE OUTPUT ${main} CONTENT "int main(void) {\n    return 0;\n}\n")
  foreach(layer IN LISTS sg_layers sg_cli_layers)
    add_executable(layer_${layer} ${main})
    set_target_properties(layer_${layer} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers)
    foreach(lower IN LISTS reach_${layer})
      if(NOT TARGET sg_${lower})
        continue() # headers alone
      endif()
      target_sources(layer_${layer} PRIVATE $<TARGET_OBJECTS:sg_${lower}>)
    endforeach()
    if(layer IN_LIST sg_cli_layers) # runtime/ is the header to them, and the whole library behind it
      target_sources(layer_${layer} PRIVATE ${sg_objects})
    endif()
    target_link_libraries(layer_${layer} PRIVATE sg_lua sg_md sg_sqlite sg_png Threads::Threads
                          ${CMAKE_DL_LIBS} m)
    target_link_options(layer_${layer} PRIVATE ${sg_quick_link})
  endforeach()
endfunction()
