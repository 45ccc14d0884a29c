// Every family, opened from a folder, and every type of weights, opened from a GGUF file, as a run
// opens them, in each arithmetic. What the host gives is recorded here, because a program for a
// device has no host's form of a model; every build must find it again. A build for the host holds
// its other forms, the CUDA kernels on fibers among them, against it in every bit.
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "gpu/llm/transformer/kernels/thrust/thrust_kernels.hpp"
#include "tests/devices/tempered_bits.hpp"
#include "tests/gpu/llm/transformer/architectures/model_answers.hpp"
#include "tests/gpu/llm/transformer/architectures/model_files.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_recurrent.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera;
using namespace tempera::gpu;

namespace {

/// Recorded bits under `float32`, `tensor-core`, `tensor-core-ampere` and `integer`.
struct Recorded {
  const char* float32;
  RecordedBits tensor_cores;
  const char* integer;
  std::string under(Arithmetic arithmetic) const {
    const char* const recorded = arithmetic == Arithmetic::float32 ? float32
                                 : arithmetic == Arithmetic::integer
                                     ? integer
                                     : tensor_cores.under(arithmetic);
    return recorded == nullptr ? "not recorded" : recorded;
  }
};

/// What this program computes of a model: a device `float32`, its own arithmetic of tensor cores,
/// and `integer` unless there are recurrent layers; the host all of them.
std::vector<Arithmetic> arithmetics_here(bool is_recurrent) {
  if (device_system() != "CUDA")
    return {Arithmetic::float32, Arithmetic::tensor_core, Arithmetic::tensor_core_ampere,
            Arithmetic::integer};
  if (is_recurrent) return {Arithmetic::float32, own_arithmetic()};
  return {Arithmetic::float32, own_arithmetic(), Arithmetic::integer};
}

struct Family {
  const char* fixture;
  void (*write)(const std::filesystem::path& folder, const std::string& fixture);
  std::optional<RopeFactors> factors;
  Recorded recorded;
};

const Family families[] = {
    {"llama3_scaled",
     write_fixture_folder<Llama>,
     std::nullopt,
     {"621fbd6768caef4a", {"95015922f51bb1a5", "c2b0da1ca0b7154a"}, "edac15fd1260790a"}},
    {"qwen2",
     write_fixture_folder<Qwen2>,
     std::nullopt,
     {"24b7e6f8e0315b99", {"099d6794acf48682", "0723c6ab6a109edc"}, "cb2cfd6213a11422"}},
    {"qwen3",
     write_fixture_folder<Qwen3>,
     std::nullopt,
     {"63b540d07d61f30f", {"dcdb621e02b84ad6", "babdd1884cc5eb5c"}, "2afc84dc3ff12b49"}},
    {"phi3_long",
     write_fixture_folder<Phi3>,
     RopeFactors::of_long_texts,
     {"0794dfbd02fcffac", {"c657b0250ec51ebc", "b9b0642a10a300e4"}, "b8ff7d3144362554"}},
    {"qwen3_5",
     write_fixture_folder<Qwen3_5>,
     std::nullopt,
     {"60510f66dd1d3c3d", {"88748c9592ca44be", "8a49875f9eff6059"}, "9c28a818c07fbf90"}}};

struct GgufFamily {
  const char* name;
  GgufPair (*files)(const TypeOf& type_of);
  std::array<Recorded, weight_types.size()> recorded;
};

GgufPair small_llama_gguf(const TypeOf& type_of) { return llama_gguf(type_of); }

const GgufFamily gguf_families[] = {
    {"llama",
     small_llama_gguf,
     {{{"3d8636d16e79b41c", {"a70aacd950f1adaa", "e41de05621b886fc"}, "710f1de635d26f57"},
       {"41e9e03a0394a050", {"99009b098cef241c", "4b40d787e9618940"}, "8171834e3a9f642d"},
       {"3fb1e5ce5cf84b2c", {"a70aacd950f1adaa", "e41de05621b886fc"}, "7e4d59429b427b32"},
       {"c9ef410101526d08", {"e89bf42453aa25e4", "413b63afc863a2f9"}, "3f3d3d0fc05cd008"},
       {"e982ed5255e08752", {"eb8c72cda87ea355", "da0595990991cd43"}, "cfd43a33a54834ef"},
       {"6522e50bc0bfb9f9", {"7dba85dd396d2525", "acf9b7a2bf8a1e0f"}, "dc32245c2b503f07"},
       {"013cc3e4eb01eb54", {"6c5bd3b7a6812951", "1ba7e7fc61931b95"}, "6ed62558a0ebc016"},
       {"9aa1bda9f1de8a8a", {"16971e1c94c5c3ef", "993acad52764a3ba"}, "7f8e2eece4c4b67e"},
       {"5d969053d99a1c65", {"f2c8fe37d1137b7b", "8bcc1950d51376ef"}, "9d2234ec56e1b117"},
       {"24a4f33c2cb4ac9c", {"e524f5d68e66e740", "c84ef73ac59c9c0a"}, "38b8a569cb388b12"},
       {"caa0f31f015857af", {"b6a7a4a8b267f95b", "c2fd63ae048f7a2b"}, "3dbd6bea3292d809"},
       {"8716e74781f6fcc0", {"591ecca6ea4d248e", "452f9ea66af8fd71"}, "bc913014aa0a828a"},
       {"14610d628dc9ba5c", {"923a583df5b3c1e1", "dce8fbe8fe77be21"}, "3706903858ea3e04"},
       {"d59e3f5a7a973ee4", {"8eeade972cbdbd22", "fb4317b53b3338e7"}, "aa0f0df10b96de1f"},
       {"9be89ba70d9ab858", {"c2bf243b5e530879", "498a1ef416022918"}, "61e8b2e0ac824bf8"}}}},
    {"qwen35",
     qwen35_gguf,
     {{{"e2dda30bc68da044", {"d54f3919b2173c67", "7bbd9da1708238d1"}, "465ea58e32d661b0"},
       {"791ace00e9b44bb3", {"2b589d564284b513", "2c37fd07982bb9b7"}, "a27c974347608490"},
       {"4e4195efa36cf4e5", {"d54f3919b2173c67", "7bbd9da1708238d1"}, "4346e1a2b999be4e"},
       {"8297c392d5c4aa25", {"1390292fd91b7dd4", "21b91fa2c72742ba"}, "64f0ac52f6a93bc8"},
       {"98b2dff87d3f03c8", {"2c073a0b5cc44cec", "4063c80c676314ff"}, "e2656a5aff14e3ee"},
       {"c588c2825f3e0ad0", {"5ed640f87dee064a", "40212eb3eda302f6"}, "c5d3538c17855ebd"},
       {"32a3f99a138f3885", {"84a23db1ad0e2a8c", "fa3fd46840795280"}, "6a3c5c1608f8a139"},
       {"dd3520114f4f7dbd", {"31a58f9c3d51653c", "311002c43264e289"}, "50432fe2fd495aa1"},
       {"c8c554f10e07b749", {"452f7990bc0261f3", "f8f56669ffbf0206"}, "707f61d496ab8662"},
       {"d1cdfc5f460350e9", {"2579e96a9b2877da", "60d89e40e11b6ec5"}, "1fa52a8f7c63641c"},
       {"203a30e200cff0a0", {"f84319433d56dec4", "b8513f60ad3b597c"}, "575e9b3e47e3273a"},
       {"74d2cab68de9c372", {"12108f48f2b1b6e3", "9a7a15b15f2c2a77"}, "50f0d29268c3defc"},
       {"405d74290d7594a3", {"11780646d66ab6c1", "5021b8dfa6cc285e"}, "ceffd845a477a7c8"},
       {"430697c8719216bf", {"da0beaea6c0509f1", "fcf95fe0ca0a0ce1"}, "70d809a43fee9b71"},
       {"452549e848893965", {"25a22155d49d2d07", "55b742ba1fbf60f2"}, "44b45e7d35ebbc47"}}}}};

/// Past a page, a checkpoint of a recurrent state and a split.
std::vector<TokenId> text_past_a_split() {
  std::vector<TokenId> text;
  for (TokenId i = 0; i < 270; ++i) text.push_back((i * i + 5 * i + i / 9) % 61);
  return text;
}

/// A model opened and asked by the form that a run takes.
ModelAnswers answers_by_default(const std::filesystem::path& path, Arithmetic arithmetic,
                                std::span<const TokenId> text,
                                std::optional<RopeFactors> factors = std::nullopt) {
  const auto model = Transformer::load(path, default_kernels(arithmetic), factors);
  return answers_of(*model, *make_device_row_lottery(), text);
}

/// In a build for the host: `float32` by the form that a device takes.
void require_by_thrust(const std::filesystem::path& path, std::span<const TokenId> text,
                       const ModelAnswers& answers,
                       std::optional<RopeFactors> factors = std::nullopt) {
  if (device_system() == "CUDA") return;
  const auto model = Transformer::load(path, thrust_kernels(), factors);
  CHECK((answers_of(*model, *make_thrust_row_lottery(), text) == answers));
}

/// In a build for the host: any other by the kernels that a device takes, thread by thread, and so
/// of as few tokens as there is a second page with. Of GGUF files opened_gguf.cpp does it.
template <class CudaForm>
void require_on_fibers(const std::filesystem::path& path, std::span<const TokenId> text,
                       const CudaForm& on_fibers, std::optional<RopeFactors> factors) {
  const auto few = text.first(28);
  const Arithmetic arithmetic = on_fibers.arithmetic();
  const auto model = Transformer::load(path, on_fibers, factors);
  CHECK((answers_of(*model, *make_cuda_row_lottery(), few) ==
         answers_by_default(path, arithmetic, few, factors)));
  CHECK(on_fibers.steps() > 0);
}

/// How far rows under arithmetics of tensor cores may be from those of transformers: parity.cpp and
/// parity_recurrent.cpp derive it.
double tensor_core_reach(const ExpectedLogits& expected, const JsonObject& json,
                         const DecoderConfig& layers) {
  if (json.text("model_type") != Qwen3_5::model_type) return expected.bfloat16_tolerance(layers);
  LogitsByPosition rounded;
  for (const auto& row : PlainRecurrent(Qwen3_5::configuration(json), RecurrentDefect::none, true)
                             .logits(expected.tokens))
    rounded.emplace_back(row.begin(), row.end());
  return 2.0 * expected.distance(rounded).mean;
}

/// The rows are those of Hugging Face transformers, to the arithmetic's rounding.
void require_the_fixtures_logits(const ExpectedLogits& expected, const ModelAnswers& answers,
                                 const std::filesystem::path& path, Arithmetic arithmetic) {
  const std::size_t vocabulary = expected.logits.size() / expected.positions();
  LogitsByPosition rows(expected.tokens.size(), std::vector<float>(vocabulary));
  for (std::size_t row = 0; row < rows.size(); ++row)
    std::memcpy(rows[row].data(), &answers.after_each_prefix[row * vocabulary],
                vocabulary * sizeof(float));
  const auto [largest, mean] = expected.distance(rows);
  const auto document = read_json_file(path / "config.json");
  const JsonObject json(document, "config.json");
  DecoderConfig layers;
  layers.num_hidden_layers = json.whole_number("num_hidden_layers", 1, 8);
  if (arithmetic == Arithmetic::float32) {
    CHECK(largest <= expected.tolerance(layers));
    return;
  }
  const double reach = tensor_core_reach(expected, json, layers);
  CHECK(mean <= reach);
  // It is another arithmetic, and whole numbers of 16 bits are nearer than bfloat16s.
  CHECK(mean > (arithmetic == Arithmetic::integer ? 0.0 : 0.02) * reach);
}

}  // namespace

