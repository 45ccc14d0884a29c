#include "gpu/session/session.hpp"

#include <deque>
#include <limits>
#include <stdexcept>

#include "base/error.hpp"
#include "gpu/core/model/forwarding_model.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "tests/between.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/session/heard.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {
namespace {

void finish(Session& session) {
  while (session.step()) {
  }
}

/// A model that counts the caches that are there and the tokens that they hold.
class CacheCount final : public LanguageModel {
 public:
  explicit CacheCount(LanguageModel& model) : model_(model) {}
  std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::unique_ptr<Cache> empty_cache() const override {
    return std::make_unique<Counted>(model_.empty_cache(), *this);
  }
  std::size_t cache_bytes(std::size_t tokens) const override { return 10 * tokens; }
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
    ++batches;
    std::vector<Pass> inner;
    rows_of_passes = passes.size();
    for (const Pass& pass : passes) {
      auto& cache = dynamic_cast<Counted&>(*pass.cache);
      if (cache.length() == 0) ++beginnings;
      inner.push_back({cache.inner.get(), pass.tokens});
    }
    model_.next_logits(inner, rows);
  }

  mutable std::size_t caches = 0;
  std::size_t beginnings = 0, batches = 0, rows_of_passes = 0;

 private:
  struct Counted final : Cache {
    Counted(std::unique_ptr<Cache> its_inner, const CacheCount& its_owner)
        : inner(std::move(its_inner)), owner(its_owner) {
      ++owner.caches;
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() override { --owner.caches; }
    std::size_t length() const override { return inner->length(); }
    std::unique_ptr<Cache> fork(std::size_t length) const override {
      return std::make_unique<Counted>(inner->fork(length), owner);
    }
    std::unique_ptr<Cache> inner;
    const CacheCount& owner;
  };

  LanguageModel& model_;
};

}  // namespace

TEST_CASE("a request has the same bits alone, in a crowd, submitted late or after a cancelled one",
          "[session]") {
  const auto transformer = random_qwen3(small_config(), 5);
  TableModel table = scattered_table(7, 3);
  for (LanguageModel* model :
       {static_cast<LanguageModel*>(transformer.get()), static_cast<LanguageModel*>(&table)}) {
    const bool is_table = model == &table;
    for (std::size_t which = 0; which < 9; ++which) {
      CAPTURE(is_table, which);
      const SampleRequest asked = varied_request(which);
      const auto alone = bits_alone(*model, asked, &letters);
      REQUIRE(alone.size() > 20);
      for (const std::size_t batch : {3, 64}) {
        Session session(*model, {{.largest_batch = batch, .in_flight = 40}}, &letters);
        Heard heard;
        std::vector<RequestId> others;
        const std::size_t neighbours = is_table ? 100 : 12;
        for (std::size_t i = 0; i < neighbours / 2; ++i)
          others.push_back(session.submit(varied_request(100 + i), heard));
        const RequestId early = session.submit(asked, heard);
        for (std::size_t i = 0; i < neighbours / 2; ++i)
          others.push_back(session.submit(varied_request(200 + i), heard));
        for (std::size_t step = 0; step < 4; ++step) session.step();
        for (std::size_t i = 0; i < others.size(); i += 3) session.cancel(others[i]);
        for (std::size_t step = 0; step < 3; ++step) session.step();
        const RequestId late = session.submit(asked, heard);
        finish(session);
        CHECK(heard.bits_of(early) == alone);
        CHECK(heard.bits_of(late) == alone);
      }
    }
  }
}

TEST_CASE("sessions of several models take turns in one thread", "[session]") {
  const auto transformer = random_qwen3(small_config(), 5);
  const auto in_pairs =
      random_qwen3(small_config(), 5, default_kernels(Arithmetic::bfloat16_pairs));
  TableModel table = scattered_table(7, 3);
  const std::vector<LanguageModel*> models{transformer.get(), in_pairs.get(), &table};
  const SampleRequest asked = varied_request(0);
  std::deque<Session> sessions;
  std::vector<Heard> heard(models.size());
  std::vector<RequestId> ids;
  for (std::size_t i = 0; i < models.size(); ++i) {
    CHECK(models[i]->device() == current_device());
    ids.push_back(sessions.emplace_back(*models[i]).submit(asked, heard[i]));
  }
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (Session& session : sessions) is_more = session.step() || is_more;
  }
  for (std::size_t i = 0; i < models.size(); ++i)
    CHECK(heard[i].bits_of(ids[i]) == bits_alone(*models[i], asked));
}

