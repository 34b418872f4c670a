# The rivals of bench/primitives: CUB, cuSPARSE and NPP, as far as the CUDA toolkit has them. The
# program then needs only the toolkit's shared libraries and can be copied to a machine with a GPU, the
# driver and those libraries. Needs: nvcc.
set(SG_RIVALS_ARCH sm_90 CACHE STRING "architecture that the rivals are compiled for")
set(NPP_ROOT "" CACHE PATH "where include/ and lib/ of NPP are, if not in the toolkit")
find_program(NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda/bin REQUIRED)
get_filename_component(toolkit ${NVCC} REALPATH)
get_filename_component(toolkit ${toolkit} DIRECTORY)
get_filename_component(toolkit ${toolkit} DIRECTORY)
find_library(CUDART_STATIC libcudart_static.a HINTS ${toolkit}/lib64 REQUIRED)
find_library(CUSPARSE cusparse HINTS ${toolkit}/lib64)
find_path(NPP_INCLUDE nppi_filtering_functions.h HINTS ${NPP_ROOT}/include ${toolkit}/include)
find_library(NPPIF NAMES nppif libnppif.so.13 HINTS ${NPP_ROOT}/lib ${toolkit}/lib64)
find_library(NPPC NAMES nppc libnppc.so.13 HINTS ${NPP_ROOT}/lib ${toolkit}/lib64)

set(cub ${CMAKE_CURRENT_BINARY_DIR}/rivals_cub.o)
add_custom_command(
  OUTPUT ${cub}
  COMMAND ${NVCC} -std=c++17 -O2 -arch=${SG_RIVALS_ARCH} -c ${CMAKE_CURRENT_SOURCE_DIR}/rivals_cub.cu -o ${cub}
  DEPENDS rivals_cub.cu rivals.h
  COMMENT "rivals_cub.cu by nvcc"
  VERBATIM)
target_sources(bench_primitives PRIVATE ${cub})
set_source_files_properties(${cub} PROPERTIES EXTERNAL_OBJECT ON)
target_compile_definitions(bench_primitives PRIVATE BENCH_CUB)
target_include_directories(bench_primitives SYSTEM PRIVATE ${toolkit}/include)
if(CUSPARSE)
  target_sources(bench_primitives PRIVATE rivals_cusparse.c)
  target_compile_definitions(bench_primitives PRIVATE BENCH_CUSPARSE)
  target_link_libraries(bench_primitives PRIVATE ${CUSPARSE})
endif()
if(NPP_INCLUDE AND NPPIF AND NPPC)
  target_sources(bench_primitives PRIVATE rivals_npp.c)
  target_compile_definitions(bench_primitives PRIVATE BENCH_NPP)
  target_include_directories(bench_primitives SYSTEM PRIVATE ${NPP_INCLUDE})
  target_link_libraries(bench_primitives PRIVATE ${NPPIF} ${NPPC})
endif()
target_link_libraries(bench_primitives PRIVATE ${CUDART_STATIC} stdc++ rt)
target_link_options(bench_primitives PRIVATE -s)
set_target_properties(bench_primitives PROPERTIES
                      BUILD_RPATH "/usr/local/cuda/lib64;${toolkit}/lib64")
