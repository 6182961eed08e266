#include "tuner/own_kernel/own_kernel_subject.hpp"

#include "runtime/compile/caching_compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/own_kernel/own_kernel_on_device.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stencil_tune {

ProblemKey own_problem_key(const OwnKernel& kernel) {
  ProblemKey key;
  key.kind = SubjectKind::kernel;
  key.stencil_key = own_kernel_key(kernel);
  key.stencil_name = kernel.name;
  key.extents = {1, {1, 1, 1}};
  key.pitch = 1;
  key.sizes = sizes_text(kernel);
  key.unit = work_of(kernel).unit;
  return key;
}

ProblemKey OwnKernelSubject::key() const { return own_problem_key(kernel_); }

double OwnKernelSubject::work() const { return work_of(kernel_).count; }

double OwnKernelSubject::least_bytes() const {
  return kernel_.bytes ? static_cast<double>(kernel_.bytes->evaluate(kernel_.size_values())) : 0;
}

KernelSource OwnKernelSubject::source(const std::string& code) const {
  const ParameterValues values = parse_configuration(kernel_, code);
  if (const auto broken = broken_rule(kernel_, values)) {
    throw Error(ErrorCode::illegal_candidate, fmt::format("{}: {}: {}", code, broken->rule, broken->message));
  }
  return own_source(kernel_, values);
}

std::size_t OwnKernelSubject::shared_bytes(const std::string& code) const {
  return launch_of(kernel_, parse_configuration(kernel_, code)).shared_bytes;
}

std::optional<std::string> OwnKernelSubject::objection_to(const TrialRecord& trial) const {
  try {
    const auto broken = broken_rule(kernel_, parse_configuration(kernel_, trial.code));
    if (!broken) return std::nullopt;
    return fmt::format("{}: {}: {}", trial.code, broken->rule, broken->message);
  } catch (const Error& error) {
    return fmt::format("{}: {}", trial.code, error.what());
  }
}

std::string OwnKernelSubject::waited_for_at_start() const {
  const OwnReference& reference = kernel_.reference;
  return "the reference " + (reference.kernel.empty() ? reference.function : reference.kernel);
}

Message OwnKernelSubject::message() const {
  Message captured = Message::object();
  for (const KernelArgument& argument : kernel_.arguments) {
    if (!argument.captured.empty()) captured[argument.name] = argument.captured;
  }
  Message sizes = Message::object();
  for (const OwnSize& size : kernel_.sizes) sizes[size.name] = size.value;
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

std::unique_ptr<Subject> read_own_kernel(const Message& message) {
  OwnKernel kernel =
      parse_own_kernel(message.at("definition").get<std::string>(), message.at("definition_file").get<std::string>())
          .kernel;
  kernel.source = message.at("source");
  kernel.file = message.at("file");
  kernel.reference_source = message.at("reference_source");
  kernel.reference.library = message.at("library");
  for (OwnSize& size : kernel.sizes) size.value = message.at("sizes").at(size.name);
  for (KernelArgument& argument : kernel.arguments) {
    argument.captured = message.at("captured").value(argument.name, "");
  }
  kernel.captured_data = message.at("captured_data");
  return std::make_unique<OwnKernelSubject>(std::move(kernel));
}

std::unique_ptr<SubjectOnDevice> OwnKernelSubject::on_device(Driver& driver, const DeviceFacts& device,
                                                             std::uint64_t seed, CUstream_st* stream) const {
  return std::make_unique<OwnKernelOnDevice>(driver, device, kernel_, seed, stream);
}

}  // namespace stencil_tune
