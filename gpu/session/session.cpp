#include "gpu/session/session.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "gpu/core/model/accounted_model.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/cache_memory.hpp"
#include "gpu/session/sample_run.hpp"

namespace tempera::gpu {
namespace {

/// How many proposals of one rung can be ahead: no more than its moves of a stage leave, and than a
/// batch has rows.
std::size_t most_ahead(const SampleRequest& request, std::size_t largest_batch) {
  std::size_t most = 1;
  for (const Stage& stage : request.plan.stages)
    most = std::max(most, stage.rounds * stage.local_moves);
  return std::min({most - 1, request.options.prefetch, largest_batch});
}

/// The lottery's rows on the device of the model.
std::unique_ptr<RowLottery> make_rows(const LanguageModel& model) {
  const CurrentDevice here(model.device());
  return make_device_row_lottery();
}

/// The most requests that may begin before an earlier one whose first sample waits for memory.
constexpr std::size_t most_passing = 64;

}  // namespace

class Session::Work {
 public:
  Work(LanguageModel& model, const SessionOptions& options, const TokenText* text,
       const OpenedModel* opened)
      : Work(model, options, text, opened, resolve_cache_memory(options.cache_memory)) {}

  Work(LanguageModel& model, const SessionOptions& options, const TokenText* text,
       const OpenedModel* opened, const CacheBudget& budget)
      : account_(std::make_shared<CacheAccount>(budget)),
        model_(model, account_),
        options_(options),
        text_(text),
        opened_(opened),
        memory_(budget),
        prompts_(model_, memory_),
        rows_(make_rows(model)),
        engine_(model_, *rows_, lottery_, options.largest_batch, options.order) {
    // With these no step would ever come to an end.
    if (options.largest_batch == 0 || options.in_flight == 0)
      throw Bug("a session whose batch, or whose samples under way, are none");
    engine_.keep_within(*account_);
    engine_.share_time(options.clock);
  }

  RequestId submit(SampleRequest&& request, std::optional<SavedProgress>&& saved,
                   Listener& listener) {
    require_possible(request);
    require_room(request, "the request");
    auto taken = std::make_shared<TakenRequest>();
    taken->id = next_request_++;
    taken->asked = std::move(request);
    taken->context = {taken->asked.prompt, taken->asked.terminal};
    taken->listener = &listener;
    taken->saved = std::move(saved);
    taken->prompt = prompts_.of(taken->asked.prompt);
    requests_.emplace(taken->id, taken);
    owner_of(taken->asked.share).queue.push_back(taken);
    return taken->id;
  }

  RequestId score(std::vector<TokenId>&& tokens, std::size_t likeliest, Listener& listener,
                  const Share& share) {
    if (tokens.size() < 2)
      throw BadInput("tokens", std::to_string(tokens.size()) + " given",
                     "give at least two: the first is the prompt, the others are scored");
    require_vocabulary(tokens, "tokens");
    texts_.push_back({next_request_, std::move(tokens), likeliest, &listener, share});
    return next_request_++;
  }

  void cancel(RequestId id) {
    const auto text = std::find_if(texts_.begin(), texts_.end(),
                                   [&](const Text& asked) { return asked.id == id; });
    if (text != texts_.end()) return forget(text);
    const auto found = requests_.find(id);
    if (found == requests_.end()) return;
    found->second->is_cancelled = true;
    const Share share = found->second->asked.share;
    std::erase(owner_of(share).queue, found->second);
    forget_if_idle(share);
    requests_.erase(found);
    for (auto run = runs_.lower_bound({id, 0}); run != runs_.end() && run->first.first == id;) {
      engine_.remove(run->second->task);
      run = forget(run);
    }
  }

  bool step() {
    begin_what_may();
    const double began = seconds();
    const bool is_more = engine_.step();
    tell_tokens();
    score_texts(is_more, seconds() - began);
    return is_more || !owners_.empty() || !texts_.empty();
  }

  void require_room(const SampleRequest& request, const std::string& which) const {
    const std::size_t bytes = model_.cache_bytes(request.prompt.size()) + bytes_of_rows(request, 1);
    memory_.require_room(bytes, left_beside(request.share, bytes), which);
  }

  SessionTotals totals() const {
    return {engine_.decode_tokens(),
            engine_.batches(),
            engine_.times(),
            score_seconds_,
            memory_.taken(),
            held_back_,
            engine_.tokens_recomputed()};
  }

