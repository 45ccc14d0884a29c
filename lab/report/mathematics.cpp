#include "lab/report/mathematics.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <regex>
#include <vector>

#include "lab/report/sections.hpp"

namespace tempera::lab {
namespace {

/// How mathematics is written.
enum class Form { plain, mathml };

/// A command without arguments: what it is in a terminal and on a page, and its element there.
struct Symbol {
  const char* plain;
  const char* page;
  const char* element;
};

const std::map<std::string, Symbol, std::less<>>& symbols() {
  static const std::map<std::string, Symbol, std::less<>> all{
      {"alpha", {"alpha", "α", "mi"}},
      {"beta", {"beta", "β", "mi"}},
      {"delta", {"delta", "δ", "mi"}},
      {"epsilon", {"epsilon", "ε", "mi"}},
      {"varepsilon", {"epsilon", "ε", "mi"}},
      {"zeta", {"zeta", "ζ", "mi"}},
      {"mu", {"mu", "μ", "mi"}},
      {"nu", {"nu", "ν", "mi"}},
      {"pi", {"pi", "π", "mi"}},
      {"rho", {"rho", "ρ", "mi"}},
      {"sigma", {"sigma", "σ", "mi"}},
      {"tau", {"tau", "τ", "mi"}},
      {"varphi", {"phi", "φ", "mi"}},
      {"phi", {"phi", "φ", "mi"}},
      {"omega", {"omega", "ω", "mi"}},
      {"Pi", {"Pi", "Π", "mi"}},
      {"Phi", {"Phi", "Φ", "mi"}},
      {"Theta", {"Theta", "Θ", "mi"}},
      {"ell", {"l", "ℓ", "mi"}},
      {"bot", {"pad", "⊥", "mi"}},
      {"star", {"*", "⋆", "mo"}},
      {"infty", {"infinity", "∞", "mi"}},
      {"sum", {"sum", "∑", "mo"}},
      {"prod", {"prod", "∏", "mo"}},
      {"int", {"int", "∫", "mo"}},
      {"min", {"min", "min", "mi"}},
      {"max", {"max", "max", "mi"}},
      {"log", {"log", "log", "mi"}},
      {"exp", {"exp", "exp", "mi"}},
      {"le", {"<=", "≤", "mo"}},
      {"leq", {"<=", "≤", "mo"}},
      {"ge", {">=", "≥", "mo"}},
      {"geq", {">=", "≥", "mo"}},
      {"ne", {"!=", "≠", "mo"}},
      {"neq", {"!=", "≠", "mo"}},
      {"in", {"in", "∈", "mo"}},
      {"to", {"->", "→", "mo"}},
      {"times", {"x", "×", "mo"}},
      {"cdot", {".", "·", "mo"}},
      {"cdots", {"...", "⋯", "mo"}},
      {"ldots", {"...", "…", "mo"}},
      {"wedge", {"min", "∧", "mo"}},
      {"mid", {"|", "∣", "mo"}},
      {"lceil", {"ceil(", "⌈", "mo"}},
      {"rceil", {")", "⌉", "mo"}},
      {"propto", {"~", "∝", "mo"}},
      {"sqrt", {"sqrt", "√", "mo"}},
      {"E", {"E", "𝔼", "mi"}},
      {"gA", {"A", "𝒜", "mi"}}};
  return all;
}

constexpr std::array spaces{"quad", "qquad", "allowbreak", "displaystyle", "left",  "right",
                            "bigl", "bigr",  "Bigl",       "Bigr",         "xspace"};

/// A character of Unicode's mathematical alphabets; itself if it has none there.
std::string in_alphabet(char letter, const std::string& command) {
  static const std::map<char, const char*> script{{'B', "ℬ"}, {'E', "ℰ"}, {'F', "ℱ"}, {'H', "ℋ"},
                                                  {'I', "ℐ"}, {'L', "ℒ"}, {'M', "ℳ"}, {'R', "ℛ"}};
  const auto encoded = [](unsigned code) {
    return std::string{static_cast<char>(0xF0U | (code >> 18U)),
                       static_cast<char>(0x80U | ((code >> 12U) & 0x3FU)),
                       static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
                       static_cast<char>(0x80U | (code & 0x3FU))};
  };
  const bool upper = std::isupper(static_cast<unsigned char>(letter)) != 0;
  const bool lower = std::islower(static_cast<unsigned char>(letter)) != 0;
  if (command == "mathbf" && upper) return encoded(0x1D400U + static_cast<unsigned>(letter - 'A'));
  if (command == "mathbf" && lower) return encoded(0x1D41AU + static_cast<unsigned>(letter - 'a'));
  if (command == "mathcal" && upper) {
    if (const auto found = script.find(letter); found != script.end()) return found->second;
    return encoded(0x1D49CU + static_cast<unsigned>(letter - 'A'));
  }
  if (command == "mathbb" && letter == 'E') return "𝔼";
  if (command == "mathbb" && letter == 'P') return "ℙ";
  return std::string(1, letter);
}

/// Mathematics of the source, written in one form while it is read.
class Formula {
 public:
  Formula(std::string_view source, Form how) : source_(source), form_(how) {}

