// Fuzzing of everything that reads a model folder, a GGUF file or a text.
#include <cmath>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/text/chat_families.hpp"
#include "gpu/llm/text/chat_format.hpp"
#include "gpu/llm/text/tokenizer.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"
#include "tests/gpu/fuzz.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/weights/gguf_bytes.hpp"

namespace tempera::gpu {

namespace {

std::string fixture(const std::string& file) {
  return read_bytes(std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures" / file);
}

/// SmolLM2's chat template.
const std::string smollm2_template =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
    "}}{% endif %}";

/// A GGUF file with a tokenizer and a tensor, and little else that a mutation could miss.
std::string small_gguf(bool is_scored) {
  GgufBytes file;
  file.add_text("general.architecture", "phi3");
  file.add_text("tokenizer.ggml.model", is_scored ? "llama" : "gpt2");
  file.add_text("tokenizer.ggml.pre", "llama-bpe");
  std::vector<std::string> tokens = {"<end>", "a", "b", "ab", "\xC4\xA0", "1"};
  std::vector<std::int32_t> types = {3, 1, 1, 1, 1, 1};
  if (is_scored) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      const std::string digits = "0123456789ABCDEF";
      tokens.push_back(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + '>');
      types.push_back(6);
    }
    file.add_numbers("tokenizer.ggml.scores", gguf_type::float32,
                     std::vector<float>(tokens.size(), -1.0F));
  }
  file.add_texts("tokenizer.ggml.tokens", tokens);
  file.add_numbers("tokenizer.ggml.token_type", gguf_type::int32, types);
  file.add_texts("tokenizer.ggml.merges", {"a b"});
  file.add("tokenizer.ggml.bos_token_id", gguf_type::uint32, little_endian(0U));
  file.add_text("tokenizer.chat_template", "{{ messages }}");
  file.add_tensor("w", {32, 2}, 3, 0);
  file.data = std::string(40, '\x3F');
  return file.bytes();
}

}  // namespace

TEST_CASE("every config.json is read or refused", "[fuzz]") {
  fuzz("config.json",
       {fixture("qwen3/untied_float32/config.json"),
        fixture("qwen3/tied_bfloat16_sharded/config.json")},
       [](const std::string& bytes) {
         const auto document = parse_json(bytes, "config.json");
         Qwen3::configuration(JsonObject(document, "config.json"));
       });
}

TEST_CASE("every safetensors file is read or refused", "[fuzz]") {
  const std::string small = safetensors_bytes(
      R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}, "b": {"dtype": "BF16", "shape": [3], "data_offsets": [8, 14]}})",
      std::string(14, '\x3F'));
  fuzz("safetensors", {small}, [](const std::string& bytes) {
    std::uint64_t sum = 0;
    for (const auto& [name, tensor] :
         read_safetensors(std::as_bytes(std::span<const char>(bytes)), "file")) {
      for (const auto byte : tensor.bytes) sum += static_cast<std::uint64_t>(byte);
    }
    CHECK(sum < ~std::uint64_t{0});
  });
}

TEST_CASE("every GGUF file is read or refused, and its weights and values too", "[fuzz]") {
  fuzz("gguf", {fixture("gguf/every_type.gguf"), small_gguf(false)}, [](const std::string& bytes) {
    const auto content = read_gguf(std::as_bytes(std::span<const char>(bytes)), "file");
    double sum = 0;
    for (const auto& [name, tensor] : content.tensors) {
      const auto block = stored_block(tensor.dtype).value();
      std::vector<float> values(tensor.bytes.size() / block.bytes * block.elements);
      dequantise(tensor.dtype, tensor.bytes, values);
      for (const float value : values) sum += static_cast<double>(value);
    }
    CHECK((std::isnan(sum) || sum < HUGE_VAL || sum > 0));
    const auto& metadata = content.metadata;
    for (const auto& key : metadata.keys()) {
      for (const auto& read : std::vector<std::function<void()>>{
               [&] { metadata.text(key); }, [&] { metadata.texts(key); },
               [&] { metadata.whole_number(key, 0, 9); }, [&] { metadata.finite_number(key); },
               [&] { metadata.whole_numbers(key, 0, 9); }, [&] { metadata.boolean(key); },
               [&] { metadata.booleans(key); }, [&] { metadata.finite_numbers(key); }}) {
        try {
          read();
        } catch (const BadInput&) {
          // A value of another type: the readers are tried one after another.
        }
      }
    }
  });
}

