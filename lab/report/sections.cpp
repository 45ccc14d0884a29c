#include "lab/report/sections.hpp"

namespace tempera::lab {

const gpu::Inks& page_inks() {
  static const gpu::Inks inks{"var(--ink)",
                              "var(--quiet)",
                              "var(--line)",
                              "",
                              {"var(--curve-1)", "var(--curve-2)", "var(--curve-3)",
                               "var(--curve-4)", "var(--curve-5)", "var(--curve-6)", "var(--ink)"}};
  return inks;
}

std::string element(const std::string& tag, const std::string& kind, const std::string& text) {
  if (text.empty()) return "";
  return "<" + tag + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" + gpu::escaped(text) +
         "</" + tag + ">";
}

std::string readable(const reference::Rational& value) {
  constexpr std::size_t most_characters = 44;
  const std::string fraction = reference::to_string(value);
  return fraction.size() <= most_characters
             ? fraction
             : "a fraction of " + std::to_string(fraction.size() - 1) + " digits";
}

}  // namespace tempera::lab
