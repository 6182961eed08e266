#include "runtime/export/export.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/signature.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/trim/trim.hpp"
#include "runtime/export/templates.hpp"
#include "runtime/export/text.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil_tune {

namespace {

void require_identifier(const std::string& name) {
  if (!name.empty() && export_name(name) == name) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("'{}' cannot name a C function; '{}' could", comment_text(name), export_name(name)));
}

void require_legal(const Candidate& candidate, const std::string& architecture) {
  const Problem& problem = candidate.problem();
  const auto violation = first_violation(candidate, limits_of_architecture(architecture));
  if (!violation && candidate.shape().together) {
    throw Error(
        ErrorCode::illegal_candidate,
        fmt::format("{} cannot be exported: its blocks wait for each other, which takes a cooperative launch and "
                    "memory of the library's own; export another kernel by its code",
                    code(candidate.tuning())));
  }
  if (!violation) return;
  throw Error(ErrorCode::illegal_candidate,
              fmt::format("{} cannot be exported for {}, {}, {}: {}: {}; `stencil-tune explain` says more",
                          code(candidate.tuning()), comment_text(problem.stencil.name), to_string(problem.extents),
                          architecture, violation->constraint, violation->message));
}

/// The kernels of a file.
using Kernels = std::vector<const Candidate*>;

bool any_of(const Kernels& kernels, bool (*is)(const KernelShape&)) {
  return std::any_of(kernels.begin(), kernels.end(), [is](const Candidate* each) { return is(each->shape()); });
}

/// The oldest that all of them run on, with their instructions and shared memory.
std::string oldest_architecture(const Kernels& kernels, const std::string& tuned_for) {
  for (const char* name : {"sm_70", "sm_80"}) {
    const Limits limits = limits_of_architecture(name);
    if (std::all_of(kernels.begin(), kernels.end(), [&](auto* each) { return is_legal(*each, limits); })) return name;
  }
  return tuned_for;
}

/// Stops nvcc where it compiles for an older one, instead of errors in the middle of the kernel.
std::string architecture_guard(const std::string& oldest, const ExportOptions& options) {
  std::string number;
  std::copy_if(oldest.begin(), oldest.end(), std::back_inserter(number), [](char c) { return c >= '0' && c <= '9'; });
  return fmt::format(
      "\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < {}0\n"
      "#error \"{} needs {} or newer: compile it with -arch={}\"\n#endif\n",
      number, options.name, oldest, comment_text(options.architecture));
}

/// NVRTC, which tunes, gives pointers into shared memory 64 bits, nvcc 32: other registers, sometimes spills. With this
/// both make the same of all winners that ship (nvcc 13.0, scripts/check-compilers).
constexpr std::string_view kAddressesAsTuned = " -Xcicc --sharedmem32=0";

std::string provenance(const Kernels& kernels, const ExportOptions& options) {
  const Candidate& candidate = *kernels.front();
  const Problem& problem = candidate.problem();
  const std::string run = problem.steps > 1 ? fmt::format(", in a run of {} steps", problem.steps) : "";
  std::string text = fmt::format(
      "// {}: stencil '{}', {}, boundary {}\n"
      "// Candidate {} for {} cells{}\n",
      options.name, comment_text(problem.stencil.name), name(problem.type),
      to_string(problem.boundaries, problem.extents.rank), code(candidate.tuning()), to_string(problem.extents), run);
  for (const std::string& line : options.provenance) text += fmt::format("// {}\n", comment_text(line));
  const bool shares = any_of(kernels, [](const KernelShape& shape) { return shape.shared.bytes > 0; });
  text += fmt::format(
      "// Written by stencil-tune (templates {}); needs nothing of it\n"
      "// Build: nvcc -O3 -std=c++17 -arch={}{} {}.cu (runs on {} and newer)\n",
      template_signature(candidate.tuning()), comment_text(options.architecture), shares ? kAddressesAsTuned : "",
      options.name, oldest_architecture(kernels, options.architecture));
  if (shares) text += "// sharedmem32=0 gives shared memory the addresses that it was tuned with (nvcc 13.0).\n";
  return text;
}

std::string half_includes(const Problem& problem) {
  std::set<ElementType> types{problem.type};
  for (const FieldStorage& storage : problem.stencil.storages) types.insert(storage.type);
  std::string text;
  if (types.contains(ElementType::f16)) text += "#include <cuda_fp16.h>\n";
  if (types.contains(ElementType::bf16)) text += "#include <cuda_bf16.h>\n";
  return text;
}

std::string includes(const Kernels& kernels, bool with_main) {
  const Problem& problem = kernels.front()->problem();
  const bool maps = any_of(kernels, [](const KernelShape& shape) { return shape.uses_tensor_maps; });
  std::string text = "#include <cuda_runtime.h>\n";
  if (maps) text = "#include <cuda.h>\n" + text;
  text += half_includes(problem);
  text += "\n#include <cstdint>\n";
  if (problem.facts.placed || with_main) text += "#include <cstring>\n";
  if (with_main) text += "#include <algorithm>\n";
  return text;
}

std::string header_text(const Kernels& kernels, const ExportOptions& options, const ExportSignature& signature) {
  const Candidate& candidate = *kernels.front();
  return fmt::format(
      "{}#pragma once\n\n#include <cuda_runtime_api.h>\n{}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{}{};\n\n"
      "#ifdef __cplusplus\n}}\n#endif\n",
      provenance(kernels, options), half_includes(candidate.problem()), launcher_contract(candidate, signature),
      signature.declaration());
}

