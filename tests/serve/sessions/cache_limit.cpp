// The memory that caches may take by default: a limit for a server, a guess for a run.
#include "gpu/device/planted_fault.hpp"
#include "serve/server.hpp"
#include "settings/named_sampler.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/counted_model.hpp"

namespace tempera::serve::cache_limit_test {
namespace {

constexpr std::size_t token = 1000;

gpu::SampleRequest request_of(std::size_t tokens) {
  gpu::SampleRequest request{
      gpu::Ladder({1.0, 2.0}),
      {gpu::make_stages(tokens, tokens, {1}, {1}, {1}), gpu::Schedule::adj, 0}};
  request.prompt = {2, 3};
  return request;
}

}  // namespace

TEST_CASE("half of the free memory is a server's limit where none is given", "[serve]") {
  const gpu::WithPlantedFault small({{}, 40 * token});
  const gpu::SessionOptions found = with_cache_limit({});
  CHECK(found.cache_memory == 20 * token);
  gpu::SessionOptions given;
  given.cache_memory = 77;
  given.in_flight = 5;
  CHECK(with_cache_limit(given).cache_memory == 77);
  CHECK(with_cache_limit(given).in_flight == 5);
  // A record takes its tokens, the prompt's two, and one that is copied.
  gpu::CountedModel model(token);
  const gpu::Session server(model, found);
  CHECK_NOTHROW(server.require_room(request_of(17), "the request"));
  require_bad_input([&] { server.require_room(request_of(18), "the request"); },
                    {"cache memory", "the request", "lower the horizon"});
  // The same memory holds no run of the command back.
  const gpu::Session command(model, {});
  CHECK_NOTHROW(command.require_room(request_of(18), "the request"));
}

}  // namespace tempera::serve::cache_limit_test
