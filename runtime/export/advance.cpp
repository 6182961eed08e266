// NAME_advance of an exported file: any number of steps, with the buffers changing places.
#include "generator/candidates/family.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/indices.hpp"
#include "runtime/export/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::string_view kBuffers = "buffers";

/// The launcher's own parameters but for the buffers: extents, strides, coefficients.
std::vector<ExportParameter> other_parameters(const ExportSignature& signature) {
  return {signature.parameters.begin() + static_cast<std::ptrdiff_t>(signature.buffers.size()),
          signature.parameters.end() - 1};
}

std::string call_text(const ExportSignature& signature) {
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < signature.places.size(); ++i) {
    const std::string buffer = fmt::format("{}[{}]", kBuffers, signature.places[i]);
    const bool of_any_type = signature.cell == "void";
    arguments.push_back(of_any_type ? fmt::format("static_cast<{}>({})", signature.parameters[i].type, buffer)
                                    : buffer);
  }
  for (const ExportParameter& parameter : other_parameters(signature)) arguments.push_back(parameter.name);
  arguments.emplace_back("stream");
  return bracketed(fmt::format("    const cudaError_t error = {}(", signature.name), arguments);
}

/// While so many steps are left: a launch, after which the buffers change places.
std::string loop_text(const Candidate& candidate, const ExportSignature& signature, std::size_t buffers) {
  const int steps = sweeps_per_launch(candidate.tuning());
  std::vector<int> next = launch_buffers(candidate.problem(), steps).next;
  for (int place = static_cast<int>(next.size()); next.size() < buffers; ++place) next.push_back(place);
  return fmt::format(
      R"(  for (; steps >= {steps}; steps -= {steps}) {{
{call};
    if (error != cudaSuccess) return error;
    static const int kNext[] = {{{next}}};  // whose buffer stands in each place now
    {cell}* before[{count}];
    for (int i = 0; i < {count}; ++i) before[i] = {buffers}[i];
    for (int i = 0; i < {count}; ++i) {buffers}[i] = before[kNext[i]];
{later}  }}
)",
      fmt::arg("later", candidate.problem().facts.placed ? fmt::format("    first_step += {};\n", steps) : ""),
      fmt::arg("steps", steps), fmt::arg("call", call_text(signature)), fmt::arg("next", fmt::join(next, ", ")),
      fmt::arg("cell", signature.cell), fmt::arg("count", buffers), fmt::arg("buffers", kBuffers));
}

/// All fields in the definition's order, then spare ones.
std::size_t number_of_buffers(const ExportedRun& run) {
  const std::vector<int>& places = run.fused_signature.places;
  return 1 + at(*std::max_element(places.begin(), places.end()));
}

}  // namespace

std::string advance_contract(const ExportedRun& run) {
  const ExportSignature& signature = run.fused_signature;
  std::vector<std::string> names(number_of_buffers(run));
  for (std::size_t i = 0; i < signature.buffers.size(); ++i) names[at(signature.places[i])] = signature.buffers[i];
  return comment_lines("// ", fmt::format("Any number of steps. {0} is a host array of device pointers: {1}. On return "
                                          "the array has them in their new places: {0}[i] holds field i. Layers that "
                                          "the boundary holds must be in every buffer that takes turns with a field, "
                                          "spare ones too. Otherwise as {2}.",
                                          kBuffers, fmt::join(names, ", "), signature.name));
}

std::string advance_declaration(const ExportedRun& run, std::string_view linkage) {
  std::vector<std::string> parameters{fmt::format("{}* {}[]", run.fused_signature.cell, kBuffers)};
  for (const ExportParameter& each : other_parameters(run.fused_signature)) {
    parameters.push_back(fmt::format("{} {}", each.type, each.name));
  }
  parameters.insert(parameters.end(), {"long long steps", "cudaStream_t stream"});
  return bracketed(fmt::format("{}cudaError_t {}_advance(", linkage, run.fused_signature.name), parameters);
}

std::string advance_text(const ExportedRun& run) {
  const std::size_t buffers = number_of_buffers(run);
  std::string text = advance_declaration(run, "extern \"C\" ") + " {\n  if (steps < 0) return cudaErrorInvalidValue;\n";
  text += loop_text(run.fused, run.fused_signature, buffers);
  if (sweeps_per_launch(run.fused.tuning()) > 1) text += loop_text(run.single, run.single_signature, buffers);
  return text + "  return cudaSuccess;\n}\n";
}

}  // namespace stencil_tune
