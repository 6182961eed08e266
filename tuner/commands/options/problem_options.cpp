#include "tuner/commands/options/problem_options.hpp"

#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "stencil_tune/batch.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/step_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kDefaultRank = 3;

void reject_together(const po::variables_map& values, const char* option, std::initializer_list<const char*> others) {
  if (values.count(option) == 0) return;
  for (const char* other : others) {
    if (values.count(other) > 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--{} and --{} exclude each other: --{} says it all", option, other, option));
    }
  }
}

template <class T>
T value_or(const po::variables_map& values, const char* name, T fallback) {
  return values.count(name) > 0 ? values[name].as<T>() : fallback;
}

Shape parse_shape(const std::string& text) {
  if (text == "star") return Shape::star;
  if (text == "box") return Shape::box;
  throw Error(ErrorCode::unknown_name, fmt::format("unknown shape '{}': star or box", text));
}

Sharing parse_sharing(const std::string& text) {
  if (text == "distinct") return Sharing::distinct;
  if (text == "symmetric") return Sharing::symmetric;
  throw Error(ErrorCode::unknown_name, fmt::format("unknown coefficients '{}': distinct or symmetric", text));
}

int count_of_dims(const std::string& dims) {
  return 1 + static_cast<int>(std::count_if(dims.begin(), dims.end(), [](char c) { return c == 'x' || c == 'X'; }));
}

bool is_batch(const po::variables_map& values) { return values["batch"].as<bool>(); }

// The rank that --dims and --rank agree on; the last number of --dims may be that of a batch's grids.
int requested_rank(const po::variables_map& values, const std::string& dims) {
  const int given = count_of_dims(dims) - (is_batch(values) ? 1 : 0);
  const int rank = value_or(values, "rank", given > 1 ? std::min(given, kMaxRank) : kDefaultRank);
  if (rank < 1 || rank > kMaxRank) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--rank {}: must be 1, 2 or 3", rank));
  }
  return rank;
}

/// A one-liner is named by its text, so that tables tell one from another.
Stencil named_stencil(const std::string& text, int rank) {
  constexpr std::size_t kLongestName = 200;
  Stencil stencil = parse_stencil(text, rank);
  std::string name;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space || (!name.empty() && name.back() != ' ')) name += space ? ' ' : c;
  }
  name.erase(name.find_last_not_of(' ') + 1);
  stencil.name = name.size() <= kLongestName ? name : name.substr(0, kLongestName - 3) + "...";
  return stencil;
}

Stencil stencil_from(const po::variables_map& values, int rank) {
  if (values.count("stencil") > 0) return load_stencil(values["stencil"].as<std::string>());
  if (values.count("expr") > 0) return named_stencil(values["expr"].as<std::string>(), rank);
  return make_builtin(parse_shape(value_or<std::string>(values, "shape", "star")), rank, value_or(values, "order", 1),
                      parse_sharing(value_or<std::string>(values, "coefficients", "distinct")));
}

std::int64_t parse_pitch(const std::string& text, std::int64_t nx, ElementType type) {
  if (text == "padded") return padded_pitch(nx, type);
  std::int64_t pitch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pitch);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--pitch '{}': a number of cells, or padded", text));
  }
  if (pitch < nx) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--pitch {}: rows have {} cells, the pitch must be at least that", pitch, nx));
  }
  return pitch;
}

ElementType requested_type(const std::string& type, const Stencil& stencil) {
  return type.empty() ? stencil.element.value_or(ElementType::f32) : parse_element_type(type);
}

int requested_stage(const po::variables_map& values, const Stencil& stencil) {
  if (values.count("stage") == 0) return kWholeStep;
  const int stage = values["stage"].as<int>();
  const int stages = static_cast<int>(stencil.stages.size());
  if (stage >= 0 && stage < stages) return stage;
  throw Error(ErrorCode::invalid_argument, fmt::format("--stage {}: {} has {} stage{}, counted from 0", stage,
                                                       stencil.name, stages, stages == 1 ? "" : "s"));
}

