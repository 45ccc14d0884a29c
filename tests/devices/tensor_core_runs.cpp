// Whole runs of PPT under the arithmetics of tensor cores: on the device, each step a graph and
// launch by launch, or, in a build for the host, in the host's form and on fibers. A program for a
// device has no host's form to be held against, so what the host's form gives is recorded here;
// every build must find it again.
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/devices/tempered_bits.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"

using namespace tempera::gpu;

namespace {

struct Layout {
  std::size_t largest_batch;
  WorkOrder order;
};
constexpr Layout layouts[] = {{1, WorkOrder::first_come},
                              {5, WorkOrder::last_come},
                              {64, WorkOrder::first_come},
                              {64, WorkOrder::last_come}};

void require_recorded(LanguageModel& model, const TensorCoreForm& form, const TemperedCase& runs,
                      const RecordedBits& recorded, std::span<const Layout> in) {
  const auto rows = form.make_rows();
  const auto count = [&] { return form.steps == nullptr ? 0 : form.steps->steps(); };
  const auto count_graphs = [&] { return form.steps == nullptr ? 0 : form.steps->graph_replays(); };
  for (const auto& [largest_batch, order] : in) {
    INFO("largest batch " << largest_batch);
    const std::uint64_t steps = count();
    const std::uint64_t graphs = count_graphs();
    CHECK(fingerprint_of(tempered_bits(model, *rows, runs, largest_batch, order)) ==
          recorded.under(form.kernels.arithmetic()));
    // It went the way that it is named after.
    CHECK((count() > steps) == (form.steps != nullptr));
    CHECK(count_graphs() - graphs == (form.step_form == StepForm::launches ? 0 : count() - steps));
  }
}

struct Shape {
  const char* name;
  std::size_t hidden, inner, heads, key_value_heads, head_dim;
  bool tied;
  RecordedBits recorded;
  RecordedBits recorded_of_8_bits;
};

/// Grouped heads and ungrouped ones, heads of 18 to 256, sizes that fill no tile, several segments.
constexpr Shape shapes[] = {{"grouped, nothing fills a tile",
                             40,
                             56,
                             4,
                             2,
                             18,
                             true,
                             {"18d99869b89535e0", "a7b0b821f377f87a"},
                             {"075a7d4eaab05eba", "435384b80fdef05c"}},
                            {"ungrouped, heads of 64",
                             64,
                             96,
                             4,
                             4,
                             64,
                             false,
                             {"bcfa123d512c88bd", "76e32138368f4d2c"},
                             {"c5332c6971da7b1f", "1694d27a2b5316c7"}},
                            {"eight heads share two, several segments",
                             48,
                             1100,
                             8,
                             2,
                             128,
                             true,
                             {"145d34026e1ce051", "de05e7a050251b51"},
                             {"39dad95af7190916", "0b85107bb560bb37"}},
                            {"heads of 256",
                             32,
                             48,
                             2,
                             1,
                             256,
                             false,
                             {"c636d4315259a8b7", "9433be751004f645"},
                             {"d74d68ff7c4e7d41", "3d347c3499674e9e"}}};

TemperedCase random_case() {
  // One prompt's texts end within the first split of 256 positions, the other's go beyond it.
  std::vector<TokenId> long_prompt;
  for (TokenId i = 0; i < 250; ++i) long_prompt.push_back((i * i + i / 7) % 11);
  return {{{{1, 2, 3}, {10}}, {long_prompt, {10}}},
          {1.0, 1.6, 2.5},
          {make_stages(12, 7, {2, 1}, {2}, {1}), Schedule::deo, 2},
          2,
          6};
}

}  // namespace

