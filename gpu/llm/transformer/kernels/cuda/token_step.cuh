#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <compare>
#include <cstring>
#include <map>
#include <utility>

#include "gpu/core/lottery/cuda/queue_draw.cuh"
#include "gpu/core/lottery/rows/row_requests.hpp"
#include "gpu/device/simt/step_graph.cuh"
#include "gpu/llm/transformer/cache/shared_splits.hpp"
#include "gpu/llm/transformer/cache/slot_tables.hpp"
#include "gpu/llm/transformer/kernels/cuda/page_copy.cuh"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/llm/transformer/kernels/cuda/tried_forms.hpp"
#include "gpu/llm/transformer/kernels/token_step.hpp"

// The step as a graph: a kernel that takes in what has changed, the model's kernels, and the draw's
// two. Every array that the kernels read stays where it is from step to step.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

constexpr unsigned step_threads = 256;

/// How much of a step's buffer there is.
struct StepCounts {
  std::uint32_t entries, copies, state_entries, state_copies;
};

/// What a step is told of one slot.
struct StepInput {
  std::uint32_t token;
  std::uint32_t is_drawn;  // 1 if the token is the slot's last winner, 0 if it is `token`
  std::uint32_t position;
  std::uint32_t asked_page;  // where the token is whose logits are asked for
  std::uint32_t asked_slot;
  SharedSplits::Place ordered;  // what is at the slot's place in the order of those that share
};

/// The buffer of a step, in device memory.
struct StepUpdate {
  const StepCounts* counts;
  const StepInput* inputs;                   // [rows]
  const PagedCache::PageCopy* copies;        // [counts->copies]
  const PagedCache::PageCopy* state_copies;  // [counts->state_copies]
  const PageEntry* entries;                  // [counts->entries], and those of states after them
};

/// What the kernels of the model read of a step's rows, in device memory.
struct StepTables {
  std::uint32_t rows;
  std::uint32_t row_pages;     // that a row's table has room for
  std::uint32_t* tokens;       // [rows]
  std::uint32_t* positions;    // [rows]
  std::uint32_t* first_page;   // [rows]
  std::uint32_t* page_table;   // [slots, row_pages]
  std::uint32_t* asked_pages;  // [rows]
  std::uint32_t* asked_slots;  // [rows]
  std::uint32_t* order;        // [rows], of SharedRows
  std::uint32_t* splits;       // [rows], of SharedRows
  // What a model with recurrent states needs; each row is a record of its own.
  std::uint32_t row_states;    // that a row's table has room for; 0 if there are none
  std::uint32_t* first_row;    // [rows + 1]
  std::uint32_t* first_state;  // [rows]
  std::uint32_t* state_table;  // [slots, row_states]
};

/// Copies whole pages, or states, by all threads of a launch.
TEMPERA_ON_DEVICE inline void copy_for_step(const PagedCache::PageCopy* copies, unsigned count,
                                            const PageMemory& memory, unsigned first,
                                            unsigned stride) {
  for (unsigned copy = 0; copy < count; ++copy) {
    const PagedCache::PageCopy pages = copies[copy];
    copy_page(memory, pages.source, pages.target, first, stride);
  }
}

