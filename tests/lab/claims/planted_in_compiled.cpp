#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/lottery/philox.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/lottery/winner.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "lab/claims/join_case.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "lab/enumerate/real.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/law_question.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "lab/laws/shipped_models.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using lab::FunctionsUnderTest;
using lab::Real;
using lab::ShippedLaw;

Real not_a_number() { return std::numeric_limits<Real>::quiet_NaN(); }

// What is sound is enumerated once.
const std::vector<ShippedLaw>& sound_laws(const std::vector<lab::ShippedUse>& uses) {
  static const auto laws = lab::shipped_laws(uses);
  return laws;
}

const lab::LawReport& sound_report(const lab::EnumerableModel& model,
                                   const lab::LawQuestion& question) {
  static std::map<std::vector<double>, lab::LawReport> reports;
  const auto known = reports.find(question.powers);
  if (known != reports.end()) return known->second;
  return reports.emplace(question.powers, lab::compiled_law(model, nullptr, question))
      .first->second;
}

const std::vector<lab::Exhibit>& sound_gallery(const lab::EnumerableModel& model,
                                               const std::string& name, std::size_t horizon,
                                               const std::vector<double>& powers) {
  static std::map<std::pair<std::string, std::size_t>, std::vector<lab::Exhibit>> galleries;
  auto& gallery = galleries[{name, horizon}];
  if (gallery.empty()) gallery = lab::defect_gallery(model, name, horizon, powers);
  return gallery;
}

const std::vector<lab::NamedMatrix>& sound_matrices(const lab::JoinCase& join) {
  static std::map<std::string, std::vector<lab::NamedMatrix>> matrices;
  auto& of_case = matrices[join.name];
  if (of_case.empty()) of_case = lab::reference_matrices(join);
  return of_case;
}

/// The shipped laws with one number of the last that `concerned` picks spoilt.
template <class Concerned, class Spoil>
std::function<void(FunctionsUnderTest&)> spoilt_law(Concerned concerned, Spoil spoil) {
  return [=](FunctionsUnderTest& functions) {
    functions.of<lab::ProgramFunctions>().shipped_laws =
        [=](const std::vector<lab::ShippedUse>& uses) {
          auto laws = sound_laws(uses);
          for (std::size_t i = laws.size(); i-- > 0;)
            if (concerned(laws[i])) {
              spoil(laws[i]);
              break;
            }
          return laws;
        };
  };
}

template <class Spoil>
std::function<void(FunctionsUnderTest&)> spoilt_report(Spoil spoil) {
  return [spoil](FunctionsUnderTest& functions) {
    functions.of<lab::ProgramFunctions>().compiled_law = [spoil](const lab::EnumerableModel& model,
                                                                 const lab::LawQuestion& question) {
      lab::LawReport report = sound_report(model, question);
      if (question.powers.size() == 2) spoil(report);
      return report;
    };
  };
}

template <class Spoil>
std::function<void(FunctionsUnderTest&)> spoilt_gallery(Spoil spoil) {
  return [spoil](FunctionsUnderTest& functions) {
    functions.of<lab::ProgramFunctions>().defect_gallery =
        [spoil](const auto& model, const auto& name, auto horizon, const auto& powers) {
          auto gallery = sound_gallery(model, name, horizon, powers);
          spoil(gallery);
          return gallery;
        };
  };
}

/// The first entry of the matrices of this name, made one more.
std::function<void(FunctionsUnderTest&)> spoilt_matrix(const std::string& spoilt) {
  return [spoilt](FunctionsUnderTest& functions) {
    functions.of<lab::ProgramFunctions>().reference_matrices = [spoilt](const lab::JoinCase& join) {
      auto matrices = sound_matrices(join);
      for (auto& [name, matrix] : matrices)
        if (name == spoilt) matrix(0, 0) += 1;
      return matrices;
    };
  };
}

