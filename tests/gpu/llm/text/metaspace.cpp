// Metaspace, as a pre-tokenizer and a decoder, against what Hugging Face tokenizers makes of it.
#include "gpu/llm/text/tokenizer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::metaspace_test {

namespace {

using nlohmann::json;

const std::filesystem::path fixture =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/tokenizer/metaspace";

/// The tokenizer.json of the fixture in a form that cases.json names.
json described(const json& form) {
  auto tokenizer = json::parse(read_bytes(fixture / "tokenizer.json"));
  auto& part = tokenizer["pre_tokenizer"];
  part["prepend_scheme"] = form["prepend_scheme"];
  part["split"] = form["split"];
  auto& decoders = tokenizer["decoder"]["decoders"];
  if (form["decodes"]) decoders = {part, decoders[1], decoders[2]};
  return tokenizer;
}

std::size_t count_mistakes(const Tokenizer& tokenizer, const json& form) {
  std::size_t mistakes = 0;
  for (const auto& entry : form["cases"]) {
    const auto ids = entry[1].get<std::vector<std::uint32_t>>();
    TextStream stream(tokenizer);
    std::string streamed;
    for (const auto id : ids) streamed += stream.push(id);
    streamed += stream.finish();
    const bool is_right = tokenizer.encode(entry[0].get<std::string>(), "text") == ids &&
                          tokenizer.decode(ids) == entry[2] && streamed == entry[2];
    if (!is_right) UNSCOPED_INFO(entry.dump());
    mistakes += is_right ? 0 : 1;
  }
  return mistakes;
}

}  // namespace

TEST_CASE("Metaspace cuts and joins as Hugging Face tokenizers", "[tokenizer]") {
  const auto forms = json::parse(read_bytes(fixture / "cases.json"));
  REQUIRE(forms.size() == 12);
  for (const auto& form : forms) {
    CAPTURE(form["prepend_scheme"].dump(), form["split"].dump(), form["decodes"].dump());
    const auto tokenizer = Tokenizer::parse(described(form).dump(), "tokenizer.json");
    CHECK(count_mistakes(tokenizer, form) == 0);
    // Each of the other forms gets some of these cases wrong, but for two pairs: what splits is
    // seen by the merges across words alone, and a decoder that never prepends is Replace.
    for (const auto& other : forms) {
      if (other["prepend_scheme"] == form["prepend_scheme"]) continue;
      if (other["decodes"] != form["decodes"] || other["split"] != form["split"]) continue;
      CAPTURE(other["prepend_scheme"].dump());
      CHECK(count_mistakes(Tokenizer::parse(described(other).dump(), "other"), form) > 0);
    }
    auto split = form;
    split["split"] = !form["split"].get<bool>();
    CHECK(count_mistakes(Tokenizer::parse(described(split).dump(), "split"), form) > 0);
  }
}

TEST_CASE("Metaspace prepends to the first piece of all, whatever cut the text", "[tokenizer]") {
  auto tokenizer = json::parse(read_bytes(fixture / "tokenizer.json"));
  const auto encode = [&](const char* behavior, const std::string& text) {
    auto edited = tokenizer;
    edited["pre_tokenizer"] = {{"type", "Sequence"},
                               {"pretokenizers",
                                {{{"type", "Split"},
                                  {"pattern", {{"String", "e"}}},
                                  {"behavior", behavior},
                                  {"invert", false}},
                                 tokenizer["pre_tokenizer"]}}};
    const auto parsed = Tokenizer::parse(edited.dump(), "tokenizer.json");
    std::string pieces;
    for (const auto id : parsed.encode(text, "text")) pieces += '|' + parsed.piece(id);
    return pieces;
  };
  CHECK(encode("Isolated", "aea") == "| a|e|a");
  CHECK(encode("Isolated", "eaa") == "| |e|a|a");
  CHECK(encode("Removed", "aea") == "| a|a");
  CHECK(encode("Removed", "eaa") == "|a|a");  // the piece begins after what was cut out
}

TEST_CASE("a Metaspace that means something else is refused", "[tokenizer]") {
  const auto refused = [](const char* key, const json& value, const std::string& named) {
    auto tokenizer = json::parse(read_bytes(fixture / "tokenizer.json"));
    tokenizer["pre_tokenizer"][key] = value;
    require_bad_input([&] { Tokenizer::parse(tokenizer.dump(), "tokenizer.json"); },
                      {"tokenizer.json, pre_tokenizer", named});
  };
  refused("replacement", "__", "\"replacement\" \"__\"");
  refused("replacement", "", "\"replacement\"");
  refused("replacement", nullptr, "\"replacement\"");
  refused("prepend_scheme", "last", "\"prepend_scheme\" \"last\"");
  refused("add_prefix_space", false, "\"add_prefix_space\" false");
  refused("split", "no", "\"split\"");
  for (const std::size_t place : {1, 2, 3}) {
    auto tokenizer = json::parse(read_bytes(fixture / "tokenizer.json"));
    auto& decoders = tokenizer["decoder"]["decoders"];
    decoders.insert(decoders.begin() + static_cast<std::ptrdiff_t>(place),
                    tokenizer["pre_tokenizer"]);
    require_bad_input([&] { Tokenizer::parse(tokenizer.dump(), "tokenizer.json"); },
                      {"tokenizer.json, decoder", "Metaspace follows"});
  }
}

}  // namespace tempera::gpu::metaspace_test
