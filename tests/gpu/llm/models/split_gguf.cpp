// A model that was split into several GGUF files, as llama.cpp's gguf-split and gguf-py split it.
#include <set>

#include "gpu/llm/models/model_digest.hpp"
#include "gpu/llm/models/model_text.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/session/token_scores.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::split_gguf_test {

namespace {

namespace fs = std::filesystem;

const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};

std::vector<double> log_p_of(const fs::path& model, const std::vector<TokenId>& tokens = text,
                             const PackedWeights& packed = {}) {
  const auto opened = OpenedModel::open(model.string(), {}, std::nullopt, std::nullopt, packed);
  return score_tokens(opened.model(), tokens, std::vector<double>{1.0}).log_p;
}

DecoderConfig llama_config() {
  const auto file = architecture_fixtures / "llama3_scaled" / "config.json";
  const auto document = read_json_file(file);
  auto config = Llama::configuration(JsonObject(document, file.string()));
  config.rope_factors.clear();
  config.vocab_size = 300;
  return config;
}

GgufBytes metadata_of(const DecoderConfig& config) {
  auto file = gguf_of<Llama>(config, "llama");
  add_byte_tokenizer(file, config.vocab_size);
  return file;
}

/// What a test may say otherwise of a part.
struct PartSays {
  std::size_t number;
  std::size_t parts;
  std::size_t tensors;
};

/// A model of llama as files: tensor i is in part i * parts / tensors, as gguf-split has them in
/// order.
class SplitModel {
 public:
  explicit SplitModel(std::size_t parts) : parts_(parts), config_(llama_config()) {
    files_.resize(parts);
    files_[0] = metadata_of(config_);
    FormulaTensors made;
    const Llama model(config_, made, default_kernels());
    tensors_ = made.made().size();
    std::size_t i = 0;
    // The head first: a file that lacks it alone would be taken for one whose head is tied.
    for (const auto& [name, tensor] : made.made()) {
      add(parts - 1 - i++ * parts / tensors_, name, tensor);
    }
  }

  void add(std::size_t part, const std::string& name, const FormulaTensors::Made& tensor) {
    const bool is_rotated = name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight");
    add_gguf_tensor(
        files_[part], gguf_name(name, "llama"), tensor.shape, 0,
        bytes_of_values(
            is_rotated ? neighbours_from_halves(tensor.values, tensor.shape[1], config_.head_dim)
                       : tensor.values));
  }
  std::size_t tensors() const { return tensors_; }
  GgufBytes& file(std::size_t part) { return files_[part]; }

  static std::string name_of(std::size_t part, std::size_t parts, const std::string& name = "m") {
    char end[64];
    std::snprintf(end, sizeof end, "-%05zu-of-%05zu.gguf", part + 1, parts);
    return name + end;
  }
  std::string bytes(std::size_t part, std::optional<PartSays> says = std::nullopt) const {
    if (!says) says = {part, parts_, tensors_};
    GgufBytes file = files_[part];
    const auto number = [&](const std::string& key, auto value, std::uint32_t type) {
      file.add(key, type, little_endian(value));
    };
    constexpr std::uint32_t uint16 = 2;
    number("split.no", static_cast<std::uint16_t>(says->number), uint16);
    number("split.count", static_cast<std::uint16_t>(says->parts), uint16);
    number("split.tensors.count", static_cast<std::int32_t>(says->tensors), gguf_type::int32);
    return file.bytes();
  }
  /// The first part of all.
  fs::path write(const test::TemporaryFolder& folder) const {
    for (std::size_t part = 0; part < parts_; ++part)
      std::ofstream(folder / name_of(part, parts_), std::ios::binary) << bytes(part);
    return folder / name_of(0, parts_);
  }

