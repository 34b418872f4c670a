# Tests of the programs of bench/: as they are, and copies in which what is compared does not agree.

# sg_spoil_bench(program name [file from to]...): a copy of bench/PROGRAM with these texts exchanged; its other files are the
# program's own objects.
function(sg_spoil_bench program name)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/spoiled_bench/${name})
  file(MAKE_DIRECTORY ${folder})
  set(objects $<TARGET_OBJECTS:bench_${program}>)
  set(spoiled)
  while(ARGN)
    list(POP_FRONT ARGN file from to)
    set(objects $<FILTER:${objects},EXCLUDE,/${file}>)
    add_custom_command(
      OUTPUT ${folder}/${file}
      COMMAND sh -c "sed -e \"$1\" \"$2\" >\"$3\" && ! cmp -s \"$2\" \"$3\"" sh
              "s|${from}|${to}|" ${PROJECT_SOURCE_DIR}/bench/${file} ${folder}/${file}
      DEPENDS ${PROJECT_SOURCE_DIR}/bench/${file}
      COMMENT "spoiling ${file}"
      VERBATIM)
    list(APPEND spoiled ${folder}/${file})
  endwhile()
  add_executable(spoiled_${program}_${name} ${objects} ${spoiled})
  set_target_properties(spoiled_${program}_${name} PROPERTIES OUTPUT_NAME ${program}
                        RUNTIME_OUTPUT_DIRECTORY ${folder})
  target_include_directories(spoiled_${program}_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench)
  target_link_libraries(spoiled_${program}_${name} PRIVATE stencilgen::stencilgen Threads::Threads
                        ${CMAKE_DL_LIBS} m)
endfunction()

sg_spoil_bench(stencils steps stencils_check.c "wanted = run(t, naive, size, steps,"
               "wanted = run(t, naive, size, steps + 1,")
sg_spoil_bench(stencils boundary stencils_check.c "of->weights, of->boundary)"
               "of->weights, \\\"periodic\\\")")
if(NOT SG_RIVALS)
  sg_spoil_bench(primitives judges
                 primitives_lists.c "sum += x" "sum += x + 1"
                 primitives_merge.c "place = first ? i : g->count\\[0\\] + j" "place = first ? i : j"
                 primitives_spmv.c "double sum = 0" "double sum = 1.0 / UNIT"
                 primitives_images.c "clamp(y + j - reach, height)"
                 "clamp(y + j - reach + (j == 0), height)")
endif()

list(APPEND test_environment "BENCH=${PROJECT_BINARY_DIR}/bench"
     "SPOILED_BENCH=${CMAKE_CURRENT_BINARY_DIR}/spoiled_bench")
sg_test(bench.stencils 300 sh ${CMAKE_CURRENT_LIST_DIR}/test_stencils.sh)
sg_test(bench.cliffs 300 sh ${CMAKE_CURRENT_LIST_DIR}/test_cliffs.sh)
if(NOT SG_RIVALS)
  sg_test(bench.primitives 300 sh ${CMAKE_CURRENT_LIST_DIR}/test_primitives.sh)
endif()