TEST_CASE("any coming and going leaves every request its bits", "[session]") {
  TableModel model = scattered_table(7, 3);
  std::vector<std::vector<std::uint64_t>> alone;
  for (std::size_t seed = 0; seed < 30; ++seed)
    alone.push_back(bits_alone(model, varied_request(seed), &letters));
  law("submit, cancel and step in any order", [&] {
    const auto batch = *rc::gen::inRange<std::size_t>(1, 12);
    const auto in_flight = *rc::gen::inRange<std::size_t>(1, 12);
    Session session(model, {{.largest_batch = batch, .in_flight = in_flight}}, &letters);
    Heard heard;
    std::vector<std::pair<RequestId, std::size_t>> open;
    std::set<RequestId> cancelled;
    const auto moves = *rc::gen::inRange<std::size_t>(5, 60);
    for (std::size_t i = 0; i < moves; ++i) {
      const auto move = between(0, 4);
      if (move < 2) {
        const auto seed = between<std::size_t>(0, alone.size() - 1);
        open.emplace_back(session.submit(varied_request(seed), heard), seed);
      } else if (move == 2 && !open.empty()) {
        const RequestId id = open[between<std::size_t>(0, open.size() - 1)].first;
        session.cancel(id);
        cancelled.insert(id);
      } else {
        session.step();
      }
    }
    finish(session);
    for (const auto& [id, seed] : open) {
      if (!cancelled.contains(id)) RC_ASSERT(heard.bits_of(id) == alone[seed]);
    }
  });
}

// Nothing of the session, the engine or the sampler is used for what is expected: row by row, from
// the model's logits and Philox at the address of each token.
TEST_CASE("a tokenwise answer is the one that a plain loop draws", "[session]") {
  const auto model = random_qwen3(small_config(), 5);
  SampleRequest request{Ladder({2.5}), {make_stages(12, 5, {0}, {0}, {0})}, {0, 1}};
  request.prompt = {4, 5, 6};
  request.number = {17, 0x1234};
  request.sampler = tokenwise_sampling;
  request.seed = 99;
  request.first_sample = 3;
  request.samples = 4;
  Session session(*model, {}, &letters);
  Heard heard;
  const RequestId id = session.submit(request, heard);
  finish(session);
  const auto rows = make_device_row_lottery();
  const PhiloxLottery philox;
  for (std::uint32_t sample = 3; sample < 7; ++sample) {
    CAPTURE(sample);
    std::vector<TokenId> text = request.prompt;
    double log_p0 = 0.0;
    bool is_over = false;
    for (std::uint32_t t = 0; t < 12 && !is_over; ++t) {
      const auto cache = model->empty_cache();
      const Pass pass{cache.get(), text};
      DeviceMemory<float> logits;
      model->next_logits(std::span(&pass, 1), logits);
      PhiloxLottery lottery;
      // Blocks of 5 tokens: the stage is the turn.
      const RowDraw draw{request.ladder.powers(),
                         0,
                         {99 ^ (std::uint64_t{0x1234} << 32),
                          {17, sample, 0, t / 5, t, Purpose::extension_token}}};
      const auto token =
          rows->draw(logits, model->vocabulary_size(), std::span(&draw, 1), lottery).front();
      text.push_back(token.id);
      log_p0 += token.log_p;
      is_over = token.id <= 1;
    }
    const Answer& answer = heard.answer(id, sample);
    CHECK(answer.tokens == std::vector<TokenId>(text.begin() + 3, text.end()));
    CHECK(answer.log_p0 == log_p0);
    CHECK(answer.terminated == is_over);
    CHECK(answer.is_cut() == !is_over);
    CHECK(answer.decode_tokens == text.size() - 3);
    CHECK(answer.log_p0_of_records == std::vector<double>{log_p0});
    const Heard::Sample& told = heard.samples.at({id, sample});
    CHECK(told.streamed == answer.tokens);
    CHECK(told.streamed_text == answer.text);
    const std::size_t shown = answer.tokens.size() - (is_over ? 1 : 0);
    CHECK(answer.text == letters.decode(std::span(answer.tokens).first(shown)));
  }
}

