#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gpu/llm/text/token_text.hpp"
#include "runs/audit/audit_record.hpp"

namespace tempera::gpu {

/// The first place at which a record is not what its settings and model give.
struct AuditDifference {
  std::size_t run_index = 0;  ///< prompt · samples + sample
  std::string place;          ///< "sample 0, local move 3 of rung 2, token 5"
  std::string what;           ///< "recorded is 17, drawn was 12"
};

/// The finding of an audit, and its cost.
struct AuditFinding {
  std::optional<AuditDifference> difference;  ///< none: all is equal
  std::size_t answers = 0;                    ///< that were compared
  std::uint64_t drawn_tokens = 0;             ///< that drawing took, by the events
  std::uint64_t computed_tokens = 0;          ///< through the model, prompts included
  std::uint64_t passes = 0;                   ///< through the model
  double seconds = 0.0;
};

/// How an audit is laid out, which changes no finding.
struct AuditLayout {
  SessionOptions session = {};
  std::function<void(std::size_t ended, std::size_t answers)> on_pass = {};  ///< before each
};

/// Runs what the record tells of again, its tokens computed as a prompt is: the sampler itself, its
/// lottery by addresses, and every decision. Every token, every line of the events and every answer
/// must be the recorded one.
///
/// The first difference is that of the least run, and in it the first in the order of its draws.
/// @throw BadInput as draw_answers
AuditFinding audit(LanguageModel& model, const TokenText& text, const AuditRecord& record,
                   const AuditLayout& layout = {});

}  // namespace tempera::gpu