std::string title(std::string_view text) { return fmt::format("\n{:-<120}\n\n", fmt::format("// ---- {} ", text)); }

/// Writes kernels with their launchers.
class KernelWriter {
 public:
  /// What it uses of the templates is left out where the kernel before it uses the same text of them.
  std::string write(const Candidate& candidate, const ExportSignature& signature, bool with_contract) {
    const std::string kernel = signature.name + "_kernel";
    const std::string own = signature.name + "_detail";
    const std::string source = generate(candidate, kernel).text;
    WrittenOut written = write_out(source, template_files(), launcher_text(candidate, signature, own, kernel));
    std::string text;
    if (written.templates != templates_) {
      detail_ = own;
      text = in_namespace(written.templates, detail_);
      templates_ = std::move(written.templates);
    }
    text += in_namespace(written.source, detail_);
    text += title("the launcher");
    if (with_contract) text += launcher_contract(candidate, signature);
    return text + launcher_text(candidate, signature, detail_, kernel);
  }

 private:
  std::string templates_;  ///< as the last kernel uses them
  std::string detail_;     ///< the namespace that has them
};

void add_advance(const ExportedRun& run, const ExportOptions& options, ExportedFiles& files) {
  files.source += title("any number of steps");
  if (options.split_header) {
    const std::size_t end = files.header.rfind("\n#ifdef __cplusplus\n}");
    files.header.insert(end, "\n" + advance_contract(run) + advance_declaration(run) + ";\n");
  } else {
    files.source += advance_contract(run);
  }
  files.source += advance_text(run);
}

/// Writes above all else which function to call first, and its line.
void add_entry(const Candidate& candidate, const ExportOptions& options, const std::optional<ExportedRun>& run,
               std::string& source) {
  const int steps = sweeps_per_launch(candidate.tuning());
  const std::string& name = options.name;
  const std::string entry = run ? name + "_advance" : name;
  std::string what = steps > 1 ? fmt::format("{} steps", steps)
                     : is_whole_step(candidate.problem())
                         ? "one step"
                         : fmt::format("stage {} of a step", candidate.problem().stage);
  if (run) {
    what = fmt::format("any number of steps; {} makes {}", name,
                       steps > 1 ? fmt::format("{}, {}_step one", steps, name) : "one");
  }
  const auto begin =
      source.begin() + static_cast<std::ptrdiff_t>(source.find("extern \"C\" cudaError_t " + entry + "("));
  const auto lines_before = std::count(source.begin(), begin, '\n') + 1;  // this one too
  source.insert(0, fmt::format("// Call {} (line {}): {}.\n", entry, lines_before + 1, what));
}

}  // namespace

std::optional<Tuning> single_steps_of(const Problem& problem, const Tuning& tuning, const std::string& architecture) {
  const bool is_run = problem.steps > 1 && is_whole_step(problem) && !problem.stencil.rotations.empty();
  if (!is_run && !tuning.family->advances_all_fields) return std::nullopt;
  const Limits limits = limits_of_architecture(architecture);
  Problem step = problem;
  step.steps = 1;
  if (problem.stage == kWholeStep) {
    Tuning single = tuning;
    single.steps = 1;
    return is_legal({step, single}, limits) ? std::optional(single) : std::nullopt;
  }
  for (const Family* family : families()) {
    if (family->fuses_steps) continue;
    if (const auto single = default_candidate(*family, step, limits)) return single;
  }
  return std::nullopt;
}

ExportedFiles export_kernel(const Problem& problem, const Tuning& tuning, const ExportOptions& wanted,
                            const std::optional<Tuning>& single_steps) {
  ExportOptions options = wanted;
  if (options.architecture.empty()) options.architecture = "sm_90";
  require_identifier(options.name);
  const Candidate candidate(problem, tuning);
  require_legal(candidate, options.architecture);
  if (options.with_main && has_storage_types(problem)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the fields of '{}' are stored in several types, which an exported self-check does not know: "
                    "export it without one",
                    comment_text(problem.stencil.name)));
  }
  const ExportSignature signature = export_signature(candidate, options.name);
  Problem step = problem;
  step.steps = 1;
  std::optional<Candidate> single;
  ExportSignature single_signature;
  std::optional<ExportedRun> run;
  Kernels kernels{&candidate};
  if (single_steps) {
    single.emplace(step, *single_steps);
    require_legal(*single, options.architecture);
    single_signature = export_signature(*single, options.name + "_step");
    run.emplace(ExportedRun{candidate, signature, *single, single_signature});
    if (sweeps_per_launch(tuning) > 1) kernels.push_back(&*single);
  }

  ExportedFiles files;
  files.source = provenance(kernels, options);
  files.source += architecture_guard(oldest_architecture(kernels, options.architecture), options);
  files.source += "\n" + includes(kernels, options.with_main);
  if (options.split_header) {
    files.header = header_text(kernels, options, signature);
    files.source += fmt::format("\n#include \"{}.h\"\n", options.name);
  }
  KernelWriter writer;
  files.source += writer.write(candidate, signature, !options.split_header);
  if (kernels.size() > 1) {
    files.source += title("single steps") + fmt::format("// Candidate {}\n", code(*single_steps));
    files.source += writer.write(*single, single_signature, true);
  }
  if (run) add_advance(*run, options, files);
  if (options.with_main) {
    files.source += fmt::format("\n{:-<120}\n", "// ---- self-check and benchmark ");
    files.source += main_text(candidate, signature, run ? &*run : nullptr);
  }
  add_entry(candidate, options, run, files.source);
  return files;
}

}  // namespace stencil_tune
