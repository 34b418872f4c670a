# Tests of the examples. Takes: examples/. Makes: a test for each test_X.sh, and copies of the examples
# with one thing spoiled, which their own checks must find.
function(sg_spoil name from to)
  set(source ${PROJECT_SOURCE_DIR}/examples/${name}.c)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/spoiled/${name}.c)
  add_custom_command(
    OUTPUT ${output}
    COMMAND sh -c "sed -e \"$1\" \"$2\" >\"$3\" && ! cmp -s \"$2\" \"$3\"" sh
            "s|${from}|${to}|" ${source} ${output}
    DEPENDS ${source}
    COMMENT "spoiling ${name}"
    VERBATIM)
  add_executable(spoiled_${name} ${output})
  set_target_properties(spoiled_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                        ${CMAKE_CURRENT_BINARY_DIR}/spoiled)
  target_include_directories(spoiled_${name} PRIVATE ${PROJECT_SOURCE_DIR}/examples)
  target_link_libraries(spoiled_${name} PRIVATE stencilgen::stencilgen Threads::Threads ${ARGN} m)
endfunction()
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/spoiled)

sg_spoil(heat3d "laplacian { dims = 3 }" "1.00000001 * laplacian { dims = 3 }")
sg_spoil(wave2d "- f.u.prev(0, 0)" "- 0.99999999 * f.u.prev(0, 0)")
sg_spoil(poisson "'fixed'" "'zero'")
sg_spoil(blur "row \\* column / 256" "row * column / 255.99")
sg_spoil(cg "multiply(s, -1, s" "multiply(s, -1.00001, s")
sg_spoil(shot "return s \\* (p.dt \\* f.c(0, 0) / p.h) ^ 2" "return s * (p.dt * f.c(0, 0) / p.h)")
sg_spoil(threads ".value = t->k" ".value = t->k + 1e-9")
sg_spoil(poisson_team "part.low\\[1\\] \\* side" "part.low[1] * 0")
sg_spoil(cg_team "return 4 \\*" "return 4.0001 *")
if(TARGET heat_team)
  sg_spoil(heat_team "laplacian { dims = 3 }" "1.00000001 * laplacian { dims = 3 }" MPI::MPI_C)
endif()

add_executable(read_vti examples/read_vti.c)
target_link_libraries(read_vti PRIVATE m)

list(APPEND test_environment "EXAMPLES=${PROJECT_BINARY_DIR}/examples"
     "SPOILED=${CMAKE_CURRENT_BINARY_DIR}/spoiled" "BUILD=${PROJECT_BINARY_DIR}")
file(GLOB scripts CONFIGURE_DEPENDS examples/test_*.sh)
if(SG_SANITIZE)
  list(FILTER scripts EXCLUDE REGEX solver) # instrumented libraries are not what anybody installs
endif()
foreach(script IN LISTS scripts)
  get_filename_component(name ${script} NAME_WE)
  string(REPLACE test_ examples. test ${name})
  sg_test(${test} 300 sh ${script})
endforeach()

add_dependencies(bare spoiled_heat3d read_vti)

# Among those that the preset `thread` builds and runs.
add_dependencies(threaded threads spoiled_threads)
set_property(TEST examples.threads APPEND PROPERTY LABELS threads)
