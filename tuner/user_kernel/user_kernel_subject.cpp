#include "tuner/user_kernel/user_kernel_subject.hpp"

#include "runtime/compile/caching_compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/user_kernel/user_kernel_on_device.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stencil_tune {

ProblemKey user_kernel_problem_key(const UserKernel& kernel) {
  ProblemKey key;
  key.kind = SubjectKind::kernel;
  key.stencil_key = user_kernel_key(kernel);
  key.stencil_name = kernel.name;
  key.extents = {1, {1, 1, 1}};
  key.pitch = 1;
  key.sizes = sizes_text(kernel);
  key.unit = work_of(kernel).unit;
  return key;
}

ProblemKey UserKernelSubject::key() const { return user_kernel_problem_key(kernel_); }

double UserKernelSubject::work() const { return work_of(kernel_).count; }

double UserKernelSubject::least_bytes() const {
  return kernel_.bytes ? static_cast<double>(kernel_.bytes->evaluate(kernel_.size_values())) : 0;
}

KernelSource UserKernelSubject::source(const std::string& code) const {
  const ParameterValues values = parse_configuration(kernel_, code);
  if (const auto broken = broken_rule(kernel_, values)) {
    throw Error(ErrorCode::illegal_candidate, fmt::format("{}: {}: {}", code, broken->rule, broken->message));
  }
  return user_source(kernel_, values);
}

std::size_t UserKernelSubject::shared_bytes(const std::string& code) const {
  return launch_of(kernel_, parse_configuration(kernel_, code)).shared_bytes;
}

std::optional<std::string> UserKernelSubject::objection_to(const TrialRecord& trial) const {
  try {
    const auto broken = broken_rule(kernel_, parse_configuration(kernel_, trial.code));
    if (!broken) return std::nullopt;
    return fmt::format("{}: {}: {}", trial.code, broken->rule, broken->message);
  } catch (const Error& error) {
    return fmt::format("{}: {}", trial.code, error.what());
  }
}

std::string UserKernelSubject::waited_for_at_start() const {
  const UserKernelReference& reference = kernel_.reference;
  return "the reference " + (reference.kernel.empty() ? reference.function : reference.kernel);
}

Message UserKernelSubject::message() const {
  Message captured = Message::object();
  for (const KernelArgument& argument : kernel_.arguments) {
    if (!argument.captured.empty()) captured[argument.name] = argument.captured;
  }
  Message sizes = Message::object();
  for (const UserKernelSize& size : kernel_.sizes) sizes[size.name] = size.value;
  return {{"kind", "kernel"},
          {"definition", kernel_.definition},
          {"definition_file", kernel_.definition_file},
          {"source", kernel_.source},
          {"file", kernel_.file},
          {"reference_source", kernel_.reference_source},
          {"library", kernel_.reference.library},
          {"sizes", sizes},
          {"captured", captured},
          {"captured_data", kernel_.captured_data}};
}

std::unique_ptr<Subject> read_user_kernel(const Message& message) {
  UserKernel kernel =
      parse_user_kernel(message.at("definition").get<std::string>(), message.at("definition_file").get<std::string>())
          .kernel;
  kernel.source = message.at("source");
  kernel.file = message.at("file");
  kernel.reference_source = message.at("reference_source");
  kernel.reference.library = message.at("library");
  for (UserKernelSize& size : kernel.sizes) size.value = message.at("sizes").at(size.name);
  for (KernelArgument& argument : kernel.arguments) {
    argument.captured = message.at("captured").value(argument.name, "");
  }
  kernel.captured_data = message.at("captured_data");
  return std::make_unique<UserKernelSubject>(std::move(kernel));
}

std::unique_ptr<SubjectOnDevice> UserKernelSubject::on_device(Driver& driver, const DeviceFacts& device,
                                                              std::uint64_t seed, CUstream_st* stream) const {
  return std::make_unique<UserKernelOnDevice>(driver, device, kernel_, seed, stream);
}

}  // namespace stencil_tune