TEST_CASE("an answer's acceptances, tokens and scores are those of its rounds", "[session]") {
  TableModel model = scattered_table(7, 3);
  SampleRequest request{
      Ladder({1.0, 2.0, 4.0}), {make_stages(8, 4, {5}, {2}, {1}), Schedule::adj, 1}, {0}};
  request.prompt = {2};
  struct Counting final : Listener {
    void round_ended(RequestId, std::size_t, const Progress& progress,
                     std::span<const Event> events) override {
      for (const Event& event : events) {
        tokens += event.tokens;
        if (event.kind == Event::Kind::swap) swaps[event.rung] += event.accepted ? 1 : 0;
        if (event.kind == Event::Kind::local_move) {
          proposed[event.rung] += event.proposed ? 1 : 0;
          moves[event.rung] += event.accepted ? 1 : 0;
        }
      }
      log_p0.clear();
      for (const Record& record : progress.replicas) log_p0.push_back(record.log_p0());
      last = progress.replicas[1].token_ids();
    }
    void answered(RequestId, std::size_t, const Answer& answer) override { it = answer; }
    void failed(RequestId, std::size_t, const std::exception_ptr&) override { FAIL(); }
    std::size_t tokens = 0;
    std::array<std::size_t, 3> moves{}, proposed{};
    std::array<std::size_t, 2> swaps{};
    std::vector<double> log_p0;
    std::vector<TokenId> last;
    Answer it;
  } heard;
  Session session(model);
  session.submit(request, heard);
  finish(session);
  CHECK(heard.it.tokens == heard.last);
  CHECK(heard.it.log_p0 == heard.log_p0[1]);
  CHECK(heard.it.log_p0_of_records == heard.log_p0);
  CHECK(heard.it.decode_tokens == heard.tokens);
  CHECK(heard.it.text.empty());
  REQUIRE(heard.it.moves.size() == 3);
  REQUIRE(heard.it.swaps.size() == 2);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(heard.it.moves[k].accepted == heard.moves[k]);
    CHECK(heard.it.moves[k].proposed == heard.proposed[k]);
    CHECK(heard.proposed[k] > 5);
  }
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(heard.it.swaps[k].proposed == 10);
    CHECK(heard.it.swaps[k].accepted == heard.swaps[k]);
    CHECK(heard.it.swaps[k].rate() == static_cast<double>(heard.swaps[k]) / 10.0);
  }
  CHECK(session.totals().decode_tokens == heard.tokens);
}

TEST_CASE("a cancelled request leaves the batch at once, its caches are free, and it is not heard",
          "[session]") {
  TableModel table = scattered_table(7, 3);
  for (const bool is_begun : {false, true}) {
    CAPTURE(is_begun);
    CacheCount model(table);
    Session session(model, {{.in_flight = 2}});
    Heard heard;
    SampleRequest ladder = varied_request(0);
    ladder.samples = 1;
    const RequestId kept = session.submit(ladder, heard);
    SampleRequest other = varied_request(9);
    other.prompt = {5, 5, 5};
    other.plan = {make_stages(400, 400, {3}, {3}, {1}), Schedule::adj, 0};
    other.terminal = {};
    other.samples = 5;
    const RequestId gone = session.submit(other, heard);
    if (is_begun) {
      for (int i = 0; i < 3; ++i) session.step();
      CHECK(model.caches >= 8);
      CHECK(model.rows_of_passes > 3);
    }
    const std::size_t calls = heard.calls;
    session.cancel(gone);
    session.cancel(gone);
    session.cancel(12345);
    CHECK(model.caches <= 1 + 2 * ladder.ladder.rungs() + 2 * ladder.options.prefetch);
    session.step();
    CHECK(model.rows_of_passes <= ladder.ladder.rungs() * (1 + ladder.options.prefetch));
    for (const auto& [key, sample] : heard.samples)
      if (key.first == gone) CHECK(sample.answers.empty());
    finish(session);
    CHECK(heard.calls > calls);
    CHECK(heard.bits_of(kept) == bits_alone(table, ladder));
    CHECK_FALSE(heard.samples.contains({gone, other.first_sample + 2}));
    CHECK(model.caches == 0);
  }
}

