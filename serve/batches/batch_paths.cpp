#include "serve/batches/batch_paths.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/fresh_id.hpp"
#include "serve/protocol/json_response.hpp"
#include "serve/protocol/multipart.hpp"
#include "serve/protocol/neutral_fields.hpp"
#include "serve/protocol/request_body.hpp"

namespace tempera::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t longest_filename = 256;
constexpr std::size_t largest_metadata = 16;

HttpResponse none(const char* what) {
  return error_response(404, std::string("there is no such ") + what);
}

/// Refuses a query that asks for what a list does not do.
void check_query(std::string_view query) {
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string key(query.substr(0, std::min(query.find('='), end)));
    query.remove_prefix(std::min(end + 1, query.size()));
    if (key != "limit" && key != "after" && !key.empty())
      throw BadInput(key, "is not a parameter of this server's lists",
                     "leave it out, or give limit or after");
  }
}

/// The value of a query's key; empty if it has none.
std::string query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const auto equals = pair.find('=');
    if (pair.substr(0, equals) == key && equals != std::string_view::npos)
      return std::string(pair.substr(equals + 1));
  }
  return {};
}

/// A page of a list: those after `after`, at most `limit`.
template <class Entry>
HttpResponse page_of(const std::vector<Entry>& all, const std::string& query) {
  check_query(query);
  constexpr std::size_t most = 100;
  std::size_t limit = most;
  if (const std::string text = query_value(query, "limit"); !text.empty()) {
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, limit);
    if (read.ec != std::errc() || read.ptr != end || limit < 1 || limit > 10000)
      throw BadInput("limit", in_quotes(text) + " is not a whole number from 1 to 10000",
                     "give one");
  }
  auto first = all.begin();
  if (const std::string after = query_value(query, "after"); !after.empty()) {
    first = std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.id == after; });
    if (first == all.end())
      throw BadInput("after", in_quotes(after) + " is not in the list", "give an id of the list");
    ++first;
  }
  const auto left = static_cast<std::size_t>(all.end() - first);
  ordered_json data = ordered_json::array();
  for (auto entry = first; entry != first + static_cast<std::ptrdiff_t>(std::min(left, limit));
       ++entry)
    data.push_back(to_json(*entry));
  ordered_json body{{"object", "list"}, {"data", std::move(data)}};
  body["first_id"] = body["data"].empty() ? ordered_json(nullptr) : body["data"].front()["id"];
  body["last_id"] = body["data"].empty() ? ordered_json(nullptr) : body["data"].back()["id"];
  body["has_more"] = left > limit;
  return json_response(body);
}

HttpResponse take_file(Batches& batches, const HttpRequest& request) {
  StoredFile file{.id = fresh_id("file-"), .filename = "input.jsonl", .created = now()};
  std::optional<std::string_view> content;
  std::set<std::string_view> names;
  const auto parts = read_multipart(request.content_type, request.body);
  for (const FormPart& part : parts) {
    if (!names.insert(part.name).second)
      throw BadInput(part.name, "occurs twice in the form", "send it once");
    if (part.name == "purpose") {
      file.purpose = std::string(part.content);
    } else if (part.name == "file") {
      content = part.content;
      if (part.filename) file.filename = part.filename->substr(0, longest_filename);
    } else {
      check_part(part.name, Holder::file, {"file", "purpose"});
    }
  }
  if (file.purpose != "batch")
    throw BadInput("purpose", in_quotes(file.purpose) + " is not a purpose of this server",
                   "give \"batch\"");
  if (!content) throw BadInput("file", "there is none", "send the file as the part \"file\"");
  // The name comes back in JSON, which knows UTF-8 alone.
  file.filename = json::parse(spelled(file.filename)).get<std::string>();
  return json_response(to_json(batches.files().put(std::move(file), *content)));
}

HttpResponse file_request(Batches& batches, const HttpRequest& request, const std::string& id,
                          const std::string& what) {
  const auto file = batches.files().find(id);
  if (!file) return none("file");
  if (what == "content") {
    if (request.method != "GET" && request.method != "HEAD") return wrong_method("GET, HEAD");
    HttpResponse response;
    response.content_type = "application/jsonl";
    response.body = batches.files().content(id);
    return response;
  }
  if (!what.empty()) return none("path");
  if (request.method == "GET" || request.method == "HEAD") return json_response(to_json(*file));
  if (request.method != "DELETE") return wrong_method("GET, HEAD, DELETE");
  if (batches.is_needed(id))
    return error_response(409, "a batch that is under way needs this file; cancel it first");
  batches.files().remove(id);
  return json_response({{"id", id}, {"object", "file"}, {"deleted", true}});
}

HttpResponse make_batch(Batches& batches, const std::string& text) {
  const HeldJson parsed = parse_body(text);
  const JsonObject body(*parsed, "body");
  check_fields(body, Holder::batch, {"input_file_id", "endpoint", "completion_window", "metadata"});
  const std::string endpoint = body.text("endpoint");
  if (endpoint != "/v1/completions" && endpoint != "/v1/chat/completions")
    throw BadInput("endpoint", in_quotes(endpoint) + " takes no batches",
                   "give \"/v1/completions\" or \"/v1/chat/completions\"");
  if (body.has("completion_window") && body.text("completion_window") != "24h")
    throw BadInput("completion_window",
                   in_quotes(body.text("completion_window")) + " is not \"24h\"",
                   "give that, the protocol's only one; no batch of this server expires");
  ordered_json metadata = nullptr;
  if (body.has("metadata")) {
    const JsonObject given = body.object("metadata");
    const auto keys = given.keys();
    if (keys.size() > largest_metadata)
      throw BadInput("metadata", "it has more than 16 keys", "give fewer");
    metadata = ordered_json::object();
    for (const std::string& key : keys) metadata[key] = given.text(key);
  }
  return json_response(
      to_json(batches.create(body.text("input_file_id"), endpoint, std::move(metadata))));
}

HttpResponse batch_request(Batches& batches, const HttpRequest& request, const std::string& id,
                           const std::string& what) {
  if (what == "cancel") {
    if (request.method != "POST") return wrong_method("POST");
    const auto batch = batches.cancel(id);
    return batch ? json_response(to_json(*batch)) : none("batch");
  }
  const auto batch = batches.find(id);
  if (!batch || !what.empty()) return none("batch");
  if (request.method != "GET" && request.method != "HEAD") return wrong_method("GET, HEAD");
  return json_response(to_json(*batch));
}

}  // namespace

bool is_batch_path(const std::string& path) {
  for (const std::string_view root : {"/v1/files", "/v1/batches"})
    if (path == root || path.starts_with(std::string(root) + "/")) return true;
  return false;
}

std::optional<HttpResponse> answer_batch_request(Batches& batches, const HttpRequest& request) {
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  const bool is_files = request.path.starts_with("/v1/files");
  std::string rest = request.path.substr(is_files ? 9 : 11);
  if (rest.empty()) {
    if (is_read)
      return is_files ? page_of(batches.files().list(), request.query)
                      : page_of(batches.list(), request.query);
    if (request.method != "POST") return wrong_method("GET, HEAD, POST");
    return is_files ? take_file(batches, request) : make_batch(batches, request.body);
  }
  rest.erase(0, 1);
  const auto slash = rest.find('/');
  const std::string id = rest.substr(0, slash);
  const std::string what = slash == std::string::npos ? std::string() : rest.substr(slash + 1);
  return is_files ? file_request(batches, request, id, what)
                  : batch_request(batches, request, id, what);
}

}  // namespace tempera::serve