 private:
  std::size_t parts_;
  DecoderConfig config_;
  std::vector<GgufBytes> files_;
  std::size_t tensors_ = 0;
};

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("a model in several GGUF files is that in one", "[gguf]") {
  const test::TemporaryFolder whole;
  const auto one = SplitModel(1).write(whole);
  const auto expected = log_p_of(one);
  const auto encoded = ModelText(one).encode("x7 x8", "prompt");
  std::set<std::string> digests{model_digest(one.string())};
  for (const std::size_t parts : {2UL, 3UL, 7UL, SplitModel(1).tensors()}) {
    const test::TemporaryFolder folder;
    const auto first = SplitModel(parts).write(folder);
    CHECK(log_p_of(first) == expected);
    CHECK(ModelText(first).encode("x7 x8", "prompt") == encoded);
    CHECK(gguf_files(first).size() == parts);
    digests.insert(model_digest(first.string()));
  }
  CHECK(digests.size() == 5);
  // What was merged says that it has no parts, and keeps the rest of what it said.
  write(whole / "merged.gguf", SplitModel(1).bytes(0, PartSays{0, 0, 99}));
  CHECK(log_p_of(whole / "merged.gguf") == expected);
}

TEST_CASE("a split model has the numbers that llama.cpp has", "[gguf]") {
  const auto folder = fs::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/gguf/split";
  const auto expected = nlohmann::json::parse(read_bytes(folder / "expected.json"));
  const auto log_p = log_p_of(folder / "model-00001-of-00002.gguf",
                              expected["tokens"].get<std::vector<TokenId>>());
  const auto of_llama_cpp = expected["llama_cpp_both_parts"].get<std::vector<double>>();
  REQUIRE(log_p.size() == of_llama_cpp.size());
  for (std::size_t i = 0; i < log_p.size(); ++i) CHECK(std::abs(log_p[i] - of_llama_cpp[i]) < 0.02);
}

