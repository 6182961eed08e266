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

/// What the launcher is called with, in order: inputs, outputs, extents and strides, coefficients, stream.
struct ExportSignature {
  std::string name;                 ///< of the launcher
  std::string cell;                 ///< "float": the element type in CUDA's own words
  std::vector<std::string> inputs;  ///< parameter names
  std::vector<std::string> outputs;
  std::vector<ExportParameter> parameters;  ///< all of them

  std::string declaration(std::string_view linkage = "") const;  ///< cudaError_t name(...), without a semicolon
};

ExportSignature export_signature(const Problem& problem, const std::string& name);

/// Its contract in comment lines: parameters, units, boundary, errors.
std::string launcher_contract(const Candidate& candidate, const ExportSignature& signature);

/// The launcher: checks, launch geometry and arguments as generator/kernel/launch.cpp computes them, for any extents.
/// `detail` is the namespace of the templates, `kernel` the kernel's name.
std::string launcher_text(const Candidate& candidate, const ExportSignature& signature, const std::string& detail,
                          const std::string& kernel);

/// A main function: checks every cell of a small awkward grid against a plain loop on the CPU, then times the launcher.
std::string main_text(const Candidate& candidate, const ExportSignature& signature);

/// The update of one cell in double precision, as a C++ function evaluated node by node: independent of the kernel's.
std::string reference_text(const Problem& problem);

}  // namespace stencil_tune
