#include "tuner/commands/tune/many_gpus.hpp"

#include "db/location.hpp"
#include "generator/cut/halo_need.hpp"
#include "generator/cut/part_problem.hpp"
#include "generator/input_file.hpp"
#include "generator/stencil/describe.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/library.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/scaling/recorded_links.hpp"
#include "tuner/scaling/scaling_model.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/terminal/print_fitted.hpp"
#include "tuner/terminal/terminal.hpp"
#include "tuner/terminal/text_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kMostGpus = 65536;
constexpr std::size_t kLongestScalingRecord = std::size_t{32} << 20;  // bytes of what bench/scaling writes

template <class Number>
Number parse_number(const char* option, std::string_view text, Number least, Number most) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most) return number;
  throw Error(ErrorCode::invalid_argument, fmt::format("--{} '{}': a number from {} to {}", option, text, least, most));
}

/// "395,18": 1e9 bytes/s and microseconds.
std::pair<double, double> link_from(const po::variables_map& values, const char* option) {
  const std::vector<std::string> parts = split_list(values[option].as<std::string>());
  if (parts.size() != 2) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--{} '{}': GB/s and microseconds, such as 50,25", option,
                                                         values[option].as<std::string>()));
  }
  return {parse_number(option, parts[0], 0.001, 1e6), parse_number(option, parts[1], 0.0, 1e9)};
}

/// Two numbers, or a record of bench/scaling, which has what was measured.
void set_node_link(const po::variables_map& values, Links& links) {
  const auto& said = values["node-link"].as<std::string>();
  if (std::filesystem::is_regular_file(said)) {
    take_recorded_links(read_input_file(said, kLongestScalingRecord), links);
  } else {
    std::tie(links.node_gbs, links.node_latency_us) = link_from(values, "node-link");
  }
}

Links links_from(const po::variables_map& values) {
  Links links;
  if (values.count("node") > 0) links.node = parse_number("node", values["node"].as<std::string>(), 1, kMostGpus);
  if (values.count("node-link") > 0) set_node_link(values, links);
  if (values.count("network") > 0) std::tie(links.network_gbs, links.network_latency_us) = link_from(values, "network");
  return links;
}

/// With the winners of a database, where it is there, over the site's and those that ship.
Library library_over(const std::string& database) {
  if (std::filesystem::exists(locate_database(database).path)) return Library({.database = database});
  LibraryParts parts;  // GPUs by their name alone: neither driver nor compiler is asked
  parts.winners = [](const Problem& problem, const std::string&) {
    return winners_of_all_layers(nullptr, {.stencil_key = stencil_key(problem.stencil), .count_trials = false});
  };
  parts.all_winners = [all = winners_of_all_layers(nullptr, {.count_trials = false})] {
    return std::span<const WinnerRecord>(all);
  };
  return Library(std::make_unique<Library::Impl>(std::move(parts)));
}

/// The kernels that serve a problem's parts, looked up once for each size.
class LocalKernels {
 public:
  LocalKernels(const Problem& whole, std::string gpu, const std::string& database)
      : whole_(whole), gpu_(std::move(gpu)), library_(library_over(database)) {}

  /// For runs of `steps` steps on a part. Its rate is 0 where nothing is known.
  LocalKernel find(const Decomposition& grid, int steps) {
    const PartForm form = form_of_part(whole_, grid.cut());
    const Box own = grid.owned(0);
    Request request{
        .stencil = form.stencil, .type = whole_.type, .extents = grid.grid(), .boundaries = form.boundaries};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) request.extents.n[axis] = own.high[axis] - own.low[axis];
    request.pitch = padded_pitch(request.extents.n[0], request.type);
    request.steps = steps;
    request.gpu = gpu_;
    const Kernel kernel = library_.lookup(request);
    const Evidence& evidence = kernel.run_evidence();
    if (evidence.gstencils > 0) {
      sources_.insert_or_assign(evidence.code,
                                fmt::format("{} ({}{:.0f} GStencil/s on {}, {})", evidence.tuned_code,
                                            evidence.match == Match::predicted ? "~" : "", evidence.gstencils,
                                            to_string(evidence.tuned_extents), name(evidence.match)));
    }
    return {.fused_steps = kernel.fused_steps(), .gstencils = kernel.state().known_rate()};
  }

  const std::map<std::string, std::string>& sources() const { return sources_; }

 private:
  const Problem& whole_;
  std::string gpu_;
  Library library_;
  std::map<std::string, std::string> sources_;
};

/// The fastest way to run on so many GPUs, and what it is measured by.
struct Best {
  ScalingPoint point;
  double efficiency = 0;  ///< rate over that of as many GPUs, each with a grid of its own
};

class Search {
 public:
  Search(const Problem& problem, const Links& links, bool weak, LocalKernels& kernels)
      : problem_(problem), links_(links), weak_(weak), kernels_(kernels) {}

  Best run(int gpus) {
    std::optional<ScalingPoint> best;
    double fastest_kernel = 0;
    const auto kernel_for = [&](int steps) {
      const auto grid = cut_for(gpus, steps);
      return grid ? std::optional(kernels_.find(*grid, steps)) : std::nullopt;
    };
    each_exchange_option(problem_.steps, kernel_for, [&](const LocalKernel& kernel, int per_exchange) {
      fastest_kernel = std::max(fastest_kernel, kernel.gstencils);
      const auto grid = cut_for(gpus, per_exchange);
      if (!grid) return false;
      const ScalingPoint point = predict_scaling(problem_, *grid, kernel, per_exchange, links_);
      if (!best || point.step_us < 0.999 * best->step_us) best = point;  // not for a trifle
      return true;
    });
    if (!best) refuse(gpus);
    return {*best, best->gstencils / gpus / fastest_kernel};
  }