TEST_CASE("whole runs of PPT on worked_sum have the recorded bits") {
  // 4+7?, 9+3+8?
  const TemperedCase runs{{{{5, 11, 8, 12}, {0}}, {{10, 11, 4, 11, 9, 12}, {0}}},
                          {1.0, 2.0, 4.0},
                          {make_stages(28, 14, {2, 1}, {1}, {1}), Schedule::adj, 2},
                          2,
                          11};
  for (const TensorCoreForm& form : tensor_core_forms()) {
    if (form.on_fibers) continue;  // the shapes below are small enough for them
    INFO("kernels: " << form.words());
    const auto model = Transformer::load("toy_models/worked_sum", form.kernels);
    const RecordedBits recorded{"1caa6c532133b477", "312ae79912f8af98"};
    require_recorded(*model, form, runs, recorded, layouts);
  }
}

namespace {

void require_recorded(const std::vector<TensorCoreForm>& forms,
                      RecordedBits Shape::*const recorded) {
  for (const Shape& shape : shapes) {
    DecoderConfig config;
    config.vocab_size = 11;
    config.hidden_size = shape.hidden;
    config.intermediate_size = shape.inner;
    config.num_hidden_layers = 2;
    config.num_attention_heads = shape.heads;
    config.num_key_value_heads = shape.key_value_heads;
    config.head_dim = shape.head_dim;
    config.max_position_embeddings = 512;
    config.tie_word_embeddings = shape.tied;
    for (const TensorCoreForm& form : forms) {
      if (form.on_fibers && &shape != &shapes[0]) continue;
      INFO(shape.name << "; kernels: " << form.words());
      const auto model = random_qwen3(config, 29, form.kernels);
      require_recorded(*model, form, random_case(), shape.*recorded,
                       form.on_fibers ? std::span(layouts).subspan(2, 1) : std::span(layouts));
    }
  }
}

}  // namespace

TEST_CASE("whole runs of PPT on random models have the recorded bits") {
  require_recorded(tensor_core_forms(), &Shape::recorded);
}

TEST_CASE("whole runs of PPT with pages of 8 bits have the recorded bits") {
  require_recorded(forms_of_8_bit_pages(), &Shape::recorded_of_8_bits);
}

TEST_CASE("whole runs of PPT on a recurrent model have the recorded bits") {
  // Records go past the checkpoints of the state at 64, 128 and 256, past pages, and past a split
  // of 256 positions; most restarts fall after a checkpoint and are replayed from it.
  TemperedCase runs{{{recurrent::text_of(60), {0}}},
                    {1.0, 1.6, 2.5},
                    {make_stages(12, 6, {2}, {2}, {1}), Schedule::deo, 2},
                    1,
                    6};
  RecordedBits recorded{"ba6ab35dd26f1e6e", "cab68f1615da9913"};
  for (const TensorCoreForm& form : tensor_core_forms()) {
    if (form.on_fibers && (form.steps == nullptr || form.step_form != StepForm::graph)) continue;
    INFO("kernels: " << form.words());
    const auto model = recurrent::model(form.kernels);
    require_recorded(*model, form, runs, recorded,
                     form.on_fibers ? std::span(layouts).subspan(2, 1) : std::span(layouts));
    CHECK(model->tokens_replayed() > 0);
  }
  runs.contexts.push_back({recurrent::text_of(125), {}});
  runs.contexts.push_back({recurrent::text_of(250), {}});
  runs.contexts.push_back({recurrent::text_of(3), {0, 1}});
  runs.samples = 2;
  recorded = {"d8173dd54fa198ab", "950705d6d5e98785"};
  for (const TensorCoreForm& form : tensor_core_forms()) {
    if (form.on_fibers) continue;
    INFO("kernels: " << form.words());
    const auto model = recurrent::model(form.kernels);
    require_recorded(*model, form, runs, recorded, layouts);
  }
}

TEST_CASE("planted: a record whose last bit is changed has another fingerprint") {
  std::vector<std::uint64_t> bits{1, 2, 3, 0x3FF0000000000000ULL};
  const std::string sound = fingerprint_of(bits);
  bits.back() ^= 1U;
  CHECK(fingerprint_of(bits) != sound);
  std::swap(bits[0], bits[1]);
  bits.back() ^= 1U;
  CHECK(fingerprint_of(bits) != sound);
}
