#include "tuner/subject/stencil_subject.hpp"

#include "db/stored_code.hpp"
#include "generator/candidates/family.hpp"
#include "generator/kernel_source/launch.hpp"
#include "generator/kernel_source/signature.hpp"
#include "tuner/subject/stencil_on_device.hpp"
#include "tuner/workers/wire.hpp"

#include <fmt/format.h>

namespace stencil_tune {

ProblemKey problem_key(const Problem& problem) {
  ProblemKey key;
  key.stencil_key = stencil_key(problem.stencil);
  key.stencil_name = problem.stencil.name;
  key.form = stencil_form(problem.stencil, problem.stage);
  key.stage = problem.stage;
  key.type = problem.type;
  key.boundaries = problem.boundaries;
  key.extents = problem.extents;
  key.pitch = problem.pitch;
  key.steps = problem.steps;
  return key;
}

ProblemKey StencilSubject::key() const { return problem_key(problem_); }

double StencilSubject::work() const { return static_cast<double>(updated_box(problem_).cells()); }

double StencilSubject::least_bytes() const { return minimal_traffic_bytes(problem_); }

KernelSource StencilSubject::source(const std::string& code) const { return generate({problem_, parse_code(code)}); }

std::string StencilSubject::signature(const std::string& code) const { return template_signature(parse_code(code)); }

std::size_t StencilSubject::shared_bytes(const std::string& code) const {
  return launch_geometry({problem_, parse_code(code)}, updated_box(problem_)).shared_bytes;
}

std::optional<std::string> StencilSubject::objection_to(const TrialRecord& trial) const {
  return stencil_tune::objection_to(trial, problem_);
}

int StencilSubject::sweeps(const std::string& code) const { return sweeps_per_launch(parse_code(code)); }

RunPlan StencilSubject::plan(const std::string& code, const Limits& limits) const {
  return plan_run(problem_, parse_code(code), limits);
}

std::vector<std::string> StencilSubject::kinds(const std::string& code) const {
  const Tuning tuning = parse_code(code);
  return {std::string(tuning.family->name), fmt::format("{} steps", sweeps_per_launch(tuning))};
}

Message StencilSubject::message() const { return {{"kind", "stencil"}, {"problem", problem_}, {"beside", beside_}}; }

std::unique_ptr<SubjectOnDevice> StencilSubject::on_device(Driver& driver, const DeviceFacts& device,
                                                           std::uint64_t seed, CUstream_st* stream) const {
  return std::make_unique<StencilOnDevice>(driver, device, problem_, beside_, seed, stream);
}

}  // namespace stencil_tune