  std::string row() {
    std::string text;
    skip_spaces();
    while (at_ < source_.size() && source_[at_] != '}') {
      text += scripted();
      skip_spaces();
    }
    return text;
  }

 private:
  void skip_spaces() {
    while (at_ < source_.size() && (source_[at_] == ' ' || source_[at_] == '~')) ++at_;
  }
  std::string element(const char* name, const std::string& page, const std::string& plain) const {
    return form_ == Form::plain ? plain : lab::element(name, "", page);
  }
  std::string wrap(const char* name, const std::string& content) const {
    return "<" + std::string(name) + ">" + content + "</" + name + ">";
  }
  /// A group's content, or the one atom that stands for it.
  std::string argument() {
    skip_spaces();
    if (at_ < source_.size() && source_[at_] == '{') {
      ++at_;
      const std::string content = row();
      if (at_ < source_.size()) ++at_;
      return form_ == Form::plain ? content : wrap("mrow", content);
    }
    return atom();
  }
  /// The letters of an argument, as text.
  std::string letters() {
    skip_spaces();
    if (at_ < source_.size() && source_[at_] == '{') {
      const std::size_t begin = ++at_;
      while (at_ < source_.size() && source_[at_] != '}') ++at_;
      const std::string text(source_.substr(begin, at_ - begin));
      if (at_ < source_.size()) ++at_;
      return text;
    }
    return at_ < source_.size() ? std::string(1, source_[at_++]) : "";
  }
  /// An atom with what is below and above it.
  std::string scripted() {
    const std::string base = atom();
    std::string below, above;
    bool grouped_below = false, grouped_above = false;
    for (;;) {
      skip_spaces();
      const char next = at_ < source_.size() ? source_[at_] : ' ';
      if (next == '_') {
        ++at_;
        grouped_below = at_ < source_.size() && source_[at_] == '{';
        below = argument();
      } else if (next == '^') {
        ++at_;
        grouped_above = at_ < source_.size() && source_[at_] == '{';
        above = argument();
      } else if (next == '\'') {
        ++at_;
        above = element("mo", "′", "'");
      } else {
        break;
      }
    }
    if (form_ == Form::plain) {
      const auto part = [](char mark, std::string text, bool grouped) {
        text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
        if (text.empty() || text == "'") return text;
        const bool bare = !grouped || text.size() == 1 || text.front() == '(';
        return std::string(1, mark) + (bare ? text : "{" + text + "}");
      };
      return base + part('_', below, grouped_below) + part('^', above, grouped_above);
    }
    if (!below.empty() && !above.empty()) return wrap("msubsup", base + below + above);
    if (!below.empty()) return wrap("msub", base + below);
    if (!above.empty()) return wrap("msup", base + above);
    return base;
  }
  std::string fraction() {
    const std::string above = argument(), below = argument();
    if (form_ == Form::mathml) return wrap("mfrac", above + below);
    const auto side = [](const std::string& text) {
      return text.find_first_of("+- /*") == std::string::npos ? text : "(" + text + ")";
    };
    return side(above) + "/" + side(below);
  }
  std::string command() {
    const std::size_t begin = ++at_;
    while (at_ < source_.size() && std::isalpha(static_cast<unsigned char>(source_[at_])) != 0)
      ++at_;
    if (at_ == begin) {  // \{ \} \, \! \; and the like
      const char mark = at_ < source_.size() ? source_[at_++] : ' ';
      if (mark == '{' || mark == '}' || mark == '%')
        return element("mo", std::string(1, mark), std::string(1, mark));
      return form_ == Form::plain && mark != '!' ? " " : "";
    }
    const std::string name(source_.substr(begin, at_ - begin));
    for (const char* space : spaces)
      if (name == space) return name.find("quad") == std::string::npos ? "" : space_text();
    if (name == "frac" || name == "tfrac" || name == "nicefrac") return fraction();
    if (name == "widetilde" || name == "tilde" || name == "bar") {
      const std::string content = argument();
      if (form_ == Form::plain) return content + (name == "bar" ? "-bar" : "~");
      return wrap("mover", content + lab::element("mo", "", name == "bar" ? "¯" : "~"));
    }
    if (name == "mathbf" || name == "mathcal" || name == "mathbb") {
      const std::string text = letters();
      if (form_ == Form::plain) return text;
      std::string page;
      for (const char letter : text) page += in_alphabet(letter, name);
      return lab::element("mi", "", page);
    }
    if (name == "operatorname" || name == "mathrm" || name == "text") {
      const std::string text = letters();
      return element("mi", text, text);
    }
    if (const auto found = symbols().find(name); found != symbols().end()) {
      const bool spaced = form_ == Form::plain && std::string(found->second.element) == "mo" &&
                          name != "star" && name != "cdot" && name != "lceil" && name != "rceil";
      return spaced ? " " + std::string(found->second.plain) + " "
                    : element(found->second.element, found->second.page, found->second.plain);
    }
    return element("mi", name, name);
  }
  std::string space_text() const { return form_ == Form::plain ? " " : "<mspace width=\"1em\"/>"; }