TEST_CASE("every model folder is loaded or refused", "[fuzz]") {
  const ModelFolder folder("tied_bfloat16_sharded");
  fuzz("model.safetensors.index.json",
       {fixture("qwen3/tied_bfloat16_sharded/model.safetensors.index.json")},
       [&](const std::string& bytes) {
         folder.write("model.safetensors.index.json", bytes);
         Transformer::load(folder.path());
       });
  const ModelFolder single("untied_float32");
  fuzz("model.safetensors", {fixture("qwen3/untied_float32/model.safetensors")},
       [&](const std::string& bytes) {
         single.write("model.safetensors", bytes);
         Transformer::load(single.path());
       });
}

TEST_CASE("every tokenizer.json is read or refused, and its texts too", "[fuzz]") {
  fuzz("tokenizer.json",
       {fixture("tokenizer/qwen_like/tokenizer.json"),
        fixture("tokenizer/characters/tokenizer.json"),
        fixture("tokenizer/characters_bpe/tokenizer.json"),
        fixture("tokenizer/words/tokenizer.json"), fixture("tokenizer/phi_like/tokenizer.json")},
       [](const std::string& bytes) {
         const auto tokenizer = Tokenizer::parse(bytes, "tokenizer.json");
         for (const char* text : {"", "12 the\n<|endoftext|>", "a\xC3\xA9+b"}) {
           tokenizer.decode(tokenizer.encode(text, "text"));
         }
       });
}

TEST_CASE("every tokenizer in GGUF is read or refused, and its texts too", "[fuzz]") {
  fuzz("tokenizer.ggml", {small_gguf(false), small_gguf(true)}, [](const std::string& bytes) {
    const auto content = read_gguf(std::as_bytes(std::span<const char>(bytes)), "file");
    const auto tokenizer = Tokenizer::from_gguf(content.metadata);
    for (const char* text : {"", "ab", "b<end> a1"}) {
      try {
        tokenizer.decode(tokenizer.encode(text, "text"));
      } catch (const BadInput&) {
        // The small vocabulary has no token for a space.
      }
    }
  });
}

TEST_CASE("every folder has a chat template or is refused, and every conversation", "[fuzz]") {
  const ModelFolder folder("untied_float32");
  const nlohmann::json config = {{"chat_template", smollm2_template}, {"bos_token", "<b>"}};
  fuzz("tokenizer_config.json", {config.dump()}, [&](const std::string& bytes) {
    folder.write("tokenizer_config.json", bytes);
    const auto format = ChatFormat::load(folder.path());
    // Jinja2 is not what is fuzzed here.
    if (format.is_tested()) format.render(std::vector<ChatMessage>{{"user", bytes}}, {}, "text");
  });
  // A conversation of any roles and contents, in every family's style.
  const std::string turns = "system\x1Euser<think>\n</think>\x1E\n </think>x\x1Euser";
  fuzz("conversation", {turns}, [](const std::string& bytes) {
    std::vector<ChatMessage> messages;
    for (std::size_t begin = 0; begin <= bytes.size();) {
      const auto end = std::min(bytes.find('\x1E', begin), bytes.size());
      const auto role = messages.empty()           ? "system"
                        : messages.size() % 2 == 1 ? "user"
                                                   : "assistant";
      messages.push_back({role, replace_invalid_utf8(bytes.substr(begin, end - begin))});
      begin = end + 1;
    }
    if (messages.size() % 2 == 1) throw BadInput("text", "ends with another's turn", "end it");
    for (const auto style : {ChatStyle::chatml, ChatStyle::qwen3, ChatStyle::llama3,
                             ChatStyle::llama31, ChatStyle::tulu, ChatStyle::phi35}) {
      const auto text = write_conversation(style, {messages, "s", "<b>", "<e>", Thinking::off});
      CHECK(first_invalid_utf8(text) == text.size());
    }
    if (last_question(messages, true))
      write_conversation(ChatStyle::qwen35, {messages, "", "", "", Thinking::on});
  });
}

TEST_CASE("every text is encoded or refused", "[fuzz]") {
  const auto tokenizer = Tokenizer::load(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                                         "tests/fixtures/tokenizer/qwen_like");
  fuzz("text", {fixture("tokenizer/make_fixture.py")},
       [&](const std::string& bytes) { tokenizer.decode(tokenizer.encode(bytes, "text")); });
}

TEST_CASE("the fuzzer sees a reader that fails in another way", "[fuzz]") {
  const auto file = fixture("qwen3/untied_float32/config.json");
  SECTION("it lets the exception of its JSON library out") {
    const auto read = [](const std::string& bytes) {
      if (nlohmann::json::parse(bytes).is_null()) return;
    };
    CHECK(try_mutations({file}, read, 1, 60).failure != "");
  }
  SECTION("but not one that repeats the file: BadInput makes one line of whatever it is given") {
    const auto read = [](const std::string& bytes) { throw BadInput("file", bytes, "mend it"); };
    CHECK(try_mutations({file}, read, 1, 1).failure == "");
  }
}

}  // namespace tempera::gpu
