// The parts of an exported file beside the kernel itself.
#pragma once

#include "generator/candidates/shape.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

struct ExportParameter {
  std::string type;
  std::string name;
};

/// What the launcher is called with, in order: inputs, outputs, extents and strides, coefficients, stream. Kernels of
/// whole systems take, in place of inputs and outputs, all fields in the definition's order, then spare buffers, as
/// many as any number of fused steps needs, so that the signature follows from the definition alone.
struct ExportSignature {
  std::string name;                         ///< name of the launcher
  std::string cell;                         ///< "float": the element type in CUDA's own words
  std::vector<std::string> buffers;         ///< parameter names of all device pointers
  std::vector<int> places{};                ///< for each buffer its field, or the place of a spare buffer (buffers.hpp)
  std::vector<std::string> inputs;          ///< the buffers that the kernel reads, in its order
  std::vector<std::string> outputs;         ///< the buffers that it writes
  std::vector<std::string> profiles{};      ///< the buffers of fields that vary along some axes alone, or with time
  std::vector<ExportParameter> parameters;  ///< all of them

  std::string declaration(std::string_view linkage = "") const;  ///< cudaError_t name(...), without a semicolon
};

/// What begins with `start`, which ends with a bracket, and has the parts up to the closing one in further lines below
/// it where one is too short.
std::string bracketed(const std::string& start, const std::vector<std::string>& parts);

/// Comment lines: `first` stands before the first word, the others begin below it.
std::string comment_lines(std::string_view first, std::string_view text);

ExportSignature export_signature(const Candidate& candidate, const std::string& name);

/// Its contract in comment lines: parameters, units, boundary, errors.
std::string launcher_contract(const Candidate& candidate, const ExportSignature& signature);

/// The launcher: checks, launch geometry and arguments as generator/kernel_source/launch.cpp computes them, for any
/// extents. `detail` is the namespace of the templates, `kernel` the kernel's name.
std::string launcher_text(const Candidate& candidate, const ExportSignature& signature, const std::string& detail,
                          const std::string& kernel);

/// NAME_advance: any number of steps, by the launcher of `fused` and, one by one, by that of `single`, each with its
/// signature.
struct ExportedRun {
  const Candidate& fused;
  const ExportSignature& fused_signature;
  const Candidate& single;
  const ExportSignature& single_signature;
};
std::string advance_contract(const ExportedRun& run);
std::string advance_declaration(const ExportedRun& run, std::string_view linkage = "");
std::string advance_text(const ExportedRun& run);

/// A main function: checks every cell that the launcher leaves of a small awkward grid against plain sweeps on the CPU,
/// and the same of NAME_advance where the file has it; then it times the launcher. run: nothing where there is none.
std::string main_text(const Candidate& candidate, const ExportSignature& signature, const ExportedRun* run);

/// The update of one cell in a stage in double precision, as a C++ function evaluated node by node: independent of the
/// kernel's.
std::string reference_text(const Stencil& stencil, int stage);

}  // namespace stencil_tune