TEST_CASE("every family has the recorded bits from its folder in each arithmetic") {
  const tempera::test::TemporaryFolder folder;
  for (const Family& family : families) {
    const ExpectedLogits expected(family.fixture);
    REQUIRE(expected.tokens.size() > 400);
    const auto path = folder / family.fixture;
    family.write(path, family.fixture);
    const bool is_recurrent = std::string_view(family.fixture) == "qwen3_5";
    for (const Arithmetic arithmetic : arithmetics_here(is_recurrent)) {
      INFO(family.fixture << " under " << name_of(arithmetic));
      const auto answers = answers_by_default(path, arithmetic, expected.tokens, family.factors);
      CHECK(fingerprint_of(answers.words()) == family.recorded.under(arithmetic));
      require_the_fixtures_logits(expected, answers, path, arithmetic);
      if (arithmetic == Arithmetic::float32)
        require_by_thrust(path, expected.tokens, answers, family.factors);
      else if (device_system() == "CUDA")
        continue;
      else if (arithmetic != Arithmetic::integer)
        require_on_fibers(path, expected.tokens,
                          CudaKernels(5, std::nullopt, StepForm::graph, arithmetic),
                          family.factors);
      else if (!is_recurrent)
        require_on_fibers(path, expected.tokens, CudaIntegerKernels(5), family.factors);
    }
  }
}

