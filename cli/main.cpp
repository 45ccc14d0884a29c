#include <exception>
#include <iostream>
#include <stdexcept>

#include "cli/command.hpp"
#include "gpu/input/bad_input.hpp"
#include "reference/bad_input.hpp"

int main(int argc, char** argv) {
  CLI::App app{"tempera: Parallel Power Tempering for language models, and the proof that it is"};
  app.require_subcommand(1);
  tempera::cli::add_verify(app);
  tempera::cli::add_exact(app);
  tempera::cli::add_round_trip(app);
  tempera::cli::add_law(app);
  tempera::cli::add_score(app);
  tempera::cli::add_sample(app);
  tempera::cli::add_compare(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& failure) {
    return failure.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "tempera: " << error.what() << "; see tempera --help, or --help after a command\n";
    return 2;
  } catch (const tempera::reference::BadInput& error) {
    std::cerr << "tempera: " << error.what() << '\n';
    return 2;
  } catch (const tempera::gpu::BadInput& error) {
    std::cerr << "tempera: " << error.what() << '\n';
    return 2;
  } catch (const std::domain_error& error) {
    // NaN or infinity out of a model: its weights are at fault, not this program.
    std::cerr << "tempera: " << error.what() << "; check the model's weights\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "tempera: internal error: " << error.what() << '\n';
    return 3;
  }
  return 0;
}