/// Takes in a step's buffer: the entries of the tables of pages and states, the rows' tokens and
/// positions, and the copies of pages and states. drawn: [rows], the winners of the step before.
/// Grid: any number of blocks.
TEMPERA_KERNEL(step_threads)
begin_step(const StepUpdate update, const StepTables tables, const std::uint64_t* drawn,
           const PageMemory memory, const PageMemory states) {
  const unsigned first = simt::block().x * step_threads + simt::thread();
  const unsigned stride = simt::blocks().x * step_threads;
  const StepCounts counts = *update.counts;
  for (unsigned i = first; i < counts.entries; i += stride) {
    const PageEntry entry = update.entries[i];
    tables.page_table[std::size_t{entry.slot} * tables.row_pages + entry.index] = entry.page;
  }
  for (unsigned row = first; row < tables.rows; row += stride) {
    const StepInput input = update.inputs[row];
    tables.tokens[row] = input.is_drawn != 0 ? static_cast<std::uint32_t>(drawn[row]) : input.token;
    tables.positions[row] = input.position;
    tables.first_page[row] = row * tables.row_pages;
    tables.asked_pages[row] = input.asked_page;
    tables.asked_slots[row] = input.asked_slot;
    tables.order[row] = input.ordered.slot;
    tables.splits[row] = input.ordered.splits;
  }
  copy_for_step(update.copies, counts.copies, memory, first, stride);
  if (tables.row_states == 0) return;
  for (unsigned i = first; i < counts.state_entries; i += stride) {
    const PageEntry entry = update.entries[counts.entries + i];
    tables.state_table[std::size_t{entry.slot} * tables.row_states + entry.index] = entry.page;
  }
  for (unsigned row = first; row <= tables.rows; row += stride) {
    tables.first_row[row] = row;
    if (row < tables.rows) tables.first_state[row] = row * tables.row_states;
  }
  copy_for_step(update.state_copies, counts.state_copies, states, first, stride);
}

/// TokenStep by CUDA kernels, on the stream that the model's are queued on.
class CudaTokenStep final : public TokenStep {
 public:
  /// @param stream must outlive it, as `tried` must, which may change between steps
  CudaTokenStep(simt::Stream& stream, unsigned multiprocessors,
                const TriedForms& tried = shipped_forms)
      : stream_(stream), multiprocessors_(multiprocessors), tried_(tried) {}

  std::vector<ScoredToken> run(const StepModel& model, std::span<const StepRow> rows, Copies copies,
                               Copies state_copies) override;

 private:
  /// Which graph a step is.
  struct Shape {
    std::size_t rows = 0;     // by slots_for
    std::size_t context = 0;  // above every position: a power of two, or the model's longest text
    bool joined = false;      // as the stream's kernels are when it is captured
    JoinedTrial tried = JoinedTrial::none;
    bool shares = false;  // whether half of what rows read is shared, and read once
    friend auto operator<=>(const Shape&, const Shape&) = default;
  };
  /// What the arrays have room for.
  struct Room {
    std::size_t rows = 0;
    std::size_t row_pages = 0;
    std::size_t row_states = 0;
    std::size_t rungs = 0;
    std::size_t vocabulary = 0;
    friend bool operator==(const Room&, const Room&) = default;
  };
  /// Where the arrays of a block of memory begin, in bytes.
  struct MemoryLayout {
    std::size_t end = 0;
    template <class T>
    std::size_t take(std::size_t count) {
      const std::size_t begin = end;
      end = (end + count * sizeof(T) + 15) / 16 * 16;
      return begin;
    }
  };

  /// The forms of a step by turns, until one has shown to be faster.
  struct FormTrial {
    static constexpr std::size_t turns = 7;  // of each form, and one more that is not timed
    bool has_compared = false;
    std::size_t steps = 0;
    std::vector<double> seconds[2];  // of separate kernels, and of joined layers
    std::optional<bool> joined;      // once it is decided
  };

  Shape shape_of(const StepModel& model, std::span<const StepRow> rows) const;
  /// Takes in how long a step of a trial took.
  static void note(FormTrial& trial, bool joined, double seconds);
  /// The trial of a step's form, if it has one.
  FormTrial* trial_of(const StepModel& model, const Shape& shape);
  /// Queues the step's graph, made if it is not there, and waits for its first `bytes` of results.
  void replay(const StepModel& model, const Shape& shape, std::size_t bytes);
  /// Runs the step in both forms. False if their results differ in a bit.
  bool forms_agree(const StepModel& model, Shape shape, std::size_t bytes);
  void make_room(const StepModel& model, const Shape& shape, std::size_t rungs);
  /// Writes the step's buffer and says how much of it is used.
  std::size_t fill(const StepModel& model, std::span<const StepRow> rows, const Shape& shape,
                   std::span<const std::uint32_t> slots, const RowRequests& requests, Copies copies,
                   Copies state_copies);
  void queue(const StepModel& model, const Shape& shape);
  RowBatch batch_of(const Shape& shape, std::size_t vocabulary);

