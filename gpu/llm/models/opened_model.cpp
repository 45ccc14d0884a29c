#include "gpu/llm/models/opened_model.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>
#include <sstream>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/regular_file.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/instruction_set.hpp"
#include "gpu/llm/models/hub_model.hpp"
#include "gpu/llm/models/model_text.hpp"
#include "gpu/llm/models/named_model.hpp"
#include "gpu/llm/models/terminal_tokens.hpp"
#include "gpu/llm/transformer/kernels/device_arithmetic.hpp"
#include "gpu/llm/transformer/transformer.hpp"

namespace tempera::gpu {
namespace {

class TokenizerPieces final : public TextPieces {
 public:
  explicit TokenizerPieces(const Tokenizer& tokenizer) : stream_(tokenizer) {}
  std::string push(TokenId token) override { return stream_.push(token); }
  std::string last_bytes() const override { return stream_.last_bytes(); }
  std::string finish() override { return stream_.finish(); }

 private:
  TextStream stream_;
};

class TokenizerText final : public TokenText {
 public:
  explicit TokenizerText(ModelText text) : text_(std::move(text)) {}
  std::vector<TokenId> encode(std::string_view text, const std::string& where) const override {
    return text_.encode(text, where);
  }
  std::vector<TokenId> encode_chat(std::span<const ChatMessage> messages,
                                   const ChatArguments& arguments,
                                   const std::string& where) const override {
    return text_.encode_chat(messages, arguments, where);
  }
  std::optional<ChatFormat> chat_format() const override { return text_.chat_format(); }
  std::string decode(std::span<const TokenId> tokens) const override {
    return text_.tokenizer().decode(tokens);
  }
  std::string bytes(TokenId token) const override { return text_.tokenizer().bytes(token); }
  std::unique_ptr<TextPieces> pieces() const override {
    return std::make_unique<TokenizerPieces>(text_.tokenizer());
  }

 private:
  ModelText text_;
};

/// Token numbers, separated by spaces.
class NumberText final : public TokenText {
 public:
  NumberText(std::string path, std::size_t vocabulary_size)
      : path_(std::move(path)), vocabulary_size_(vocabulary_size) {}
  std::vector<TokenId> encode(std::string_view text, const std::string& where) const override {
    std::vector<TokenId> tokens;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      TokenId number = 0;
      const char* last = word.data() + word.size();
      const auto [end, error] = std::from_chars(word.data(), last, number);
      if (error != std::errc() || end != last || number >= vocabulary_size_)
        throw BadInput(where, in_quotes(word) + " is not a token of " + path_,
                       "the folder has no tokenizer.json: give token numbers below " +
                           std::to_string(vocabulary_size_));
      tokens.push_back(number);
    }
    return tokens;
  }
  std::string decode(std::span<const TokenId> tokens) const override {
    std::string text;
    for (const TokenId token : tokens) text += (text.empty() ? "" : " ") + std::to_string(token);
    return text;
  }

 private:
  std::string path_;
  std::size_t vocabulary_size_;
};

/// The model of a folder, or of a GGUF file, which is open; its weights are in device memory.
std::unique_ptr<Transformer> load_transformer(const std::string& path, const GgufFile* file,
                                              Arithmetic arithmetic,
                                              std::optional<RopeFactors> rope_factors,
                                              const PackedWeights& packed) {
  if (const std::string why = why_device_lacks(arithmetic, compute_capability()); !why.empty())
    throw BadInput("--arithmetic " + std::string(name_of(arithmetic)), why,
                   arithmetics_instead(arithmetic, compute_capability()) +
                       "; the build of cmake --preset release computes every arithmetic on the "
                       "host");
  const auto memory = device_memory_size();
  try {
    const std::shared_ptr<const Kernels> kernels = make_default_kernels(arithmetic);
    const auto load = [&](PackedWeightsFile* from) {
      return file == nullptr ? load_architecture(path, *kernels, rope_factors, from)
                             : load_architecture(*file, *kernels, rope_factors, from);
    };
    ModelWeightsFile weights(path, arithmetic, packed);
    if (weights.file() != nullptr) {
      try {
        auto architecture = load(weights.file());
        weights.finish();
        return std::make_unique<Transformer>(std::move(architecture), kernels);
      } catch (const NoPackedWeights& fault) {
        weights.give_up(fault.what());
      }
    }
    return std::make_unique<Transformer>(load(nullptr), kernels);
  } catch (const std::bad_alloc&) {
    throw BadInput(path,
                   "its weights do not fit the memory of the device" +
                       (memory ? ", where " + in_gibibytes(memory->free) + " are free" : ""),
                   "take a smaller model or a device with more memory");
  }
}

/// What a user is told of a model and of how it is computed here; at most one line.
std::string remark_of(const Transformer& transformer, Arithmetic arithmetic) {
  std::string remark = transformer.remark();
  if (const auto refused = refused_pair_instructions();
      arithmetic == Arithmetic::bfloat16_pairs && !refused.empty()) {
    remark +=
        (remark.empty() ? "" : "; ") + ("this processor's " + refused) +
        " does not compute what docs/reference/arithmetic.md defines, and bfloat16-pairs takes its "
        "other, slower form: the bits are the same";
  }
  return remark;
}

/// A folder or a GGUF file.
OpenedModel::Parts open_transformer(const std::string& path, Arithmetic arithmetic,
                                    std::optional<RopeFactors> rope_factors,
                                    const PackedWeights& packed) {
  OpenedModel::Parts parts;
  const auto file = is_gguf(path) ? std::make_shared<const GgufFile>(path) : nullptr;
  auto transformer = load_transformer(path, file.get(), arithmetic, rope_factors, packed);
  parts.positions = transformer->max_position();
  parts.arithmetic = arithmetic;
  parts.remark = remark_of(*transformer, arithmetic);
  if (const std::string faster = faster_arithmetic(arithmetic, compute_capability());
      !faster.empty())
    parts.remark += (parts.remark.empty() ? "" : "; ") + faster;
  parts.rope_factors = transformer->rope_factors();
  if (file != nullptr || is_there(std::filesystem::path(path) / "tokenizer.json")) {
    auto text = file != nullptr ? ModelText(file) : ModelText(path);
    parts.terminal = read_terminal_tokens(path, *transformer, &text.tokenizer());
    parts.text = std::make_unique<TokenizerText>(std::move(text));
  } else {
    parts.terminal = read_terminal_tokens(path, *transformer, nullptr);
    parts.text = std::make_unique<NumberText>(path, transformer->vocabulary_size());
  }
  parts.model = std::move(transformer);
  return parts;
}

constexpr const char* models_that_open =
    "give a folder with config.json and model.safetensors, a GGUF file, or a finite model";

/// Folders of GGUF files have none, nor has one where a model was meant to be mounted.
void require_configuration(const std::filesystem::path& folder) {
  if (is_there(folder / "config.json")) return;
  std::error_code error;
  std::filesystem::path first;  // by its name
  for (std::filesystem::directory_iterator entry(folder, error), end; entry != end;
       entry.increment(error))
    if (is_gguf(entry->path()) && (first.empty() || entry->path() < first)) first = entry->path();
  throw BadInput(folder.string(), "has no config.json",
                 first.empty() ? models_that_open : "give its GGUF file " + first.string());
}

}  // namespace

