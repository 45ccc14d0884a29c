#include "gpu/llm/models/hub_model.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "gpu/llm/models/named_model.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "tests/gpu/device/with_environment.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::hub_model_test {

namespace {

namespace fs = std::filesystem;

const std::string commit = "0123456789abcdef0123456789abcdef01234567";

void write(const fs::path& file, const std::string& bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

/// A cache as huggingface_hub lays it out, with one model, and nothing else.
class HubCache {
 public:
  HubCache() {
    write(model() / "refs/main", commit);
    write(model() / "refs/refs/pr/1", commit);
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      const std::string name = entry.path().filename();
      fs::create_directories(snapshot());
      fs::create_directories(model() / "blobs");
      fs::rename(entry.path(), model() / "blobs" / name);
      fs::create_symlink("../../blobs/" + name, snapshot() / name);
    }
  }
  std::string path() const { return (folder_.path() / "hub").string(); }
  fs::path model() const { return folder_.path() / "hub/models--Own--Small-0.5B"; }
  fs::path snapshot() const { return model() / "snapshots" / commit; }

 private:
  ModelFolder folder_{"untied_float32"};
};

const std::string own = "Own/Small-0.5B";

}  // namespace

TEST_CASE("a name of the Hub is read, and nothing else is one", "[hub]") {
  const auto whole = [](const std::string& text) {
    const auto name = read_hub_name(text);
    return name ? name->repository + " " + name->file + " " + name->revision : "none";
  };
  CHECK(whole("Qwen/Qwen3-8B") == "Qwen/Qwen3-8B  main");
  CHECK(whole("Qwen/Qwen3-8B@v1.0") == "Qwen/Qwen3-8B  v1.0");
  CHECK(whole("a/b@refs/pr/1") == "a/b  refs/pr/1");
  CHECK(whole("a/b/c.gguf@x") == "a/b c.gguf x");
  CHECK(whole("a/b/Q4/c.gguf") == "a/b Q4/c.gguf main");
  for (const char* text :
       {"", "a", "/a/b", "a/b/", "a//b", "./b", "../b", "a/..", "a/b/c", "a/b@", "a/b@../x",
        "a/b c", "a--b/c", "-a/b", "a/b@x@y", "a/b/c/d/e.gguf", "~/b", "a\\b/c"})
    CHECK(whole(text) == "none");
}

TEST_CASE("the cache is where huggingface_hub has it", "[hub]") {
  const WithEnvironment home("HOME", "/h");
  const WithEnvironment none_1("HF_HUB_CACHE", "");
  const WithEnvironment none_2("HUGGINGFACE_HUB_CACHE", "");
  const WithEnvironment none_3("HF_HOME", "");
  const WithEnvironment none_4("XDG_CACHE_HOME", "");
  CHECK(hub_cache() == "/h/.cache/huggingface/hub");
  const WithEnvironment cache("XDG_CACHE_HOME", "/x");
  CHECK(hub_cache() == "/x/huggingface/hub");
  const WithEnvironment hf("HF_HOME", "~/hf");
  CHECK(hub_cache() == "/h/hf/hub");
  const WithEnvironment old("HUGGINGFACE_HUB_CACHE", "/old");
  CHECK(hub_cache() == "/old");
  const WithEnvironment now("HF_HUB_CACHE", "/now");
  CHECK(hub_cache() == "/now");
}

TEST_CASE("a model opens by its name of the Hub", "[hub]") {
  const HubCache cache;
  const WithEnvironment environment("HF_HUB_CACHE", cache.path());
  for (const std::string& name : {own, own + "@main", own + "@refs/pr/1", own + "@" + commit}) {
    const auto snapshot = find_snapshot(name);
    REQUIRE(snapshot);
    CHECK(snapshot->path == cache.snapshot());
    CHECK(snapshot->commit == commit);
    CHECK(resolve_model(name) == cache.snapshot().string());
    CHECK(OpenedModel::open(name).model().vocabulary_size() ==
          OpenedModel::open(cache.snapshot().string()).model().vocabulary_size());
    CHECK_FALSE(missing_snapshot(name));
  }
  for (const std::string& name : {std::string("Own/Other"), own + "@old"}) {
    require_bad_input([&] { OpenedModel::open(name); },
                      {name, "is not in the Hugging Face cache (" + cache.path(),
                       "run tempera models get " + name + ", or add --download"});
    CHECK(missing_snapshot(name));
  }
}

TEST_CASE("a path that exists wins over a name of the Hub", "[hub]") {
  const HubCache cache;
  const WithEnvironment environment("HF_HUB_CACHE", cache.path());
  const auto here = fs::current_path();
  const ModelFolder other("untied_float32");
  fs::create_directories(other.path() / own);
  fs::current_path(other.path());
  const auto found = find_snapshot(own);
  const auto resolved = resolve_model(own);
  fs::current_path(here);
  CHECK_FALSE(found);
  CHECK(resolved == own);
}

TEST_CASE("a snapshot that is not complete is refused with the file that it lacks", "[hub]") {
  const HubCache cache;
  const WithEnvironment environment("HF_HUB_CACHE", cache.path());
  const auto lacks = [&](const std::string& file) {
    require_bad_input([&] { OpenedModel::open(own); },
                      {own, "lacks " + file, "run tempera models get " + own});
    CHECK(missing_snapshot(own));
  };
  // A download that was interrupted leaves links without blobs, or no links.
  fs::rename(cache.model() / "blobs/model.safetensors", cache.model() / "blobs/x");
  lacks("model.safetensors");
  write(cache.snapshot() / "model.safetensors.index.json",
        R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})");
  write(cache.snapshot() / "model-1.safetensors", "");
  lacks("model-2.safetensors");
  // Its text alone needs no weights.
  CHECK(resolve_model(own) == cache.snapshot().string());
  write(cache.model() / "refs/main", "../../elsewhere");
  require_bad_input([&] { resolve_model(own); }, {"refs/main", "holds no commit"});
}

TEST_CASE("a repository of GGUF files opens if one is meant", "[hub]") {
  const HubCache cache;
  const WithEnvironment environment("HF_HUB_CACHE", cache.path());
  fs::remove(cache.snapshot() / "config.json");
  fs::remove(cache.snapshot() / "tokenizer.json");
  require_bad_input([&] { resolve_model(own); }, {own, "neither config.json nor a GGUF file"});
  write(cache.snapshot() / "a-00001-of-00002.gguf", "");
  write(cache.snapshot() / "a-00002-of-00002.gguf", "");
  CHECK(resolve_model(own) == (cache.snapshot() / "a-00001-of-00002.gguf").string());
  write(cache.snapshot() / "b.gguf", "");
  require_bad_input([&] { resolve_model(own); },
                    {own, "(a-00001-of-00002.gguf, b.gguf)", "give " + own + "/FILE"});
  CHECK(resolve_model(own + "/b.gguf") == (cache.snapshot() / "b.gguf").string());
  require_bad_input([&] { resolve_model(own + "/c.gguf"); }, {"lacks c.gguf", own + "/c.gguf"});
}

}  // namespace tempera::gpu::hub_model_test
