# Options that every target of tempera is compiled with.
add_library(tempera_options INTERFACE)
# The headers lie at the root of this tree, and under include/tempera where they are installed.
set(TEMPERA_INCLUDES $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/tempera>)
target_include_directories(tempera_options INTERFACE ${PROJECT_SOURCE_DIR})
# Floating point decides nothing by accident: no contraction, no reassociation. -march=native only
# chooses instructions; with contraction off it cannot change a bit of any result.
target_compile_options(tempera_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
                            -ffp-contract=off>)
if(NOT TEMPERA_DEVICE STREQUAL "CUDA")
  target_compile_options(tempera_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()
# The device sources choose their own level; elsewhere more than -O2, or any under the sanitizers,
# costs more time in the build than it saves in the run.
if(TEMPERA_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O0 -g1")
  set(TEMPERA_DEVICE_OPTIMISATION -O1)
  target_compile_options(tempera_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # GCC 13.2 (Ubuntu 24.04) misaligns 64-byte vectors on the stack under AddressSanitizer, and the
    # tests of the transformer crash; with 32-byte ones they pass.
    target_compile_options(tempera_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-mno-avx512f>)
  endif()
  target_link_options(tempera_options INTERFACE -fsanitize=address,undefined)
else()
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(TEMPERA_DEVICE_OPTIMISATION -O3)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