TEST_CASE("a listener may cancel and submit, also its own request, from any call", "[session]") {
  TableModel table = scattered_table(7, 3);
  for (const char* where : {"round", "tokens", "answer"}) {
    CAPTURE(where);
    CacheCount model(table);
    Session session(model, {}, &letters);
    Heard heard;
    const std::string call = where;
    SampleRequest asked = varied_request(call == "tokens" ? 1 : 0);
    if (call == "tokens") asked.sampler = tokenwise_sampling;
    asked.samples = 2;
    SampleRequest next = varied_request(4);
    next.samples = 1;
    RequestId submitted = 0;
    std::size_t calls = 0;
    const auto told = [&](RequestId id) {
      if (calls++ > 0) return;
      session.cancel(id);
      submitted = session.submit(next, heard);
    };
    (call == "round"    ? heard.on_round
     : call == "tokens" ? heard.on_tokens
                        : heard.on_answer) = told;
    const RequestId cancelled = session.submit(asked, heard);
    finish(session);
    REQUIRE(submitted != cancelled);
    CHECK(heard.bits_of(submitted) == bits_alone(table, next, &letters));
    std::size_t answers = 0;
    for (const auto& [key, sample] : heard.samples)
      if (key.first == cancelled) answers += sample.answers.size();
    CHECK(answers == (call == "answer" ? 1 : 0));
    CHECK(model.caches == 0);
  }
}

TEST_CASE("a row that is not a number fails its own request, and no neighbour notices",
          "[session]") {
  TableModel sound = scattered_table(7, 3);
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    // Every prefix that begins with 6 and has more than 4 tokens is broken.
    TableModel model(7, [wrong](std::span<const TokenId> prefix) {
      TableModel table = scattered_table(7, 3);
      TokenCache empty;
      DeviceMemory<float> rows;
      const auto cache = table.empty_cache();
      const Pass pass{cache.get(), prefix};
      table.next_logits(std::span(&pass, 1), rows);
      std::vector<float> row = rows.download(0, 7);
      if (prefix.front() == 6 && prefix.size() > 4) row[2] = wrong;
      return row;
    });
    for (const std::size_t which : {0, 1, 5, 6, 7}) {
      CAPTURE(which);
      Session session(model, {{.largest_batch = 5}}, &letters);
      Heard heard;
      SampleRequest broken = varied_request(which);
      broken.prompt = {6, 2};
      broken.terminal = {};
      const RequestId before = session.submit(varied_request(11), heard);
      const RequestId failing = session.submit(broken, heard);
      const RequestId after = session.submit(varied_request(18), heard);
      finish(session);
      CHECK(heard.bits_of(before) == bits_alone(sound, varied_request(11), &letters));
      CHECK(heard.bits_of(after) == bits_alone(sound, varied_request(18), &letters));
      for (std::size_t s = 0; s < broken.samples; ++s) {
        const auto& sample = heard.samples.at({failing, broken.first_sample + s});
        CHECK(sample.answers.empty());
        REQUIRE(sample.failures.size() == 1);
        CHECK_THROWS_WITH(std::rethrow_exception(sample.failures[0]),
                          Catch::Contains("a logit is NaN or +infinity"));
      }
      // It goes on with what comes later.
      const RequestId later = session.submit(varied_request(12), heard);
      finish(session);
      CHECK(heard.bits_of(later) == bits_alone(sound, varied_request(12), &letters));
    }
  }
}

TEST_CASE("a transformer's neighbours keep their bits where a row fails in the batch",
          "[session]") {
  // Every text of more than 20 tokens is broken, and no sound request has one.
  class Broken final : public LanguageModel {
   public:
    explicit Broken(LanguageModel& model) : model_(model) {}
    std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
    std::unique_ptr<Cache> empty_cache() const override { return model_.empty_cache(); }
    void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
      model_.next_logits(passes, rows);
      std::vector<float> all = rows.download(0, passes.size() * vocabulary_size());
      for (std::size_t i = 0; i < passes.size(); ++i)
        if (passes[i].cache->length() > 20)
          all[i * vocabulary_size() + 3] = std::numeric_limits<float>::quiet_NaN();
      rows.upload(all);
    }

   private:
    LanguageModel& model_;
  };
  const auto model = random_qwen3(small_config(), 5);
  Broken broken(*model);
  Session session(broken);
  Heard heard;
  SampleRequest failing = varied_request(0);
  failing.prompt = std::vector<TokenId>(19, 9);
  failing.samples = 2;
  failing.terminal = {};
  failing.sampler = tokenwise_sampling;
  failing.ladder = Ladder({1.0});
  failing.plan = {make_stages(6, 6, {0}, {0}, {0})};
  std::vector<RequestId> sound;
  for (std::size_t i = 0; i < 6; ++i) {
    sound.push_back(session.submit(varied_request(i), heard));
    if (i == 2) session.submit(failing, heard);
  }
  finish(session);
  std::size_t failures = 0;
  for (const auto& [key, sample] : heard.samples) failures += sample.failures.size();
  CHECK(failures == 2);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(heard.bits_of(sound[i]) == bits_alone(*model, varied_request(i)));
  }
}