/// The draw of this build, of which one thing is wrong.
template <class Spoil>
class SpoiltRows final : public gpu::RowLottery {
 public:
  const char* form() const override { return "spoilt"; }
  std::vector<gpu::ScoredToken> draw(const gpu::DeviceMemory<float>& logits, std::size_t vocabulary,
                                     std::span<const gpu::RowDraw> draws,
                                     gpu::Lottery& lottery) override {
    std::vector<gpu::RowDraw> asked(draws.begin(), draws.end());
    for (gpu::RowDraw& row : asked) Spoil::request(row);
    auto tokens = sound_->draw(logits, vocabulary, asked, lottery);
    for (gpu::ScoredToken& token : tokens) Spoil::token(token);
    return tokens;
  }
  std::vector<gpu::ScoredToken> score(const gpu::DeviceMemory<float>& logits,
                                      std::size_t vocabulary,
                                      std::span<const gpu::RowToken> tokens) override {
    return sound_->score(logits, vocabulary, tokens);
  }
  std::vector<double> log_normalizers(const gpu::DeviceMemory<float>& logits,
                                      std::size_t vocabulary, std::size_t rows,
                                      std::span<const double> powers) override {
    return sound_->log_normalizers(logits, vocabulary, rows, powers);
  }

 private:
  std::unique_ptr<gpu::RowLottery> sound_ = gpu::make_device_row_lottery();
};

/// The score of a token off by its last bit.
struct LastBit {
  static void request(gpu::RowDraw&) {}
  static void token(gpu::ScoredToken& token) { token.log_p = std::nextafter(token.log_p, 0.0); }
};
/// Tokens of the first rung's power at every rung.
struct FirstRung {
  static void request(gpu::RowDraw& row) { row.rung = 0; }
  static void token(gpu::ScoredToken&) {}
};

template <class Spoil>
void spoilt_rows(FunctionsUnderTest& functions) {
  functions.of<lab::ProgramFunctions>().ptx_rows = []() -> std::unique_ptr<gpu::RowLottery> {
    return std::make_unique<SpoiltRows<Spoil>>();
  };
}

}  // namespace

