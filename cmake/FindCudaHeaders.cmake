# Headers of the CUDA driver API and of NVRTC; both libraries are opened at run time, so that nothing is linked.
# Gives the target CudaHeaders::CudaHeaders. Looks in CUDA_HOME, in the toolkit that scripts/setup put into .venv, next
# to nvcc on the PATH, in /usr/local/cuda and in the system's include folders.
find_program(CudaHeaders_NVCC nvcc)
mark_as_advanced(CudaHeaders_NVCC)
set(beside_nvcc)
if(CudaHeaders_NVCC)
  file(REAL_PATH ${CudaHeaders_NVCC} real_nvcc)
  cmake_path(GET real_nvcc PARENT_PATH bin)
  set(beside_nvcc ${bin}/../include)
endif()

find_path(CudaHeaders_INCLUDE_DIR NAMES cuda.h
  HINTS ENV CUDA_HOME ENV CUDA_PATH ${PROJECT_SOURCE_DIR}/.venv/cuda
  PATHS ${beside_nvcc} /usr/local/cuda
  PATH_SUFFIXES include)
mark_as_advanced(CudaHeaders_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaHeaders
  REQUIRED_VARS CudaHeaders_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "cuda.h was not found: set CUDA_HOME, or run scripts/setup")

if(CudaHeaders_FOUND AND NOT TARGET CudaHeaders::CudaHeaders)
  add_library(CudaHeaders::CudaHeaders INTERFACE IMPORTED)
  target_include_directories(CudaHeaders::CudaHeaders INTERFACE ${CudaHeaders_INCLUDE_DIR})
endif()