  template <class T>
  static T* at(std::byte* memory, std::size_t offset) {
    return reinterpret_cast<T*>(memory + offset);
  }

  simt::Stream& stream_;
  unsigned multiprocessors_;
  const TriedForms& tried_;
  Room room_;
  bool in_step_ = false;  // if a step has failed, what the device holds is not known
  SlotTables slot_tables_;
  SlotTables slot_states_;                     // of states, in the same slots
  SharedSplits shared_splits_;                 // of the slots' pages
  std::vector<std::optional<TokenId>> drawn_;  // [slots], as the device holds them
  std::map<Shape, simt::StepGraph> graphs_;
  std::map<Shape, FormTrial> trials_;  // by shapes that are not joined

  // The step's buffer: counts, requests, powers, inputs, copies of pages and of states, entries.
  simt::StagedBytes update_;
  std::size_t requests_at_ = 0, powers_at_ = 0, inputs_at_ = 0, copies_at_ = 0,
              state_copies_at_ = 0, entries_at_ = 0;
  // The results: tokens, log p, status, log z.
  simt::StagedBytes results_;
  std::size_t log_p_at_ = 0, status_at_ = 0, log_z_at_ = 0;
  // StepTables, and what the draw keeps for itself.
  DeviceMemory<std::uint32_t> tables_;
  DeviceMemory<std::byte> sums_;
  std::size_t ticket_sums_at_ = 0, grain_sums_at_ = 0, largest_at_ = 0;
  DeviceMemory<float> logits_;
  DeviceMemory<float> tile_largest_;
};

inline CudaTokenStep::Shape CudaTokenStep::shape_of(const StepModel& model,
                                                    std::span<const StepRow> rows) const {
  std::size_t context = 256;
  for (const StepRow& row : rows) {
    if (row.token) context = std::max(context, row.cache->length() + 1);
  }
  return {slots_for(rows.size(), tried_.slots),
          std::min(std::bit_ceil(context), model.max_position)};
}

inline void CudaTokenStep::make_room(const StepModel& model, const Shape& shape,
                                     std::size_t rungs) {
  const std::size_t vocabulary = model.vocabulary_size;
  const std::size_t row_pages = (shape.context + page_tokens - 1) / page_tokens;
  const std::size_t row_states =
      model.states.bytes == nullptr ? 0 : (shape.context + state_tokens - 1) / state_tokens;
  const Room wanted{std::max(room_.rows, shape.rows), std::max(room_.row_pages, row_pages),
                    std::max(room_.row_states, row_states),
                    std::max(room_.rungs, std::bit_ceil(rungs)), vocabulary};
  if (wanted == room_) return;
  // Everything moves: the device's tables are empty, and no graph is good.
  room_ = {};
  graphs_.clear();
  slot_tables_.forget();
  slot_states_.forget();
  shared_splits_.forget();
  drawn_.assign(wanted.rows, std::nullopt);

  MemoryLayout update;
  update.take<StepCounts>(1);
  requests_at_ = update.take<RowRequest>(wanted.rows);
  powers_at_ = update.take<double>(wanted.rungs);
  inputs_at_ = update.take<StepInput>(wanted.rows);
  copies_at_ = update.take<PagedCache::PageCopy>(wanted.rows);
  state_copies_at_ = update.take<PagedCache::PageCopy>(wanted.rows);
  entries_at_ = update.take<PageEntry>(wanted.rows * (wanted.row_pages + wanted.row_states));
  update_.resize(update.end);

  MemoryLayout results;
  results.take<std::uint64_t>(wanted.rows);
  log_p_at_ = results.take<double>(wanted.rows);
  status_at_ = results.take<std::uint32_t>(wanted.rows);
  log_z_at_ = results.take<double>(wanted.rungs);
  results_.resize(results.end);

  const std::size_t chunks = (vocabulary + RowBatch::chunk - 1) / RowBatch::chunk;
  MemoryLayout sums;
  ticket_sums_at_ = sums.take<std::uint64_t>(chunks * wanted.rungs);
  grain_sums_at_ = sums.take<GrainSum>(chunks * wanted.rows);
  largest_at_ = sums.take<float>(wanted.rows);
  sums_.ensure_size(sums.end);
  tables_.ensure_size(wanted.rows * (9 + wanted.row_pages + wanted.row_states) + 1);
  logits_.ensure_size(wanted.rows * vocabulary);
  tile_largest_.ensure_size(wanted.rows * ((vocabulary + tile_outputs - 1) / tile_outputs));
  room_ = wanted;
}

