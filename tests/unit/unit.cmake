# Unit tests. Each folder with files test_X.c is one program, which has the whole library and the command's parts inside;
# each of its files is a group of tests, which `PROGRAM X` runs. CTest runs every group in a process of its own, as
# unit.FOLDER.X, since groups change what belongs to a process: the environment, limits, signals, children.

# These are about hundreds of kernels, which no sanitizer looks into: under the sanitizers their families have a share of
# the cases instead.
set(about_kernels
    unit.gen.lists.look_back unit.gen.lists.merge unit.gen.lists.products unit.gen.lists.reduce
    unit.gen.lists.scan unit.gen.lists.spmv unit.gen.lists.spmv_stencil)

# These are about what the host's compiler is asked and what it makes. In the others it compiles kernels quickly and without
# sanitizers, since they are about the library; kernels as users have them run in the cases of specs/ and the command's tests.
set(about_compilers
    unit.runtime.api.threads_contexts unit.runtime.compile.% unit.runtime.device.cpu.% unit.runtime.tune.workers)
if(SG_SANITIZE) # no case has kernels like these
  list(APPEND about_compilers unit.runtime.api.systems unit.runtime.api.threads unit.runtime.launch.% unit.runtime.monitors.%
       unit.runtime.points.%)
endif()

# These have threads, and run under ThreadSanitizer too, in a build of their own that has these programs alone.
set(threaded
    unit.runtime.api.api unit.runtime.api.kernels unit.runtime.api.threads unit.runtime.api.threads_contexts
    unit.runtime.check.branches unit.runtime.check.check unit.runtime.check.speed
    unit.runtime.device.cpu.cpu unit.runtime.device.cpu.fiber unit.runtime.device.cpu.modules
    unit.runtime.device.cpu.order unit.runtime.device.cpu.warps unit.base.workers
    unit.runtime.launch.run unit.runtime.launch.steps unit.runtime.launch.tags unit.runtime.matrix.calls
    unit.runtime.store.processes unit.runtime.team.faults)
add_custom_target(threaded)

# sg_unit_program(FOLDER [ROLE…]): the program of unit/FOLDER and its tests. A role is what the program does instead of
# testing where it is called with that word: the function test_role_ROLE.
function(sg_unit_program folder)
  string(REPLACE / _ program unit_${folder})
  string(REPLACE / . prefix unit.${folder})
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/${folder}/test_*.c)
  set(sources)
  set(tests)
  set(declarations "#include \"tests/unit/group.h\"\n")
  set(rows)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${name})
    if(SG_SANITIZE AND ${prefix}.${name} IN_LIST about_kernels)
      continue()
    endif()
    if(SG_SANITIZE STREQUAL "thread" AND NOT ${prefix}.${name} IN_LIST threaded)
      continue() # nor are the roles, which are in files of others
    endif()
    list(APPEND sources ${file})
    list(APPEND tests ${name})
    string(APPEND declarations "int test_group_${name}(char **words);\n")
    string(APPEND rows "    {\"${name}\", test_group_${name}, true},\n")
  endforeach()
  if(NOT tests)
    return()
  endif()
  set(roles ${ARGN})
  if(SG_SANITIZE STREQUAL "thread")
    set(roles)
  endif()
  foreach(role IN LISTS roles)
    string(MAKE_C_IDENTIFIER ${role} function)
    string(APPEND declarations "int test_role_${function}(char **words);\n")
    string(APPEND rows "    {\"${role}\", test_role_${function}, false},\n")
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/unit/${program}.c)
  file(GENERATE OUTPUT ${table}
       CONTENT "${declarations}const test_group unit_groups[] = {\n${rows}    {0, 0, false}};\n")

  sg_test_program(${program} ${CMAKE_CURRENT_SOURCE_DIR}/unit/main.c ${table} ${sources})
  target_link_libraries(${program} PRIVATE PkgConfig::CMOCKA)
  # What is tested stays optimised; the tests themselves take longer to compile than to run.
  target_compile_options(${program} PRIVATE -O0)
  sg_fakes(${program})
  foreach(name IN LISTS tests)
    set(test ${prefix}.${name})
    sg_test(${test} 300 ${program} ${name})
    if(NOT test IN_LIST about_compilers AND NOT "${prefix}.%" IN_LIST about_compilers)
      sg_quick_kernels(${test})
    endif()
    if(test IN_LIST threaded)
      set_property(TEST ${test} APPEND PROPERTY LABELS threads)
      add_dependencies(threaded ${program})
    endif()
  endforeach()
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/fake/fake.cmake)

sg_unit_program(base)
sg_unit_program(cli)
sg_unit_program(gen/expr)
sg_unit_program(gen/lists)
sg_unit_program(gen/model)
sg_unit_program(gen/reference)
sg_unit_program(gen/source)
sg_unit_program(gen/space)
sg_unit_program(gen/spec)
if(TARGET unit_gen_spec)
  target_link_options(unit_gen_spec PRIVATE LINKER:--wrap=clock_gettime) # a clock that can run faster
endif()
sg_unit_program(gen/stencil)
sg_unit_program(gen/system)
sg_unit_program(matrix)
sg_unit_program(runtime/api seeds)
sg_unit_program(runtime/cache)
sg_unit_program(runtime/check)
sg_unit_program(runtime/compile)
sg_unit_program(runtime/device)
sg_unit_program(runtime/device/cpu)
sg_unit_program(runtime/device/cuda)
sg_unit_program(runtime/files)
sg_unit_program(runtime/launch)
sg_unit_program(runtime/matrix)
sg_unit_program(runtime/monitors)
sg_unit_program(runtime/points)
sg_unit_program(runtime/team)
sg_unit_program(runtime/store)
sg_unit_program(runtime/tune tune-worker)

# Threads that wait here yield the processor, so other tests at the same time would slow these most. They begin first: later
# all others would have to end before.
foreach(test unit.runtime.device.cpu.order unit.gen.lists.look_back)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON COST 10000)
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
