# Options that every target of tempera is compiled with.
add_library(tempera_options INTERFACE)
target_include_directories(tempera_options INTERFACE ${PROJECT_SOURCE_DIR})
# Floating point decides nothing by accident: no contraction, no reassociation. -march=native only
# chooses instructions; with contraction off it cannot change a bit of any result.
target_compile_options(tempera_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
                            -ffp-contract=off>)
if(NOT TEMPERA_DEVICE STREQUAL "CUDA")
  target_compile_options(tempera_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()
# -O3 is for the device sources alone; elsewhere it only costs build time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(TEMPERA_SANITIZE)
  target_compile_options(tempera_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g)
  target_link_options(tempera_options INTERFACE -fsanitize=address,undefined)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
