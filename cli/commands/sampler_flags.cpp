#include "cli/commands/sampler_flags.hpp"

#include "cli/terminal/columns.hpp"
#include "cli/terminal/option_values.hpp"

namespace tempera::cli {
namespace {

using gpu::SamplerWish;
namespace field = gpu::field;

std::string text_of(const gpu::Default& open) {
  const std::string value = std::visit(
      [](const auto& each) -> std::string {
        using Value = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Value, std::monostate>)
          return "";
        else if constexpr (std::is_same_v<Value, std::vector<double>>)
          return decimals_of(each);
        else if constexpr (std::is_same_v<Value, double>)
          return decimals_of({each});
        else if constexpr (std::is_same_v<Value, std::uint64_t>)
          return std::to_string(each);
        else
          return std::string(each);
      },
      open.value);
  return value.empty() ? "" : default_text(value + open.more);
}

/// The samplers, a line's worth each.
std::string list_of_samplers() {
  std::string list;
  for (const gpu::NamedSampler& named : gpu::named_samplers())
    list += "; " + std::string(named.name) + ": " + std::string(named.description);
  return list;
}

template <class Row>
std::string help_of(const Row& row) {
  std::string help(row.help);
  // A sentence begins with a capital; a choice's name, as in "adj: ...", keeps its case.
  const bool is_name = help.find(": ") == help.find_first_of(": ");
  if (help[0] >= 'a' && help[0] <= 'z' && !is_name)
    help[0] = static_cast<char>(help[0] - 'a' + 'A');
  help += text_of(row.open);
  if constexpr (std::is_same_v<decltype(row.kind), field::Sampler>) help += list_of_samplers();
  return help;
}

// An option for a member of a wish, by the kind of its setting.

template <class Member>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::Count& kind) {
  return add_parsed(command, flag, "N", help, [&member, flag, kind](const std::string& text) {
    member = parse_whole_number(text, flag, {kind.least, kind.most});
  });
}
template <class Member>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::Limit& kind) {
  return add_parsed(command, flag, "N", help, [&member, flag, kind](const std::string& text) {
    member = text == "-1" ? 0 : parse_whole_number(text, flag, {0, kind.most});
  });
}
template <class Member>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::Number& kind) {
  return add_parsed(command, flag, "X", help, [&member, flag, kind](const std::string& text) {
    member = gpu::in_range(parse_number(text, flag), kind, flag);
  });
}
template <class Member>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::Counts& kind) {
  return add_parsed(command, flag, "N[,N...]", help,
                    [&member, flag, kind](const std::string& list) {
                      member = parse_whole_numbers(list, flag, {kind.least, kind.most});
                    });
}
template <class Member>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::Weights&) {
  return add_parsed(command, flag, "W,W...", help, [&member, flag](const std::string& list) {
    member = parse_restart_weights(list, flag);
  });
}
template <class Member>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::Powers&) {
  return add_parsed(command, flag, "A[,A...]", help, [&member, flag](const std::string& list) {
    member = parse_powers(list, flag);
  });
}
template <class Member>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::Temperature&) {
  return add_parsed(command, flag, "T", help, [&member, flag](const std::string& text) {
    member = parse_temperature(text, flag);
  });
}
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help, bool& member,
                 const field::Truth&) {
  return command.add_flag(flag, member, help);
}
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 std::optional<std::string>& member, const field::Name&) {
  return add_parsed(command, flag, "NAME", help, [&member, flag](const std::string& text) {
    if (text.empty())
      throw BadInput(flag, "\"\" is empty", "give " + flag + " NAME, or leave it out");
    member = text;
  });
}
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 std::vector<std::string>& member, const field::Texts&) {
  return add_texts(command, flag, member, "TEXT", help);
}
template <class Member, class Value, std::size_t n>
CLI::Option* add(CLI::App& command, const std::string& flag, const std::string& help,
                 Member& member, const field::OneOf<Value, n>& kind) {
  const auto& choices = kind.choices;
  return add_parsed(command, flag, placeholder_of(choices), help,
                    [&member, &choices, flag](const std::string& text) {
                      member = gpu::choice_named(choices, text, flag);
                    });
}

}  // namespace

std::vector<CLI::Option*> SamplerFlags::add_to(CLI::App& command, Of which) {
  std::vector<CLI::Option*> added;
  gpu::visit_fields([&](const auto& row) {
    if (which == Of::token && row.takes != gpu::Takes::tokens) return;
    if (which == Of::one_answer && !row.places.chat) return;
    if (which == Of::server && !row.places.served) return;
    auto& member = gpu::member_of(said_, row.wish);
    std::string flag = spelt(row.key, gpu::Spelling::flags);
    std::string help = help_of(row);
    if constexpr (std::is_same_v<decltype(row.kind), field::Sampler>)
      if (which == Of::server) {
        flag = "--default-sampler";
        help =
            "Sampler of requests that describe none (default: standard, at their temperature). "
            "The options after it are its settings. NAME:SAMPLER, such as smollm2:ppt, is a "
            "model that is drawn by that sampler";
      }
    CLI::Option* option = add(command, flag, help, member, row.kind);
    added.push_back(option);
    if (row.places.alias.empty()) return;
    const std::string alias = spelt(row.places.alias, gpu::Spelling::flags);
    aliases_.emplace_back(option, add(command, alias, "Another name of " + flag, member, row.kind));
  });
  return added;
}

const gpu::SamplerWish& SamplerFlags::wish() const {
  for (const auto& [option, alias] : aliases_)
    refuse_beside(*alias, *option, "give one of the two: they say the same");
  return said_;
}

}  // namespace tempera::cli