inline std::size_t CudaTokenStep::fill(const StepModel& model, std::span<const StepRow> rows,
                                       const Shape& shape, std::span<const std::uint32_t> slots,
                                       const RowRequests& requests, Copies copies,
                                       Copies state_copies) {
  std::byte* const buffer = update_.host();
  auto* const row_requests = at<RowRequest>(buffer, requests_at_);
  auto* const inputs = at<StepInput>(buffer, inputs_at_);
  std::vector<std::optional<std::size_t>> row_in(shape.rows);
  for (std::size_t row = 0; row < rows.size(); ++row) row_in[slots[row]] = row;

  const bool has_states = model.states.bytes != nullptr;
  std::vector<PageEntry> entries;
  std::vector<PageEntry> state_entries;
  for (std::uint32_t slot = 0; slot < shape.rows; ++slot) {
    // A slot that computes nothing works on scratch; one without a row is drawn for nobody.
    row_requests[slot] = {};
    inputs[slot] = {0, 0, 0, model.scratch_page, 0, {}};
    const StepRow* const row = row_in[slot] ? &rows[*row_in[slot]] : nullptr;
    if (row != nullptr) {
      row_requests[slot] = requests.requests[*row_in[slot]];
      const std::size_t last = row->token ? row->cache->length() : row->cache->length() - 1;
      inputs[slot].asked_page = row->cache->page_of(last);
      inputs[slot].asked_slot = static_cast<std::uint32_t>(last % page_tokens);
    }
    if (row == nullptr || !row->token) {
      if (has_states) slot_states_.hold(slot, {0, {&model.scratch_state, 1}}, state_entries);
      slot_tables_.hold(slot, {0, {&model.scratch_page, 1}}, entries);
      shared_splits_.hold(slot, {0, {}});
      continue;
    }
    const std::size_t position = row->cache->length();
    inputs[slot].token = *row->token;
    inputs[slot].is_drawn = row->token == drawn_[slot] ? 1 : 0;
    inputs[slot].position = static_cast<std::uint32_t>(position);
    const std::uint64_t number = row->cache->number();
    const PageList pages{number, row->cache->pages().first(position / page_tokens + 1)};
    slot_tables_.hold(slot, pages, entries);
    shared_splits_.hold(slot, pages);
    if (!has_states) continue;
    slot_states_.hold(slot, {number, row->cache->states().first(position / state_tokens + 1)},
                      state_entries);
  }
  for (std::uint32_t slot = 0; slot < shape.rows; ++slot)
    inputs[slot].ordered = shared_splits_.order(shape.rows)[slot];
  const auto count = [](const auto& of) { return static_cast<std::uint32_t>(of.size()); };
  *at<StepCounts>(buffer, 0) = {count(entries), count(copies), count(state_entries),
                                count(state_copies)};
  entries.insert(entries.end(), state_entries.begin(), state_entries.end());
  std::copy(requests.powers.begin(), requests.powers.end(), at<double>(buffer, powers_at_));
  std::copy(copies.begin(), copies.end(), at<PagedCache::PageCopy>(buffer, copies_at_));
  std::copy(state_copies.begin(), state_copies.end(),
            at<PagedCache::PageCopy>(buffer, state_copies_at_));
  std::copy(entries.begin(), entries.end(), at<PageEntry>(buffer, entries_at_));
  return entries_at_ + entries.size() * sizeof(PageEntry);
}

