// What is said of a kernel of the user's own that was tuned; what is done with one where there is no GPU.
#pragma once

#include "generator/user_kernel/configuration.hpp"
#include "tuner/session/assembly.hpp"
#include "tuner/terminal/terminal.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace stencil_tune {

/// What is tuned, and how it is searched.
struct KernelSearch {
  const UserKernel& kernel;
  std::vector<ParameterValues> legal;  ///< all legal configurations
  std::string strategy;                ///< one of table_strategies()
};

/// The table of a session, and what is to be said of it.
std::string kernel_report(const KernelSearch& search, const Target& target, const TuningOutcome& outcome,
                          const std::vector<std::string>& notes, const Terminal& terminal);
nlohmann::ordered_json kernel_report_json(const KernelSearch& search, const Target& target,
                                          const TuningOutcome& outcome, const std::vector<std::string>& notes);

/// "matmul: m=1024 n=1024 k=1024, 84 configurations"
std::string describe(const KernelSearch& search);

/// A configuration that was compiled without a GPU.
struct CompiledConfiguration {
  CompileResult compiled;
  std::string on_host;  ///< "right", what is wrong, or why it did not run there; empty: not tried
};

/// Compiles so many for the target's architecture, spread over the space, and runs the first few that compile on the
/// CPU with small sizes. Nothing is ranked and nothing is stored.
std::vector<CompiledConfiguration> compile_kernel(const KernelSearch& search, const Target& target,
                                                  const TuningSettings& settings, std::size_t most);
std::string compiled_report(const std::vector<CompiledConfiguration>& configurations, const Terminal& terminal);

}  // namespace stencil_tune
