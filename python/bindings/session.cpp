#include "gpu/session/session.hpp"

#include <map>
#include <mutex>
#include <optional>

#include "gpu/core/sampler/progress.hpp"
#include "gpu/session/answer_text.hpp"
#include "python/bindings/bindings.hpp"
#include "settings/defaults.hpp"

namespace tempera::python {
namespace {

/// The record of one rung, or of one particle, when its sampler ended.
struct FinalRecord {
  std::vector<gpu::TokenId> tokens;
  std::string text;
  double log_p0 = 0.0;
  double confidence = 0.0;
  bool terminated = false;
};

/// Something that a step has brought: a round, tokens, an answer or a failure of one sample.
struct News {
  gpu::RequestId request = 0;
  std::size_t sample = 0;
  std::string kind;  ///< "round", "text", "answer" or "failure"
  std::size_t stage = 0;
  std::size_t round = 0;
  std::vector<double> log_p0;  ///< of each rung, after a round
  std::string text;            ///< of new tokens, or of a failure's line
  std::string error;           ///< "BadInput", "ModelError", …
  gpu::Answer answer;
  std::vector<FinalRecord> records;  ///< by rung, with an answer
};

/// Python's text of what a model wrote: bytes that are no UTF-8 are shown as U+FFFD.
nb::str shown(const std::string& text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

/// A session that collects its news instead of calling back, so that a step runs without Python.
/// Any thread may call it: a call waits until the one that is under way has ended. What touches
/// the model waits for its turn too, after that.
class CollectingSession final : private gpu::Listener {
 public:
  CollectingSession(SharedModel model, std::size_t batch, std::size_t under_way,
                    std::size_t cache_memory)
      : model_(std::move(model)) {
    const Turn turn(model_->turns());
    session_.emplace(model_->opened(), gpu::SessionOptions{{.largest_batch = batch,
                                                            .in_flight = under_way,
                                                            .cache_memory = cache_memory}});
  }
  /// Gives its caches back, in a turn.
  /// @pre the thread has the GIL
  ~CollectingSession() override {
    const nb::gil_scoped_release others;
    const LastTurn turn(model_->turns());
    session_.reset();
  }
  CollectingSession(const CollectingSession&) = delete;
  CollectingSession& operator=(const CollectingSession&) = delete;

  gpu::RequestId submit(const gpu::SampleWish& wish) {
    gpu::SampleRequest request = gpu::resolve(model_->opened(), wish);
    const std::lock_guard alone(mutex_);
    const gpu::RequestId id = session_->submit(std::move(request), *this);
    stops_[id] = wish.sampler.stop;
    return id;
  }
  void cancel(gpu::RequestId request) {
    const std::lock_guard alone(mutex_);
    const Turn turn(model_->turns());
    session_->cancel(request);
    stops_.erase(request);
    std::erase_if(news_, [&](const News& news) { return news.request == request; });
  }
  bool step() {
    const std::lock_guard alone(mutex_);
    const Turn turn(model_->turns());
    return session_->step();
  }
  std::vector<News> take_news() {
    const std::lock_guard alone(mutex_);
    return std::exchange(news_, {});
  }
  gpu::SessionTotals totals() const {
    const std::lock_guard alone(mutex_);
    return session_->totals();
  }

 private:
  static News of(gpu::RequestId request, std::size_t sample, const char* kind) {
    News news;
    news.request = request;
    news.sample = sample;
    news.kind = kind;
    return news;
  }
  void round_ended(gpu::RequestId request, std::size_t sample, const gpu::Progress& progress,
                   std::span<const gpu::Event> /*events*/) override {
    News news = of(request, sample, "round");
    news.stage = progress.stage;
    news.round = progress.round;
    for (const auto& record : progress.replicas) news.log_p0.push_back(record.log_p0());
    news_.push_back(std::move(news));
  }
  void tokens_drawn(gpu::RequestId request, std::size_t sample,
                    std::span<const gpu::TokenId> /*tokens*/, std::string_view text) override {
    if (text.empty()) return;
    News news = of(request, sample, "text");
    news.text = text;
    news_.push_back(std::move(news));
  }
  void sampler_ended(gpu::RequestId request, std::size_t /*sample*/,
                     const gpu::Progress& progress) override {
    records_.clear();
    for (const gpu::Record& record : progress.replicas) {
      gpu::Answer alone;
      alone.tokens = record.token_ids();
      alone.terminated = record.terminated();
      FinalRecord kept;
      kept.text = gpu::text_of(alone, model_->opened().text(), stops_[request]);
      kept.tokens = std::move(alone.tokens);
      kept.log_p0 = record.log_p0();
      kept.confidence = record.confidence();
      kept.terminated = record.terminated();
      records_.push_back(std::move(kept));
    }
  }
  void answered(gpu::RequestId request, std::size_t sample, const gpu::Answer& answer) override {
    News news = of(request, sample, "answer");
    news.answer = answer;
    news.records = std::exchange(records_, {});
    news_.push_back(std::move(news));
  }
  void failed(gpu::RequestId request, std::size_t sample, const std::exception_ptr& why) override {
    News news = of(request, sample, "failure");
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& error) {
      const std::string name = error_name(error);
      news.error = name.empty() ? "Bug" : name;
      news.text = name.empty() ? error.what() : error_line(error);
    }
    news_.push_back(std::move(news));
  }

  SharedModel model_;
  mutable CallLock mutex_;
  std::optional<gpu::Session> session_;
  std::vector<News> news_;
  std::vector<FinalRecord> records_;  ///< of the sampler that ended last; its answer follows
  std::map<gpu::RequestId, std::vector<std::string>> stops_;
};

gpu::RequestId submit(CollectingSession& session, const Prompt& prompt,
                      const std::optional<std::string>& id, const std::string& arguments,
                      const nb::dict& wishes) {
  gpu::SampleWish wish;
  wish.prompt = wished(prompt);
  wish.id = id;
  wish.arguments = chat_arguments(arguments);
  wish.sampler = sampler_wish(wishes);
  const nb::gil_scoped_release others;
  return session.submit(wish);
}

nb::dict totals(const CollectingSession& session) {
  gpu::SessionTotals totals;
  {
    const nb::gil_scoped_release others;
    totals = session.totals();
  }
  nb::dict said;
  said["decode_tokens"] = totals.decode_tokens;
  said["batches"] = totals.batches;
  said["forward_seconds"] = totals.times.forward;
  said["draw_seconds"] = totals.times.draw;
  return said;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs(
    const std::vector<gpu::AcceptanceCounts>& counts) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
  for (const auto& count : counts) list.emplace_back(count.proposed, count.accepted);
  return list;
}

}  // namespace

void bind_session(nb::module_& module) {
  nb::class_<gpu::Answer>(module, "RawAnswer")
      .def_prop_ro("text", [](const gpu::Answer& answer) { return shown(answer.text); })
      .def_ro("tokens", &gpu::Answer::tokens)
      .def_ro("log_p0", &gpu::Answer::log_p0)
      .def_ro("terminated", &gpu::Answer::terminated)
      .def_ro("stopped", &gpu::Answer::stopped)
      .def_ro("log_p0_of_records", &gpu::Answer::log_p0_of_records)
      .def_ro("decode_tokens", &gpu::Answer::decode_tokens)
      .def_prop_ro("moves", [](const gpu::Answer& answer) { return pairs(answer.moves); })
      .def_prop_ro("swaps", [](const gpu::Answer& answer) { return pairs(answer.swaps); });
  nb::class_<FinalRecord>(module, "FinalRecord")
      .def_ro("tokens", &FinalRecord::tokens)
      .def_prop_ro("text", [](const FinalRecord& record) { return shown(record.text); })
      .def_ro("log_p0", &FinalRecord::log_p0)
      .def_ro("confidence", &FinalRecord::confidence)
      .def_ro("terminated", &FinalRecord::terminated);
  nb::class_<News>(module, "News")
      .def_ro("request", &News::request)
      .def_ro("sample", &News::sample)
      .def_ro("kind", &News::kind)
      .def_ro("stage", &News::stage)
      .def_ro("round", &News::round)
      .def_ro("log_p0", &News::log_p0)
      .def_prop_ro("text", [](const News& news) { return shown(news.text); })
      .def_ro("error", &News::error)
      .def_ro("answer", &News::answer)
      .def_ro("records", &News::records);
  nb::class_<CollectingSession>(module, "CollectingSession")
      .def(
          "__init__",
          [](CollectingSession* self, const SharedModel& model, std::size_t batch,
             std::size_t under_way, std::size_t cache_memory) {
            const nb::gil_scoped_release others;
            new (self) CollectingSession(model, batch, under_way, cache_memory);
          },
          nb::arg("model"), nb::arg("batch") = gpu::defaults::batch,
          nb::arg("under_way") = gpu::defaults::under_way, nb::arg("cache_memory") = 0)
      .def("submit", &submit, nb::arg("prompt"), nb::arg("id").none(), nb::arg("arguments"),
           nb::arg("wishes"))
      .def("cancel", &CollectingSession::cancel, nb::arg("request"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("step", &CollectingSession::step, nb::call_guard<nb::gil_scoped_release>())
      .def("take_news", &CollectingSession::take_news, nb::call_guard<nb::gil_scoped_release>())
      .def("totals", &totals);
}

}  // namespace tempera::python
