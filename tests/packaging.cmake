# What users see of the library: its header, and the manual page of its command.
sg_test(header 60 sh ${CMAKE_CURRENT_LIST_DIR}/header.sh)
sg_test(manual 60 sh ${CMAKE_CURRENT_LIST_DIR}/manual.sh)
# Nobody installs instrumented libraries.
if(NOT SG_SANITIZE)
  sg_test(exports 60 sh ${CMAKE_CURRENT_LIST_DIR}/exports.sh $<TARGET_FILE:stencilgen_shared>
          $<TARGET_FILE:stencilgen_static>)
  sg_test(python 900 sh ${CMAKE_CURRENT_LIST_DIR}/python.sh)
  set_property(TEST python APPEND PROPERTY ENVIRONMENT
               "STENCILGEN_LIBRARY=$<TARGET_FILE:stencilgen_shared>" "CC=${CMAKE_C_COMPILER}"
               "FAKE_CUDA=$<TARGET_FILE:fake_cuda>" "FAKE_NVRTC=$<TARGET_FILE:fake_nvrtc>"
               "FAKE_NCCL=$<TARGET_FILE:fake_nccl>")
  sg_quick_kernels(python)
  sg_test(wheel 900 sh ${CMAKE_CURRENT_LIST_DIR}/wheel.sh $<TARGET_FILE:fake_nvrtc>)
  sg_test(install 300 sh ${CMAKE_CURRENT_LIST_DIR}/install.sh ${PROJECT_BINARY_DIR})
endif()
