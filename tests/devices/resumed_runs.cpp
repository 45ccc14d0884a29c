// Runs that are killed and resumed, on one form of the kernels or from one to another. A
// folder that is left half-way is held, byte for byte, against what the host's form leaves: where
// it is the same, resuming a device's run on a host is resuming the host's own.
#include <filesystem>

#include "gpu/core/model/forwarding_model.hpp"
#include "tests/catch.hpp"
#include "tests/devices/tempered_bits.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"
#include "tests/gpu/session/recorded_folder.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera::gpu;

namespace {

/// A model whose run is cut short at its n-th forward pass, and whose draws go the way of a form:
/// on fibers by rows of CUDA's kernels, which a run would have on a device alone.
class CutModel final : public ForwardingModel {
 public:
  CutModel(LanguageModel& model, const TensorCoreForm& form, std::size_t passes = SIZE_MAX)
      : ForwardingModel(model),
        rows_(form.steps != nullptr ? form.make_rows() : nullptr),
        left_(passes) {}
  std::unique_ptr<FusedDraw> fused_draw(RowLottery& rows, Lottery& lottery) override {
    return ForwardingModel::fused_draw(rows_ ? *rows_ : rows, lottery);
  }

 private:
  void before(std::span<const Pass> /*passes*/) override {
    if (left_-- == 0) throw Killed{};
  }

  std::unique_ptr<RowLottery> rows_;
  std::size_t left_;
};

/// The settings for one with recurrent layers: records pass a page, two checkpoints of the state
/// and a split.
SamplingSettings settings_of_recurrent_runs() {
  SamplingSettings settings = recorded::settings_of_runs();
  settings.prompts = {{"one", recurrent::text_of(59)}, {"other", recurrent::text_of(250)}};
  settings.terminal = {0, 1};
  settings.rounds = {1, 1};
  return settings;
}

/// The same, but one prompt, whose records pass a page and a checkpoint at once: small enough for
/// fibers, thread by thread.
SamplingSettings settings_of_short_recurrent_runs() {
  SamplingSettings settings = settings_of_recurrent_runs();
  settings.prompts = {{"short", recurrent::text_of(61)}};
  settings.powers = {1.0, 2.0};
  settings.output = 2;
  settings.samples = 1;
  settings.horizon = 6;
  settings.block = 3;
  return settings;
}

/// What the host's form leaves when a run is killed at this forward pass.
struct HalfWay {
  std::size_t passes;
  RecordedBits recorded;
};

/// A run, and what the host's form leaves of it.
struct ResumedRun {
  SamplingSettings settings;
  std::unique_ptr<Transformer> (*make)(const Kernels& kernels);
  std::vector<HalfWay> kills;
  RecordedBits whole;
  bool on_fibers;  // whether it is small enough for them
};

std::uint64_t steps_of(const TensorCoreForm& form) {
  return form.steps == nullptr ? 0 : form.steps->steps();
}

/// Killed at each of its passes and resumed on another form, it leaves what is recorded. Of more
/// than two forms each is resumed on the one after it, for they all leave the same.
void require_recorded(const ResumedRun& resumed, Arithmetic arithmetic) {
  std::vector<TensorCoreForm> forms;
  for (const TensorCoreForm& form : tensor_core_forms())
    if (form.kernels.arithmetic() == arithmetic && (resumed.on_fibers || !form.on_fibers))
      forms.push_back(form);
  SamplingSettings settings = resumed.settings;
  settings.arithmetic = arithmetic;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const TensorCoreForm& begun = forms[i];
    const std::vector<TensorCoreForm> next{forms[(i + 1) % forms.size()]};
    const std::uint64_t steps = steps_of(begun);
    const auto model = resumed.make(begun.kernels);
    const tempera::test::TemporaryFolder work;
    INFO("begun on: " << begun.words());
    {
      RunFolder folder = RunFolder::create(work / "whole", settings.to_json());
      CutModel whole(*model, begun);
      recorded::run_in_folder(whole, folder, settings);
    }
    CHECK(recorded::fingerprint_of_folder(work / "whole") == resumed.whole.under(arithmetic));
    CHECK((steps_of(begun) > steps) == (begun.steps != nullptr));
    for (const auto& [passes, half_way] : resumed.kills) {
      for (const TensorCoreForm& ended : forms.size() > 2 ? next : forms) {
        INFO("killed at pass " << passes << ", resumed on: " << ended.words());
        const auto path = work / (std::to_string(passes) + ended.words());
        {
          RunFolder folder = RunFolder::create(path, settings.to_json());
          CutModel killed(*model, begun, passes);
          REQUIRE_THROWS_AS(recorded::run_in_folder(killed, folder, settings), Killed);
        }
        CHECK(recorded::fingerprint_of_folder(path) == half_way.under(arithmetic));
        {
          RunFolder folder = RunFolder::open(path);
          CHECK(folder.checkpoint());
          const auto other = resumed.make(ended.kernels);
          CutModel whole(*other, ended);
          recorded::run_in_folder(whole, folder, settings);
        }
        CHECK(recorded::fingerprint_of_folder(path) == resumed.whole.under(arithmetic));
      }
    }
  }
}

/// The same under each arithmetic of tensor cores that this program computes.
void require_recorded(const ResumedRun& resumed) {
  for (const Arithmetic arithmetic : {Arithmetic::tensor_core, Arithmetic::tensor_core_ampere})
    if (device_system() != "CUDA" || arithmetic == own_arithmetic())
      require_recorded(resumed, arithmetic);
}

}  // namespace

TEST_CASE("a run that is killed and resumed, on any form of tensor cores, has the recorded bytes") {
  require_recorded({recorded::settings_of_runs(),
                    recorded::model_of,
                    {{8, {"28da0122fb733b53", "0f3f219a3da04cad"}},
                     {13, {"92d4a6db6d4cde58", "d3cc1538d0ce5455"}},
                     {19, {"3671f5ccdcc05f4c", "71fc400aaad6a31a"}}},
                    {recorded::of_hopper, recorded::of_ampere},
                    true});
}

TEST_CASE("a recurrent model's run that is killed and resumed has the recorded bytes") {
  require_recorded({settings_of_recurrent_runs(),
                    recurrent::model,
                    {{6, {"a708cae18119a440", "2adea04fd9d662cb"}},
                     {11, {"8c29a7ca178c4cc4", "4ef94bf9a0c0dbbc"}},
                     {17, {"a59f17dcc16a69d6", "44a1ba761654b9fc"}}},
                    {"e09c0cad9399f249", "2b3dd3d8f609a603"},
                    false});
}

TEST_CASE("such a run on fibers, step by step, has the recorded bytes") {
  require_recorded({settings_of_short_recurrent_runs(),
                    recurrent::model,
                    {{5, {"ad3c835a98ca8b33", "d614aa85db00ed4a"}},
                     {9, {"cc3d68447111a18a", "e4142756a1b7c3d2"}}},
                    {"803539580f04536d", "4065c30ea5b10de3"},
                    true});
}
