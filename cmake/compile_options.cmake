# Options that every target of tempera is compiled with.
add_library(tempera_options INTERFACE)
# The headers are at the root of this tree; those of include/tempera alone are installed.
set(TEMPERA_INCLUDES $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_include_directories(tempera_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
# Floating point decides nothing by accident: no contraction, no reassociation.
target_compile_options(tempera_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
                            -ffp-contract=off>)
# GCC collects its garbage again and again in units of many sources, for 6 % of their time. With this it collects from
# 1 GiB on, and no unit takes more than 1.6 GiB.
target_compile_options(tempera_options INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
# What is built runs on every machine of its kind: on x86-64 the baseline is x86-64-v2, and wider
# instructions are chosen at run time (tempera_isa_sources in cmake/instruction_sets.cmake).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TEMPERA_BASELINE -march=x86-64-v2)
  target_compile_options(tempera_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:${TEMPERA_BASELINE}>)
endif()
# The device sources choose their own level; elsewhere more than -O2, or any under the sanitizers,
# costs more time in the build than it saves in the run.
if(TEMPERA_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O0 -g1")
  set(TEMPERA_DEVICE_OPTIMISATION -O1)
  target_compile_options(tempera_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tempera_options INTERFACE -fsanitize=address,undefined)
else()
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  set(TEMPERA_DEVICE_OPTIMISATION -O3)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
