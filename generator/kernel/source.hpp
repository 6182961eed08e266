// From candidate to CUDA source, launch geometry and packed kernel arguments.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A template file that ships inside the library; generated source includes it by this name.
struct TemplateFile {
  std::string_view name;  ///< "stencil_tune/direct.cuh"
  std::string_view text;
};

std::span<const TemplateFile> template_files();

/// The template that a candidate instantiates, "streaming/streaming_ring.cuh": within one, tuning parameters mean the
/// same.
std::string_view template_of(const Tuning& tuning);

struct KernelSource {
  std::string text;   ///< a translation unit: includes a template, defines the point update, instantiates
  std::string entry;  ///< the extern "C" kernel
};

/// Where the meaning of this text changes, kGeneratorVersion (signature.cpp) does too.
///
/// The generated kernel serves every extents, strides and coefficients of the problem's stencil, type, boundaries,
/// index width. `entry` must be a C identifier; several sources with different entries can share a translation unit.
/// Throws Error(illegal_candidate) when the tuning cannot be expressed at all.
KernelSource generate(const Problem& problem, const Tuning& tuning, std::string_view entry = "stencil_kernel");

struct LaunchGeometry {
  std::array<unsigned, 3> grid{1, 1, 1};   ///< blocks; all zero when there is nothing to update
  std::array<unsigned, 3> block{1, 1, 1};  ///< threads
  std::size_t shared_bytes = 0;            ///< dynamic shared memory
  unsigned cluster = 1;                    ///< blocks along x that form a cluster; the kernel itself says so to CUDA
};

/// Geometry for updating the cells of `box` (a part of updated_box(problem)).
LaunchGeometry launch_geometry(const Problem& problem, const Tuning& tuning, const Box& box);

/// Output cells of one block, or of a cluster, along the grid's axes; temporal: its whole tile with the halo, and as
/// many planes as its levels need to fill and run empty.
std::array<int, kMaxRank> output_tile(const Problem& problem, const Tuning& tuning);

/// A tensor map that the kernel's parameter holds: what the host must encode (cuTensorMapEncodeTiled) before a launch.
/// Three axes, x contiguous; no interleave, no swizzle, cells outside filled with zero.
struct TensorMapRequest {
  std::size_t offset = 0;                  ///< in the packed arguments, 128 bytes
  std::uint64_t address = 0;               ///< of the field; a multiple of 16
  std::array<std::uint64_t, 3> extents{};  ///< cells
  std::array<std::uint64_t, 2> strides{};  ///< bytes from one row, plane to the next
  std::array<std::uint32_t, 3> box{};      ///< cells of one copy
};

/// The maps of a candidate, one an input; empty for kernels without tensor copies.
std::vector<TensorMapRequest> tensor_maps(const Problem& problem, const Tuning& tuning,
                                          std::span<const std::uint64_t> inputs);

/// The kernel's one by-value parameter, laid out as templates/arguments.cuh declares it.
/// inputs and outputs: one address per entry of facts.inputs, facts.outputs; coefficients: one per
/// stencil.coefficients, converted to the compute type. Tensor maps (tensor_maps()) come first and are left zero.
std::vector<std::byte> pack_arguments(const Problem& problem, const Box& box, const Tuning& tuning,
                                      std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                                      std::span<const double> coefficients);

}  // namespace stencil_tune