 private:
  using RunKey = std::pair<RequestId, std::size_t>;  // a request and a sample

  void require_possible(const SampleRequest& request) const {
    if (request.samples == 0) throw BadInput("samples", "is 0", "ask for at least 1");
    if (request.samples > addressable_samples ||
        request.first_sample > addressable_samples - request.samples)
      throw BadInput(
          "samples", "is " + std::to_string(request.samples),
          "ask for at most " + std::to_string(addressable_samples) + " answers to a prompt");
    for (const std::string& stop : request.stop) {
      if (stop.empty()) throw BadInput("stop", "has an empty text", "leave it out");
      if (text_ == nullptr)
        throw BadInput("stop", "the model has no text to look for it in", "leave it out");
    }
    require_vocabulary(request.prompt, "prompt");
    if (opened_ != nullptr)
      opened_->check_prompt(request.prompt, request.plan.stages.back().horizon, "prompt");
  }

  void require_vocabulary(const std::vector<TokenId>& tokens, const char* which) const {
    const auto wrong = std::find_if(tokens.begin(), tokens.end(), [&](TokenId token) {
      return token >= model_.vocabulary_size();
    });
    if (wrong != tokens.end())
      throw BadInput(which, "token " + std::to_string(*wrong) + " is outside the vocabulary",
                     "use numbers below " + std::to_string(model_.vocabulary_size()));
  }

  std::size_t bytes_of_rows(const SampleRequest& request, std::size_t rows) const {
    return cache_bytes_of_rows(model_, request.prompt.size(), request.plan.stages.back().horizon,
                               rows);
  }
  /// That a run is expected to need: every rung draws, and so much ahead.
  std::size_t bytes_of_run(const SampleRequest& request) const {
    const std::size_t ahead = most_ahead(request, options_.largest_batch);
    return bytes_of_rows(request, request.plan.replicas(request.ladder) * (1 + ahead));
  }

  /// A share with requests that wait or are under way.
  struct Owner {
    Share share;
    std::deque<std::shared_ptr<TakenRequest>> queue = {};  ///< with samples to begin
    std::size_t under_way = 0;                             ///< samples
    std::size_t bytes = 0;                                 ///< that these have taken
    std::size_t passed_by = 0;  ///< others that began while its first waited for memory
  };

  /// A text that is to be scored, or being scored.
  struct Text {
    RequestId id = 0;
    std::vector<TokenId> tokens;
    std::size_t likeliest = 0;
    Listener* listener = nullptr;
    Share share = {};
    std::size_t bytes = 0;      ///< taken for its caches
    std::size_t passed_by = 0;  ///< samples that began while it waited for memory
    std::optional<TextScoring> scoring = std::nullopt;
  };

  /// The memory that stays free beside so many bytes of a share. Samples without a share have no
  /// neighbours.
  std::size_t left_beside(const Share& share, std::size_t bytes) const {
    return share == Share{} ? 0 : memory_.left_beside(bytes);
  }

  /// The bytes that a run is counted for, and those that must be free for it to begin: these too,
  /// its prompt's, and what it leaves to others.
  struct Room {
    std::size_t counted = 0;
    std::size_t free = 0;
  };
  /// The room of the next run of an owner. The first of a share counts for no more than half of
  /// what is free, and for one row at least: what does not fit is put aside and computed again
  /// (Engine), so that no run, whatever it would fill, keeps those who come after it out. A later
  /// one leaves free as much as the owner then has.
  Room room_of_next(const Owner& owner) const {
    const SampleRequest& request = owner.queue.front()->asked;
    const std::size_t all = bytes_of_run(request);
    const std::size_t prompt = owner.queue.front()->prompt->bytes_to_take();
    if (owner.share == Share{}) return {all, all + prompt};
    if (owner.under_way > 0) return {all, all + prompt + owner.bytes + all};
    const std::size_t left = left_beside(owner.share, all + prompt);
    const std::size_t free = memory_.free() - std::min(prompt, memory_.free());
    const std::size_t most = std::min(free / 2, free - std::min(left, free));
    const std::size_t counted = std::min(all, std::max(bytes_of_rows(request, 1), most));
    return {counted, counted + prompt + left};
  }

