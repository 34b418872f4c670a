# The cases: one program, run_cases, and what CTest does with it. tests/README.md says more.
file(GLOB runner CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/runner/*.c)
add_executable(run_cases ${runner})
target_include_directories(run_cases PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(run_cases SYSTEM PRIVATE ${LUA_INCLUDE_DIRS})
target_link_libraries(run_cases PRIVATE sg_whole)
add_dependencies(run_cases locales)

# These take all cores, so they run one at a time.
function(sg_case_test name seconds)
  sg_test(cases.${name} ${seconds} ${ARGN})
  set_tests_properties(cases.${name} PROPERTIES RUN_SERIAL ON)
endfunction()
sg_case_test(selftest 300 run_cases --mode selftest)
sg_case_test(golden 60 run_cases --mode golden)
# The product is compiled with -O1; files of specs/ have the flags that users have, as have properties, self-tests and the
# unit tests of the families. Under the sanitizers, where everything takes three times as long, one case of 32 has to do,
# one property of 16, and NVRTC is not asked again: it is not compiled with them.
if(SG_SANITIZE)
  sg_case_test(run 900 run_cases --mode run --shard 0/32)
  sg_case_test(properties 300 run_cases --mode properties --shard 0/16)
else()
  sg_case_test(run 900 run_cases --mode run)
  sg_quick_kernels(cases.run)
  sg_case_test(specs 300 run_cases --mode run --only specs)
  sg_case_test(cubin 900 run_cases --mode cubin)
  sg_case_test(properties 300 run_cases --mode properties)
endif()
sg_case_test(sources 120 sh ${CMAKE_CURRENT_LIST_DIR}/sources.sh $<TARGET_FILE:run_cases>)
