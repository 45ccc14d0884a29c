#pragma once

#include <string>
#include <string_view>

namespace tempera::lab {

/// The paper's words as its source has them (text with $…$, \(…\) and \[…\]), for a terminal:
/// commands become words and ASCII, "\(\pi_k\)" becomes "pi_k".
std::string quoted_plainly(std::string_view source);

/// The same as HTML, its mathematics as MathML.
std::string quoted_as_html(std::string_view source);

/// A sentence of claims.json as HTML: words that are mathematics, by a '^', a '_', a relation or
/// the name of a Greek letter, as MathML; "p0^alpha" is p with a subscript 0 and a superscript α.
std::string sentence_as_html(std::string_view sentence);

}  // namespace tempera::lab
