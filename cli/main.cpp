#include "cli/commands/run_program.hpp"

int main(int argc, char** argv) { return tempera::cli::run_program({argv + 1, argv + argc}); }
