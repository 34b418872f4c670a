# Proves the layering by linking: each layer with those below it, and nothing else, makes a whole
# program. A call of a layer beside or above it stays undefined and fails the build.
set(main ${PROJECT_BINARY_DIR}/embedded/empty_main.c)
file(GENERATE OUTPUT ${main} CONTENT "int main(void) {\n    return 0;\n}\n")

function(sg_prove_layer name)
  add_executable(layer_${name} ${main})
  set_target_properties(layer_${name} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers)
  foreach(layer IN LISTS ARGN)
    target_sources(layer_${name} PRIVATE $<TARGET_OBJECTS:sg_${layer}>)
  endforeach()
endfunction()

sg_prove_layer(base base)
target_link_libraries(layer_base PRIVATE m)
sg_prove_layer(matrix base matrix)
target_link_libraries(layer_matrix PRIVATE m)
sg_prove_layer(gen base matrix gen)
target_link_libraries(layer_gen PRIVATE sg_lua m)
sg_prove_layer(device base matrix device)
target_link_libraries(layer_device PRIVATE sg_md sg_sqlite Threads::Threads ${CMAKE_DL_LIBS} m)
