# Tests of bench/stencils: as it is, and copies in which what is compared does not agree.
function(sg_spoil_bench name file from to)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/spoiled_bench/${name})
  file(MAKE_DIRECTORY ${folder})
  get_target_property(sources bench_stencils SOURCES)
  list(REMOVE_ITEM sources ${file})
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/bench/)
  add_custom_command(
    OUTPUT ${folder}/${file}
    COMMAND sh -c "sed -e \"$1\" \"$2\" >\"$3\" && ! cmp -s \"$2\" \"$3\"" sh
            "s|${from}|${to}|" ${PROJECT_SOURCE_DIR}/bench/${file} ${folder}/${file}
    DEPENDS ${PROJECT_SOURCE_DIR}/bench/${file}
    COMMENT "spoiling ${file}"
    VERBATIM)
  add_executable(spoiled_stencils_${name} ${sources} ${folder}/${file})
  set_target_properties(spoiled_stencils_${name} PROPERTIES OUTPUT_NAME stencils
                        RUNTIME_OUTPUT_DIRECTORY ${folder})
  target_include_directories(spoiled_stencils_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench)
  target_link_libraries(spoiled_stencils_${name} PRIVATE stencilgen::stencilgen Threads::Threads
                        ${CMAKE_DL_LIBS} m)
endfunction()

sg_spoil_bench(steps stencils_check.c "wanted = run(t, naive, size, steps,"
               "wanted = run(t, naive, size, steps + 1,")
sg_spoil_bench(boundary stencils_check.c "of->weights, of->boundary)" "of->weights, \\\"periodic\\\")")

list(APPEND test_environment "BENCH=${PROJECT_BINARY_DIR}/bench"
     "SPOILED_BENCH=${CMAKE_CURRENT_BINARY_DIR}/spoiled_bench")
sg_test(bench.stencils 300 sh ${CMAKE_CURRENT_LIST_DIR}/test_stencils.sh)
