// The parameters of an exported launcher, and the comment that documents them.
#include "generator/candidates/family.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/coefficient_roles.hpp"
#include "generator/stencil/describe.hpp"
#include "runtime/export/export.hpp"
#include "runtime/export/launch_axes.hpp"
#include "runtime/export/text.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

std::string_view cell_type(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return "double";
    case ElementType::f32:
      return "float";
    case ElementType::f16:
      return "__half";
    case ElementType::bf16:
      return "__nv_bfloat16";
    case ElementType::u8:
      return "unsigned char";
    case ElementType::i8:
      return "signed char";
    case ElementType::u16:
      return "unsigned short";
    case ElementType::i16:
      return "short";
    case ElementType::i32:
      return "int";
  }
  throw Error(ErrorCode::internal, "an element type without a CUDA name");
}

/// Parameter names for fields: identifiers, each once.
class FieldNames {
 public:
  std::string add(const std::string& field) {
    std::string name = export_name(field);
    while (std::find(used_.begin(), used_.end(), name) != used_.end()) name += "_2";
    used_.push_back(name);
    return name;
  }

 private:
  std::vector<std::string> used_;
};

std::string entry(std::string_view name, std::string_view text) {
  return comment_lines(fmt::format("//   {:<13} ", name), text);
}

std::string opening(const Problem& problem, int steps) {
  constexpr const char* kManner = "Asynchronous on the stream; allocates nothing.";
  const std::size_t stages = problem.stencil.stages.size();
  if (steps > 1) {
    return comment_lines("// ",
                         fmt::format("{0} steps of the stencil in one launch: reads the inputs, writes the state {0} "
                                     "steps later. {1}",
                                     steps, kManner));
  }
  const std::string what =
      stages == 1 ? "One step" : fmt::format("Stage {} of 0 to {} of a step", problem.stage, stages - 1);
  return comment_lines("// ",
                       fmt::format("{} of the stencil: reads the inputs, writes the outputs. {}", what, kManner));
}

std::string opening_of_a_system(const Problem& problem, int steps) {
  const std::size_t stages = problem.stencil.stages.size();
  return comment_lines(
      "// ", fmt::format("{} step{} of the stencil{} in one launch. Takes all fields in the definition's order, "
                         "then spare buffers, as many as any number of fused steps needs. Asynchronous on the "
                         "stream; allocates nothing.",
                         steps, steps == 1 ? "" : "s", stages == 1 ? "" : ", with all their stages,"));
}

std::string geometry_entries(int rank) {
  constexpr std::array<const char*, kMaxRank> kPlaces{"x", "y * stride_y + x", "z * stride_z + y * stride_y + x"};
  constexpr std::array<const char*, kMaxRank> kExtents{"nx", "nx, ny", "nx, ny, nz"};
  const auto last = static_cast<std::size_t>(rank - 1);
  std::string text =
      entry("pointers", fmt::format("device memory; a cell stands at [{}]; outputs overlap no input", kPlaces[last]));
  text += entry(kExtents[last], "extents of the whole arrays in cells, x fastest in memory");
  if (rank == 2) text += entry("stride_y", "cells from one row to the next");
  if (rank == 3) text += entry("stride_y, _z", "cells from one row, one plane to the next");
  return text;
}

std::string coefficients_entry(const Stencil& stencil) {
  constexpr std::size_t kMostShown = 128;
  const std::vector<Coefficient>& all = stencil.coefficients;
  if (all.empty()) return "";
  const std::vector<std::string> roles = coefficient_roles(stencil);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(all.size(), kMostShown); ++i) {
    shown.push_back(comment_text(fmt::format("{} = {:.6g} {}", all[i].name, all[i].value, roles[i])));
  }
  if (all.size() > kMostShown) shown.emplace_back("... as kDefaults has them");
  return entry("coefficients", fmt::format("{} number{} in host memory, in this order, or nullptr for these values: {}",
                                           all.size(), all.size() == 1 ? "" : "s", fmt::join(shown, "; ")));
}

std::string place_entry(const Problem& problem) {
  if (!problem.facts.placed) return "";
  std::string text;
  for (const Profile& profile : problem.stencil.profiles) {
    std::vector<std::string> extents;
    for (const int axis : axes_of(profile.along)) extents.push_back(fmt::format("n{}", "xyz"[axis]));
    const std::string cells = profile.along == kAlongTime ? "an entry for each t, to the last one that is made"
                                                          : fmt::format("{} cells, dense", fmt::join(extents, " * "));
    text += entry(comment_text(declared_name(problem.stencil, profile.field)), cells);
  }
  return text + entry("grid_origin", "coordinates x, y, z of the first cell, in host memory, or nullptr for 0") +
         entry("first_step", "t, the number of the step");
}