/// What may be named several times.
struct OneOfSeveral {
  std::string dims;
  std::string type;  ///< empty: what the definition asks for
  int steps;
};

int parse_steps(const std::string& text) {
  int steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  const bool is_number = end == text.data() + text.size() && !text.empty();
  if (error == std::errc{} && is_number) return steps;
  if (error == std::errc::result_out_of_range && is_number) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--steps {}: at most {}", text, std::numeric_limits<int>::max()));
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("--steps '{}': give whole numbers, such as 100 or 1,100", text));
}

/// The values of an option that takes several, each of them once.
std::vector<std::string> values_of(const char* option, const std::string& text) {
  std::vector<std::string> values = split_list(text);
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) == value) continue;
    const std::string meant = std::string_view(option) == "dims" ? "; one grid is written 512x512x512" : "";
    throw Error(ErrorCode::invalid_argument, fmt::format("--{} {} names {} twice{}", option, text, *value, meant));
  }
  return values;
}

Problem make_problem_from(const po::variables_map& values, const OneOfSeveral& one) {
  Stencil stencil = stencil_from(values, requested_rank(values, one.dims));
  if (values.count("rank") > 0 && values["rank"].as<int>() != stencil.rank) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--rank {}: {} has rank {}; leave --rank out, the stencil says it",
                            values["rank"].as<int>(), stencil.name, stencil.rank));
  }
  if (values.count("layer") > 0) stencil.layers = parse_layer_widths(values["layer"].as<std::string>(), stencil.rank);
  const auto shared = value_or<std::string>(values, "shared", "");
  if (is_batch(values)) stencil = batched(stencil, shared.empty() ? std::vector<std::string>() : split_list(shared));
  const Extents extents = parse_extents(one.dims, stencil.rank);
  if (extents.rank != stencil.rank) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--dims {} names {} axes, {} has {}: give as many numbers as the stencil has axes, or one",
                            one.dims, extents.rank, stencil.name, stencil.rank));
  }
  const ElementType type = requested_type(one.type, stencil);
  const std::int64_t pitch =
      values.count("pitch") > 0 ? parse_pitch(values["pitch"].as<std::string>(), extents.n[0], type) : 0;
  const Boundaries boundaries = parse_boundaries(value_or<std::string>(values, "boundary", "hold"), stencil.rank);
  const int stage = requested_stage(values, stencil);
  return make_problem(std::move(stencil), type, boundaries, extents, pitch, one.steps, stage);
}

}  // namespace

void add_problem_options(CommandLine& line) {
  line.group("what to tune")
      .add_options()("dims", po::value<std::string>()->value_name("N|NXxNY|NXxNYxNZ"),
                     "cells along each axis, x fastest in memory; one number means that on each axis")(
          "rank", po::value<int>()->value_name("1|2|3"), "axes of the grid when --dims is one number (default 3)")(
          "stencil", po::value<std::string>()->value_name("NAME|FILE"),
          "a stencil by name (see `stencil-tune stencils`) or from a definition file (TOML)")(
          "expr", po::value<std::string>()->value_name("TEXT"),
          "a stencil in one line: \"u + alpha*laplacian(u); alpha = 0.1\"")(
          "stage", po::value<int>()->value_name("N"),
          "of a stencil with several stages: this one alone, counted from 0 (default: whole steps)")(
          "shape", po::value<std::string>()->value_name("star|box"),
          "star: neighbours along the axes; box: the full cube")(
          "order", po::value<int>()->value_name("R"), "points on each side of the centre, 1 to 16 (default 1)")(
          "coefficients", po::value<std::string>()->value_name("distinct|symmetric"),
          "one coefficient a point (default), or one a distance")(
          "type", po::value<std::string>()->value_name("f32|f64|f16|bf16"),
          "what a cell holds (default: what the definition file asks for, else f32)")(
          "boundary", po::value<std::string>()->value_name("KIND|x=KIND,..."),
          "hold (default), zero, clamp, periodic or reflect; for all axes or one by one")(
          "layer", po::value<std::string>()->value_name("N|x=N,z=LOW:HIGH"),
          "cells of the layers at the ends of the axes, of a stencil with fields that exist in layers alone (default: "
          "what its definition says)")(
          "batch", po::bool_switch(),
          "many grids of one size in one launch: the last number of --dims, behind the stencil's axes, counts them")(
          "shared", po::value<std::string>()->value_name("FIELD,..."),
          "fields that all grids of a batch have one array of")(
          "pitch", po::value<std::string>()->value_name("CELLS|padded"),
          "from one row to the next (default: NX, dense rows); padded: as the library's DeviceField has them")(
          "steps", po::value<std::string>()->value_name("N"),
          "time steps of a run, from 1 on: of 2 and more, kernels that fuse steps are tried too (default 1)");
}

