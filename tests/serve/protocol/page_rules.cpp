#include "serve/protocol/page_rules.hpp"

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "tests/bad_input.hpp"
#include "tests/law.hpp"

namespace tempera::serve::page_rules_test {
namespace {

HttpRequest from(const std::string& origin, const std::string& host) {
  HttpRequest request;
  request.method = "POST";
  request.origin = origin;
  request.host = host;
  return request;
}

/// 0 if the request is taken.
unsigned status(const PageRules& rules, const HttpRequest& request) {
  const auto refusal = rules.refusal(request);
  return refusal ? refusal->status : 0;
}

const std::vector<std::string> own_hosts{
    "localhost",      "localhost:8080", "LocalHost:8080", "page.localhost:80", "127.0.0.1",
    "127.0.0.1:8080", "127.3.2.1:8080", "[::1]",          "[::1]:8080",        ""};
const std::vector<std::string> other_hosts{"evil.test",           "evil.test:8080",
                                           "localhost.evil.test", "127.0.0.1.evil.test:8080",
                                           "127.evil.test",       "notlocalhost",
                                           "192.168.0.7:8080",    "[::2]:8080",
                                           "localhost:80:evil",   "x",
                                           "127.0.0.1:8080evil",  "[::1",
                                           "localhost@evil.test"};

}  // namespace

TEST_CASE("a server of this machine answers under its own names alone", "[serve]") {
  for (const char* address : {"127.0.0.1", "localhost", "::1", "127.0.0.2"}) {
    const PageRules rules({}, false, address);
    for (const std::string& host : own_hosts) {
      CAPTURE(host);
      CHECK(status(rules, from("", host)) == 0);
    }
    for (const std::string& host : other_hosts) {
      CAPTURE(host);
      CHECK(status(rules, from("", host)) == 421);
      // A page whose own name leads here after a while.
      CHECK(status(rules, from("http://" + host, host)) == 421);
    }
  }
}

TEST_CASE("pages of other origins are refused, also those of other ports", "[serve]") {
  for (const char* address : {"127.0.0.1", "0.0.0.0"}) {
    const PageRules rules({}, false, address);
    CHECK(status(rules, from("", "127.0.0.1:8080")) == 0);
    CHECK(status(rules, from("http://127.0.0.1:8080", "127.0.0.1:8080")) == 0);
    CHECK(status(rules, from("https://LOCALHOST", "localhost")) == 0);
    for (const std::string origin :
         {"http://evil.test", "http://127.0.0.1:8081", "http://127.0.0.1", "http://localhost:8080",
          "null", "file://", "http://127.0.0.1:80801", "http://127.0.0.1:8080.evil.test",
          "ftp://127.0.0.1:8080", "127.0.0.1:8080", "http://", "x"}) {
      CAPTURE(origin);
      CHECK(status(rules, from(origin, "127.0.0.1:8080")) == 403);
    }
    CHECK(status(rules, from("http://", "")) == 403);
  }
}

TEST_CASE("a key is enough, and no name is known of a server for other machines", "[serve]") {
  CHECK(status(PageRules({}, true, "127.0.0.1"), from("http://evil.test", "evil.test")) == 0);
  CHECK(status(PageRules({}, true, "127.0.0.1"), from("http://evil.test", "localhost")) == 0);
  CHECK(status(PageRules({}, false, "0.0.0.0"), from("", "box.example:8080")) == 0);
}

TEST_CASE("an allowed origin may use the server and read its answers, and so may no other",
          "[serve]") {
  const PageRules rules({"https://Chat.Example:443", "http://localhost:3000", "null"}, false,
                        "127.0.0.1");
  for (const std::string origin :
       {"https://chat.example", "HTTPS://chat.example", "http://localhost:3000", "null"}) {
    CAPTURE(origin);
    CHECK(status(rules, from(origin, "127.0.0.1:8080")) == 0);
    CHECK(rules.may_read(from(origin, "127.0.0.1:8080")));
  }
  for (const std::string origin :
       {"https://chat.example:444", "http://chat.example", "https://chat.example.evil.test",
        "http://localhost:30001", "https://a.chat.example"}) {
    CAPTURE(origin);
    CHECK(status(rules, from(origin, "127.0.0.1:8080")) == 403);
    CHECK_FALSE(rules.may_read(from(origin, "127.0.0.1:8080")));
  }
  // A proxy of this machine that hands on by which name it was asked.
  CHECK(status(rules, from("", "chat.example")) == 0);
  CHECK(status(rules, from("https://chat.example", "chat.example")) == 0);
  CHECK(status(rules, from("", "evil.test")) == 421);
  // The server's own page needs no leave, and programs have no origin.
  CHECK_FALSE(rules.may_read(from("http://127.0.0.1:8080", "127.0.0.1:8080")));
  CHECK_FALSE(rules.may_read(from("", "127.0.0.1:8080")));
}

TEST_CASE("letters of hosts and origins have no case, and an allowed host has any port",
          "[serve]") {
  const PageRules rules({"https://Chat.Example:8443", "http://Tool.test"}, false, "127.0.0.1");
  law("a name that is taken or refused is so however it is written", [&] {
    const auto in_some_case = [](std::string text) {
      for (char& letter : text)
        if (*rc::gen::element(false, true)) letter = static_cast<char>(std::toupper(letter));
      return text;
    };
    const bool is_own = *rc::gen::element(false, true);
    const std::string host =
        is_own ? *rc::gen::element<std::string>("chat.example", "tool.test", "localhost",
                                                "page.localhost", "[::1]")
               : *rc::gen::element<std::string>("evil.test", "chat.example.evil.test",
                                                "a.chat.example", "chat", "[::2]");
    const std::string port = *rc::gen::element<std::string>("", ":80", ":8443", ":1");
    RC_ASSERT(status(rules, from("", in_some_case(host) + port)) == (is_own ? 0U : 421U));
    const bool is_allowed = *rc::gen::element(false, true);
    const std::string origin =
        is_allowed ? *rc::gen::element<std::string>("https://chat.example:8443", "http://tool.test")
                   : *rc::gen::element<std::string>(
                         "https://chat.example", "http://chat.example:8443", "http://tool.test:81");
    const HttpRequest request = from(in_some_case(origin), "localhost:7");
    RC_ASSERT(status(rules, request) == (is_allowed ? 0U : 403U));
    RC_ASSERT(rules.may_read(request) == is_allowed);
  });
}

TEST_CASE("a star allows every origin and every name", "[serve]") {
  const PageRules rules({"*"}, false, "127.0.0.1");
  CHECK(status(rules, from("http://evil.test", "evil.test")) == 0);
  CHECK(rules.may_read(from("http://evil.test", "evil.test")));
  CHECK_FALSE(rules.may_read(from("", "localhost")));
}

TEST_CASE("a browser that asks first is answered for allowed origins alone", "[serve]") {
  const PageRules rules({"http://localhost:3000"}, true, "127.0.0.1");
  HttpRequest request = from("http://localhost:3000", "127.0.0.1:8080");
  CHECK_FALSE(rules.is_question(request));
  request.method = "OPTIONS";
  CHECK_FALSE(rules.is_question(request));
  request.asked_method = "POST";
  CHECK(rules.is_question(request));
  request.origin = "http://evil.test";
  CHECK_FALSE(rules.is_question(request));
  CHECK(PageRules::permission().status == 200);
}

TEST_CASE("a refusal names what was sent and what to do", "[serve]") {
  const PageRules rules({}, false, "127.0.0.1");
  const auto other_page = rules.refusal(from("http://evil.test", "localhost:8080"));
  REQUIRE(other_page);
  CHECK(other_page->body.find(R"(\"http://evil.test\")") != std::string::npos);
  CHECK(other_page->body.find("--allow-origin") != std::string::npos);
  const auto other_name = rules.refusal(from("", "evil.test:8080"));
  REQUIRE(other_name);
  CHECK(other_name->body.find(R"(\"evil.test:8080\")") != std::string::npos);
  CHECK(other_name->body.find("--allow-origin") != std::string::npos);
  const auto odd = rules.refusal(from("", std::string(15000, '\xff') + "\n"));
  REQUIRE(odd);
  CHECK(odd->body.size() < 1000);
}

TEST_CASE("what is not an origin is refused as an option", "[serve]") {
  for (const char* given : {"", "example.org", "https://example.org/", "https://example.org/page",
                            "://x", "https://a b", "https://user@example.org", "https://\xff",
                            "http://*.example.org", "http://localhost:*", "**"}) {
    CAPTURE(given);
    CHECK_THROWS_AS(PageRules({given}, false, "127.0.0.1"), BadInput);
  }
  CHECK_NOTHROW(
      PageRules({"app://obsidian.md", "file://", "http://[::1]:3000"}, false, "127.0.0.1"));
}

}  // namespace tempera::serve::page_rules_test
