#include "cli/commands/answer_printer.hpp"

#include <iostream>

#include "cli/commands/diagnostics_table.hpp"
#include "cli/commands/run_advice.hpp"
#include "cli/commands/summary_table.hpp"
#include "cli/terminal/interruption.hpp"

namespace tempera::cli {
namespace {

nlohmann::ordered_json line_of(const gpu::SampledAnswer& sampled) {
  return {{"id", *sampled.prompt.id},
          {"sample", sampled.sample},
          {"answer", sampled.shown},
          {"log_p0", sampled.answer.log_p0},
          {"terminated", sampled.answer.terminated}};
}

nlohmann::ordered_json document_of(const gpu::SampledAnswer& sampled) {
  nlohmann::ordered_json json;
  if (sampled.prompt.id) json = {{"id", *sampled.prompt.id}, {"sample", sampled.sample}};
  json["tokens"] = sampled.answer.tokens;
  json["answer"] = sampled.shown;
  json["log_p0"] = sampled.answer.log_p0;
  json["terminated"] = sampled.answer.terminated;
  return json;
}

}  // namespace

void AnswerPrinter::print(const gpu::SampledAnswer& sampled) {
  const WholeLines whole;
  line_.clear();
  begin();
  if (json_)
    std::cout << (printed_++ == 0 ? "\n" : ",\n") << document_of(sampled).dump();
  else if (sampled.prompt.id)
    std::cout << line_of(sampled).dump() << '\n';
  else
    std::cout << sampled.shown << '\n';
  std::cout.flush();
}

void AnswerPrinter::end(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& speed,
                        const std::filesystem::path& folder) {
  std::vector<gpu::RungDiagnostics> chains;
  if (summary_ && !folder.empty() && settings_.particles == 0) chains = gpu::diagnose_run(folder);
  const WholeLines whole;
  line_.clear();
  begin();
  if (json_) {
    std::cout << "\n],\"summary\":" << summary.dump();
    // Asked for by name: what the same seed prints is else the same, every time.
    if (summary_) std::cout << ",\"speed\":" << speed.dump();
    if (!chains.empty())
      std::cout << ",\"diagnostics\":" << diagnostics_json(settings_, chains).dump();
    std::cout << "}\n";
  } else if (summary_) {
    std::cout << '\n'
              << summary_table(summary) << diagnostics_table(chains) << run_advice(summary, chains)
              << speed_lines(speed);
  }
  std::cout.flush();
}

void AnswerPrinter::begin() {
  if (json_ && !begun_)
    std::cout << "{\"settings\":" << settings_.to_json().dump() << ",\"answers\":[";
  begun_ = true;
}

}  // namespace tempera::cli
