// A wrapper of a model that lost one of its functions would answer by another way than the model.
#include "gpu/core/model/forwarding_model.hpp"

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/catch.hpp"

namespace tempera::gpu::forwarding_model_test {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(TEMPERA_SOURCE_DIR) + "/gpu/core/model/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Names that are before the arguments of a function that `pattern` finds.
std::set<std::string> names_by(const std::regex& pattern, const std::string& text) {
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

/// The functions of LanguageModel that a text of forwarding_model.hpp does not pass on.
std::set<std::string> lost_in(const std::string& forwarding) {
  std::string interface = text_of("language_model.hpp");
  interface.erase(0, interface.find("class LanguageModel"));
  std::set<std::string> lost = names_by(std::regex(R"(virtual [^;{(~]*?(\w+)\()"), interface);
  REQUIRE(lost.size() >= 8);
  for (const std::string& name :
       names_by(std::regex(R"((\w+)\([^;{}]*\) (?:const )?override)"), forwarding))
    lost.erase(name);
  return lost;
}

/// Counts the batches that go through it.
class Counted final : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  std::size_t begun = 0;
  std::size_t ended = 0;

 private:
  void before(std::span<const Pass> passes) override { begun += passes.size(); }
  void after(std::span<const Pass> passes) override { ended += passes.size(); }
};

/// Answers each function in a way that no default does.
class Unusual final : public LanguageModel {
 public:
  std::size_t vocabulary_size() const override { return 7; }
  std::unique_ptr<Cache> empty_cache() const override { return nullptr; }
  std::size_t cache_bytes(std::size_t length) const override { return 3 * length; }
  std::size_t most_unshared_tokens() const override { return 5; }
  std::size_t most_cache_bytes() const override { return 11; }
  void next_logits(std::span<const Pass> /*passes*/, DeviceMemory<float>& /*rows*/) override {
    ++logits_asked;
  }
  std::unique_ptr<FusedDraw> fused_draw(RowLottery& /*rows*/, Lottery& /*lottery*/) override {
    struct Fused final : FusedDraw {
      explicit Fused(int& asked) : tokens_asked(asked) {}
      std::vector<ScoredToken> next_tokens(std::span<const Pass> /*passes*/,
                                           std::span<const RowDraw> /*draws*/,
                                           DeviceMemory<float>& /*logits*/) override {
        ++tokens_asked;
        return std::vector<ScoredToken>(2);
      }
      int& tokens_asked;
    };
    return std::make_unique<Fused>(tokens_asked);
  }
  int logits_asked = 0;
  int tokens_asked = 0;
};

}  // namespace

TEST_CASE("a forwarding model passes on every function, and sees both ways of computing") {
  Unusual inner;
  Counted model(inner);
  CHECK(model.vocabulary_size() == 7);
  CHECK(model.cache_bytes(4) == 12);
  CHECK(model.most_unshared_tokens() == 5);
  CHECK(model.most_cache_bytes() == 11);
  const auto rows = make_host_row_lottery();
  PhiloxLottery lottery;
  const std::vector<Pass> passes(3, Pass{nullptr, {}});
  DeviceMemory<float> memory;
  model.next_logits(passes, memory);
  CHECK(inner.logits_asked == 1);
  CHECK(model.next_tokens(passes, {}, *rows, lottery, memory).size() == 2);
  CHECK(inner.tokens_asked == 1);
  CHECK(model.begun == 6);
  CHECK(model.ended == 6);
}

TEST_CASE("a function that LanguageModel gains and ForwardingModel does not pass on is seen") {
  const std::string forwarding = text_of("forwarding_model.hpp");
  CHECK(lost_in(forwarding).empty());
  // Planted: one of them is not passed on.
  std::string without = forwarding;
  const std::string name = "fused_draw";
  without.replace(without.find(name), name.size(), "draws");
  CHECK(lost_in(without) == std::set<std::string>{name});
}

}  // namespace tempera::gpu::forwarding_model_test
