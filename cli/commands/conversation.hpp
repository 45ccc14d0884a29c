#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/core/statistics/sampling_progress.hpp"
#include "gpu/session/resolve.hpp"
#include "gpu/session/session.hpp"

namespace tempera::cli {

/// What is heard while an answer is drawn.
struct AnswerNews {
  /// The next piece of the text, of tokenwise samplers alone: their tokens are never taken back.
  std::function<void(std::string_view)> text;
  /// How far any other sampler is, at most ten times a second.
  std::function<void(const gpu::SamplingProgress&)> progress;
  /// Asked before each forward pass: whether to give the answer up.
  std::function<bool()> stop;
};

/// A conversation with one model, each turn of the user answered by one request to a session.
///
/// The nth answer that is drawn is what `sample --messages` of the conversation up to there gives
/// as its nth answer: its draws have the addresses of sample n - 1.
class Conversation {
 public:
  /// system: the system's message, or nothing. The model must outlive the object.
  /// @throw BadInput as gpu::resolve_sampler, or if the model knows no conversations
  Conversation(const gpu::OpenedModel& model, gpu::SamplerWish wish, gpu::ChatArguments arguments,
               std::vector<gpu::ChatMessage> messages);

  const std::vector<gpu::ChatMessage>& messages() const { return messages_; }
  /// Whether the user has spoken last.
  bool awaits_answer() const;
  /// Forgets all turns; the system's message stays.
  void begin_anew();
  /// Forgets the last answer, so that the turn before it awaits another.
  /// @throw BadInput if there is none
  void take_answer_back();
  /// Takes the user's next turn. @pre !awaits_answer()
  void say(std::string text);
  /// Draws the answer to the last turn and takes it into the conversation. If it is given up, or
  /// cannot be drawn, the turn is forgotten: nothing, or what is thrown, says so.
  /// @throw BadInput if the model cannot take the conversation; ModelError
  std::optional<gpu::Answer> answer(const AnswerNews& news);
  /// How many answers were drawn.
  std::size_t drawn() const { return drawn_; }

 private:
  std::optional<gpu::Answer> draw(const AnswerNews& news);

  const gpu::OpenedModel& model_;
  gpu::SamplerWish wish_;
  gpu::ChatArguments arguments_;
  std::vector<gpu::ChatMessage> messages_;
  gpu::Session session_;
  std::size_t drawn_ = 0;
};

}  // namespace tempera::cli
