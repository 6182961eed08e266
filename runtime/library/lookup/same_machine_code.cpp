#include "runtime/library/lookup/same_machine_code.hpp"

#include "generator/kernel_source/signature.hpp"
#include "runtime/compile/machine_code.hpp"
#include "stencil_tune/error.hpp"

namespace stencil_tune {

bool has_same_machine_code(const TrialRecord& trial, const Problem& problem, Compiler& compiler) try {
  if (trial.machine_code.empty() || trial.platform.nvrtc != compiler.version()) return false;
  const KernelSource source = generate({problem, parse_code(trial.code)});
  return machine_code(compiler.compile(source, trial.platform.architecture).cubin) == trial.machine_code;
} catch (const Error&) {
  return false;
}

bool renew_signature(TrialRecord& trial, const Problem& problem,
                     const std::function<std::unique_ptr<Compiler>()>& open_compiler) try {
  if (!has_same_machine_code(trial, problem, *open_compiler())) return false;
  trial.platform.template_signature = template_signature(parse_code(trial.code));
  return true;
} catch (const Error&) {
  return false;
}

}  // namespace stencil_tune