TEST_CASE("what a listener throws leaves the step and ends its own sample alone", "[session]") {
  TableModel model = scattered_table(7, 3);
  struct Throwing final : Listener {
    void round_ended(RequestId, std::size_t, const Progress&, std::span<const Event>) override {
      throw BadInput("disk", "is full", "make room");
    }
    void answered(RequestId, std::size_t, const Answer&) override { ++ends; }
    void failed(RequestId, std::size_t, const std::exception_ptr&) override { ++ends; }
    std::size_t ends = 0;
  } throwing;
  Session session(model);
  Heard heard;
  SampleRequest one = varied_request(0);
  one.samples = 1;
  session.submit(one, throwing);
  const RequestId kept = session.submit(varied_request(9), heard);
  std::size_t thrown = 0;
  for (bool is_more = true; is_more;) {
    try {
      is_more = session.step();
    } catch (const BadInput&) {
      ++thrown;
    }
  }
  CHECK(thrown == 1);
  CHECK(throwing.ends == 0);
  CHECK(heard.bits_of(kept) == bits_alone(model, varied_request(9)));
}

TEST_CASE("a pass that the model does not make is made by the next step, and no request is lost",
          "[session]") {
  struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  // Refuses every third pass: before the caches are written, or after it.
  struct Refusing final : ForwardingModel {
    Refusing(LanguageModel& model, bool is_late) : ForwardingModel(model), late(is_late) {}
    void refuse(bool is_after) {
      if (is_after == late && ++asked % 3 == 0) throw Refused("not now");
    }
    void before(std::span<const Pass>) override { refuse(false); }
    void after(std::span<const Pass>) override { refuse(true); }
    bool late;
    std::size_t asked = 0;
  };
  TableModel table = scattered_table(7, 3);
  for (const bool is_late : {false, true}) {
    CAPTURE(is_late);
    Refusing model(table, is_late);
    Session session(model, {{.largest_batch = 4}}, &letters);
    Heard heard;
    std::vector<RequestId> requests;
    for (const std::size_t which : {0, 5, 9, 11})
      requests.push_back(session.submit(varied_request(which), heard));
    std::size_t refused = 0, steps = 0;
    for (bool is_more = true; is_more && ++steps < 10000;) {
      try {
        is_more = session.step();
      } catch (const Refused&) {
        ++refused;
      }
    }
    REQUIRE(steps < 10000);
    CHECK(refused == model.asked / 3);
    CHECK(refused > 2);
    std::size_t failures = 0, request = 0;
    for (const std::size_t which : {0, 5, 9, 11}) {
      const RequestId id = requests[request++];
      if (!is_late) CHECK(heard.bits_of(id) == bits_alone(table, varied_request(which), &letters));
      for (std::size_t s = 0; s < varied_request(which).samples; ++s) {
        const auto& sample = heard.samples.at({id, varied_request(which).first_sample + s});
        // One end each: a token that is in a cache is not computed into it again.
        CHECK(sample.answers.size() + sample.failures.size() == 1);
        failures += sample.failures.size();
      }
    }
    CHECK((failures > 0) == is_late);
  }
}