inline RowBatch CudaTokenStep::batch_of(const Shape& shape, std::size_t vocabulary) {
  RowBatch batch;
  batch.rows = shape.rows;
  batch.vocabulary = vocabulary;
  batch.chunks = (vocabulary + RowBatch::chunk - 1) / RowBatch::chunk;
  batch.logits = logits_.data();
  batch.powers = at<double>(update_.device(), powers_at_);
  batch.requests = at<RowRequest>(update_.device(), requests_at_);
  batch.largest = at<float>(sums_.data(), largest_at_);
  batch.ticket_sums = at<std::uint64_t>(sums_.data(), ticket_sums_at_);
  batch.grain_sums = at<GrainSum>(sums_.data(), grain_sums_at_);
  batch.token = at<std::uint64_t>(results_.device(), 0);
  batch.log_p = at<double>(results_.device(), log_p_at_);
  batch.status = at<std::uint32_t>(results_.device(), status_at_);
  batch.log_z = at<double>(results_.device(), log_z_at_);
  return batch;
}

inline void CudaTokenStep::queue(const StepModel& model, const Shape& shape) {
  const std::size_t rows = shape.rows;
  // Nine of them, one element longer in all, and the tables of all slots after.
  std::uint32_t* const arrays = tables_.data();
  std::uint32_t* const page_table = arrays + 9 * room_.rows + 1;
  const StepTables tables{static_cast<std::uint32_t>(rows),
                          static_cast<std::uint32_t>(room_.row_pages),
                          arrays,
                          arrays + room_.rows,
                          arrays + 2 * room_.rows,
                          page_table,
                          arrays + 3 * room_.rows,
                          arrays + 4 * room_.rows,
                          arrays + 5 * room_.rows,
                          arrays + 6 * room_.rows,
                          static_cast<std::uint32_t>(room_.row_states),
                          arrays + 8 * room_.rows,
                          arrays + 7 * room_.rows,
                          page_table + room_.rows * room_.row_pages};
  std::byte* const buffer = update_.device();
  const RowBatch batch = batch_of(shape, model.vocabulary_size);
  simt::launch({.blocks = {2 * multiprocessors_}, .threads = step_threads}, stream_, begin_step,
               StepUpdate{at<StepCounts>(buffer, 0), at<StepInput>(buffer, inputs_at_),
                          at<PagedCache::PageCopy>(buffer, copies_at_),
                          at<PagedCache::PageCopy>(buffer, state_copies_at_),
                          at<PageEntry>(buffer, entries_at_)},
               tables, batch.token, model.memory, model.states);
  TokenRows computed{
      rows, shape.context, tables.tokens, tables.positions, tables.first_page, tables.page_table};
  computed.recurrent = {rows, tables.first_row, tables.first_state, tables.state_table,
                        model.states};
  computed.own_records = true;
  if (shape.shares) computed.shared = {tables.order, tables.splits};
  model.queue(computed, {rows, tables.asked_pages, tables.asked_slots},
              {logits_.data(), tile_largest_.data()});
  const std::size_t tiles = (model.vocabulary_size + tile_outputs - 1) / tile_outputs;
  constexpr unsigned blocks_each = 4;
  queue_draw(batch, tile_largest_.data(), tiles, blocks_each * multiprocessors_, stream_);
}

inline CudaTokenStep::FormTrial* CudaTokenStep::trial_of(const StepModel& model,
                                                         const Shape& shape) {
  const bool can_join = shape.rows <= largest_normed_rows && model.states.bytes == nullptr;
  return stream_.graphs && stream_.times_forms && can_join ? &trials_[shape] : nullptr;
}

