# Stand-ins for the CUDA driver's library, for NVRTC and for the management library, which some unit tests load in their place.
add_library(fake_cuda MODULE ${CMAKE_CURRENT_LIST_DIR}/cuda.c)
target_include_directories(fake_cuda PRIVATE ${PROJECT_SOURCE_DIR})
add_library(fake_cuda_older MODULE ${CMAKE_CURRENT_LIST_DIR}/cuda.c) # than CUDA 11.8
target_include_directories(fake_cuda_older PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(fake_cuda_older PRIVATE FAKE_CUDA_IS_OLDER)
add_dependencies(test_cuda_kernels fake_cuda_older)
target_compile_definitions(test_cuda_kernels PRIVATE FAKE_CUDA_OLDER="$<TARGET_FILE:fake_cuda_older>")
add_library(fake_nvrtc MODULE ${CMAKE_CURRENT_LIST_DIR}/nvrtc.c)
target_include_directories(fake_nvrtc PRIVATE ${PROJECT_SOURCE_DIR})
add_library(fake_nvml MODULE ${CMAKE_CURRENT_LIST_DIR}/nvml.c)
add_dependencies(test_sensors fake_nvml)
target_compile_definitions(test_sensors PRIVATE FAKE_NVML="$<TARGET_FILE:fake_nvml>")
foreach(name test_allocation test_identity test_nvrtc)
  add_dependencies(${name} fake_nvrtc)
  target_compile_definitions(${name} PRIVATE FAKE_NVRTC="$<TARGET_FILE:fake_nvrtc>")
endforeach()
foreach(name test_cuda test_cuda_kernels test_cuda_errors test_cuda_lists test_doctor test_gpu test_identity test_loader test_plans_files test_save)
  add_dependencies(${name} fake_cuda)
  target_compile_definitions(${name} PRIVATE FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
endforeach()

# Only this test looks at a CUDA header, where there is one.
find_path(SG_CUDA_HEADERS cuda.h HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda
          PATH_SUFFIXES include)
mark_as_advanced(SG_CUDA_HEADERS)
if(SG_CUDA_HEADERS)
  target_include_directories(test_cuda_abi SYSTEM PRIVATE ${SG_CUDA_HEADERS})
endif()
