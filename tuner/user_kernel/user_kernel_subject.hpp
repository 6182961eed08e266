// A kernel of the user's own as what is tuned.
#pragma once

#include "generator/user_kernel/configuration.hpp"
#include "tuner/subject/subject.hpp"

namespace stencil_tune {

class UserKernelSubject final : public Subject {
 public:
  explicit UserKernelSubject(UserKernel kernel) : kernel_(std::move(kernel)) {}

  const UserKernel& kernel() const noexcept { return kernel_; }

  ProblemKey key() const override;
  double work() const override;
  double least_bytes() const override;
  KernelSource source(const std::string& code) const override;
  /// What it is made from is in its key; this is what it runs on: captured data, or empty for the definition's.
  std::string signature(const std::string& /*code*/) const override { return kernel_.captured_data; }
  std::size_t shared_bytes(const std::string& code) const override;
  std::optional<std::string> objection_to(const TrialRecord& trial) const override;
  std::string waited_for_at_start() const override;
  Message message() const override;
  std::unique_ptr<SubjectOnDevice> on_device(Driver& driver, const DeviceFacts& device, std::uint64_t seed,
                                             CUstream_st* stream) const override;

 private:
  UserKernel kernel_;
};

ProblemKey user_kernel_problem_key(const UserKernel& kernel);

/// What message() wrote.
std::unique_ptr<Subject> read_user_kernel(const Message& message);

}  // namespace stencil_tune
