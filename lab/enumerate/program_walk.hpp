#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/sampler_function.hpp"
#include "gpu/core/sampler/stages.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "lab/enumerate/not_enumerable.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {

using reference::Rational;

/// A sampler of production, from empty records to its answer: any of gpu/core/sampler/.
using Program = gpu::Task (*)(gpu::Chain&, const gpu::Plan&, gpu::Progress&, gpu::Observer*);

/// What a program leaves: the tokens of the record at every rung or of every particle, and those of
/// its answer.
struct Outcome {
  std::vector<std::vector<gpu::TokenId>> records;
  std::vector<gpu::TokenId> answer;

  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Outcome&, const Outcome&) = default;
};
using OutcomeLaw = std::map<Outcome, Rational>;

/// The exact law of a program as compiled, and what it took to find it.
struct WalkedProgram {
  OutcomeLaw law;
  Rational decode_tokens = 0;  ///< the expected number
  std::size_t states = 0;      ///< in which the program draws, of each piece
  std::size_t runs = 0;        ///< of the program, or of what follows a cut of it
  std::size_t stale_records = 0;
};

/// Where a walk cuts the program and resumes it from fresh records.
enum class Cuts {
  none,           ///< one piece from empty records to the answer
  at_every_round  ///< wherever production may be cut: after each block extension and each round
};

/// Walks the program state by state.
///
/// Its state at a draw is the draw's address, the records of all rungs or particles with the
/// horizon at which these were last resampled, and of each rung what was decided in its unfinished
/// moves. Every decision of every state that can be reached is taken once, by running the program
/// along one path to the state and one decision further; probabilities are then carried from state
/// to state, exactly. largest_batch: of the engine; with 1 no move that begins ahead of its turn
/// has room. options: how the chain's moves are drawn; moves that begin ahead of their round need
/// Cuts::none. tokens: how each token of a tokenwise sampler is drawn. rows: the form of the draw
/// that it runs. Two paths that meet in a state go on alike because their records are the same bit
/// for bit, which is looked at each time they meet, as are the tickets of the draw. A piece begins
/// at most_starts records at once, or at as many as share the first rung's record: that rung moves
/// last, so that little of what pieces share is walked twice.
/// @throw NotEnumerable if paths that meet in a state are shown different tickets
WalkedProgram walk_program(Program program, const EnumerableModel& model, const gpu::Ladder& ladder,
                           const gpu::Plan& plan, Cuts cuts = Cuts::at_every_round,
                           std::size_t largest_batch = 1,
                           std::unique_ptr<gpu::RowLottery> rows = gpu::make_device_row_lottery(),
                           std::size_t most_starts = 1024, MoveOptions options = {},
                           const TokenOptions& tokens = {});

/// The same law with nothing merged: every path of the program from its beginning to its end. Only
/// for the smallest.
WalkedProgram walk_every_path(Program program, const EnumerableModel& model,
                              const gpu::Ladder& ladder, const gpu::Plan& plan);

}  // namespace tempera::lab