std::vector<Planted> planted_in_compiled() {
  const auto local = [](const ShippedLaw& law) { return law.powers.size() == 1; };
  const auto joint = [](const ShippedLaw& law) { return law.powers.size() > 1; };
  std::vector<Planted> all{
      {"lottery_winner", "a winner one ticket early",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().winner_of =
             [](const std::uint64_t* tickets, std::uint64_t count, std::uint64_t threshold) {
               std::uint64_t sum = 0;
               for (std::uint64_t i = 0; i < count; ++i)
                 if ((sum += tickets[i]) >= threshold) return i;
               return count;
             };
       }},
      {"lottery_winner", "the lower half of the word left out",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().threshold_of = [](const gpu::Word& word,
                                                                 std::uint64_t total) {
           const std::uint64_t high = (std::uint64_t{word.limb[3]} << 32) | word.limb[2];
           return gpu::multiply_high(high, total);
         };
       }},
      {"lottery_winner", "the last winner for every threshold",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().winner_of =
             [](const std::uint64_t*, std::uint64_t count, std::uint64_t) { return count - 1; };
       }},
      {"lottery_invariant", "a target that one move leaves by more than the bound",
       spoilt_law(local, [](ShippedLaw& law) { law.tv_one_step = 1e-10; })},
      {"lottery_invariant", "a distance that is not a number",
       spoilt_law(local, [](ShippedLaw& law) { law.tv_one_step = not_a_number(); })},
      {"lottery_invariant", "a stale record",
       spoilt_law(local, [](ShippedLaw& law) { law.stale_records = 1; })},
      {"lottery_ensemble", "a target that one round leaves by more than the bound",
       spoilt_law(joint, [](ShippedLaw& law) { law.tv_one_step = 1e-10; })},
      {"lottery_ensemble", "a distance that is not a number",
       spoilt_law(joint, [](ShippedLaw& law) { law.tv_one_step = not_a_number(); })},
      {"compiled_law", "a stationary law off the rational target",
       spoilt_law(local, [](ShippedLaw& law) { law.tv_to_target = 1e-5; })},
      {"compiled_law", "a stationary law off its own target",
       spoilt_law(joint, [](ShippedLaw& law) { law.tv_own = 1e-10; })},
      {"compiled_law", "a distance to the target that is not a number",
       spoilt_law(local, [](ShippedLaw& law) { law.tv_to_target = not_a_number(); })},
      {"compiled_law", "a distance of its own that is not a number",
       spoilt_law(joint, [](ShippedLaw& law) { law.tv_own = not_a_number(); })},
      {"compiled_transformer", "a distance above the bound",
       spoilt_report([](lab::LawReport& report) { report.tv_own = 1e-10; })},
      {"compiled_transformer", "a stationary distance that is not a number",
       spoilt_report([](lab::LawReport& report) { report.tv_own = not_a_number(); })},
      {"compiled_transformer", "a distance after one step that is not a number",
       spoilt_report([](lab::LawReport& report) { report.tv_one_step = not_a_number(); })},
      {"compiled_transformer", "a stale record",
       spoilt_report([](lab::LawReport& report) { report.stale_records = 1; })},
      {"compiled_draw_moves", "a score off by its last bit", spoilt_rows<LastBit>},
      {"compiled_draw_moves", "tokens of another rung's power", spoilt_rows<FirstRung>},
      {"compiled_draw_programs", "a score off by its last bit", spoilt_rows<LastBit>},
      {"compiled_draw_programs", "tokens of another rung's power", spoilt_rows<FirstRung>},
      {"planted_defects", "a defect that is never caught",
       spoilt_gallery([](auto& gallery) { gallery[2].caught.reset(); })},
      {"planted_defects", "a gallery of four",
       spoilt_gallery([](auto& gallery) { gallery.pop_back(); })},
      {"planted_defects", "a counterexample of equal probabilities",
       spoilt_gallery([](auto& gallery) {
         if (gallery[0].caught) gallery[0].caught->compiled = gallery[0].caught->exact;
       })},
      {"planted_defects", "sound kernels that fail",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().check_kernels = [](const auto&, auto, const auto&) {
           return std::optional(lab::Counterexample{"local move", "a", "e", "1", "0"});
         };
       }},
      {"swaps_call_no_model", "a pass for every sweep",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().passes_of_run = [](std::size_t local_moves,
                                                                  std::size_t sweeps) {
           return lab::passes_of_run(local_moves, sweeps) + sweeps;
         };
       }},
      {"swaps_call_no_model", "no pass for local moves",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().passes_of_run = [](std::size_t, std::size_t sweeps) {
           return lab::passes_of_run(0, sweeps);
         };
       }},
      {"same_bits", "bits that depend on the batch",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().bits_of_run = [](std::size_t batch, gpu::WorkOrder,
                                                                std::size_t) {
           return std::vector<std::uint64_t>{batch};
         };
       }},
      {"same_bits", "bits that depend on the order of work",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().bits_of_run = [](std::size_t, gpu::WorkOrder order,
                                                                std::size_t) {
           return std::vector<std::uint64_t>{static_cast<std::uint64_t>(order)};
         };
       }},
      {"same_bits", "bits that depend on the threads",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().bits_of_run = [](std::size_t, gpu::WorkOrder,
                                                                std::size_t threads) {
           return std::vector<std::uint64_t>{threads};
         };
       }},
      {"same_bits", "a run that leaves nothing",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().bits_of_run =
             [](std::size_t, gpu::WorkOrder, std::size_t) { return std::vector<std::uint64_t>{}; };
       }},
  };
  for (const char* name : {"local-1", "swap-1", "ordered-sweep", "odd-layer", "transition"})
    all.push_back(
        {"proved_matrices", std::string("another entry in ") + name, spoilt_matrix(name)});
  all.push_back({"proved_truncating", "another entry", spoilt_matrix("truncating-2")});
  all.push_back({"proved_progressive", "another entry", spoilt_matrix("progressive-law")});
  return all;
}

}  // namespace tempera::test