std::string boundary_entry(const Problem& problem) {
  std::string text = to_string(problem.boundaries, problem.extents.rank);
  const std::string held = held_text(problem);
  if (!held.empty()) {
    text += fmt::format(
        "; layers that it holds ({}) are never written: put them into the outputs before the first call", held);
  }
  return entry("boundary", text);
}

/// Which output is which input of the next call.
std::string rotation_entry(const Problem& problem, const ExportSignature& signature) {
  const auto parameter = [&](int field) {
    const auto find = [&](const std::vector<int>& fields, const std::vector<std::string>& names) {
      const auto found = std::find(fields.begin(), fields.end(), field);
      return found == fields.end() ? std::string() : names[static_cast<std::size_t>(found - fields.begin())];
    };
    std::string name = find(problem.facts.inputs, signature.inputs);
    if (name.empty()) name = find(problem.facts.outputs, signature.outputs);
    return name.empty() ? comment_text(problem.stencil.fields[static_cast<std::size_t>(field)]) : name;
  };
  std::vector<std::string> moves;
  for (const Rotation& rotation : problem.stencil.rotations) {
    moves.push_back(fmt::format("{} becomes {}", parameter(rotation.from), parameter(rotation.to)));
  }
  if (moves.empty()) return "";
  const bool last_stage = problem.stage + 1 == static_cast<int>(problem.stencil.stages.size());
  return entry(last_stage ? "afterwards" : "after a step", fmt::format("{}", fmt::join(moves, ", ")));
}

/// The grids that fused steps can serve.
std::string extents_contract(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const std::string rows = candidate.problem().extents.rank == 3 ? fmt::format(", ny {}", shape.whole_tile[1]) : "";
  const std::int64_t multiple = shape.row_multiple;
  const std::string whole = multiple > 1 ? fmt::format("; nx must be a multiple of {}", multiple) : "";
  return fmt::format("// A tile lies inside the grid: nx must be {} at least{}{}.\n", shape.whole_tile[0], rows, whole);
}

/// The grids that walks can serve under periodic and reflect.
std::string longer_contract(const KernelShape& shape) {
  std::vector<std::string> longer;
  for (const LongerAxis& axis : longer_axes(shape)) longer.push_back(fmt::format("n{} > {}", axis.name, axis.cells));
  return longer.empty() ? "" : fmt::format("// No read goes round the whole grid: {}.\n", fmt::join(longer, ", "));
}

/// A parameter for a device pointer, under a name of its own.
void add_buffer(const Problem& problem, int place, bool is_read_alone, FieldNames& names, ExportSignature& signature) {
  const std::vector<std::string>& fields = problem.stencil.fields;
  const auto field = static_cast<std::size_t>(place);
  signature.buffers.push_back(names.add(field < fields.size() ? fields[field] : "spare"));
  signature.places.push_back(place);
  const std::string cell(cell_type(storage_of(problem, place)));
  signature.parameters.push_back({(is_read_alone ? "const " : "") + cell + "*", signature.buffers.back()});
}

/// Arrays along axes or time, in the order of the kernel's arguments.
std::vector<int> profiles_of(const Problem& problem) {
  std::vector<int> fields;
  if (!problem.facts.placed) return fields;
  for (const Profile& profile : problem.stencil.profiles) fields.push_back(profile.field);
  return fields;
}

void add_inputs_and_outputs(const Problem& problem, ExportSignature& signature) {
  FieldNames names;
  for (const int field : problem.facts.inputs) {
    add_buffer(problem, field, true, names, signature);
    signature.inputs.push_back(signature.buffers.back());
  }
  for (const int field : profiles_of(problem)) {
    add_buffer(problem, field, true, names, signature);
    signature.profiles.push_back(signature.buffers.back());
  }
  for (const int field : problem.facts.outputs) {
    add_buffer(problem, field, false, names, signature);
    signature.outputs.push_back(signature.buffers.back());
  }
}

void add_all_fields(const Problem& problem, int steps, ExportSignature& signature) {
  constexpr int kAnyNumberOfSteps = 1 << 16;
  FieldNames names;
  const std::vector<int>& constants = problem.step.constants;
  const auto fields = static_cast<int>(problem.stencil.fields.size());
  for (int field = 0; field < fields; ++field) {
    const bool is_constant = std::find(constants.begin(), constants.end(), field) != constants.end();
    add_buffer(problem, field, is_constant || is_profile(problem.stencil, field), names, signature);
  }
  for (int spare = 0; spare < spare_buffers(problem, kAnyNumberOfSteps); ++spare) {
    add_buffer(problem, fields + spare, false, names, signature);
  }
  const auto name_of = [&](int place) { return signature.buffers[static_cast<std::size_t>(place)]; };
  for (const int place : kernel_inputs(problem, steps)) {
    const bool is_read_along = problem.facts.placed && is_profile(problem.stencil, place);
    (is_read_along ? signature.profiles : signature.inputs).push_back(name_of(place));
  }
  for (const int place : launch_buffers(problem, steps).outputs) signature.outputs.push_back(name_of(place));
}

