# Stand-ins for the CUDA driver's library, for NVRTC, NCCL and the management library, which some tests load in their place.
function(sg_fake name source)
  add_library(${name} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/unit/fake/${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()
sg_fake(fake_cuda cuda.c)
sg_fake(fake_cuda_older cuda.c) # than CUDA 11.8
target_compile_definitions(fake_cuda_older PRIVATE FAKE_CUDA_IS_OLDER)
sg_fake(fake_nvrtc nvrtc.c)
sg_fake(fake_nvml nvml.c)
sg_fake(fake_nccl nccl.c)

# The stand-ins are built before the program, which knows where they lie.
function(sg_fakes program)
  add_dependencies(${program} fake_cuda fake_cuda_older fake_nvrtc fake_nvml fake_nccl)
  target_compile_definitions(${program} PRIVATE
    FAKE_CUDA="$<TARGET_FILE:fake_cuda>" FAKE_CUDA_OLDER="$<TARGET_FILE:fake_cuda_older>"
    FAKE_NVRTC="$<TARGET_FILE:fake_nvrtc>" FAKE_NVML="$<TARGET_FILE:fake_nvml>"
    FAKE_NCCL="$<TARGET_FILE:fake_nccl>")
endfunction()
