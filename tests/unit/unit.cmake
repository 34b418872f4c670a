# Unit tests: each test_X.c is a program of its own with everything internal in it.

# These are about hundreds of kernels, which no sanitizer looks into: under the sanitizers their families have a share of
# the cases instead.
set(about_kernels unit.gen.lists.look_back unit.gen.lists.merge unit.gen.lists.products unit.gen.lists.reduce unit.gen.lists.scan unit.gen.lists.spmv unit.gen.lists.spmv_stencil)

# These have threads, and run under ThreadSanitizer too, in a build of their own that has these programs alone.
set(threaded unit.runtime.api.api unit.runtime.check.check unit.runtime.device.cpu.cpu unit.runtime.device.cpu.modules unit.runtime.device.cpu.order unit.runtime.device.cpu.warps unit.runtime.device.cpu.fiber unit.runtime.api.kernels unit.runtime.matrix.calls unit.runtime.store.processes unit.runtime.launch.run unit.runtime.launch.steps unit.runtime.launch.tags unit.runtime.api.threads unit.runtime.api.threads_contexts unit.runtime.device.workers)
add_custom_target(threaded)

include(${CMAKE_CURRENT_LIST_DIR}/fake/fake.cmake)

file(GLOB_RECURSE units RELATIVE ${CMAKE_CURRENT_LIST_DIR} CONFIGURE_DEPENDS unit/test_*.c)
foreach(unit IN LISTS units)
  string(REGEX REPLACE "test_|[.]c$" "" test unit/${unit})
  string(REPLACE / . test ${test})
  string(REPLACE . _ program ${test})
  if(SG_SANITIZE AND test IN_LIST about_kernels)
    continue()
  endif()
  sg_test_program(${program} ${CMAKE_CURRENT_LIST_DIR}/${unit})
  target_link_libraries(${program} PRIVATE PkgConfig::CMOCKA)
  sg_fakes(${program})
  sg_test(${test} 300 ${program})
  if(test IN_LIST threaded)
    set_property(TEST ${test} APPEND PROPERTY LABELS threads)
    add_dependencies(threaded ${program})
  endif()
endforeach()

# These wait by taking turns, which costs most where others take the turns.
foreach(test unit.runtime.device.cpu.order unit.gen.lists.look_back)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()

# Only this file looks at a CUDA header, where there is one.
find_path(SG_CUDA_HEADERS cuda.h HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda
          PATH_SUFFIXES include)
mark_as_advanced(SG_CUDA_HEADERS)
if(SG_CUDA_HEADERS)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/runtime/device/cuda/test_abi.c
                              PROPERTIES COMPILE_OPTIONS "-isystem;${SG_CUDA_HEADERS}")
endif()
