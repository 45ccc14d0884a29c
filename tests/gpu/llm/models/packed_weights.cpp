#include "gpu/llm/models/packed_weights.hpp"

#include <cstdlib>
#include <set>

#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/token_scores.hpp"
#include "settings/resolve.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::packed_weights_test {

namespace fs = std::filesystem;

struct Opened {
  std::vector<double> log_p;
  std::string said;

  /// Whether the weights were packed into a file.
  bool has_packed() const { return said.find("keeps packed weights in") != std::string::npos; }
};

/// What a model computes if its packed weights are asked of this folder.
Opened opened(const fs::path& model, const fs::path& folder,
              Arithmetic arithmetic = Arithmetic::float32, const std::string& program = "this") {
  Opened result;
  const auto say = [&](const std::string& line) { result.said += line + '\n'; };
  const OpenedModel open = OpenedModel::open(model.string(), {}, arithmetic, std::nullopt,
                                             {.folder = folder, .program = program, .say = say});
  const std::vector<TokenId> tokens{5, 17, 3, 44, 21, 9};
  result.log_p = score_tokens(open.model(), tokens, std::vector<double>{1.0}).log_p;
  return result;
}

std::vector<std::string> names_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("a model whose packed weights are mapped has the same bits") {
  const test::TemporaryFolder work;
  const fs::path folder = work / "packed";
  for (const char* fixture : {"untied_float32", "tied_bfloat16_sharded"})
    for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::tensor_core}) {
      const fs::path model = qwen3_fixtures / fixture;
      const Opened plain = opened(model, {}, arithmetic);
      const Opened first = opened(model, folder, arithmetic);
      const Opened second = opened(model, folder, arithmetic);
      CHECK(plain.said.empty());
      CHECK(first.has_packed());
      CHECK(second.said.empty());
      CHECK(first.log_p == plain.log_p);
      CHECK(second.log_p == plain.log_p);
    }
  CHECK(names_of(folder).size() == 4);
  // Another program may pack otherwise.
  CHECK(opened(qwen3_fixtures / "untied_float32", folder, Arithmetic::float32, "another")
            .has_packed());
  CHECK(names_of(folder).size() == 5);
}

TEST_CASE("arithmetics that pack their weights alike have one file of them") {
  const test::TemporaryFolder work;
  const fs::path folder = work / "packed";
  const fs::path model = qwen3_fixtures / "untied_float32";
  std::set<std::vector<double>> answers;
  for (const Arithmetic arithmetic : arithmetics) {
    if (!takes_tensor_core_steps(arithmetic)) continue;
    const Opened mapped = opened(model, folder, arithmetic);
    CHECK(mapped.has_packed() == answers.empty());
    CHECK(mapped.log_p == opened(model, {}, arithmetic).log_p);
    answers.insert(mapped.log_p);
  }
  CHECK(answers.size() == 4);
  CHECK(names_of(folder).size() == 1);
  for (const Arithmetic arithmetic :
       {Arithmetic::float32, Arithmetic::bfloat16_pairs, Arithmetic::integer})
    CHECK(opened(model, folder, arithmetic).has_packed());
  CHECK(names_of(folder).size() == 4);
}

TEST_CASE("a model that was changed has other packed weights, and the old ones go") {
  const test::TemporaryFolder work;
  const fs::path folder = work / "packed";
  const ModelFolder model("untied_float32");
  const Opened before = opened(model.path(), folder);
  const auto names = names_of(folder);
  REQUIRE(names.size() == 1);
  std::string bytes = read_bytes(model.path() / "model.safetensors");
  bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
  const auto time = fs::last_write_time(model.path() / "model.safetensors");
  model.write("model.safetensors", bytes);
  // Whoever changes a file can set its time back, but not that of its last change.
  fs::last_write_time(model.path() / "model.safetensors", time);
  const Opened after = opened(model.path(), folder);
  CHECK(after.has_packed());
  CHECK(after.log_p == opened(model.path(), {}).log_p);
  CHECK(names_of(folder).size() == 1);
  CHECK(names_of(folder) != names);
}

TEST_CASE("a model whose packed weights cannot be kept packs them in memory, and says so") {
  const test::TemporaryFolder work;
  const fs::path model = qwen3_fixtures / "untied_float32";
  std::ofstream((work / "file").string()) << "no folder";
  const Opened fallen_back = opened(model, work / "file" / "packed");
  CHECK(fallen_back.said.find("packs its weights in memory of its own: ") == 0);
  CHECK(fallen_back.said.find('\n') + 1 == fallen_back.said.size());
  CHECK(fallen_back.log_p == opened(model, {}).log_p);
}

TEST_CASE("a damaged model is refused as ever if its packed weights are to be kept") {
  const test::TemporaryFolder work;
  const ModelFolder model("untied_float32");
  std::string bytes = read_bytes(model.path() / "model.safetensors");
  for (std::size_t i = 1; i <= 4; ++i) bytes[bytes.size() - i] = '\xFF';
  model.write("model.safetensors", bytes);
  require_bad_input([&] { opened(model.path(), work / "packed"); }, {"NaN or infinite"});
  CHECK(names_of(work / "packed").empty());
}

TEST_CASE("packed weights are kept for shards, unless a user says otherwise") {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  CHECK(resolve_packed_weights("", false).folder.empty());
  CHECK(resolve_packed_weights("", true).folder == "/cache/tempera/packed");
  CHECK(resolve_packed_weights("", true).least_bytes == std::uint64_t{64} << 20);
  CHECK(resolve_packed_weights("none", true).folder.empty());
  CHECK(resolve_packed_weights("here", false).folder == "here");
  CHECK(resolve_packed_weights("here", true).least_bytes == 0);
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(resolve_packed_weights("", true).folder ==
        fs::path(std::getenv("HOME") == nullptr ? "" : std::getenv("HOME")) /
            ".cache/tempera/packed");
  if (before == nullptr)
    ::unsetenv("XDG_CACHE_HOME");
  else
    ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  const test::TemporaryFolder work;
  PackedWeights large;
  large.folder = work / "packed";
  large.least_bytes = std::uint64_t{1} << 40;
  OpenedModel::open((qwen3_fixtures / "untied_float32").string(), {}, std::nullopt, std::nullopt,
                    large);
  CHECK_FALSE(fs::exists(work / "packed"));
}

}  // namespace tempera::gpu::packed_weights_test