  std::string atom() {
    if (at_ >= source_.size()) return "";
    const char first = source_[at_];
    if (first == '\\') return command();
    if (first == '{') return argument();
    if (first == '&') {
      ++at_;
      return "";
    }
    if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
      const std::size_t begin = at_;
      // \frac23 and \tfrac12 take one digit each; a number elsewhere takes all.
      const bool one =
          begin >= 4 && (source_.substr(0, begin).ends_with("frac") ||
                         (begin >= 5 && source_.substr(0, begin - 1).ends_with("frac")));
      while (at_ < source_.size() &&
             (std::isdigit(static_cast<unsigned char>(source_[at_])) != 0 ||
              (source_[at_] == '.' && at_ + 1 < source_.size() &&
               std::isdigit(static_cast<unsigned char>(source_[at_ + 1])) != 0)) &&
             !(one && at_ > begin))
        ++at_;
      const std::string number(source_.substr(begin, at_ - begin));
      return element("mn", number, number);
    }
    std::size_t length = 1;  // of the character in UTF-8
    while (at_ + length < source_.size() &&
           (static_cast<unsigned char>(source_[at_ + length]) & 0xC0U) == 0x80U)
      ++length;
    const std::string mark(source_.substr(at_, length));
    at_ += length;
    if (std::isalpha(static_cast<unsigned char>(first)) != 0) return element("mi", mark, mark);
    if (form_ == Form::plain)
      return mark.find_first_of("=<>+") == 0 ? " " + mark + " " : mark == "," ? ", " : mark;
    return lab::element("mo", "", mark == "-" ? "−" : mark);
  }