TEST_CASE("parts that do not make one model are refused by name", "[gguf]") {
  const test::TemporaryFolder folder;
  const SplitModel model(3);
  const auto first = model.write(folder);
  const auto part = [&](std::size_t i) { return folder / SplitModel::name_of(i, 3); };
  const auto refused = [&](const fs::path& path, std::initializer_list<std::string> parts) {
    require_bad_input([&] { log_p_of(path); }, parts);
    require_bad_input([&] { ModelText{path}; }, parts);
  };
  CHECK_NOTHROW(log_p_of(first));
  for (const std::size_t later : {1UL, 2UL})
    refused(part(later), {part(later).string(), "is part " + std::to_string(later + 1) + " of 3",
                          "give its first part, m-00001-of-00003.gguf"});
  for (const std::size_t missing : {1UL, 2UL}) {
    fs::remove(part(missing));
    refused(first, {part(missing).string(),
                    "is missing: it is part " + std::to_string(missing + 1) + " of 3",
                    "put all parts into one folder"});
    write(part(missing), model.bytes(missing));
  }
  // A name that says nothing of the others, or something else.
  for (const char* name : {"m.gguf", "m-00001-of-00002.gguf", "m-00002-of-00003.gguf",
                           "m-1-of-3.gguf", "-00001-of-00003.gguf"}) {
    const test::TemporaryFolder other;
    write(other / name, model.bytes(0));
    refused(other / name, {name, "is part 1 of 3 of a model", "call it NAME-00001-of-00003.gguf"});
  }
  // Metadata that disagree.
  const auto with = [&](std::size_t i, const std::string& bytes,
                        std::initializer_list<std::string> parts) {
    write(part(i), bytes);
    refused(first, parts);
    write(part(i), model.bytes(i));
    CHECK_NOTHROW(log_p_of(first));
  };
  const std::size_t tensors = model.tensors();
  const std::string second = SplitModel::name_of(1, 3);
  const std::string third = SplitModel::name_of(2, 3);
  with(2, model.bytes(1, PartSays{1, 3, tensors}),
       {third, "part 2 of 3 of a model by its metadata, and part 3 of 3 by its name"});
  with(1, model.bytes(1, PartSays{1, 2, tensors}), {second, "part 2 of 2", "part 2 of 3"});
  with(1, model.bytes(1, PartSays{1, 3, tensors + 1}),
       {second, "split.tensors.count", "different models"});
  with(0, model.bytes(0, PartSays{0, 3, tensors + 1}), {"m-0000"});
  with(1, SplitModel(1).bytes(0, PartSays{0, 0, tensors}), {second, "part 1 of 1", "part 2 of 3"});
  auto other = model;
  other.file(2).add_text("general.name", "another");
  with(2, other.bytes(2), {third, "general.name", "is not what", "m-00001-of-00003.gguf"});
  other = model;
  other.file(1).add_text("general.author", "nobody");
  with(1, other.bytes(1), {second, "general.author"});
  // What the first part says may be said again.
  other = model;
  other.file(1).add_text("general.name", "test");
  write(part(1), other.bytes(1));
  CHECK_NOTHROW(log_p_of(first));
  write(part(1), model.bytes(1));
  // Tensors: one that is there twice, one that is not there, one too many.
  other = model;
  add_gguf_tensor(other.file(2), "output_norm.weight", {40}, 0, std::string(160, '\0'));
  auto [owner, twice] = std::pair{SplitModel::name_of(0, 3), SplitModel::name_of(2, 3)};
  with(2, other.bytes(2), {"output_norm.weight", "is also in", twice});
  for (std::size_t i = 0; i < 3; ++i) {
    auto all = model;
    add_gguf_tensor(all.file(i), "blk.9.attn_norm.weight", {40}, 0, std::string(160, '\0'));
    with(i, all.bytes(i),
         {"m-00001-of-00003.gguf", "split.tensors.count", std::to_string(tensors),
          std::to_string(tensors + 1) + " tensors"});
  }
  // Damage of any part is named by its file.
  for (std::size_t i = 0; i < 3; ++i)
    with(i, model.bytes(i).substr(0, model.bytes(i).size() - 200), {SplitModel::name_of(i, 3)});
  const test::TemporaryFolder number;
  GgufBytes silent = SplitModel(3).file(0);
  silent.add("split.count", gguf_type::uint32, little_endian(std::uint32_t{3}));
  write(number / SplitModel::name_of(0, 3), silent.bytes());
  refused(number / SplitModel::name_of(0, 3), {"split.no", "is missing"});
}

TEST_CASE("every part of a split model is in its digest and in its packed weights", "[gguf]") {
  const SplitModel model(3);
  for (std::size_t part = 0; part < 3; ++part) {
    const test::TemporaryFolder folder;
    const auto first = model.write(folder);
    std::string said;
    const PackedWeights packed{.folder = folder / "packed",
                               .program = "this",
                               .say = [&](const std::string& line) { said += line + '\n'; }};
    const auto before = model_digest(first.string());
    const auto log_p = log_p_of(first);
    CHECK(log_p_of(first, text, packed) == log_p);
    CHECK(said.find("keeps packed weights") != std::string::npos);
    said.clear();
    CHECK(log_p_of(first, text, packed) == log_p);
    CHECK(said.empty());
    // Another sign of the last weight of the part.
    auto bytes = model.bytes(part);
    bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 0x80);
    write(folder / SplitModel::name_of(part, 3), bytes);
    CHECK(model_digest(first.string()) != before);
    const auto changed = log_p_of(first, text, packed);
    CHECK(said.find("keeps packed weights") != std::string::npos);
    CHECK(changed == log_p_of(first));
    CHECK(changed != log_p);
  }
  // A model has its digest wherever it is, and whatever it is called.
  const test::TemporaryFolder one;
  const test::TemporaryFolder other;
  const auto first = model.write(one);
  for (std::size_t part = 0; part < 3; ++part)
    write(other / SplitModel::name_of(part, 3, "another"), model.bytes(part));
  CHECK(model_digest(first.string()) ==
        model_digest((other / SplitModel::name_of(0, 3, "another")).string()));
}

}  // namespace tempera::gpu::split_gguf_test