  /// Finds the owner of a share, or adds it.
  Owner& owner_of(const Share& share) {
    const auto found = std::find_if(owners_.begin(), owners_.end(),
                                    [&](const Owner& owner) { return owner.share == share; });
    return found != owners_.end() ? *found : owners_.emplace_back(Owner{share});
  }
  void forget_if_idle(const Share& share) {
    owners_.remove_if([&](const Owner& owner) {
      return owner.share == share && owner.queue.empty() && owner.under_way == 0;
    });
  }

  /// Begins the first text, then samples, while there are rows and room for them.
  void begin_what_may() {
    begin_text();
    while (Owner* owner = next_to_begin()) {
      const std::shared_ptr<TakenRequest> request = owner->queue.front();
      const std::size_t bytes = room_of_next(*owner).counted;
      const std::size_t sample = request->asked.first_sample + request->begun++;
      if (request->begun == request->asked.samples) owner->queue.pop_front();
      begin(*owner, request, sample, bytes);
    }
  }

  void begin(Owner& owner, const std::shared_ptr<TakenRequest>& request, std::size_t sample,
             std::size_t bytes) {
    try {
      auto run = std::make_shared<SampleRun>(request, sample, engine_, memory_, bytes, text_);
      const auto place = runs_.emplace(RunKey{request->id, sample}, run).first;
      ++owner.under_way;
      owner.bytes += bytes;
      owner.passed_by = 0;
      try {
        run->task = engine_.add(
            SampleRun::draw(run, *rows_),
            [this, run](const std::exception_ptr& why) { end(*run, why); }, request->asked.share);
      } catch (const std::bad_alloc&) {
        forget(place);
        throw;
      }
    } catch (const std::bad_alloc&) {
      forget_if_idle(request->asked.share);
      request->listener->failed(request->id, sample, std::current_exception());
      count_off(*request);
    }
  }

  /// Chooses the owner whose next sample begins, or none: the one with the fewest under way, and
  /// the first comer among equals.
  ///
  /// Each has its part of the samples that may be under way, and begins up to that whatever the
  /// others have. No owner takes more memory than it leaves free, but for its first sample, which
  /// waits until there is room: meanwhile nobody takes more, and few pass it by. The same holds
  /// while the first text waits. Samples without a share of their own begin in their order.
  Owner* next_to_begin() {
    Text* const text = text_that_waits();
    if (text != nullptr && text->passed_by >= most_passing) return nullptr;
    std::map<std::uint64_t, std::size_t> owners_of;  // of each client
    for (const Owner& owner : owners_) ++owners_of[owner.share.client];
    Owner* next = nullptr;
    Owner* waits = nullptr;  // the first whose first sample waits for memory
    for (Owner& owner : owners_) {
      if (owner.queue.empty() || (next != nullptr && next->under_way <= owner.under_way)) continue;
      const std::size_t part =
          options_.in_flight / owners_of.size() / owners_of[owner.share.client];
      const bool has_part =
          owner.share != Share{} && owner.under_way < std::max<std::size_t>(1, part);
      if (runs_.size() >= options_.in_flight && !has_part) continue;
      if (text != nullptr && (owner.under_way > 0 || owner.share == Share{})) continue;
      if (waits != nullptr && (owner.under_way > 0 || waits->passed_by >= most_passing)) continue;
      if (has_room_for_next(owner)) {
        next = &owner;
      } else if (owner.under_way == 0 || owner.share == Share{}) {
        if (waits == nullptr) waits = &owner;
        if (!held_back_) held_back_ = HeldBack{runs_.size(), memory_.budget()};
      }
    }
    if (next != nullptr && waits != nullptr) {
      if (next->under_way > 0) return nullptr;
      ++waits->passed_by;
    }
    if (next != nullptr && text != nullptr) ++text->passed_by;
    return next;
  }

  bool has_room_for_next(const Owner& owner) {
    const auto has_room = [&] { return memory_.has_room(room_of_next(owner).free); };
    if (!has_room()) prompts_.drop_unused();
    return has_room() || is_idle();
  }

  /// The first text of those whose client has none under way; null if there is none.
  Text* text_that_waits() {
    const auto clients = clients_of_texts_under_way();
    const auto first = std::find_if(texts_.begin(), texts_.end(), [&](const Text& text) {
      return !clients.contains(text.share.client);
    });
    return first == texts_.end() ? nullptr : &*first;
  }
  std::set<std::uint64_t> clients_of_texts_under_way() const {
    std::set<std::uint64_t> clients;
    for (const Text& text : texts_)
      if (text.scoring) clients.insert(text.share.client);
    return clients;
  }
  /// The text under way whose turn it is, or the end.
  std::list<Text>::iterator text_in_turn() {
    return std::find_if(texts_.begin(), texts_.end(),
                        [](const Text& text) { return text.scoring.has_value(); });
  }