TEST_CASE("a GGUF file of every type of weights has the recorded bits in each arithmetic") {
  const tempera::test::TemporaryFolder folder;
  const auto text = text_past_a_split();
  for (const GgufFamily& family : gguf_families) {
    for (std::size_t i = 0; i < weight_types.size(); ++i) {
      const WeightType& type = weight_types[i];
      const auto files = family.files([&](std::size_t) { return type; });
      const auto path = folder / "stored.gguf";
      write_file(path, files.stored.bytes());
      write_file(folder / "float32.gguf", files.in_float32.bytes());
      for (const Arithmetic arithmetic : arithmetics_here(family.files == qwen35_gguf)) {
        INFO(family.name << " of " << type.dtype << " under " << name_of(arithmetic));
        const auto answers = answers_by_default(path, arithmetic, text);
        CHECK(fingerprint_of(answers.words()) == family.recorded[i].under(arithmetic));
        CHECK(answers.after_each_prefix[0] != answers.after_each_prefix[1]);
        if (arithmetic == Arithmetic::float32) require_by_thrust(path, text, answers);
        // The same weights as numbers; but if blocks hold several heads of a recurrent layer,
        // its product is summed in the file's order, and that of numbers is not.
        const std::string dtype(type.dtype);
        const bool holds_heads = dtype.ends_with("_K") || dtype == "IQ4_XS";
        if (family.files == small_llama_gguf || !holds_heads)
          CHECK((answers_by_default(folder / "float32.gguf", arithmetic, text) == answers));
      }
    }
  }
}
