// A problem of a stencil as what is tuned.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/subject/subject.hpp"

namespace stencil_tune {

class StencilSubject final : public Subject {
 public:
  /// beside: grids whose launches run at once while a candidate is timed, where the device has memory for as many.
  explicit StencilSubject(Problem problem, int beside = 1) : problem_(std::move(problem)), beside_(beside) {}

  const Problem& problem() const noexcept { return problem_; }

  ProblemKey key() const override;
  double work() const override;
  double least_bytes() const override;
  KernelSource source(const std::string& code) const override;
  std::string signature(const std::string& code) const override;
  std::size_t shared_bytes(const std::string& code) const override;
  std::optional<std::string> objection_to(const TrialRecord& trial) const override;
  int steps() const override { return problem_.steps; }
  int sweeps(const std::string& code) const override;
  RunPlan plan(const std::string& code, const Limits& limits) const override;
  std::vector<std::string> kinds(const std::string& code) const override;
  Message message() const override;
  std::unique_ptr<SubjectOnDevice> on_device(Driver& driver, const DeviceFacts& device, std::uint64_t seed,
                                             CUstream_st* stream) const override;

 private:
  Problem problem_;
  int beside_;
};

ProblemKey problem_key(const Problem& problem);

}  // namespace stencil_tune