  /// True if neither a sample nor a text is under way.
  bool is_idle() { return runs_.empty() && text_in_turn() == texts_.end(); }

  /// The first client's request whose first sample is to begin; null if there is none.
  Owner* first_to_begin() {
    const auto first = std::find_if(owners_.begin(), owners_.end(), [](const Owner& owner) {
      return !owner.queue.empty() && owner.under_way == 0 && owner.share != Share{};
    });
    return first == owners_.end() ? nullptr : &*first;
  }

  /// Begins the first text that waits if there is room for it, and if few have passed by the first
  /// sample that waits. If few may pass by either, the text begins first.
  void begin_text() {
    Text* const text = text_that_waits();
    if (text == nullptr) return;
    Owner* const passed = text->passed_by < most_passing ? first_to_begin() : nullptr;
    if (passed != nullptr && passed->passed_by >= most_passing) return;
    const auto bytes_of = [&](std::size_t positions) {
      return TextScoring::cache_bytes(model_, text->tokens.size(), positions);
    };
    const auto room_of = [&](std::size_t bytes) { return bytes + memory_.left_beside(bytes); };
    // Fewer positions go together where all would not fit alone.
    std::size_t positions = TextScoring::most_positions;
    while (positions > 1 && !memory_.budget().has_room(0, room_of(bytes_of(positions))))
      --positions;
    const std::size_t bytes = bytes_of(positions);
    if (!memory_.has_room(room_of(bytes))) prompts_.drop_unused();
    // The text of a sample that had room fits alone, and any other is let in alone.
    if (!memory_.has_room(room_of(bytes)) && !is_idle()) return;
    memory_.take(text->bytes = bytes);
    text->scoring.emplace(model_, *rows_, std::move(text->tokens), text->likeliest, positions);
    if (passed != nullptr) ++passed->passed_by;
  }

  double seconds() const { return options_.clock ? options_.clock() : 0.0; }

  /// Makes a pass over a text, or with a clock over a text of each client until they have had their
  /// part of the time. sampled: the seconds of the samples' last step.
  void score_texts(bool is_more, double sampled) {
    const std::size_t texts = clients_of_texts_under_way().size();
    if (texts == 0) return;
    std::set<std::uint64_t> clients;
    for (const Owner& owner : owners_) clients.insert(owner.share.client);
    text_lead_ -= sampled * static_cast<double>(texts) /
                  static_cast<double>(std::max<std::size_t>(1, clients.size()));
    const bool shares_time = options_.clock && is_more;
    for (std::size_t i = 0; i < (shares_time ? texts : 1); ++i) {
      if (shares_time && text_lead_ > 0.0) break;
      const double began = seconds();
      score_text();
      text_lead_ += seconds() - began;
    }
    // Time that they have left unused is not for later.
    text_lead_ = shares_time ? std::max(0.0, text_lead_) : 0.0;
  }

  /// One pass over the text whose turn it is.
  void score_text() {
    const auto text = text_in_turn();
    if (text == texts_.end()) return;
    const RequestId id = text->id;
    Listener& listener = *text->listener;
    std::exception_ptr failure;
    try {
      const Stopwatch watch(score_seconds_);
      if (text->scoring->step()) {
        texts_.splice(texts_.end(), texts_, text);
        return;
      }
    } catch (const ModelError&) {
      failure = std::current_exception();
    }
    const std::vector<TokenAlternatives> scores = text->scoring->scores();
    forget(text);
    if (failure)
      listener.failed(id, 0, failure);
    else
      listener.scored(id, scores);
  }

  using Runs = std::map<RunKey, std::shared_ptr<SampleRun>>;

  /// Takes a run out of those under way.
  Runs::iterator forget(Runs::iterator run) {
    Owner& owner = owner_of(run->second->request().asked.share);
    --owner.under_way;
    owner.bytes -= run->second->bytes();
    const Share share = owner.share;
    const auto next = runs_.erase(run);
    forget_if_idle(share);
    return next;
  }