/// Where each field is after a launch of a system's kernel.
std::string buffers_entry(const Problem& problem, int steps, const ExportSignature& signature) {
  const std::vector<int> next = launch_buffers(problem, steps).next;
  std::vector<std::string> moves;
  for (std::size_t field = 0; field < problem.stencil.fields.size(); ++field) {
    const auto place = static_cast<std::size_t>(next[field]);
    if (place != field)
      moves.push_back(fmt::format("{} stands in {}", signature.buffers[field], signature.buffers[place]));
  }
  if (moves.empty()) return "";
  return entry("afterwards",
               fmt::format("{}: pass these pointers in their places to the next call", fmt::join(moves, ", ")));
}

}  // namespace

std::string comment_lines(std::string_view first, std::string_view text) {
  constexpr std::size_t kColumns = 120;
  std::string result(first);
  std::size_t column = first.size();
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (column + word.size() > kColumns) {
      result.erase(result.find_last_not_of(' ') + 1);
      result += fmt::format("\n//{:{}}", "", first.size() - 2);
      column = first.size();
    }
    result += fmt::format("{} ", word);
    column += word.size() + 1;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  result.back() = '\n';
  return result;
}

ExportSignature export_signature(const Candidate& candidate, const std::string& name) {
  const Problem& problem = candidate.problem();
  ExportSignature signature{.name = name,
                            .cell = has_storage_types(problem) ? "void" : std::string(cell_type(problem.type)),
                            .buffers = {},
                            .inputs = {},
                            .outputs = {},
                            .parameters = {}};
  if (candidate.family().advances_all_fields) {
    add_all_fields(problem, sweeps_per_launch(candidate.tuning()), signature);
  } else {
    add_inputs_and_outputs(problem, signature);
  }
  signature.parameters.push_back({"long long", "nx"});
  if (problem.extents.rank >= 2) signature.parameters.push_back({"long long", "ny"});
  if (problem.extents.rank >= 3) signature.parameters.push_back({"long long", "nz"});
  if (problem.extents.rank >= 2) signature.parameters.push_back({"long long", "stride_y"});
  if (problem.extents.rank >= 3) signature.parameters.push_back({"long long", "stride_z"});
  if (!problem.stencil.coefficients.empty()) signature.parameters.push_back({"const double*", "coefficients"});
  if (problem.facts.placed) {
    signature.parameters.push_back({"const long long*", "grid_origin"});
    signature.parameters.push_back({"long long", "first_step"});
  }
  signature.parameters.push_back({"cudaStream_t", "stream"});
  return signature;
}

std::string ExportSignature::declaration(std::string_view linkage) const {
  std::vector<std::string> parts;
  for (const ExportParameter& each : parameters) parts.push_back(fmt::format("{} {}", each.type, each.name));
  return bracketed(fmt::format("{}cudaError_t {}(", linkage, name), parts);
}

std::string bracketed(const std::string& start, const std::vector<std::string>& parts) {
  constexpr std::size_t kColumns = 118;
  std::string text = start;
  std::size_t column = start.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string each = parts[i] + (i + 1 < parts.size() ? ", " : ")");
    if (column + each.size() > kColumns) {
      text.pop_back();
      text += "\n" + std::string(start.size(), ' ');
      column = start.size();
    }
    text += each;
    column += each.size();
  }
  return text;
}

std::string launcher_contract(const Candidate& candidate, const ExportSignature& signature) {
  const Problem& problem = candidate.problem();
  const int steps = sweeps_per_launch(candidate.tuning());
  std::string text =
      candidate.family().advances_all_fields ? opening_of_a_system(problem, steps) : opening(problem, steps);
  text += geometry_entries(problem.extents.rank);
  text += coefficients_entry(problem.stencil);
  text += place_entry(problem);
  text += boundary_entry(problem);
  text += candidate.family().advances_all_fields ? buffers_entry(problem, steps, signature)
                                                 : rotation_entry(problem, signature);
  const std::size_t bytes = required_alignment(candidate);
  const std::size_t cells = bytes / widest_cell_bytes(problem);
  if (cells > 1) {
    text += problem.extents.rank == 1
                ? fmt::format("// Pointers must be multiples of {} bytes.\n", bytes)
                : fmt::format("// Strides must be multiples of {} cells, pointers of {} bytes.\n", cells, bytes);
  }
  if (candidate.shape().placement == Placement::inside) text += extents_contract(candidate);
  text += longer_contract(candidate.shape());
  text += "// Returns cudaErrorInvalidValue or cudaErrorMisalignedAddress for arguments it cannot serve.\n";
  return text;
}

}  // namespace stencil_tune
