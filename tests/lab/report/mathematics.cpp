#include "lab/report/mathematics.hpp"

#include "tests/catch.hpp"

using namespace tempera::lab;

TEST_CASE("the paper's words are told on a terminal in ASCII") {
  CHECK(quoted_plainly(R"(respect to \(\pi_k\).)") == "respect to pi_k.");
  CHECK(quoted_plainly(R"($\Pi\widetilde P\ne\Pi$)") == "PiP~ != Pi");
  CHECK(quoted_plainly(R"(\(\bigl[\frac13-(\frac34)^N\bigr]_+\))") == "[1/3-(3/4)^N]_+");
  CHECK(quoted_plainly(R"($\tfrac12\delta_{X_1}$)") == "1/2delta_{X_1}");
  CHECK(quoted_plainly(R"(\method{} reaches $58.4\%$ on AIME~24\&25)") ==
        "PPT reaches 58.4% on AIME 24&25");
  CHECK(quoted_plainly(R"(\emph{exponentially} fast ~\citep{a,b} --- or not)") ==
        "exponentially fast - or not");
  CHECK(quoted_plainly(R"(\(q_{k,1}(\mathbf{y}\mid \mathbf{x})\))") == "q_{k,1}(y | x)");
  CHECK(quoted_plainly("nothing to set") == "nothing to set");
}

TEST_CASE("the paper's words are told on a page with MathML") {
  CHECK(quoted_as_html(R"(a < \(\pi_k\))") ==
        "a &lt; <math><msub><mi>π</mi><mi>k</mi></msub></math>");
  CHECK(quoted_as_html(R"($\frac{1}{T}$)") ==
        "<math><mfrac><mrow><mn>1</mn></mrow><mrow><mi>T</mi></mrow></mfrac></math>");
  CHECK_THAT(quoted_as_html(R"(\[ x^{(k)} \])"), Catch::StartsWith("<math display=\"block\">"));
  CHECK_THAT(quoted_as_html(R"($\mathcal S_T$)"), Catch::Contains("𝒮"));
  CHECK_THAT(quoted_as_html(R"($\mathbf{x}$)"), Catch::Contains("𝐱"));
}

TEST_CASE("a sentence's mathematics is found word by word") {
  CHECK(sentence_as_html("p0 & all") == "<math><msub><mi>p</mi><mn>0</mn></msub></math> &amp; all");
  CHECK_THAT(sentence_as_html("at least (1-epsilon)^N."),
             Catch::Contains("<msup>") && Catch::Contains("ε") && Catch::EndsWith("</math>."));
  CHECK_THAT(sentence_as_html("n_local >= 1"),
             Catch::Contains("<mi>local</mi>") && Catch::Contains("<mo>≥</mo>"));
  CHECK(sentence_as_html("see long-mass-with-entry in proofs/join.json") ==
        "see long-mass-with-entry in proofs/join.json");
  CHECK(sentence_as_html("as record_space.law_p0 proves") == "as record_space.law_p0 proves");
}
