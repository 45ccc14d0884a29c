#pragma once

#include <CLI/CLI.hpp>

namespace tempera::cli {

// Each adds its subcommand, with its options and help, to `app`. A subcommand that fails its own
// verdict throws CLI::RuntimeError(1); bad input leaves as BadInput and becomes exit code 2.
void add_bench(CLI::App& app);
void add_eval(CLI::App& app);
void add_exact(CLI::App& app);
void add_round_trip(CLI::App& app);
void add_certify(CLI::App& app);
void add_audit(CLI::App& app);
void add_certify_run(CLI::App& app);
void add_chat(CLI::App& app);
void add_check(CLI::App& app);
void add_compare(CLI::App& app);
void add_gallery(CLI::App& app);
void add_ladder(CLI::App& app);
void add_law(CLI::App& app);
void add_merge(CLI::App& app);
void add_models(CLI::App& app);
void add_plot(CLI::App& app);
void add_presets(CLI::App& app);
void add_sample(CLI::App& app);
void add_score(CLI::App& app);
void add_serve(CLI::App& app);
void add_tokens(CLI::App& app);
void add_verify(CLI::App& app);

}  // namespace tempera::cli
