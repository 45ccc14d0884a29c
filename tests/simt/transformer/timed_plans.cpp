// Plans by the clock: which candidate is kept, and what a file of earlier times is worth.
#include "gpu/llm/transformer/kernels/cuda/timed_plans.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"
#include "tests/catch.hpp"
#include "tests/simt/transformer/product_problem.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::timed_plans_test {

using namespace tempera;
using namespace tempera::gpu;
using nlohmann::json;
using test::TemporaryFolder;

namespace {

const ProductDevice hopper{132, tests::hopper_shared_bytes, true};
constexpr ProductCase down{64, 12288, 4096, 256, false, WeightForm::fragments, 1};

bool is_same(const ProductPlan& a, const ProductPlan& b) {
  return a.form == b.form && a.token_tiles == b.token_tiles && a.job_units == b.job_units &&
         a.part_segments == b.part_segments && a.window == b.window && a.adding == b.adding;
}

std::vector<ProductPlan> candidates_of(const ProductCase& product) {
  return candidate_plans(product.rows, product.in, product.out, product.tiles, product.gated,
                         hopper, product.weights, TimedPlans::candidates);
}

/// A clock by which candidate `fastest` takes least, and that counts what it times.
struct CannedClock {
  ProductPlan fastest;
  std::size_t timed = 0;
  TimePlan clock() {
    return [this](const ProductPlan& plan) {
      ++timed;
      return is_same(plan, fastest) ? 1.0 : 2.0;
    };
  }
};

json read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}

}  // namespace

TEST_CASE("candidates are of both forms, and the first has the fewest bytes") {
  const auto plans = candidates_of(down);
  REQUIRE(plans.size() == TimedPlans::candidates);
  const auto count = std::ranges::count(plans, ProductForm::warpgroups, &ProductPlan::form);
  CHECK(count == 4);
  CHECK(std::ranges::is_sorted(
      plans, {}, [](const ProductPlan& plan) { return busiest_bytes(plan, false, 132); }));
  CHECK(is_same(plans.front(), plan_product(64, 12288, 4096, 256, false, hopper)));
  for (std::size_t i = 1; i < plans.size(); ++i) CHECK_FALSE(is_same(plans[i], plans[i - 1]));
  // Quantised weights, and few rows, have one form.
  ProductCase other = down;
  other.weights = WeightForm::quantised;
  CHECK(std::ranges::count(candidates_of(other), ProductForm::chunks, &ProductPlan::form) == 8);
}

TEST_CASE("bytes that rank plans are those of the busiest multiprocessor") {
  constexpr std::size_t wait = 16384;
  ProductPlan plan{.form = ProductForm::chunks,
                   .rows = 1,
                   .token_tiles = 1,
                   .stages = 4,
                   .in = 512,
                   .out = 128,
                   .tiles = 8,
                   .units = 8,
                   .segments = 1,
                   .job_units = 8,
                   .parts = 1,
                   .part_segments = 1,
                   .chunks = 1,
                   .window = 1,
                   .blocks = 1,
                   .unit_tiles = 1,
                   .adding = Adding::own_block,
                   .shared_bytes = 0};
  // Eight tiles of 512 inputs, a row of them, and the wait for it.
  constexpr std::size_t job = std::size_t{8} * 512 * 16 * 2 + 1024 + wait;
  CHECK(busiest_bytes(plan, false, 132) == job);
  // 128 sums go and come; a thread waits for its own, and the block for the counter.
  plan.adding = Adding::last_block;
  CHECK(busiest_bytes(plan, false, 132) == job + 2 * 8 * 128 + 2 * wait);
  // A kernel of its own has a block of 256 results.
  plan.adding = Adding::next_kernel;
  CHECK(busiest_bytes(plan, false, 132) == job + 8 * 128 + 8 * 256 + 4 * wait);
  // Idle warps count as busy ones; two jobs one after the other, and blocks beside each other.
  plan.adding = Adding::own_block;
  plan.job_units = 3;
  plan.blocks = 3;
  CHECK(busiest_bytes(plan, false, 132) == job);
  plan.blocks = 2;
  CHECK(busiest_bytes(plan, false, 132) == 2 * job);
  CHECK(busiest_bytes(plan, false, 1) == 4 * job);
  // 64 outputs of 64 tokens by four warps: 16 stages of both.
  plan = plan_for_blocks({4, 64}, 1, 64, 512, 64, 4, false);
  CHECK(busiest_bytes(plan, false, 132) == std::size_t{512} * (64 + 64) * 2 + wait);
}

