// What the tests of a session share: a listener that keeps all, a text of letters, and requests
// of every kind.
#pragma once

#include <bit>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu/core/sampler/progress.hpp"
#include "gpu/session/session.hpp"
#include "settings/named_sampler.hpp"
#include "tests/gpu/core/sampler/small_models.hpp"

namespace tempera::gpu {

/// Keeps all that a listener hears of each sample.
class Heard final : public Listener {
 public:
  struct Sample {
    std::vector<std::uint64_t> bits;  ///< of all that was heard and depends on the request
    std::vector<TokenId> streamed;
    std::string streamed_text;
    std::vector<Answer> answers;
    std::vector<std::exception_ptr> failures;
  };

  void round_ended(RequestId request, std::size_t sample, const Progress& progress,
                   std::span<const Event> events) override {
    Sample& heard = samples[{request, sample}];
    keep(heard, progress);
    for (const Event& event : events) {
      heard.bits.push_back(static_cast<std::uint64_t>(event.kind));
      heard.bits.push_back(event.rung);
      heard.bits.push_back(event.turn);
      heard.bits.push_back(event.restart);
      heard.bits.push_back(event.tokens);
      heard.bits.push_back(event.accepted ? 1 : 0);
      heard.bits.push_back(std::bit_cast<std::uint64_t>(event.log_ratio));
    }
    ++calls;
    if (on_round) on_round(request);
  }
  void tokens_drawn(RequestId request, std::size_t sample, std::span<const TokenId> tokens,
                    std::string_view text) override {
    Sample& heard = samples[{request, sample}];
    heard.streamed.insert(heard.streamed.end(), tokens.begin(), tokens.end());
    heard.streamed_text += text;
    ++calls;
    if (on_tokens) on_tokens(request);
  }
  void sampler_ended(RequestId request, std::size_t sample, const Progress& progress) override {
    keep(samples[{request, sample}], progress);
    ++calls;
  }
  void answered(RequestId request, std::size_t sample, const Answer& answer) override {
    samples[{request, sample}].answers.push_back(answer);
    ++calls;
    if (on_answer) on_answer(request);
  }
  void failed(RequestId request, std::size_t sample, const std::exception_ptr& why) override {
    samples[{request, sample}].failures.push_back(why);
    ++calls;
  }

  const Answer& answer(RequestId request, std::size_t sample = 0) const {
    return samples.at({request, sample}).answers.at(0);
  }
  /// All bits of one request's samples, in order.
  std::vector<std::uint64_t> bits_of(RequestId request) const {
    std::vector<std::uint64_t> bits;
    for (const auto& [key, sample] : samples) {
      if (key.first != request) continue;
      bits.push_back(key.second);
      bits.insert(bits.end(), sample.bits.begin(), sample.bits.end());
      for (const Answer& answer : sample.answers) {
        bits.insert(bits.end(), answer.tokens.begin(), answer.tokens.end());
        bits.push_back(std::bit_cast<std::uint64_t>(answer.log_p0));
        bits.push_back(answer.terminated ? 1 : 0);
        bits.push_back(answer.stopped ? 1 : 0);
        bits.push_back(answer.decode_tokens);
        for (const double log_p0 : answer.log_p0_of_records)
          bits.push_back(std::bit_cast<std::uint64_t>(log_p0));
        for (const auto* counts : {&answer.moves, &answer.swaps})
          for (const AcceptanceCounts& count : *counts) {
            bits.push_back(count.proposed);
            bits.push_back(count.accepted);
          }
        for (const char c : answer.text) bits.push_back(static_cast<unsigned char>(c));
      }
    }
    return bits;
  }

  std::map<std::pair<RequestId, std::size_t>, Sample> samples;
  std::size_t calls = 0;
  std::function<void(RequestId)> on_round;
  std::function<void(RequestId)> on_tokens;
  std::function<void(RequestId)> on_answer;

 private:
  static void keep(Sample& heard, const Progress& progress) {
    for (const Record& record : progress.replicas) {
      for (const TokenId token : record.token_ids()) heard.bits.push_back(token);
      heard.bits.push_back(std::bit_cast<std::uint64_t>(record.log_p0()));
      heard.bits.push_back(std::bit_cast<std::uint64_t>(record.confidence()));
    }
  }
};

/// Token t is the letter 'a' + t.
class LetterText final : public TokenText {
 public:
  std::vector<TokenId> encode(std::string_view text, const std::string&) const override {
    std::vector<TokenId> tokens;
    for (const char c : text) tokens.push_back(static_cast<TokenId>(c - 'a'));
    return tokens;
  }
  std::string decode(std::span<const TokenId> tokens) const override {
    std::string text;
    for (const TokenId token : tokens) text += static_cast<char>('a' + token);
    return text;
  }
};

inline const LetterText letters;

/// A request of the named sampler of this number, all of whose fields vary with `seed`.
inline SampleRequest varied_request(std::size_t seed) {
  const auto samplers = named_samplers();
  const NamedSampler& named = samplers[seed % samplers.size()];
  std::vector<double> powers{1.0 + static_cast<double>(seed % 3), 4.5, 6.0};
  if (named.powers == NamedSampler::Powers::one) powers = {2.0 + static_cast<double>(seed % 2)};
  if (named.powers == NamedSampler::Powers::base) powers = {1.0};
  const std::size_t horizon = 5 + seed % 4;
  SampleRequest request{Ladder(powers),
                        {make_stages(horizon, 1 + seed % 5, {1 + seed % 2}, {1 + seed % 3}, {1}),
                         seed % 2 == 0 ? Schedule::adj : Schedule::deo, powers.size() - 1,
                         named.takes_particles ? 2 + seed % 3 : 0},
                        {0, 1}};
  request.prompt = {static_cast<TokenId>(2 + seed % 3), 3};
  request.number = {static_cast<std::uint32_t>(seed), 7};
  request.sampler = named.program;
  request.seed = 1000 + seed;
  request.first_sample = seed % 5;
  request.samples = 1 + seed % 2;
  request.options.early_rejection = seed % 4 == 1;
  request.options.prefetch = seed % 3;
  request.options.confidence = seed % 5 == 0;
  return request;
}

/// All bits of a request that has a session for itself.
inline std::vector<std::uint64_t> bits_alone(LanguageModel& model, const SampleRequest& request,
                                             const TokenText* text = nullptr) {
  Session session(model, {}, text);
  Heard heard;
  const RequestId id = session.submit(request, heard);
  while (session.step()) {
  }
  return heard.bits_of(id);
}

}  // namespace tempera::gpu
