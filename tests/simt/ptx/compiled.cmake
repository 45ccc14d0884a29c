# What nvcc compiled of every production kernel, kept as PTX, translated to C++ and run by fibers: the programs that end
# in _ptx are those of the kernels' text, with the same test cases.
#   test_simt_ptx   tests/simt for sm_90, and tests/simt/ptx/cases besides; with TEMPERA_PTX_TARGET=sm_80 what differs there
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

# The kernels for sm_80 that differ from those for sm_90.
set(other_target ${CMAKE_CURRENT_BINARY_DIR}/ptx_other_target/other_target.cpp)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/ptx_other_target)
file(GLOB every_kept_of_both CONFIGURE_DEPENDS ${TEMPERA_KEPT_PTX}/*.ptx)
add_custom_command(OUTPUT ${other_target}
  COMMAND ${Python3_EXECUTABLE} ${ptx}/other_target.py ${CMAKE_CURRENT_BINARY_DIR}/ptx_other_target
  DEPENDS ${ptx}/other_target.py ${ptx_library}/kept.py ${ptx_translator} ${every_kept_of_both} VERBATIM)

# The kernels for sm_90, as a library.
set(folder ${CMAKE_CURRENT_BINARY_DIR}/ptx_sm_90)
file(MAKE_DIRECTORY ${folder})
set(sources ${other_target})
set(lists)
set(addresses)
# Files of about as many instructions each, so that they compile side by side.
foreach(row queue_draw:1 cuda_kernels:1 recurrence:1 token_step:1 attention_launch:3 product_launch:8
    dense_layers_launch:3 tensor_core_check:1 integer_kernels:1 warpgroup_product_launch:5)
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
  set(kept ${TEMPERA_KEPT_PTX}/${name}.sm_90.ptx)
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
add_library(compiled_sm_90 STATIC ${sources} ${folder}/all_kernels.cpp ${ptx}/run_compiled.cpp)
target_link_libraries(compiled_sm_90 PUBLIC compiled_planted)
tempera_ptx_options(compiled_sm_90 ${sources})

# The cases of test_simt over these kernels, and more cases.
add_executable(test_simt_ptx $<TARGET_OBJECTS:test_simt> ${ptx_cases} $<TARGET_OBJECTS:test_main>)
# A kernel is found by its name, which the linker would drop.
set_target_properties(test_simt_ptx PROPERTIES ENABLE_EXPORTS ON)
target_link_libraries(test_simt_ptx PRIVATE compiled_sm_90 test_headers)
target_precompile_headers(test_simt_ptx REUSE_FROM test_headers)
