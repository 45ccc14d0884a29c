# Copies of a header of kernels, each with one defect planted in its text, for the tests that must tell them from the sound
# ones. A defect whose text is no longer there stops the configuration: it would be a test that cannot fail.
set(planted_folder ${CMAKE_CURRENT_BINARY_DIR}/planted)

# tempera_plant(HEADER DEFECT FROM TO): the copy lies in namespace planted::DEFECT.
function(tempera_plant header defect from to)
  file(READ ${PROJECT_SOURCE_DIR}/${header} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
  string(REPLACE "namespace tempera::gpu::inline TEMPERA_SIMT_FORM" "namespace tempera::gpu::planted::${defect}" text "${text}")
  if(NOT from STREQUAL "")
    string(FIND "${text}" "${from}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "the defect ${defect} of ${header} has lost its text: ${from}")
    endif()
    string(REPLACE "${from}" "${to}" text "${text}")
  endif()
  get_filename_component(name ${header} NAME_WE)
  file(CONFIGURE OUTPUT ${planted_folder}/${name}_${defect}.hpp CONTENT "@text@" @ONLY)
  set(planted_defects ${planted_defects} ${defect} PARENT_SCOPE)
endfunction()

set(draw gpu/lottery/cuda/draw_kernels.cuh)
set(planted_defects)
tempera_plant(${draw} none "" "")
tempera_plant(${draw} neighbouring_rung
  "total += batch.ticket_sums_of(request, c)[k]" "total += batch.ticket_sums_of(request, c)[(k + 1) % request.rungs]")
tempera_plant(${draw} neighbouring_sum
  "ticket_sums[first + simt::thread()] = sum" "ticket_sums[first + (simt::thread() + 1) % count] = sum")
tempera_plant(${draw} no_barrier_before_the_sum
  "      simt::barrier();\n      if (simt::thread() < count)" "      if (simt::thread() < count)")
tempera_plant(${draw} no_barrier_before_the_next_chunk
  "write what is summed here.\n      simt::barrier();" "")
tempera_plant(${draw} no_barrier_before_the_winner "    below += tickets[i];\n  }\n  simt::barrier();" "    below += tickets[i];\n  }")
tempera_plant(${draw} no_carry "a = a + GrainSum{high, low}" "a = GrainSum{a.high + high, a.low + low}")
tempera_plant(${draw} chunk_one_short "v < batch.end_of(c) ? logits[v]" "v + 1 < batch.end_of(c) ? logits[v]")
tempera_plant(${draw} chunk_one_long "threshold < sum)" "threshold <= sum)")
tempera_plant(${draw} chunk_not_subtracted "  threshold -= below;\n" "")
tempera_plant(${draw} threshold_off_by_one "threshold - below < tickets[i]" "threshold - below <= tickets[i]")
tempera_plant(${draw} tile_left_out "tile < tiles; tile" "tile + 1 < tiles; tile")
tempera_plant(${draw} infinity_unmarked "marked(tile_largest[row * tiles + tile])" "tile_largest[row * tiles + tile]")
tempera_plant(${draw} own_lane_counted "return sum - a;" "return sum;")
tempera_plant(${draw} power_of_another_row
  "batch.powers[request.first_rung + request.rung]" "batch.powers[request.rung]")
set(includes)
set(rows)
foreach(defect IN LISTS planted_defects)
  string(APPEND includes "#include \"planted/draw_kernels_${defect}.hpp\"\n")
  string(APPEND rows "    {\"${defect}\", planted::${defect}::sum_tickets, planted::${defect}::draw_winner},\n")
endforeach()
file(CONFIGURE OUTPUT ${planted_folder}/draw_defects.hpp @ONLY CONTENT "#pragma once

@includes@
namespace tempera::gpu {

struct PlantedDraw {
  const char* defect;
  void (*sum_tickets)(RowBatch, const float*, std::uint64_t);
  void (*draw_winner)(RowBatch);
};

inline const PlantedDraw planted_draws[] = {
@rows@};

}  // namespace tempera::gpu
")
target_include_directories(test_simt PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