  /// Tells how a sample has ended.
  void end(SampleRun& run, const std::exception_ptr& failure) {
    if (const auto found = runs_.find({run.request().id, run.sample()}); found != runs_.end())
      forget(found);
    try {
      run.tell_end(failure);
    } catch (const std::bad_alloc&) {
      tell_failure(run);
    } catch (const ModelError&) {
      tell_failure(run);
    } catch (...) {
      count_off(run.request());
      throw;
    }
    count_off(run.request());
  }

  /// Tells that the text of a sample could not be had.
  static void tell_failure(const SampleRun& run) {
    if (!run.request().is_cancelled)
      run.request().listener->failed(run.request().id, run.sample(), std::current_exception());
  }

  /// One more sample of the request has ended.
  void count_off(const TakenRequest& request) {
    const auto found = requests_.find(request.id);
    if (found != requests_.end() && ++found->second->ended == request.asked.samples)
      requests_.erase(found);
  }

  /// Tells of the tokens of tokenwise samplers; ends those in whose text a stop string has come.
  void tell_tokens() {
    std::vector<std::shared_ptr<SampleRun>> runs;
    for (const auto& [key, run] : runs_)
      if (run->is_tokenwise()) runs.push_back(run);
    for (const auto& run : runs) {
      if (run->request().is_cancelled) continue;
      std::exception_ptr failure;
      try {
        if (!run->tell_tokens() || run->request().is_cancelled) continue;
      } catch (const ModelError&) {
        failure = std::current_exception();
      } catch (...) {
        engine_.remove(run->task);
        if (const auto found = runs_.find({run->request().id, run->sample()}); found != runs_.end())
          forget(found);
        count_off(run->request());
        throw;
      }
      engine_.remove(run->task);
      end(*run, failure);
    }
  }

  void forget(std::list<Text>::iterator text) {
    memory_.give_back(text->bytes);
    texts_.erase(text);
  }

  std::shared_ptr<CacheAccount> account_;
  AccountedModel model_;
  SessionOptions options_;
  const TokenText* text_;
  const OpenedModel* opened_;
  CacheAdmission memory_;
  std::optional<HeldBack> held_back_;
  SharedPrompts prompts_;
  std::unique_ptr<RowLottery> rows_;
  PhiloxLottery lottery_;
  RequestId next_request_ = 0;
  std::map<RequestId, std::shared_ptr<TakenRequest>> requests_;  ///< with samples to end
  std::list<Owner> owners_;  ///< who have requests, in the order in which they came
  Runs runs_;                ///< under way
  std::list<Text> texts_;    ///< those under way in the order of their turns
  double score_seconds_ = 0.0;
  double text_lead_ = 0.0;  ///< seconds that a text has had beyond its part
  /// Last: its coroutines hold runs, which give their room back.
  Engine engine_;
};

std::string text_of(const HeldBack& held, std::size_t in_flight) {
  return std::to_string(held.under_way) + " of " + std::to_string(in_flight) +
         " samples are under way at once: keys and values of more can need over " +
         bytes_text(held.budget.bytes) +
         (held.budget.is_given
              ? ", which is the cache memory given"
              : ", half of the memory that was free; more cache memory lets more begin");
}

Session::Session(LanguageModel& model, const SessionOptions& options, const TokenText* text)
    : work_(std::make_unique<Work>(model, options, text, nullptr)) {}

Session::Session(const OpenedModel& model, const SessionOptions& options)
    : work_(std::make_unique<Work>(model.model(), options, &model.text(), &model)) {}

Session::~Session() = default;

RequestId Session::submit(SampleRequest request, Listener& listener) {
  return work_->submit(std::move(request), std::nullopt, listener);
}

RequestId Session::resume(SampleRequest request, SavedProgress saved, Listener& listener) {
  return work_->submit(std::move(request), std::move(saved), listener);
}

RequestId Session::score(std::vector<TokenId> tokens, std::size_t likeliest, Listener& listener,
                         const Share& share) {
  return work_->score(std::move(tokens), likeliest, listener, share);
}

void Session::cancel(RequestId request) { work_->cancel(request); }

bool Session::step() { return work_->step(); }

void Session::require_room(const SampleRequest& request, const std::string& which) const {
  work_->require_room(request, which);
}

SessionTotals Session::totals() const { return work_->totals(); }

}  // namespace tempera::gpu
