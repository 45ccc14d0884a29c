#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#ifdef CATCH_CONFIG_RUNNER
#include <cstdlib>

namespace {

/// Leaves every `count`-th test case, from number `index` on: what Catch2 3 does itself with
/// --shard-count and --shard-index, which Catch2 2 does not know.
void keep_shard(Catch::Session& session, std::size_t count, std::size_t index) {
  // The list that the session itself will run, and that Catch2 hands out as const.
  auto& cases =
      const_cast<std::vector<Catch::TestCase>&>(Catch::getAllTestCasesSorted(session.config()));
  std::vector<Catch::TestCase> kept;
  for (std::size_t i = index; i < cases.size(); i += count) kept.push_back(cases[i]);
  cases = kept;
}

}  // namespace

int main(int argc, char* argv[]) {
  std::vector<char*> rest;
  std::size_t shards[] = {1, 0};
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_count = word == "--shard-count";
    if ((is_count || word == "--shard-index") && i + 1 < argc)
      shards[is_count ? 0 : 1] = std::strtoul(argv[++i], nullptr, 10);
    else
      rest.push_back(argv[i]);
  }
  Catch::Session session;
  if (const int wrong = session.applyCommandLine(static_cast<int>(rest.size()), rest.data()))
    return wrong;
  if (shards[0] > 1) keep_shard(session, shards[0], shards[1]);
  return session.run();
}
#else
int main(int argc, char* argv[]) { return Catch::Session().run(argc, argv); }
#endif
