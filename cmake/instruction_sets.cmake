# The instruction sets that sources named *.isa.cpp are compiled for, each into objects of its
# own; gpu/device/instruction_set.hpp chooses among them at run time.
set(TEMPERA_INSTRUCTION_SETS plain)
set(TEMPERA_OPTIONS_plain)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND TEMPERA_INSTRUCTION_SETS neon)
  # The compiler's own options are those of plain: every such processor has these instructions.
  set(TEMPERA_OPTIONS_neon -DTEMPERA_NEON)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND TEMPERA_INSTRUCTION_SETS avx2)
  set(TEMPERA_OPTIONS_avx2 -mavx2 -mfma)
  list(APPEND TEMPERA_INSTRUCTION_SETS avx_vnni)
  set(TEMPERA_OPTIONS_avx_vnni ${TEMPERA_OPTIONS_avx2} -mavxvnni)
  # GCC 13.2 (Ubuntu 24.04) misaligns 64-byte vectors on the stack under AddressSanitizer, and the
  # tests of the transformer crash; with 32-byte ones they pass.
  if(NOT TEMPERA_SANITIZE)
    list(APPEND TEMPERA_INSTRUCTION_SETS avx512)
    set(TEMPERA_OPTIONS_avx512 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl)
    list(APPEND TEMPERA_INSTRUCTION_SETS avx512_vnni)
    set(TEMPERA_OPTIONS_avx512_vnni ${TEMPERA_OPTIONS_avx512} -mavx512vnni)
    list(APPEND TEMPERA_INSTRUCTION_SETS avx512_bf16)
    set(TEMPERA_OPTIONS_avx512_bf16 ${TEMPERA_OPTIONS_avx512} -mavx512bf16)
    list(APPEND TEMPERA_INSTRUCTION_SETS amx_bf16)
    set(TEMPERA_OPTIONS_amx_bf16 ${TEMPERA_OPTIONS_avx512} -mamx-tile -mamx-bf16)
  endif()
endif()

# Adds the sources to the target once per instruction set; those that do not compute pairs of
# bfloat16s have no form of their own for avx512_bf16 and amx_bf16, those that do not compute whole
# numbers none for neon, avx_vnni and avx512_vnni. The objects of a set are also the object
# library ${target}_${set}, whose symbols tests/gpu/device/instruction_set.cpp looks at.
function(tempera_isa_sources target)
  foreach(set IN LISTS TEMPERA_INSTRUCTION_SETS)
    set(sources ${ARGN})
    if(set MATCHES "_bf16$")
      list(FILTER sources INCLUDE REGEX "pair[a-z0-9_]*[.]isa[.]cpp$")
    endif()
    if(set MATCHES "_vnni$|^neon$")
      list(FILTER sources INCLUDE REGEX "integer[a-z0-9_]*[.]isa[.]cpp$")
    endif()
    if(NOT sources)
      continue()
    endif()
    add_library(${target}_${set} OBJECT ${sources})
    # Each source names its parts alike, in a namespace of its own.
    set_target_properties(${target}_${set} PROPERTIES UNITY_BUILD OFF)
    target_link_libraries(${target}_${set} PRIVATE tempera_options)
    target_compile_options(${target}_${set} PRIVATE
      ${TEMPERA_OPTIONS_${set}} ${TEMPERA_DEVICE_OPTIMISATION})
    target_compile_definitions(${target}_${set} PRIVATE TEMPERA_INSTRUCTION_SET=${set})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${set}>)
  endforeach()
endfunction()

# Tells sources which forms there are to choose from: TEMPERA_HAS_PLAIN, TEMPERA_HAS_AVX2, ...
function(tempera_choosing_sources)
  list(TRANSFORM TEMPERA_INSTRUCTION_SETS PREPEND TEMPERA_HAS_ OUTPUT_VARIABLE forms)
  string(TOUPPER "${forms}" forms)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS "${forms}")
endfunction()
