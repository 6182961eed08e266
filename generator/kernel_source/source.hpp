// From candidate to CUDA source.
#pragma once

#include "generator/candidates/shape.hpp"
#include "generator/template_file.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

/// All template files: those that ship, and those of families that were added.
std::span<const TemplateFile> template_files();
std::span<const TemplateFile> shipped_template_files();

/// The template that a candidate instantiates, "streaming/streaming_ring.cuh": within one, tuning parameters mean the
/// same.
std::string_view template_of(const Tuning& tuning);

struct KernelSource {
  std::string text;   ///< a translation unit: includes a template, defines the point update, instantiates
  std::string entry;  ///< the extern "C" kernel

  /// Code of the user's own: compiled as it stands, and the entry is a name of C++.
  bool is_own = false;
};

/// Where the meaning of this text changes, kGeneratorVersion (signature.cpp) does too.
///
/// The generated kernel serves every extents, strides and coefficients of the problem's stencil, type, boundaries,
/// index width. `entry` must be a C identifier; several sources with different entries can share a translation unit.
/// Throws Error(illegal_candidate) when the tuning cannot be expressed at all.
KernelSource generate(const Candidate& candidate, std::string_view entry = "stencil_kernel");

/// The same kernel with points: its parameter is a PointArguments (templates/points/point_tables.cuh). The family's
/// template has a function for it.
KernelSource generate_with_points(const Candidate& candidate, std::string_view entry = "stencil_kernel");

/// What candidates of measured_problem() are: blocks of 256 threads, a few cells each.
Tuning measuring_tuning(const Problem& measured);

/// A kernel that makes one number a measure and block of the values that the candidate's update computes
/// (templates/measure.cuh). Its launches are the candidate's, with a double of shared memory a thread. Where that
/// stores, it is given the numbers' address once an output.
KernelSource generate_measuring(const Candidate& candidate, std::span<const Reduction> reductions);

/// One block of kGatherThreads threads, each with a double of shared memory, that joins the numbers of all blocks.
KernelSource gather_source(std::span<const Reduction> reductions);
inline constexpr int kGatherThreads = 1024;

}  // namespace stencil_tune