TEST_CASE("the fastest candidate is kept, and timed once; without a clock it is the first") {
  for (const std::size_t index : {0U, 3U, 7U}) {
    CannedClock canned{candidates_of(down)[index]};
    TimedPlans plans;
    CHECK(is_same(plans.plan_of(down, hopper, canned.clock()), canned.fastest));
    const std::size_t timed = canned.timed;
    CHECK(timed == 6 * TimedPlans::candidates);
    CHECK(is_same(plans.plan_of(down, hopper, canned.clock()), canned.fastest));
    CHECK(canned.timed == timed);
  }
  TimedPlans plans;
  CHECK(is_same(plans.plan_of(down, hopper, {}), candidates_of(down)[0]));
}

TEST_CASE("a prompt of any length takes the choice of the next number of rows that is timed") {
  ProductCase next = down;
  next.rows = 192;
  CannedClock canned{candidates_of(next)[3]};
  TimedPlans plans;
  std::size_t timed = 0;
  for (const unsigned rows : {150U, 151U, 192U, 129U}) {
    ProductCase odd = down;
    odd.rows = rows;
    const ProductPlan& plan = plans.plan_of(odd, hopper, canned.clock());
    CHECK(plan.rows == rows);
    CHECK(is_same(plan, canned.fastest));
    CHECK(canned.timed == 6 * TimedPlans::candidates);
    timed = canned.timed;
  }
  for (const unsigned rows : {33U, 50U, 64U}) {
    ProductCase odd = down;
    odd.rows = rows;
    CHECK(plans.plan_of(odd, hopper, canned.clock()).rows == rows);
  }
  CHECK(canned.timed == 2 * timed);
}

TEST_CASE("times are kept in a file for the same device, driver and build") {
  const TemporaryFolder folder;
  const auto file = folder / "cache/plans.json";
  CannedClock canned{candidates_of(down)[5]};
  TimedPlans first(file, "an H200, driver 1");
  first.plan_of(down, hopper, canned.clock());
  CHECK(read(file)["of"] == "an H200, driver 1");
  CHECK(read(file)["plans"].size() == 1);
  const std::size_t timed = canned.timed;
  TimedPlans second(file, "an H200, driver 1");
  CHECK(is_same(second.plan_of(down, hopper, canned.clock()), canned.fastest));
  CHECK(canned.timed == timed);
  // Two processes, each with a product of its own: both are kept.
  ProductCase other = down;
  other.rows = 128;
  CannedClock of_other{candidates_of(other)[2]};
  second.plan_of(other, hopper, of_other.clock());
  ProductCase third = down;
  third.rows = 1;
  CannedClock of_third{candidates_of(third)[1]};
  first.plan_of(third, hopper, of_third.clock());
  CHECK(read(file)["plans"].size() == 3);
  // Times of another driver are not read, and are written anew.
  CannedClock newer{candidates_of(down)[1]};
  TimedPlans of_newer(file, "an H200, driver 2");
  CHECK(is_same(of_newer.plan_of(down, hopper, newer.clock()), newer.fastest));
  CHECK(newer.timed > 0);
  CHECK(read(file)["of"] == "an H200, driver 2");
  CHECK(read(file)["plans"].size() == 1);
}

TEST_CASE("a file of times that is damaged is as none, and is written anew") {
  const TemporaryFolder folder;
  const auto file = folder / "plans.json";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  CannedClock canned{candidates_of(down)[5]};
  TimedPlans(file, "this").plan_of(down, hopper, canned.clock());
  const std::string sound = read(file).dump();
  const std::string name = read(file)["plans"].begin().key();
  const auto with = [&](const json& choice) {
    return json{{"of", "this"}, {"plans", {{name, choice}}}}.dump();
  };
  const std::string damaged[] = {"", sound.substr(0, sound.size() / 2), "[]",
                                 R"({"of":"this","plans":[]})", R"({"of":7,"plans":{}})",
                                 with("a word"), with({1, 2, 3}), with({1, 2, 3, 4, 5, 6, -7}),
                                 with({1, 2, 3, 4, 5, 6, 7.5}),
                                 // No candidate: a kernel would be launched by it.
                                 with({1, 9, 9, 9, 9, 9, 9})};
  for (const std::string& text : damaged) {
    CAPTURE(text);
    write(text);
    canned.timed = 0;
    TimedPlans plans(file, "this");
    CHECK(is_same(plans.plan_of(down, hopper, canned.clock()), canned.fastest));
    CHECK(canned.timed > 0);
    CHECK(read(file).dump() == sound);
  }
  // A folder that cannot be written: timed, and not kept.
  write("x");
  TimedPlans nowhere(file / "plans.json", "this");
  CHECK(is_same(nowhere.plan_of(down, hopper, canned.clock()), canned.fastest));
}

}  // namespace tempera::timed_plans_test