OpenedModel OpenedModel::open(const std::string& name_or_path, const OpenFile& open_file,
                              std::optional<Arithmetic> arithmetic,
                              std::optional<RopeFactors> rope_factors,
                              const PackedWeights& packed) {
  if (const auto snapshot = find_snapshot(name_or_path)) require_complete(*snapshot);
  const auto path = resolve_model(name_or_path);
  if (path.empty() || !is_there(path))
    throw BadInput(path.empty() ? "model" : path, "does not exist",
                   nearest_named_model(path) + models_that_open);
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  if (is_folder) require_configuration(path);
  if (is_folder || is_gguf(path))
    return OpenedModel(
        open_transformer(path, arithmetic.value_or(Arithmetic::float32), rope_factors, packed));
  require_no_special_file(path);
  if (!open_file)
    throw BadInput(path, "is neither a folder nor a GGUF file",
                   "give a folder with config.json and model.safetensors");
  if (arithmetic)
    throw BadInput(path,
                   "is a finite model, whose logits are given: it has no arithmetic, and " +
                       std::string(name_of(*arithmetic)) + " was asked for",
                   "leave the arithmetic out");
  if (rope_factors)
    throw BadInput(path, "is a finite model, which has no rotary factors",
                   "leave --rope-factors out");
  return OpenedModel(open_file(path));
}

void OpenedModel::check_prompt(std::span<const TokenId> prompt, std::size_t horizon,
                               const std::string& where) const {
  if (prompt.empty() && !parts_.accepts_empty_prompt)
    throw BadInput(where, "the prompt has no token", "give a prompt of at least one token");
  const std::size_t vocabulary_size = parts_.model->vocabulary_size();
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] >= vocabulary_size)
      throw BadInput(where,
                     "token " + std::to_string(i + 1) + ", " + std::to_string(prompt[i]) +
                         ", is outside the vocabulary",
                     "use numbers below " + std::to_string(vocabulary_size));
    const auto& terminal = parts_.terminal;
    if (parts_.undefined_after_terminal &&
        std::find(terminal.begin(), terminal.end(), prompt[i]) != terminal.end())
      throw BadInput(where,
                     "token " + std::to_string(i + 1) + " of the prompt is the terminal '" +
                         decode(prompt.subspan(i, 1)) + "', which nothing can follow",
                     "end the prompt before it");
  }
  if (parts_.positions != 0 && prompt.size() + horizon > parts_.positions)
    refuse_length(where,
                  std::to_string(prompt.size()) + " prompt tokens and a horizon of " +
                      std::to_string(horizon),
                  "lower the horizon");
}

std::optional<std::size_t> OpenedModel::horizon_after(std::size_t prompt, std::size_t margin,
                                                      std::size_t asked,
                                                      const std::string& where) const {
  if (parts_.positions == 0) return std::nullopt;
  const std::size_t left = parts_.positions - std::min(parts_.positions, prompt + margin);
  if (left == 0 && margin == 0)
    refuse_length(where, std::to_string(prompt) + " prompt tokens and a horizon of 1", "");
  if (left == 0)
    refuse_length(where,
                  std::to_string(prompt) + " prompt tokens, " + std::to_string(margin) +
                      " to leave free and a horizon of 1",
                  "give a horizon");
  return left < asked ? std::optional(left) : std::nullopt;
}

/// Says that `what` is too long for the model. remedy: beside a shorter prompt; may be empty.
void OpenedModel::refuse_length(const std::string& where, const std::string& what,
                                const std::string& remedy) const {
  const std::string longer =
      parts_.rope_factors == RopeFactors::of_short_texts
          ? "compute with the model's factors for longer texts: --rope-factors long"
          : "";
  std::string all = "shorten the prompt";
  if (!remedy.empty()) all += (longer.empty() ? " or " : ", ") + remedy;
  if (!longer.empty()) all += ", or " + longer;
  throw BadInput(
      where, what + " exceed the " + std::to_string(parts_.positions) + " positions of the model",
      all);
}

}  // namespace tempera::gpu