  std::string_view source_;
  Form form_;
  std::size_t at_ = 0;
};

std::string without_double_spaces(const std::string& text) {
  std::string once;
  for (const char c : text)
    if (c != ' ' || (!once.empty() && once.back() != ' ')) once += c;
  while (!once.empty() && once.back() == ' ') once.pop_back();
  return once;
}

std::string formula(std::string_view source, Form how, bool block) {
  const std::string row = Formula(source, how).row();
  if (how == Form::plain) return without_double_spaces(row);
  return "<math" + std::string(block ? " display=\"block\"" : "") + ">" + row + "</math>";
}

/// Text between mathematics: commands that wrap words or stand for one.
std::string words(std::string text, Form how) {
  static const std::vector<std::pair<std::regex, std::string>> replaced{
      {std::regex(R"(\\(emph|textbf|textit|texttt)\{([^{}]*)\})"), "$2"},
      {std::regex(R"(\\method(\{\}|\b)\s?)"), "PPT "},
      {std::regex(R"(~?\\cite[a-z]*(\[[^\]]*\])*\{[^{}]*\})"), ""},
      {std::regex(R"(\\([%&_#]))"), "$1"},
      {std::regex(R"(~)"), " "},
      {std::regex(R"(---)"), how == Form::plain ? "-" : "—"},
      {std::regex(R"(--)"), how == Form::plain ? "-" : "–"},
      {std::regex(R"(\\(noindent|paragraph)\b)"), ""},
      {std::regex(R"([{}])"), ""}};
  for (const auto& [pattern, by] : replaced) text = std::regex_replace(text, pattern, by);
  return how == Form::plain ? text : gpu::escaped(text);
}

std::string quoted(std::string_view source, Form how) {
  std::string text, between;
  const auto flush = [&] {
    text += words(between, how);
    between.clear();
  };
  for (std::size_t at = 0; at < source.size();) {
    const auto opens = [&](std::string_view mark) { return source.substr(at).starts_with(mark); };
    std::string_view closing;
    if (opens("\\("))
      closing = "\\)";
    else if (opens("\\["))
      closing = "\\]";
    else if (opens("$"))
      closing = "$";
    if (closing.empty()) {
      between += source[at++];
      continue;
    }
    const std::size_t begin = at + closing.size();
    const std::size_t end = source.find(closing, begin);
    if (end == std::string_view::npos) {  // a quotation that begins or ends within mathematics
      between += source.substr(begin);
      break;
    }
    flush();
    text += formula(source.substr(begin, end - begin), how, closing == "\\]");
    at = end + closing.size();
  }
  // What is left of mathematics whose beginning is not quoted.
  if (between.find('\\') != std::string::npos && between.find('_') != std::string::npos)
    text += formula(std::regex_replace(between, std::regex(R"(\\[\])])"), ""), how, false);
  else
    flush();
  return how == Form::plain ? without_double_spaces(text) : text;
}

/// A word of a sentence as mathematics in the source's form: Greek names become commands, digits
/// after a letter and words after '_' become subscripts.
std::string as_source(const std::string& word) {
  static const std::regex greek(
      R"((^|[^A-Za-z\\])(alpha|beta|delta|epsilon|zeta|mu|nu|pi|rho|sigma|tau|phi|omega|Pi|Phi|eps)(?![A-Za-z]))");
  std::string source = std::regex_replace(word, greek, "$1\\$2 ");
  source = std::regex_replace(source, std::regex(R"(\\eps )"), "\\epsilon ");
  source = std::regex_replace(source, std::regex(R"(_([A-Za-z]{2,}))"), "_{\\mathrm{$1}}");
  source = std::regex_replace(source, std::regex(R"(\^([0-9]{2,}))"), "^{$1}");
  source = std::regex_replace(source, std::regex(R"(\bp0\b)"), "p_0");
  source = std::regex_replace(source, std::regex(R"(>=)"), "\\ge ");
  source = std::regex_replace(source, std::regex(R"(<=)"), "\\le ");
  return std::regex_replace(source, std::regex(R"(->)"), "\\to ");
}

}  // namespace

std::string quoted_plainly(std::string_view source) { return quoted(source, Form::plain); }

std::string quoted_as_html(std::string_view source) { return quoted(source, Form::mathml); }

std::string sentence_as_html(std::string_view sentence) {
  static const std::regex mathematical(
      R"(.*[\^_].*|[(\[]?p0|>=|<=|<|>|=|->|\+|[(]?(alpha|beta|delta|epsilon|zeta|mu|nu|pi|rho|sigma|tau|phi|omega|Pi)(\(.*\))?)");
  std::string html;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    std::string word(sentence.substr(at, end - at));
    std::string after;
    while (!word.empty() && std::string_view(".,;:").find(word.back()) != std::string_view::npos) {
      after.insert(after.begin(), word.back());
      word.pop_back();
    }
    // A name of a file, a theorem or an entry is none.
    const bool is_name =
        word.find('/') != std::string::npos && word.find(".json") != std::string::npos;
    static const std::regex of_theorem(R"([a-z_]{3,}\.[a-z_0-9]+)");
    const bool is_math =
        !is_name && !std::regex_match(word, of_theorem) && std::regex_match(word, mathematical);
    html += (is_math ? formula(as_source(word), Form::mathml, false) : gpu::escaped(word)) +
            gpu::escaped(after);
    if (end < sentence.size()) html += ' ';
    at = end + 1;
  }
  return html;
}

}  // namespace tempera::lab