TEST_CASE("a prompt is computed once for all requests that have it, and again when it was dropped",
          "[session]") {
  TableModel table = scattered_table(7, 3);
  SampleRequest asked{Ladder({2.0}), {make_stages(4, 4, {1}, {1}, {0})}, {}};
  asked.prompt = {2, 3, 4, 5, 6, 2, 3};
  CacheCount model(table);
  {
    Session session(model);
    Heard heard;
    for (std::uint32_t i = 0; i < 10; ++i) {
      asked.number.in_address = i;
      session.submit(asked, heard);
    }
    finish(session);
    CHECK(model.beginnings == 1);
    CHECK(model.caches == 0);
    session.submit(asked, heard);
    finish(session);
    CHECK(model.beginnings == 2);
  }
  // Room for one run and its prompt: the prompt of one that waits gives way to one that comes
  // first.
  const std::size_t each = 70 + (110 - 70 + 10);
  Session session(model, {{.cache_memory = each}});
  Heard heard;
  std::vector<RequestId> ids;
  for (const TokenId first : {2U, 3U, 2U, 3U}) {
    asked.prompt[0] = first;
    ids.push_back(session.submit(asked, heard));
  }
  finish(session);
  for (const RequestId id : ids) CHECK(heard.answer(id).tokens.size() == 4);
}

TEST_CASE("what cannot be asked is refused at once", "[session]") {
  TableModel model = scattered_table(7, 3);
  Session session(model, {{.cache_memory = 40}});
  Heard heard;
  SampleRequest asked{Ladder({2.0}), {make_stages(1, 1, {0}, {0}, {0})}, {}};
  const auto refused = [&](const std::function<void(SampleRequest&)>& change,
                           std::initializer_list<std::string> parts) {
    SampleRequest changed = asked;
    change(changed);
    require_bad_input([&] { session.submit(changed, heard); }, parts);
  };
  refused([](SampleRequest& r) { r.samples = 0; }, {"samples: is 0"});
  refused([](SampleRequest& r) { r.samples = addressable_samples + 1; }, {"1048576"});
  refused([](SampleRequest& r) { r.first_sample = addressable_samples; }, {"1048576"});
  refused([](SampleRequest& r) { r.stop = {"a"}; }, {"stop", "no text"});
  refused([](SampleRequest& r) { r.stop = {""}; }, {"stop", "empty"});
  refused([](SampleRequest& r) { r.prompt = {7}; }, {"token 7", "below 7"});
  refused([](SampleRequest& r) { r.prompt.assign(10, 1); }, {"cache memory", "the request"});
  CHECK_FALSE(session.step());
  CHECK(heard.calls == 0);
  // The last samples that have addresses are drawn.
  asked.samples = 2;
  asked.first_sample = addressable_samples - 2;
  session.submit(asked, heard);
  finish(session);
  CHECK(heard.samples.size() == 2);
  for (const auto& [key, sample] : heard.samples) CHECK(sample.answers.size() == 1);
}

TEST_CASE("a request of one sample goes on where it was saved, to the same bits", "[session]") {
  const auto model = random_qwen3(small_config(), 5);
  for (const std::size_t which : {0, 1, 4, 5, 6, 8}) {
    CAPTURE(which);
    SampleRequest asked = varied_request(which);
    asked.samples = 1;
    struct Saving final : Listener {
      void round_ended(RequestId, std::size_t, const Progress& progress,
                       std::span<const Event>) override {
        rounds.push_back(saved(progress, "the checkpoint"));
      }
      void answered(RequestId, std::size_t, const Answer& answer) override { it = answer; }
      void failed(RequestId, std::size_t, const std::exception_ptr& failure) override {
        why = failure;
      }
      std::vector<SavedProgress> rounds;
      Answer it;
      std::exception_ptr why;
    };
    Saving whole;
    Session session(*model);
    session.submit(asked, whole);
    finish(session);
    REQUIRE(whole.rounds.size() > 1);
    for (const SavedProgress& round : whole.rounds) {
      Saving rest;
      session.resume(asked, round, rest);
      finish(session);
      CHECK(rest.it.tokens == whole.it.tokens);
      CHECK(rest.it.log_p0 == whole.it.log_p0);
      CHECK(rest.it.log_p0_of_records == whole.it.log_p0_of_records);
    }
    SavedProgress other = whole.rounds.front();
    other.log_p0.front() ^= 1;
    Saving refused;
    session.resume(asked, other, refused);
    finish(session);
    REQUIRE(refused.why);
    require_bad_input([&] { std::rethrow_exception(refused.why); },
                      {"the checkpoint", "no longer gives"});
  }
}

TEST_CASE("a session that could draw nothing is refused") {
  TableModel model = scattered_table(6, 3);
  CHECK_THROWS_AS(Session(model, {{.largest_batch = 0}}), Bug);
  CHECK_THROWS_AS(Session(model, {{.in_flight = 0}}), Bug);
}

}  // namespace tempera::gpu
