# Copies of a header of kernels, each with one defect planted in its text, for the tests that must tell them from the sound
# ones. A defect whose text is no longer there stops the configuration: it would be a test that cannot fail.
set(planted_folder ${CMAKE_CURRENT_BINARY_DIR}/planted)

# tempera_plant(HEADER DEFECT FROM TO): the copy is in namespace planted::DEFECT. `own_functions` of the caller are functions of
# the header that it calls with types of tempera::gpu. Their names are put in parentheses, or a call would find the sound header's too.
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
  foreach(function IN LISTS own_functions)
    string(REGEX REPLACE "([^A-Za-z0-9_:.])${function}\\(" "\\1(${function})(" text "${text}")
    string(REGEX REPLACE "([^A-Za-z0-9_:.])${function}(<[A-Za-z_:, ]*>)\\(" "\\1(${function}\\2)(" text "${text}")
  endforeach()
  get_filename_component(name ${header} NAME_WE)
  file(CONFIGURE OUTPUT ${planted_folder}/${name}_${defect}.hpp CONTENT "@text@" @ONLY)
  set(planted_defects ${planted_defects} ${defect} PARENT_SCOPE)
endfunction()

set(draw gpu/core/lottery/cuda/draw_kernels.cuh)
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

set(step gpu/llm/transformer/kernels/cuda/token_step.cuh)
set(own_functions copy_for_step)
set(planted_defects)
tempera_plant(${step} none "" "")
tempera_plant(${step} stale_page "i < counts.entries; i += stride" "i + 1 < counts.entries; i += stride")
tempera_plant(${step} copied_page_not_copied "update.copies, counts.copies," "update.copies, counts.copies / 2,")
tempera_plant(${step} padded_row_on_a_live_page
  "      slot_tables_.hold(slot, {0, {&model.scratch_page, 1}}, entries);\n" "")
tempera_plant(${step} one_split_too_many_shared "tables.splits[row] = input.ordered.splits" "tables.splits[row] = input.ordered.splits + 1")
tempera_plant(${step} order_of_the_slots "tables.order[row] = input.ordered.slot" "tables.order[row] = row")
tempera_plant(${step} sharing_of_a_record_that_went "      shared_splits_.hold(slot, {0, {}});\n" "")
tempera_plant(${step} tile_maximum_left_out "tile_largest_.data(), tiles, blocks_each" "tile_largest_.data(), tiles - 1, blocks_each")
tempera_plant(${step} stale_token_of_a_fork "row->token == drawn_[slot] ? 1 : 0" "drawn_[slot] ? 1 : 0")
tempera_plant(${step} count_of_the_last_graph "graphs_[shape]" "graphs_[{1, shape.context}]")
tempera_plant(${step} slot_of_the_next_token "static_cast<std::uint32_t>(last % page_tokens)"
  "static_cast<std::uint32_t>((last + 1) % page_tokens)")
tempera_plant(${step} draw_of_the_neighbour "requests.requests[*row_in[slot]]" "requests.requests[(*row_in[slot] + 1) % rows.size()]")
tempera_plant(${step} stale_state "i < counts.state_entries; i += stride" "i + 1 < counts.state_entries; i += stride")
tempera_plant(${step} copied_state_not_copied "update.state_copies, counts.state_copies," "update.state_copies, 0,")
tempera_plant(${step} states_copied_as_pages "counts.state_copies, states, first" "counts.state_copies, tables.row_states > 999 ? states : memory, first")
tempera_plant(${step} padded_row_on_a_live_state "slot_states_.hold(slot, {0, {&model.scratch_state, 1}}, state_entries);" "{}")
tempera_plant(${step} state_of_the_neighbouring_slot "tables.first_state[row] = row *" "tables.first_state[row] = (row + 1) % tables.rows *")
set(includes)
set(rows)
foreach(defect IN LISTS planted_defects)
  string(APPEND includes "#include \"planted/token_step_${defect}.hpp\"\n")
  string(APPEND rows "    {\"${defect}\", make_planted_step<planted::${defect}::CudaTokenStep>},\n")
