// What a Kernel says in CUDA: the source that runs, and a file that owes this project nothing.
#include "generator/kernel_source/source.hpp"
#include "generator/trim/trim.hpp"
#include "runtime/export/export.hpp"
#include "runtime/library/kernel_state.hpp"

#include <fmt/format.h>

namespace stencil_tune {

namespace {

/// Where the kernel is from, a line each.
std::vector<std::string> provenance_of(Evidence evidence) {
  std::vector<std::string> notes;
  notes.swap(evidence.notes);
  std::vector<std::string> lines{evidence.sentence()};
  lines.insert(lines.end(), notes.begin(), notes.end());
  return lines;
}

/// kWholeStep: the kernel that makes whole steps in one launch.
const StageKernel& kernel_of(const Kernel::State& state, int stage) {
  if (stage != kWholeStep) return state.main_stage(stage);
  const std::size_t launches = state.main_stages().size();
  if (launches == 1) return state.main_stages().front();
  throw Error(ErrorCode::invalid_argument,
              fmt::format("steps of stencil '{}' are made in {} launches here, and there is no kernel for a whole one; "
                          "name a stage, 0 to {}",
                          state.main_stages().front().problem.stencil.name, launches, state.stages().size() - 1));
}

}  // namespace

std::string Kernel::architecture() const { return state_->architecture; }

std::string Kernel::source(int stage) const {
  const StageKernel& kernel = kernel_of(*state_, stage);
  return write_out(generate(Candidate(kernel.problem, kernel.tuning)).text, template_files()).text();
}

ExportedFiles Kernel::export_cuda(const ExportOptions& options, int stage) const {
  const StageKernel& kernel = kernel_of(*state_, stage);
  if (kernel.problem.slabs) {
    throw Error(ErrorCode::invalid_argument,
                "exports take arrays of the whole grid for fields in layers: look the kernel up without slabs");
  }
  ExportOptions filled = options;
  if (filled.name.empty()) filled.name = export_name(kernel.problem.stencil.name);
  if (filled.architecture.empty()) filled.architecture = state_->architecture;
  if (filled.provenance.empty()) filled.provenance = provenance_of(kernel.evidence);
  return export_kernel(kernel.problem, kernel.tuning, filled,
                       single_steps_of(kernel.problem, kernel.tuning, filled.architecture));
}

}  // namespace stencil_tune
