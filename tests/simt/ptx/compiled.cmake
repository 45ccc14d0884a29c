# What nvcc compiled of every production kernel, kept as PTX, translated to C++ and run by fibers: the programs that end
# in _ptx are those of the kernels' text, with the same test cases.
#   test_simt_ptx         tests/simt for sm_90, and tests/simt/ptx/cases besides
#   test_simt_ptx_sm_80   the same for sm_80, which the build leaves out unless it is asked for
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(ptx ${CMAKE_CURRENT_SOURCE_DIR}/simt/ptx)
set(ptx_library ${PROJECT_SOURCE_DIR}/lab/ptx)
set(ptx_translator ${ptx_library}/to_cpp.py ${ptx_library}/translator.py ${ptx_library}/rules.py ${ptx_library}/parse_ptx.py)
file(GLOB ptx_cases CONFIGURE_DEPENDS ${ptx}/cases/*.cpp)

# A library of translated kernels.
function(tempera_ptx_options library)
  # No unity, which would put thousands of functions into one compilation, and no more than -O1: each is run for seconds.
  set_target_properties(${library} PROPERTIES UNITY_BUILD OFF EXCLUDE_FROM_ALL ON)
  target_link_libraries(${library} PUBLIC tempera_ptx PRIVATE tempera_options)
  target_compile_options(${library} PRIVATE -O1)
  # Results that nobody reads, which an assembler would leave out.
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-Wno-unused-but-set-variable;-Wno-parentheses")
endfunction()

# Defects are planted for sm_90 alone: their instructions are the same for the other.
set(folder ${CMAKE_CURRENT_BINARY_DIR}/ptx_planted)
file(MAKE_DIRECTORY ${folder})
set(planted ${folder}/planted_0.cpp ${folder}/planted_1.cpp ${folder}/planted_2.cpp ${folder}/all_planted.cpp)
file(GLOB every_kept CONFIGURE_DEPENDS ${TEMPERA_KEPT_PTX}/*.sm_90.ptx)
add_custom_command(OUTPUT ${planted} COMMAND ${Python3_EXECUTABLE} ${ptx}/plants.py ${folder}
  DEPENDS ${ptx}/plants.py ${ptx_library}/kept.py ${ptx_translator} ${every_kept} VERBATIM)
add_library(compiled_planted STATIC ${planted})
tempera_ptx_options(compiled_planted ${planted})

# tempera_ptx_kernels(LIBRARY TARGET): what is kept for a target, as a library.
function(tempera_ptx_kernels library target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/ptx_${target})
  file(MAKE_DIRECTORY ${folder})
  set(sources)
  set(lists)
  set(addresses)
  # Files of about as many instructions each, so that they compile side by side.
  set(rows queue_draw:1 cuda_kernels:1 recurrence:1 token_step:1 attention_launch:3 product_launch:8
    dense_layers_launch:2 tensor_core_check:1 integer_kernels:1)
  if(target STREQUAL "sm_90")
    list(APPEND rows warpgroup_product_launch:5)
  endif()
  foreach(row IN LISTS rows)
    string(REPLACE ":" ";" row ${row})
    list(GET row 0 name)
    list(GET row 1 parts)
    set(written)
    math(EXPR last "${parts} - 1")
    foreach(part RANGE ${last})
      list(APPEND written ${folder}/${name}_${part}.cpp)
      string(APPEND lists "namespace ${name}_${part} {\nstd::span<const CompiledKernel> kernels();\n}\n")
      string(APPEND addresses "      ${name}_${part}::kernels(),\n")
    endforeach()
    set(kept ${TEMPERA_KEPT_PTX}/${name}.${target}.ptx)
    add_custom_command(OUTPUT ${written}
      COMMAND ${Python3_EXECUTABLE} ${ptx_library}/to_cpp.py ${kept} ${name} ${parts} ${folder}
      DEPENDS ${ptx_translator} ${kept} VERBATIM)
    list(APPEND sources ${written})
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/all_kernels.cpp @ONLY CONTENT "#include \"tests/simt/ptx/all_kernels.hpp\"

namespace tempera::lab::ptx {

@lists@
std::vector<std::span<const CompiledKernel>> all_kernels() {
  return {
@addresses@  };
}

}  // namespace tempera::lab::ptx
")
  add_library(${library} STATIC ${sources} ${folder}/all_kernels.cpp ${ptx}/run_compiled.cpp)
  target_link_libraries(${library} PUBLIC compiled_planted)
  target_compile_definitions(${library} PUBLIC TEMPERA_PTX_TARGET="${target}")
  tempera_ptx_options(${library} ${sources})
endfunction()

# tempera_ptx_program(NAME OF LIBRARY): the cases of program OF over the kernels of a library, and more cases.
function(tempera_ptx_program name of library)
  add_executable(${name} $<TARGET_OBJECTS:${of}> ${ptx_cases} $<TARGET_OBJECTS:test_main>)
  # A kernel is found by its name, which the linker would drop.
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  target_link_libraries(${name} PRIVATE ${library} test_headers)
  target_precompile_headers(${name} REUSE_FROM test_headers)
endfunction()

tempera_ptx_kernels(compiled_sm_90 sm_90)
tempera_ptx_program(test_simt_ptx test_simt compiled_sm_90)
tempera_ptx_kernels(compiled_sm_80 sm_80)
tempera_ptx_program(test_simt_ptx_sm_80 test_simt compiled_sm_80)
set_target_properties(test_simt_ptx_sm_80 PROPERTIES EXCLUDE_FROM_ALL ON)
