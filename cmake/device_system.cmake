# Thrust's device system. The same .cu sources are CUDA if TEMPERA_DEVICE is CUDA and plain C++
# everywhere else, so that host and device run one text.
add_library(tempera_device INTERFACE)
find_package(Threads REQUIRED)
# What an installed tempera::gpu links; everything else here stays in this build.
set(TEMPERA_DEVICE_LIBRARIES Threads::Threads)
target_compile_definitions(tempera_device INTERFACE
  THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP
  THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_${TEMPERA_DEVICE}
  TEMPERA_DEVICE_${TEMPERA_DEVICE})

if(TEMPERA_DEVICE STREQUAL "CUDA")
  include(${CMAKE_CURRENT_LIST_DIR}/cuda_architectures.cmake)
  set(CMAKE_CUDA_ARCHITECTURES ${TEMPERA_CUDA_ARCHITECTURES} CACHE STRING "CUDA architectures")
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc takes C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  find_package(CUDAToolkit REQUIRED)
  list(APPEND TEMPERA_DEVICE_LIBRARIES CUDA::cudart_static)
  string(JOIN "," host_options ${TEMPERA_BASELINE} -ffp-contract=off -Wall)
  target_compile_options(tempera_device INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false --extended-lambda -Xcompiler=${host_options}>)
elseif(NOT TEMPERA_DEVICE STREQUAL "CPP")
  message(FATAL_ERROR "TEMPERA_DEVICE is ${TEMPERA_DEVICE}; it must be CPP or CUDA")
endif()
target_link_libraries(tempera_device INTERFACE ${TEMPERA_DEVICE_LIBRARIES})

# What needs instructions that Hopper has beyond sm_90.
function(tempera_for_sm_90a target)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF)
  target_compile_options(${target} PRIVATE -gencode=arch=compute_90a,code=sm_90a)
  target_compile_definitions(${target} PRIVATE TEMPERA_HAS_SM_90A)
endfunction()

# Debian's Thrust is on the system include path; nvcc brings its own.
function(tempera_cuda_sources target)
  foreach(source IN LISTS ARGN)
    if(NOT TEMPERA_DEVICE STREQUAL "CUDA")
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX
        COMPILE_OPTIONS "-xc++;${TEMPERA_DEVICE_OPTIMISATION}")
    else()
      # CMake of 3.31 or later would join sources of CUDA too: each has names of its own that another one has.
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    target_sources(${target} PRIVATE ${source})
  endforeach()
endfunction()