inline void CudaTokenStep::note(FormTrial& trial, bool joined, double seconds) {
  if (trial.joined) return;
  ++trial.steps;
  trial.seconds[joined ? 1 : 0].push_back(seconds);
  if (trial.steps < 2 * (FormTrial::turns + 1)) return;
  const auto median = [](std::vector<double> values) {
    values.erase(values.begin());  // the first captures its graph
    std::ranges::nth_element(values, values.begin() + values.size() / 2);
    return values[values.size() / 2];
  };
  trial.joined = median(trial.seconds[1]) < median(trial.seconds[0]);
}

inline void CudaTokenStep::replay(const StepModel& model, const Shape& shape, std::size_t bytes) {
  simt::StepGraph& graph = graphs_[shape];
  if (!graph.is_sound()) graph.capture(stream_, [&] { queue(model, shape); });
  graph.replay(stream_);
  results_.read_back(stream_, bytes);
}

inline bool CudaTokenStep::forms_agree(const StepModel& model, Shape shape, std::size_t bytes) {
  std::vector<std::byte> results[2];
  for (const bool joined : {true, false}) {
    shape.joined = stream_.joined = joined;
    replay(model, shape, bytes);
    results[joined ? 1 : 0].assign(results_.host(), results_.host() + bytes);
  }
  return results[0] == results[1];
}

inline std::vector<ScoredToken> CudaTokenStep::run(const StepModel& model,
                                                   std::span<const StepRow> rows, Copies copies,
                                                   Copies state_copies) {
  require_drawable(model.vocabulary_size);
  std::vector<RowDraw> draws;
  std::vector<const Cache*> records;
  for (const StepRow& row : rows) {
    draws.push_back(row.draw);
    records.push_back(row.cache);
  }
  const RowRequests requests = requests_of(draws);
  Shape shape = shape_of(model, rows);
  if (std::exchange(in_step_, true)) room_ = {};
  make_room(model, shape, requests.powers.size());
  const std::vector<std::uint32_t> slots = slot_tables_.assign(records, shape.rows);
  slot_states_.assign(records, shape.rows);  // the same slots: both have seen the same records

  FormTrial* const trial = trial_of(model, shape);
  // A token that the step before has drawn would be another one when the step runs again.
  if (trial != nullptr && !trial->has_compared) std::ranges::fill(drawn_, std::nullopt);
  const std::size_t used = fill(model, rows, shape, slots, requests, copies, state_copies);
  shape.shares = shared_splits_.is_half_shared(shape.rows);
  if (stream_.times_forms)
    stream_.joined = trial != nullptr && trial->joined.value_or(trial->steps % 2 == 1);
  shape.joined = stream_.joined;
  shape.tried = tried_.joined;
  const std::size_t result_bytes = log_z_at_ + requests.powers.size() * sizeof(double);
  if (stream_.graphs) {
    const auto begin = std::chrono::steady_clock::now();
    update_.send(stream_, used);
    if (trial != nullptr && !std::exchange(trial->has_compared, true)) {
      if (!forms_agree(model, shape, result_bytes)) trial->joined = false;
    } else {
      replay(model, shape, result_bytes);
      if (trial != nullptr)
        note(*trial, shape.joined,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  } else {
    update_.send(stream_, used);
    queue(model, shape);
    results_.read_back(stream_, result_bytes);
  }

  const std::byte* const results = results_.host();
  const auto result = [&](std::size_t offset, std::size_t index, auto& value) {
    std::memcpy(&value, results + offset + index * sizeof value, sizeof value);
  };
  std::vector<double> log_z(requests.powers.size());
  for (std::size_t rung = 0; rung < log_z.size(); ++rung) result(log_z_at_, rung, log_z[rung]);
  std::vector<ScoredToken> tokens;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::uint64_t token = 0;
    double log_p = 0;
    std::uint32_t status = 0;
    result(0, slots[row], token);
    result(log_p_at_, slots[row], log_p);
    result(status_at_, slots[row], status);
    require_sound(status, row);
    tokens.push_back(scored_token(token, log_p, log_z, requests.requests[row]));
    drawn_[slots[row]] = tokens.back().id;
  }
  in_step_ = false;
  return tokens;
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