endforeach()
set(own_functions)
file(CONFIGURE OUTPUT ${planted_folder}/step_defects.hpp @ONLY CONTENT "#pragma once

#include <memory>

@includes@
namespace tempera::gpu {

template <class Step>
std::unique_ptr<TokenStep> make_planted_step(simt::Stream& stream) {
  return std::make_unique<Step>(stream, 3);
}

struct PlantedStep {
  const char* defect;
  std::unique_ptr<TokenStep> (*make)(simt::Stream& stream);
};

inline const PlantedStep planted_steps[] = {
@rows@};

}  // namespace tempera::gpu
")
set(recurrence gpu/llm/transformer/kernels/cuda/recurrence.cuh)
set(own_functions record_of_row window_of keep_inputs tokens_at_a_time_of)
set(planted_defects)
tempera_plant(${recurrence} none "" "")
tempera_plant(${recurrence} stale_memory_behind_a_checkpoint
  "(begin.before == nullptr ? begin.after : begin.before)" "begin.after")
tempera_plant(${recurrence} memory_not_empty_at_the_beginning "in_state, begin.before != nullptr)" "in_state)")
tempera_plant(${recurrence} checkpoint_not_kept "if (!is_last && position % state_tokens + 1 != state_tokens)" "if (!is_last)")
tempera_plant(${recurrence} checkpoint_one_token_old "position % state_tokens + 1 != state_tokens" "position % state_tokens + 2 != state_tokens")
tempera_plant(${recurrence} gate_of_the_neighbouring_head
  "buffer[shape.gate_begin + head * value_dim" "buffer[shape.gate_begin + (head + 1) % 4 * value_dim")
tempera_plant(${recurrence} decay_of_the_neighbouring_head
  "buffer[shape.decay_begin + head]" "buffer[shape.decay_begin + (head + 1) % 4]")
tempera_plant(${recurrence} strength_of_the_neighbouring_head
  "buffer[shape.strength_begin + head]" "buffer[shape.strength_begin + (head + 1) % 4]")
tempera_plant(${recurrence} value_heads_take_keys_in_turn
  "head / (shape.value_heads / shape.key_heads)" "head % shape.key_heads")
tempera_plant(${recurrence} answers_in_the_order_of_memories "= answer_index(shape, head)" "= head")
tempera_plant(${recurrence} no_barrier_before_the_norm "  simt::warp_barrier();\n" "")
tempera_plant(${recurrence} convolution_one_token_short "for (unsigned tap = 0; tap < taps" "for (unsigned tap = 1; tap < taps")
tempera_plant(${recurrence} convolution_without_its_state "kept == nullptr ? 0.0f" "kept == nullptr || i == 1 ? 0.0f")
tempera_plant(${recurrence} inputs_kept_one_token_old "window(rows + i, channel)" "window(rows + i - 1, channel)")
tempera_plant(${recurrence} last_channel_not_kept "channel < end; channel" "channel + 1 < end; channel")
tempera_plant(${recurrence} read_before_the_write "= fused_multiply_add(cell, query[k], output)"
  "= fused_multiply_add(fused_multiply_add(-key[k], written, cell), query[k], output)")
set(includes)
set(rows)
foreach(defect IN LISTS planted_defects)
  string(APPEND includes "#include \"planted/recurrence_${defect}.hpp\"\n")
  string(APPEND rows "    {\"${defect}\", planted::${defect}::launch_recurrence},\n")
endforeach()
file(CONFIGURE OUTPUT ${planted_folder}/recurrence_defects.hpp @ONLY CONTENT "#pragma once

@includes@
namespace tempera::gpu {

struct PlantedRecurrence {
  const char* defect;
  void (*launch)(simt::Stream&, const RecurrentShape&, const RecurrentWeights&, const TokenRows&, const RecurrentStates&,
                 float*, float*, std::uint16_t*);
};

inline const PlantedRecurrence planted_recurrences[] = {
@rows@};

}  // namespace tempera::gpu
")


set(own_functions)
set(attention gpu/llm/transformer/kernels/cuda/attention.cuh)
set(planted_defects)
tempera_plant(${attention} none "" "")
tempera_plant(${attention} positions_of_the_leader "count_of(r) : 0" "count_of(0) : 0")
tempera_plant(${attention} values_of_the_longest_row "if (Rows == 1 || fewest >= run_end) {" "if (group.rows == Rows) {")
tempera_plant(${attention} runs_of_the_leader "(count_of(r) + run_positions - 1)" "(count_of(0) + run_positions - 1)")
tempera_plant(${attention} every_position_of_the_leader "return Rows == 1 ? position" "return r < 99 ? position")
tempera_plant(${attention} queries_of_the_leader "projected(group.row(vector / Queries))" "projected(leader)")
tempera_plant(${attention} scores_of_the_first_row "queries + (chunk * all_queries + r * Queries + q) * chunk_elements" "queries + (chunk * all_queries + q) * chunk_elements")
tempera_plant(${attention} weights_of_the_first_row "load_neighbours(weights_of_values + (r * split_positions + s) * Queries" "load_neighbours(weights_of_values + s * Queries")
tempera_plant(${attention} largest_of_the_first_row "maxima[w * all_queries + r * Queries + q]" "maxima[w * all_queries + q]")
tempera_plant(${attention} sums_of_some_queries "vector += attention_warps) {\n    const unsigned r = vector / Queries;" "vector += 999) {\n    const unsigned r = vector / Queries;")
tempera_plant(${attention} leader_alone_counted "if (thread < group.rows)" "if (thread < 1)")
tempera_plant(${attention} leader_alone_combined "r < group.rows; ++r) {\n    const unsigned row = group.row(r);\n    const unsigned splits"
  "r < 1; ++r) {\n    const unsigned row = group.row(r);\n    const unsigned splits")
tempera_plant(${attention} one_split_too_many "shared.splits[i] > simt" "shared.splits[i] >= simt")
tempera_plant(${attention} rows_of_two_blocks "leader + members < end && is_led" "leader + members < rows && is_led")
tempera_plant(${attention} one_group_of_a_block "leader += parts" "leader += 999")
tempera_plant(${attention} rows_in_another_order "return order == nullptr ? first : order[first + i];" "return first + i;")
set(includes)
set(rows)
foreach(defect IN LISTS planted_defects)
  string(APPEND includes "#include \"planted/attention_${defect}.hpp\"\n")
  string(APPEND rows "    {\"${defect}\", planted::${defect}::attend_split<1, 2, 8, Bfloat16Elements>},\n")
endforeach()
file(CONFIGURE OUTPUT ${planted_folder}/attention_defects.hpp @ONLY CONTENT "#pragma once

#include \"gpu/llm/transformer/kernels/cuda/attention_launch.hpp\"
@includes@
namespace tempera::gpu {

/// For heads of at most 64 elements, two queries of a key head, and eight rows together.
struct PlantedAttention {
  const char* defect;
  AttentionKernel attend;
};

inline const PlantedAttention planted_attentions[] = {
@rows@};

}  // namespace tempera::gpu
")

set(own_functions)
set(packed gpu/llm/transformer/kernels/cuda/packed_weights.cuh)
set(planted_defects)
tempera_plant(${packed} none "" "")
tempera_plant(${packed} scale_of_the_neighbour
  "finite_float16(number<std::uint16_t>(begin))" "finite_float16(number<std::uint16_t>(begin + (output < 15 ? 2 : 0)))")
tempera_plant(${packed} halves_of_a_step_swapped "put(i / 2, i % 2, four_bit_weights(" "put(i / 2, 1 - i % 2, four_bit_weights(")
tempera_plant(${packed} outputs_and_halves_swapped "registers[step][row + 2 * half]" "registers[step][half + 2 * row]")
tempera_plant(${packed} cut_not_rounded "simt::round_to_bfloat16s(first, second)"
  "__builtin_bit_cast(std::uint32_t, first) >> 16 | (__builtin_bit_cast(std::uint32_t, second) & 0xFFFF0000U)")
tempera_plant(${packed} inputs_of_the_neighbouring_lane "(47 - 8 * t) % 32" "(47 - 8 * (t ^ 1)) % 32")
tempera_plant(${packed} one_not_taken_off "float_of(second) - 1.0f" "float_of(second)")
tempera_plant(${packed} minimum_added "-(reader.float16(32)" "(reader.float16(32)")
tempera_plant(${packed} sign_lost "bits_of_one ^ 0x00400000U" "bits_of_one")
tempera_plant(${packed} scale_of_the_other_step "32 + step * tile_outputs" "32 + (1 - step) * tile_outputs")
tempera_plant(${packed} high_bits_of_the_other_half "of_half = half == 0 ? high" "of_half = half == 1 ? high")
tempera_plant(${packed} scales_of_the_first_run "own_offsets * in_block" "(Type == Packing::q4_k ? 0 : own_offsets * in_block)")
tempera_plant(${packed} low_bits_of_the_first_run "own_quants * in_block" "(Type == Packing::q6_k ? 0 : own_quants * in_block)")
tempera_plant(${packed} last_bytes_not_copied "if (v < high_to + own_high)" "if (v + (Type == Packing::q6_k ? 1 : 0) < high_to + own_high)")
tempera_plant(${packed} fifth_bits_of_the_other_half "of_word = high >> (8 * i)" "of_word = high >> (8 * (i ^ 1))")
tempera_plant(${packed} quants_of_two_bits_of_the_other_half "quants = word >> (16 * half)" "quants = word >> (16 * (1 - half))")
tempera_plant(${packed} fifth_bits_of_the_first_run "own_high * in_block" "(Type == Packing::q5_k ? 0 : own_high * in_block)")
tempera_plant(${packed} scale_of_the_first_run_of_eight_bits "own_offsets * in_block" "(Type == Packing::q8_scaled ? 0 : own_offsets * in_block)")
tempera_plant(${packed} every_tile_the_first "blocks[tile]" "blocks[tile < 99 ? 0 : tile]")
tempera_plant(${packed} no_barrier_of_the_warp "across_lanes = true" "across_lanes = false")
set(includes)
set(rows)
foreach(defect IN LISTS planted_defects)
  string(APPEND includes "#include \"planted/packed_weights_${defect}.hpp\"\n")
  string(APPEND rows "    {\"${defect}\", launch_planted_product<planted::${defect}::PackedWeights>},\n")
endforeach()
file(CONFIGURE OUTPUT ${planted_folder}/packed_defects.hpp @ONLY CONTENT "#pragma once

#include \"gpu/llm/transformer/kernels/cuda/product.cuh\"
#include \"gpu/llm/transformer/kernels/cuda/product_epilogues.cuh\"
@includes@
namespace tempera::gpu {

/// Of at most eight rows.
template <class Weights>
void launch_planted_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                            const StoreProduct& epilogue) {
  simt::launch({.blocks = {plan.blocks}, .threads = product_threads, .shared_bytes = plan.shared_bytes}, stream,
               product<1, 1, StoreProduct, Weights>, plan, operands, epilogue);
}

struct PlantedPackedWeights {
  const char* defect;
  void (*launch)(simt::Stream&, const ProductPlan&, const ProductOperands&, const StoreProduct&);
};

inline const PlantedPackedWeights planted_packed_weights[] = {
@rows@};

}  // namespace tempera::gpu
")
set(warpgroups gpu/llm/transformer/kernels/cuda/warpgroup_product.cuh)
set(own_functions load_weights ask_for_steps add_to_total store_segment finish_results)
set(planted_defects)
tempera_plant(${warpgroups} nothing "" "")
tempera_plant(${warpgroups} copies_over_what_steps_read "fetched = ring + ahead * Layout::stage_vectors" "fetched = ring")
tempera_plant(${warpgroups} weights_of_another_step "weights[1] = own[simt::warp_lanes]" "weights[1] = own[0]")
tempera_plant(${warpgroups} inputs_of_the_first_step "inputs + step_vectors" "inputs + 0 * step_vectors")
tempera_plant(${warpgroups} weights_of_another_warp "simt::warp() * Layout::tile_vectors" "(simt::warp() ^ 1) * Layout::tile_vectors")
tempera_plant(${warpgroups} tokens_one_matrix_late
  "weights[0], inputs, Layout::next_tokens" "weights[0], inputs, Layout::next_tokens + simt::core_matrix_bytes")
tempera_plant(${warpgroups} first_copies_not_shown
  "simt::show_copies_to_steps();\n  simt::barrier();" "simt::barrier();")
tempera_plant(${warpgroups} copies_not_shown "    simt::show_copies_to_steps();\n    //" "    //")
tempera_plant(${warpgroups} steps_not_waited_for "    simt::wait_warpgroup_steps<0>(sums);\n" "")
tempera_plant(${warpgroups} steps_not_begun "  simt::begin_warpgroup_steps(sums);\n" "")
tempera_plant(${warpgroups} weights_not_taken_by_turns "take_stage(stage + 1, weights[1], weights[0])" "take_stage(stage + 1, weights[0], weights[1])")
tempera_plant(${warpgroups} sums_not_cleared "for (float& sum : sums) sum = 0" "for (float& sum : sums) sum = segment == 0 ? 0 : sum")
tempera_plant(${warpgroups} first_segment_left_out "is_first ? sums[i]" "(void(is_first), true) ? sums[i]")
tempera_plant(${warpgroups} first_segment_twice "*place + sums[i];" "*place + *place + sums[i];")
tempera_plant(${warpgroups} stage_one_late "copies.ask_for_inputs(stage + ahead, fetched)" "copies.ask_for_inputs(stage + ahead - 1, fetched)")
tempera_plant(${warpgroups} weights_of_the_next_step "fetch(tiles[i], 2 * stage, true" "fetch(tiles[i], 2 * stage + (stage == 0 ? 1 : 0), true")
tempera_plant(${warpgroups} inputs_out_of_turn "Layout::input_place(token_of(i), piece())" "token_of(i) * Layout::row_vectors + piece()")
tempera_plant(${warpgroups} last_row_of_its_neighbour "const unsigned last = plan.rows - 1" "const unsigned last = plan.rows - 2")
tempera_plant(${warpgroups} last_tile_of_its_neighbour "const unsigned last = plan.units - 1" "const unsigned last = plan.units - 2")
tempera_plant(${warpgroups} tokens_of_the_chunk_before "const unsigned token = job.chunk * Layout::tokens" "const unsigned token = 0 * Layout::tokens")
tempera_plant(${warpgroups} added_to_the_neighbour "before[i] = epilogue.before(plan, first_token + token, index)"
  "before[i] = epilogue.before(plan, first_token + token, 0)")
tempera_plant(${warpgroups} last_tokens_not_stored "const unsigned left = plan.rows - first_token" "const unsigned left = plan.rows - first_token - 1")
tempera_plant(${warpgroups} segment_of_two_stages_more
  "left < Layout::segment_stages ? left : Layout::segment_stages" "left < 18 ? left : 18")
tempera_plant(${warpgroups} last_stages_lost "wanted < all ? wanted : all" "(wanted < all ? wanted : all) / 16 * 16")
set(of_whole ${planted_defects})
tempera_plant(${warpgroups} segment_over_the_first "std::size_t{segment} * plan.rows" "std::size_t{0 * segment} * plan.rows")
tempera_plant(${warpgroups} stored_tokens_exchanged "i / 4 * 8 + i % 2" "i / 4 * 8 + (i + 1) % 2")
tempera_plant(${warpgroups} stored_outputs_exchanged "i / 2 % 2 * 8] = sums[i]" "(i / 2 + 1) % 2 * 8] = sums[i]")
tempera_plant(${warpgroups} part_from_the_beginning
  "begin = job.segment_begin * Layout::segment_stages" "begin = 0 * Layout::segment_stages")
tempera_plant(${warpgroups} stored_tokens_of_the_first_block "job.chunk * Layout::tokens + 2 * t" "2 * t")
set(of_cut ${planted_defects})
list(REMOVE_ITEM of_cut ${of_whole})
tempera_plant(${warpgroups} gate_stored_as_neighbour
  "(job.first_unit * together + warp) * tile_outputs + g" "(job.first_unit + warp) * tile_outputs + g")
set(of_cut_gates ${planted_defects})
list(REMOVE_ITEM of_cut_gates ${of_whole} ${of_cut})
tempera_plant(${warpgroups} gate_as_up "place % together * (plan.tiles / 2)" "(together - 1 - place % together) * (plan.tiles / 2)")
tempera_plant(${warpgroups} up_of_the_neighbouring_unit "total[Layout::result_place(unit * together + tile, output, token)]"
  "total[Layout::result_place((unit * together + tile) ^ (tile == 1 ? 2 : 0), output, token)]")
set(includes)
set(rows)
foreach(defect IN LISTS planted_defects)
  string(APPEND includes "#include \"planted/warpgroup_product_${defect}.hpp\"\n")
  set(where gated)
  if(defect IN_LIST of_whole)
    set(where whole)
  elseif(defect IN_LIST of_cut)
    set(where cut)
  elseif(defect IN_LIST of_cut_gates)
    set(where cut_gates)
  endif()
  string(APPEND rows "    {\"${defect}\", PlantedWarpgroups::Where::${where},
     launch_planted_warpgroups<AddProduct, planted::${defect}::warpgroup_product<WarpgroupLayout<8, 64>, AddProduct>>,
     launch_planted_warpgroups<GateProduct, planted::${defect}::warpgroup_product<WarpgroupLayout<8, 64>, GateProduct>>},\n")
endforeach()
file(CONFIGURE OUTPUT ${planted_folder}/warpgroup_defects.hpp @ONLY CONTENT "#pragma once

#include \"gpu/llm/transformer/kernels/cuda/product.cuh\"
#include \"gpu/llm/transformer/kernels/cuda/product_epilogues.cuh\"
@includes@
namespace tempera::gpu {

template <class Epilogue, auto Kernel>
void launch_planted_warpgroups(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                               const Epilogue& epilogue) {
  simt::launch({.blocks = {plan.blocks}, .threads = WarpgroupLayout<8, 64>::threads, .shared_bytes = plan.shared_bytes}, stream,
               Kernel, plan, operands, epilogue);
  if (plan.adding != Adding::next_kernel) return;
  simt::launch({.blocks = {plan.adding_blocks(Epilogue::gated)}, .threads = product_threads}, stream, add_segments<Epilogue>,
               plan, operands.scratch, epilogue);
}

struct PlantedWarpgroups {
  enum class Where { whole, cut, cut_gates, gated };  ///< which product shows it: all segments, cut ones, cut and gated, gated
  const char* defect;
  Where where;
  void (*add)(simt::Stream&, const ProductPlan&, const ProductOperands&, const AddProduct&);
  void (*gate)(simt::Stream&, const ProductPlan&, const ProductOperands&, const GateProduct&);
};

inline const PlantedWarpgroups planted_warpgroups[] = {
@rows@};

}  // namespace tempera::gpu
")
set(own_functions)
target_include_directories(test_simt PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
