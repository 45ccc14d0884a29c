// The files of /v1/files beside a model in memory: what is listed is what is on the disk, and
// nothing else is.
#include "serve/batches/stored_files.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "tests/between.hpp"
#include "tests/law.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::serve::stored_files_test {
namespace {

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE("files are those of a model in memory, and the disk has these alone", "[serve]") {
  law("after every put, removal and start", [] {
    const test::TemporaryFolder work;
    const std::filesystem::path folder = work / "files";
    auto files = std::make_unique<StoredFiles>(folder);
    std::map<std::string, std::string> model;     // contents by their ids
    std::map<std::string, std::int64_t> created;  // and when each was put
    const auto steps = *rc::gen::inRange(1, 12);
    for (int step = 0; step < steps; ++step) {
      const std::string id = "file-" + std::to_string(*rc::gen::inRange(0, 4));
      switch (between(0, 3)) {
        case 0:
        case 1: {
          const auto content =
              *rc::gen::element<std::string>("", "\n", "{}\n", "\xC3\xBC\n\n", "no end");
          created[id] = between(0, 2);
          const StoredFile put = files->put(
              {.id = id, .filename = "a.jsonl", .purpose = "batch", .created = created[id]},
              content);
          RC_ASSERT(put.bytes == content.size());
          model[id] = content;
          break;
        }
        case 2:
          RC_ASSERT(files->remove(id) == (model.erase(id) > 0));
          break;
        default:
          files = std::make_unique<StoredFiles>(folder);
      }
      std::set<std::string> names;
      for (const auto& [name, content] : model) {
        names.insert({name + ".json", name + ".jsonl"});
        RC_ASSERT(files->content(name) == content);
        const auto found = files->find(name);
        RC_ASSERT((found && found->bytes == content.size() && found->filename == "a.jsonl" &&
                   found->purpose == "batch" && found->created == created[name]));
      }
      RC_ASSERT(names_in(folder) == names);
      RC_ASSERT(files->find(id).has_value() == model.contains(id));
      std::vector<std::pair<std::int64_t, std::string>> order;  // newest first, then by id
      for (const auto& [name, content] : model) order.emplace_back(-created[name], name);
      std::sort(order.begin(), order.end());
      std::vector<std::pair<std::int64_t, std::string>> listed;
      for (const StoredFile& file : files->list()) listed.emplace_back(-file.created, file.id);
      RC_ASSERT(listed == order);
    }
  });
}

TEST_CASE("a flipped byte of a stored file is refused, or says nothing", "[serve]") {
  const test::TemporaryFolder work;
  const std::filesystem::path folder = work / "files";
  const std::string content = "{\"custom_id\": \"1\"}\n\n{}\n";
  StoredFiles(folder).put(
      {.id = "file-1", .filename = "in.jsonl", .purpose = "batch", .created = 7}, content);
  for (const std::string name : {"file-1.json", "file-1.jsonl"}) {
    const std::filesystem::path path = folder / name;
    const std::string sound = read_text_file(path, "");
    for (std::size_t at = 0; at < sound.size(); ++at)
      for (const unsigned flip : {1U, 32U, 255U}) {
        CAPTURE(name, at, flip);
        std::string damaged = sound;
        damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ flip);
        std::ofstream(path, std::ios::binary) << damaged;
        std::optional<std::string> read;
        try {
          const StoredFiles files(folder);
          // The rest of the description is not read: it is made again.
          const auto file = files.find("file-1");
          REQUIRE(file);
          read = files.content("file-1");
          CHECK((file->filename == "in.jsonl" && file->purpose == "batch" && file->created == 7));
        } catch (const BadInput& error) {
          CHECK_THAT(error.what(), Catch::Contains("file-1.json"));
        }
        if (read) CHECK(*read == content);
        CHECK((!read || name == "file-1.json"));
      }
    std::ofstream(path, std::ios::binary) << sound;
  }
  CHECK(StoredFiles(folder).content("file-1") == content);
}

}  // namespace tempera::serve::stored_files_test
