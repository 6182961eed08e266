#include "generator/candidates/explain.hpp"

#include "generator/candidates/family.hpp"
#include "generator/stencil/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace stencil_tune {
namespace {

using Text = std::back_insert_iterator<std::string>;

/// "32x4x1", of the axes that the kernel has.
std::string axes_text(const KernelAxes& axes, const Lengths& lengths) {
  std::vector<std::int64_t> present;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (axes.has(axis)) present.push_back(lengths[axis]);
  }
  return fmt::format("{}", fmt::join(present, "x"));
}

void write_parameters(Text out, const Tuning& tuning) {
  fmt::format_to(out, "\nparameters\n");
  for (const Parameter& parameter : tuning.family->parameters) {
    if (!parameter.used_by(tuning)) continue;
    const int value = parameter.get(tuning);
    fmt::format_to(out, "  {:<19} {:<8} {}", parameter.name, part(parameter, value), parameter.meaning);
    if (parameter.is_word()) fmt::format_to(out, ": {}", parameter.word_meanings.at(static_cast<std::size_t>(value)));
    fmt::format_to(out, "\n");
  }
}

void write_verdict(Text out, const Explanation& explanation) {
  if (explanation.violations.empty()) {
    fmt::format_to(out, "legal: it keeps all {} constraints\n", explanation.constraints);
    return;
  }
  fmt::format_to(out, "illegal: it breaks {} of {} constraints\n", explanation.violations.size(),
                 explanation.constraints);
  for (const BrokenConstraint& broken : explanation.violations) {
    fmt::format_to(out, "  {}: {}\n    {}\n", broken.constraint, broken.message, broken.meaning);
  }
}

void write_shared_memory(Text out, const Limits& limits, const SharedTile& shared) {
  if (shared.bytes == 0) {
    fmt::format_to(out, "  {:<22} none\n", "shared memory");
    return;
  }
  fmt::format_to(out, "  {:<22} {} bytes a block of {}: ", "shared memory", shared.bytes, limits.shared_per_block);
  if (shared.inputs == 0) {
    // Kernels of fused steps: see SharedTile.
    fmt::format_to(out, "planes on their way and rows that warps exchange\n");
  } else {
    fmt::format_to(out, "{} field{} x {} planes x {} rows x {} cells of {} bytes\n", shared.inputs,
                   shared.inputs == 1 ? "" : "s", shared.planes, shared.rows, shared.pitch, shared.cell_bytes);
  }
}

void write_figures(Text out, const Problem& problem, const Limits& limits, const Explanation& explanation) {
  const Tuning& tuning = explanation.tuning;
  fmt::format_to(out, "\nfigures\n  {:<22} {} a block ({} x {} x {})\n", "threads", explanation.threads, tuning.block_x,
                 tuning.block_y, tuning.block_z);
  fmt::format_to(out, "  {:<22} about {} for a thread's values (estimate; 255 is the most)\n", "registers",
                 explanation.live_registers);
  if (!explanation.figures) {
    fmt::format_to(out, "  {:<22} empty: the block is no larger than the stencil's reach\n", "output tile");
    return;
  }
  const Explanation::Figures& figures = *explanation.figures;
  const Intensity& intensity = figures.intensity;
  const auto blocks = figures.blocks;
  fmt::format_to(out, "  {:<22} {} cells a block\n", "output tile", axes_text(explanation.axes, figures.tile));
  fmt::format_to(out, "  {:<22} {} ({})\n", "blocks", saturating_product({blocks[0], blocks[1], blocks[2]}),
                 axes_text(explanation.axes, blocks));
  write_shared_memory(out, limits, figures.shared);
  fmt::format_to(out, "  {:<22} {:.1f} % of the cells a block reads lie outside its output tile\n", "halo share",
                 100 * intensity.halo_share);
  fmt::format_to(out, "  {:<22} {} at least, each input read once and each output written once\n", "bytes an update",
                 least_bytes(problem.stencil, problem.facts, problem.type));
  fmt::format_to(out, "  {:<22} {:.4g} bytes an update by the textbook's count, before any cache\n", "loaded",
                 intensity.bytes_loaded);
  fmt::format_to(out, "  {:<22} {:.4g} an update\n", "operations", intensity.operations);
  fmt::format_to(out, "  {:<22} {:.2f} OP/B by the textbook's count; bound {:.2f}, an infinitely large tile\n",
                 "intensity", intensity.ratio, intensity.bound);
}

}  // namespace

Explanation explain_candidate(const Candidate& candidate, const Limits& limits) {
  Explanation explanation;
  explanation.tuning = candidate.tuning();
  for_each_constraint(candidate.family(), [&](const Constraint& constraint) {
    ++explanation.constraints;
    if (auto message = constraint.violation(candidate, limits)) {
      explanation.violations.push_back({constraint.name, constraint.meaning, std::move(*message)});
    }
  });
  const KernelShape& shape = candidate.shape();
  explanation.axes = shape.axes;
  explanation.threads = shape.threads;
  explanation.live_registers = shape.live_registers;
  if (shape.has_tile()) {
    explanation.figures = {shape.tile, blocks_of(shape.tiles, candidate.tuning()), shape.shared,
                           textbook_intensity(candidate)};
  }
  return explanation;
}

std::string explain(const Problem& problem, const Limits& limits, const Tuning& tuning) {
  const Explanation explanation = explain_candidate({problem, tuning}, limits);
  std::string text;
  const Text out = std::back_inserter(text);
  fmt::format_to(out, "{}\nfor {}, {}, {}, boundary {}, {} step{}, sm_{}\n", code(tuning), problem.stencil.name,
                 name(problem.type), to_string(problem.extents), to_string(problem.boundaries, problem.extents.rank),
                 problem.steps, problem.steps == 1 ? "" : "s", limits.compute_capability);
  write_verdict(out, explanation);
  write_parameters(out, tuning);
  write_figures(out, problem, limits, explanation);
  return text;
}

}  // namespace stencil_tune