std::vector<Problem> problems_from(const po::variables_map& values) {
  if (values.count("dims") == 0) {
    throw Error(ErrorCode::invalid_argument, "which grid? Give --dims, such as --dims 512 or --dims 1024x512x256");
  }
  reject_together(values, "stencil", {"expr", "shape", "order", "coefficients"});
  reject_together(values, "expr", {"shape", "order", "coefficients"});
  if (values.count("shared") > 0 && !is_batch(values)) {
    throw Error(ErrorCode::invalid_argument, "--shared goes with --batch, whose grids share the fields");
  }
  std::vector<Problem> problems;
  for (const std::string& dims : values_of("dims", values["dims"].as<std::string>())) {
    for (const std::string& type : values_of("type", value_or<std::string>(values, "type", ""))) {
      for (const std::string& steps : values_of("steps", value_or<std::string>(values, "steps", "1"))) {
        problems.push_back(make_problem_from(values, {dims, type, parse_steps(steps)}));
      }
    }
  }
  return problems;
}

Problem problem_from(const po::variables_map& values) {
  std::vector<Problem> problems = problems_from(values);
  if (problems.size() == 1) return std::move(problems.front());
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("--dims, --type and --steps name {} problems: `stencil-tune tune` takes several, this command "
                  "takes one",
                  problems.size()));
}

std::optional<std::string> given_problem_option(const po::variables_map& values) {
  for (const char* option : {"dims", "rank", "stencil", "expr", "stage", "shape", "order", "coefficients", "type",
                             "boundary", "pitch", "steps"}) {
    if (values.count(option) > 0) return option;
  }
  return std::nullopt;
}

void require_tunable(const Problem& problem, const Limits& limits) {
  if (problem.stage == kWholeStep) {
    for (const Problem& stage : single_stages(problem)) require_tunable(stage, limits);
    return;
  }
  require_updates(problem);
  for (const Family* family : families()) {
    if (default_candidate(*family, problem, limits)) return;
  }
  std::mt19937_64 random(1);
  if (Space(problem, limits).sample(random)) return;
  std::string why;
  for (const Family* family : families()) {
    const auto violation = first_violation({problem, Tuning(*family)}, limits);
    if (violation) why += fmt::format("\n  {}: {}: {}", family->name, violation->constraint, violation->message);
  }
  throw Error(ErrorCode::illegal_candidate,
              fmt::format("{}: too large for every kernel family{}", describe(problem), why));
}

void require_fits(const Problem& problem, std::size_t device_bytes, std::string_view device) {
  const double needed = static_cast<double>(problem.field_bytes()) *
                        static_cast<double>(problem.facts.inputs.size() + problem.facts.outputs.size());
  if (needed <= static_cast<double>(device_bytes)) return;
  throw Error(ErrorCode::exceeds_device_memory,
              fmt::format("{}: its fields need {}, {} has {}; take a smaller grid or element type", describe(problem),
                          bytes_text(needed), device, bytes_text(static_cast<double>(device_bytes))));
}

}  // namespace stencil_tune
