// The compiled promise where it is hardest to keep: a transformer with its paged cache, its forks
// and its swaps, small enough to be enumerated.
#include "lab/enumerate/small_transformer.hpp"

#include "gpu/core/sampler/sweep.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/enumerate/compiled_kernel.hpp"
#include "lab/laws/law.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using lab::Rational;

namespace {

constexpr std::size_t horizon = 2;

/// Three tokens, the first of them terminal, after a prompt of one: seven records.
struct TinyTransformer {
  lab::EnumerableModel enumerable() const { return {*transformer, {{1}, {0}}, {"e", "a", "b"}}; }

  gpu::Arithmetic arithmetic = gpu::Arithmetic::float32;
  std::unique_ptr<gpu::Transformer> transformer = lab::small_transformer(3, 17, arithmetic);
};

/// Runs one task of one program.
void finish(gpu::Chain& run, gpu::Task task) {
  std::vector<gpu::Task> tasks;
  tasks.push_back(std::move(task));
  run.engine.run(tasks);
}

void move_once(gpu::Chain& run, gpu::Record& x, gpu::Rung k, std::uint32_t round) {
  finish(run, gpu::local_move(x, gpu::Turn(run, k, round, gpu::Purpose::proposal_token),
                              gpu::RestartLaw::uniform(horizon)));
}

}  // namespace

// 1e-11: see flow_bound in lab/defects/gallery.hpp; |V| = 3 and T = 2 here.
TEST_CASE("the compiled law of a transformer is the target of its own logits") {
  const TinyTransformer tiny{GENERATE(from_range(gpu::arithmetics))};
  for (const auto& powers : {std::vector<double>{4.0}, std::vector<double>{1.0, 4.0}}) {
    const lab::LawReport report =
        lab::compiled_law(tiny.enumerable(), nullptr, {horizon, powers, {}});
    CHECK(report.states.size() == (powers.size() == 1 ? 7U : 49U));
    CHECK(report.tv_own < 1e-11);
    CHECK(report.tv_one_step < 1e-11);
    CHECK(report.stale_records == 0);
    CHECK_FALSE(report.worst_entry);
    // The likeliest record is more than another: a uniform law would pass with any kernel.
    CHECK(*std::max_element(report.stationary.begin(), report.stationary.end()) >
          Rational(3, 2) * *std::min_element(report.stationary.begin(), report.stationary.end()));
  }
}

TEST_CASE("every arithmetic has a law of its own, near float32's") {
  const auto law_of = [](gpu::Arithmetic arithmetic) {
    const TinyTransformer tiny{arithmetic};
    return lab::compiled_law(tiny.enumerable(), nullptr, {horizon, {4.0}, {}}).stationary;
  };
  const auto float32 = law_of(gpu::Arithmetic::float32);
  const auto tensor_core = law_of(gpu::Arithmetic::tensor_core);
  const auto ampere = law_of(gpu::Arithmetic::tensor_core_ampere);
  const auto pairs = law_of(gpu::Arithmetic::bfloat16_pairs);
  const auto of_8_bits = law_of(gpu::Arithmetic::tensor_core_8_bit_pages);
  const auto integer = law_of(gpu::Arithmetic::integer);
  CHECK(tensor_core != pairs);
  CHECK(tensor_core != of_8_bits);
  for (const auto& other : {tensor_core, ampere, pairs, of_8_bits, integer}) {
    REQUIRE(float32.size() == other.size());
    CHECK(float32 != other);
    for (std::size_t state = 0; state < float32.size(); ++state) {
      CHECK(other[state] > float32[state] / 2);
      CHECK(other[state] < float32[state] * 2);
    }
  }
}

TEST_CASE("a cache left by a swap is found on a transformer") {
  const TinyTransformer tiny;
  const auto gallery = lab::defect_gallery(tiny.enumerable(), "random", horizon, {1.0, 4.0});
  REQUIRE(gallery.at(2).defect == "stale cache after a swap");
  CHECK(gallery[2].caught.value().kernel == "cache of a record after a move or swap");
}

// At horizon 2 a sliced tail cannot be seen: what it leaves out, -log z of the last position, is
// not below 0 at a power of at least 1, so both ratios accept for sure.
TEST_CASE("every planted defect is caught on a transformer, and the sound kernels are not") {
  const TinyTransformer tiny;
  CHECK_FALSE(lab::check_kernels(tiny.enumerable(), 3, {1.0, 4.0}));
  const auto gallery = lab::defect_gallery(tiny.enumerable(), "random", 3, {1.0, 4.0});
  REQUIRE(gallery.size() == 5);
  for (const lab::Exhibit& exhibit : gallery) {
    INFO(exhibit.defect);
    CHECK(exhibit.caught);
  }
}

// The second move starts from the record that the first left, scores and pages and all. If those
// were not a fresh record's, bit for bit, the program would not be the product of its moves.
TEST_CASE("two moves as one program are the product of one move with itself") {
  const TinyTransformer tiny;
  const lab::CompiledSpace space(tiny.enumerable(), horizon);
  lab::CompiledKernel<> kernel(space, gpu::Ladder({2.0}), gpu::RestartLaw::uniform(horizon));
  const lab::Matrix move = kernel.local_move(0);
  for (std::size_t s = 0; s < space.size(); ++s) {
    const auto row = kernel.joint_row({s}, [](gpu::Chain& run, std::vector<gpu::Record>& replicas) {
      move_once(run, replicas[0], 0, 0);
      move_once(run, replicas[0], 0, 1);
    });
    for (std::size_t t = 0; t < space.size(); ++t) {
      Rational product = 0;
      for (std::size_t between = 0; between < space.size(); ++between)
        product += move(s, between) * move(between, t);
      REQUIRE(row[t] == product);
    }
  }
  CHECK(kernel.stale().empty());
}

TEST_CASE("a move, a swap and a move as one program are the product of the three") {
  const TinyTransformer tiny;
  const lab::CompiledSpace space(tiny.enumerable(), horizon);
  const std::size_t states = space.size();
  lab::CompiledKernel<> kernel(space, gpu::Ladder({1.0, 4.0}), gpu::RestartLaw::uniform(horizon));
  const lab::Matrix first = kernel.local_move(0);
  const lab::Matrix second = kernel.local_move(1);
  const lab::Matrix accept = kernel.swap(0);
  const std::size_t x = space.find({1, 2});
  const std::size_t y = space.find({0});
  const auto row =
      kernel.joint_row({x, y}, [](gpu::Chain& run, std::vector<gpu::Record>& replicas) {
        move_once(run, replicas[0], 0, 0);
        gpu::sweep(replicas, run, gpu::Schedule::adj, 0);
        move_once(run, replicas[1], 1, 1);
      });
  std::vector<Rational> product(states * states);
  const auto reach = [&](std::size_t at_0, std::size_t at_1, const Rational& probability) {
    for (std::size_t next = 0; next < states; ++next)
      product[at_0 * states + next] += probability * second(at_1, next);
  };
  for (std::size_t moved = 0; moved < states; ++moved) {
    reach(y, moved, first(x, moved) * accept(moved, y));
    reach(moved, y, first(x, moved) * (Rational(1) - accept(moved, y)));
  }
  for (std::size_t joint = 0; joint < row.size(); ++joint) REQUIRE(row[joint] == product[joint]);
  CHECK(kernel.stale().empty());
}
