# The cases: one program, run_cases, and what CTest does with it. tests/README.md says more.
file(GLOB runner CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/runner/*.c)
add_executable(run_cases ${runner})
target_include_directories(run_cases PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(run_cases SYSTEM PRIVATE ${LUA_INCLUDE_DIRS})
target_link_libraries(run_cases PRIVATE sg_whole)
add_dependencies(run_cases locales)

# These have a thread for each core. They begin first, with other tests at the same time, because a test that is alone
# leaves cores idle before it begins and while its last case runs.
function(sg_case_test name seconds)
  sg_test(cases.${name} ${seconds} ${ARGN})
  set_tests_properties(cases.${name} PROPERTIES COST ${seconds})
endfunction()
sg_case_test(selftest 300 run_cases --mode selftest)
sg_case_test(golden 60 run_cases --mode golden)
sg_test(cases.none 60 run_cases --only misspelt)
set_tests_properties(cases.none PROPERTIES PASS_REGULAR_EXPRESSION "no case is selected")
# Kernels are compiled quickly, but those of the files of specs/ with the flags that users have, which the self-tests, the
# command's tests and most unit tests have too.
# A run has a twenty-second of the cases, a ninth of the properties, a third of the specs, and an eighth of the cubins that
# pairs of values ask for, all of which is drawn: what one run leaves out another has, and `run_cases` by itself runs all. Under
# the sanitizers everything takes three times as long: there, one case of 80 and one property of 32 have to do, and NVRTC, which
# is not built with sanitizers, is not asked again.
if(SG_SANITIZE)
  sg_case_test(run 900 run_cases --mode run --draw 80)
  sg_case_test(properties 300 run_cases --mode properties --draw 32)
else()
  sg_case_test(run 900 run_cases --mode run --without specs --draw 22)
  sg_case_test(specs 300 run_cases --mode run --only specs --draw 3)
  sg_case_test(cubin 900 run_cases --mode cubin --draw 8)
  sg_case_test(properties 300 run_cases --mode properties --draw 9)
  # With a worker for each block, blocks of resident run together and exchange their halos.
  sg_case_test(rounds 300 run_cases --mode run --filter resident --threads 64 --draw 6)
  sg_case_test(sources 300 sh ${CMAKE_CURRENT_LIST_DIR}/sources.sh $<TARGET_FILE:run_cases>)
  sg_quick_kernels(cases.run cases.properties cases.rounds)
endif()