 private:
  std::optional<Decomposition> cut_for(int gpus, int steps) const {
    const HaloLayers halo = halo_need(problem_, steps).arrays;
    try {
      return weak_ ? grow(problem_.extents, problem_.boundaries, gpus, halo)
                   : choose_decomposition(problem_.extents, problem_.boundaries, gpus, halo);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      return std::nullopt;
    }
  }

  [[noreturn]] void refuse(int gpus) const {
    const auto grid = cut_for(gpus, 1);
    if (!grid) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("a grid of {} cannot be cut over {} GPUs", to_string(problem_.extents), gpus));
    }
    const Box own = grid->owned(0);
    throw NoWinner(
        fmt::format("no winner is known for parts of {}x{}x{}: tune them first, by `stencil-tune` with "
                    "--dims for one part and the same other options",
                    own.high[0] - own.low[0], own.high[1] - own.low[1], own.high[2] - own.low[2]));
  }

  const Problem& problem_;
  const Links& links_;
  bool weak_;
  LocalKernels& kernels_;
};

std::vector<std::string> row_of(const Best& best) {
  const ScalingPoint& point = best.point;
  return {fmt::format("{}", point.ranks),
          to_string(point.cut, point.part.rank),
          to_string(point.part),
          fmt::format("{}", point.kernel.fused_steps),
          fmt::format("{}", point.per_exchange),
          fmt::format("~{:.0f}", point.exchange_us),
          fmt::format("~{:.1f}", point.step_us),
          fmt::format("~{:.0f}", point.gstencils),
          fmt::format("~{:.1f} %", 100 * best.efficiency)};
}

nlohmann::ordered_json json_of(const Best& best) {
  const ScalingPoint& point = best.point;
  return {{"gpus", point.ranks},
          {"cut", to_string(point.cut, point.part.rank)},
          {"part", to_string(point.part)},
          {"fused_steps", point.kernel.fused_steps},
          {"steps_per_exchange", point.per_exchange},
          {"exchange_us", point.exchange_us},
          {"step_us", point.step_us},
          {"gstencils", point.gstencils},
          {"efficiency", best.efficiency},
          {"predicted", true}};
}

void print_table(const Problem& problem, const Target& target, const Links& links, bool weak,
                 const std::vector<Best>& points, const LocalKernels& kernels) {
  fmt::print("{}{}, on many {}: predicted, not measured\n\n", describe(problem), weak ? " a GPU" : "", target.gpu());
  std::vector<std::vector<std::string>> rows;
  for (const Best& best : points) rows.push_back(row_of(best));
  fmt::print("{}\n", text_table({{"GPUs"},
                                 {"cut"},
                                 {"cells a GPU"},
                                 {"fused"},
                                 {"steps an exchange"},
                                 {"exchange us"},
                                 {"us a step"},
                                 {"GStencil/s"},
                                 {"efficiency"}},
                                rows, {.indent = "  ", .terminal = terminal_of(stdout)}));
  for (const auto& [code, source] : kernels.sources()) print_fitted("kernel: {}\n", source);
  print_fitted(
      "links: {:.0f} GB/s and {:.0f} us within nodes of {}, {:.0f} GB/s and {:.0f} us between them, for each GPU\n",
      links.node_gbs, links.node_latency_us, links.node, links.network_gbs, links.network_latency_us);
}

}  // namespace

void add_many_gpus_options(CommandLine& line) {
  line.group("many GPUs")
      .add_options()("gpus", po::value<std::string>()->value_name("N"),
                     "predict what the grid reaches over so many GPUs, by the winners that are known; tunes nothing")(
          "weak", "--dims are the cells of each GPU: the grid grows with their number")(
          "node", po::value<std::string>()->value_name("N"), "GPUs of a node (default 8)")(
          "node-link", po::value<std::string>()->value_name("GB/s,US"),
          "of a GPU within its node (default 395,18), or scaling.json, which bench/scaling measured")(
          "network", po::value<std::string>()->value_name("GB/s,US"), "of a GPU to other nodes (default 50,25)");
}

int predict_many_gpus(const po::variables_map& values, const std::vector<Problem>& problems, const Target& target) {
  const Links links = links_from(values);
  const bool weak = values.count("weak") > 0;
  auto json = nlohmann::ordered_json::array();
  for (const Problem& problem : problems) {
    if (!is_whole_step(problem)) {
      throw Error(ErrorCode::invalid_argument, "--gpus and --stage exclude each other: whole steps run on many GPUs");
    }
    LocalKernels kernels(problem, target.gpu(), values["db"].as<std::string>());
    Search search(problem, links, weak, kernels);
    std::vector<Best> points;
    for (const std::string& gpus : split_list(values["gpus"].as<std::string>())) {
      points.push_back(search.run(parse_number("gpus", gpus, 1, kMostGpus)));
      json.push_back(json_of(points.back()));
    }
    if (values.count("json") == 0) print_table(problem, target, links, weak, points, kernels);
  }
  if (values.count("json") > 0) fmt::print("{}", json_text(json));
  return 0;
}

}  // namespace stencil_tune
