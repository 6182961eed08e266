// The table of kernel families. All that other code asks of a family stands in its entry; nothing else asks which
// family a candidate has.
//
// A family has three parts: an entry in families/, a template in templates/, and how the performance model counts its
// work (runtime/model/).
#pragma once

#include "generator/candidates/constraint.hpp"
#include "generator/candidates/parameter.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/template_file.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// What the generated kernel instantiates: stencil_tune::function<Stencil, Tuning>(arguments).
struct KernelTemplate {
  std::string_view file;  ///< below templates/: "streaming/streaming_ring.cuh"
  std::string_view function;
  /// The kernel with points, function<Stencil, Tuning>(arguments, tables); empty where there is none.
  std::string_view points_file{};
  std::string_view points_function{};
  /// What the kernel asks of the stencil beside the update: what a plane adds to each output, and which inputs are only
  /// read where an output is finished.
  bool takes_sums = false, asks_late = false;
  /// Constants that all templates ask for, and that Family::constants sets; others have a default.
  std::vector<std::string_view> sets{};
};

/// The textbook's count of what a kernel's threads load, for textbook_intensity().
struct TextbookLoads {
  double per_output = 0;  ///< cells of one input that are loaded for one updated cell
  double halo_share = 0;  ///< part of the cells a block loads that lies outside its output tile, 0..1
};

struct Family {
  std::string_view name;
  std::string_view meaning;  ///< one sentence

  /// Whether random candidates come from it. The textbook's stay reachable by their codes alone.
  bool drawn = true;
  /// Whether a launch makes Tuning::steps sweeps; otherwise one.
  bool fuses_steps = false;
  /// Whether a launch advances all fields of the stencil, level by level (KernelShape::system); otherwise it updates
  /// the outputs of one stage.
  bool advances_all_fields = false;
  /// Whether its kernels know arrays of fields in layers that hold the layers alone.
  bool reads_slabs = false;
  /// Whether it may serve the problem at all; constraints say the rest.
  bool (*serves)(const Problem&);
  /// The grid axis that each of the kernel's axes is; -1: none.
  std::array<int, kMaxRank> (*axes)(int rank);

  std::vector<Parameter> parameters;    ///< in the order of the code's parts; `used` looks at those before it alone
  std::vector<Constraint> constraints;  ///< its own, beside those of all families

  KernelTemplate (*kernel_template)(const Tuning&);
  /// Fills in all that does not follow for every family alike: tile, shared memory, estimates ...
  void (*shape)(const Problem&, const Tuning&, KernelShape&);
  /// Constants of the kernel beyond those of the parameters: lines of the generated Tuning.
  std::string (*constants)(const Candidate&);
  /// Legal on most problems, the one that suits most of them first.
  std::vector<Tuning> (*defaults)(const Problem&);
  TextbookLoads (*textbook_loads)(const Candidate&);

  std::vector<TemplateFile> files = {};  ///< templates that are not among those that ship
};

/// All families, in the order in which a default is looked for.
std::span<const Family* const> families();

/// Throws Error(unknown_name), which lists them.
const Family& family_named(std::string_view name);

/// Sweeps that one launch of the candidate makes.
inline int sweeps_per_launch(const Tuning& tuning) { return tuning.family->fuses_steps ? tuning.steps : 1; }

/// The tuning with defaults for values that its other values leave without a use.
Tuning with_used_values_alone(const Tuning& tuning);

/// Adds a family of one's own for the rest of the process, before anything else uses the table.
void add_family(const Family& family);

}  // namespace stencil_tune
