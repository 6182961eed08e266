// What does who never tunes get? Which kernel the library would choose for each winner that ships, were it not known.
//
//   stencil_tune_bench_untuned [--gpu h200] [--without size] [--only TEXT] [trials.gz ...]
//
// A line each: the problem, the match, the chosen code, the winner's, and the share of the winner's rate that the
// chosen one has: by the model, and where the files of recorded trials know both, as measured. Needs no GPU;
// `bench/bench untuned` races both codes on one.
#include "db/stored_code.hpp"
#include "generator/candidates/family.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "runtime/model/model.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/replay/recorded_trials.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <ctime>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace po = boost::program_options;
using namespace stencil_tune;

/// The best rate of each code of a problem, by the problem's name and the code.
using Measured = std::map<std::pair<std::string, std::string>, double>;

Measured read_measured(const std::vector<std::string>& files) {
  Measured measured;
  for (const std::string& file : files) {
    for (const RecordedProblem& problem : read_recorded_trials(file).problems) {
      for (const RecordedTrial& trial : problem.trials) {
        double& rate = measured[{problem.name, trial.code}];
        rate = std::max(rate, trial.gstencils);
      }
    }
  }
  return measured;
}

/// As files of recorded trials name it.
std::string recorded_name(const ProblemKey& key) {
  return fmt::format("{}{} {} {} {} {} {}", key.stencil_name, key.stage == 0 ? "" : fmt::format(":{}", key.stage),
                     name(key.type), to_string(key.extents), key.pitch, to_string(key.boundaries, key.extents.rank),
                     key.steps);
}

/// The winners without those that know the problem: all of its stencil, or all of its form's on that grid.
std::vector<WinnerRecord> without(const std::vector<WinnerRecord>& winners, const ProblemKey& key, bool size) {
  std::vector<WinnerRecord> left;
  std::copy_if(winners.begin(), winners.end(), std::back_inserter(left), [&](const WinnerRecord& winner) {
    const ProblemKey& other = winner.trial.problem;
    return size ? other.form != key.form || other.extents != key.extents : other.stencil_key != key.stencil_key;
  });
  return left;
}

/// A library that knows these winners alone.
LibraryParts parts_of(const std::vector<WinnerRecord>& winners) {
  LibraryParts parts;
  parts.driver = []() -> Driver& { throw Error(ErrorCode::no_device, "nothing runs here"); };
  parts.compiler = [] { return std::shared_ptr<Compiler>(); };
  parts.winners = [&](const Problem& problem, const std::string&) {
    const std::string form = stencil_form(problem.stencil, problem.stage);
    std::vector<WinnerRecord> found;
    std::copy_if(winners.begin(), winners.end(), std::back_inserter(found),
                 [&](const WinnerRecord& winner) { return winner.trial.problem.form == form; });
    return found;
  };
  parts.all_winners = [&] { return std::span<const WinnerRecord>(winners); };
  return parts;
}

struct Summary {
  double sum = 0, least = 1;
  int count = 0;

  void add(double share) {
    sum += share;
    least = std::min(least, share);
    ++count;
  }
};

class Untuned {
 public:
  Untuned(const po::variables_map& given)
      : gpu_(given["gpu"].as<std::string>()),
        size_(given["without"].as<std::string>() == "size"),
        measured_(read_measured(given["trials"].as<std::vector<std::string>>())),
        winners_(shipped_winners()) {}

  void print(const std::string& only) {
    const DeviceModel& device = find_device_model(gpu_);
    fmt::print(
        "# stencil type dims pitch boundary steps | match | chosen | winner | GStencil/s of the winner | by the model "
        "| "
        "measured | us\n");
    for (const WinnerRecord& winner : winners_) {
      const ProblemKey& key = winner.trial.problem;
      if (winner.trial.platform.gpu != device.gpu || recorded_name(key).find(only) == std::string::npos) continue;
      try {
        Stencil stencil = find_stencil(key.stencil_name);
        if (stencil_key(stencil) == key.stencil_key) print(winner, std::move(stencil), device);  // else a zone's
      } catch (const Error& error) {
        fmt::print("{} | {}\n", recorded_name(key), error.what());
      }
    }
    for (const auto& [what, summary] : summaries_) {
      fmt::print("# {}: {} problems, mean {:.3f}, least {:.2f}\n", what, summary.count, summary.sum / summary.count,
                 summary.least);
    }
  }

 private:
  void print(const WinnerRecord& winner, Stencil stencil, const DeviceModel& device) {
    const ProblemKey& key = winner.trial.problem;
    const Problem problem = problem_of(key, stencil);
    const bool alone = key.stage >= 0 && stencil.stages.size() > 1;
    const std::vector<WinnerRecord> left = without(winners_, key, size_);
    Library library(std::make_unique<Library::Impl>(parts_of(left)));
    const std::clock_t start = std::clock();  // the processor's time: other processes may be at work
    const Kernel kernel = library.lookup({.stencil = std::move(stencil),
                                          .type = key.type,
                                          .extents = key.extents,
                                          .boundaries = key.boundaries,
                                          .pitch = key.pitch,
                                          .steps = key.steps,
                                          .gpu = gpu_});
    const double taken_us = 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const Evidence& evidence = alone ? kernel.evidence(key.stage) : kernel.run_evidence();
    const PerformanceModel model(problem, limits_of_architecture(device.architecture), device);
    const auto rate = [&](const std::string& code) { return model.predict(parse_code(code)).gstencils; };
    const bool stages = key.stage == kWholeStep && !parse_code(evidence.code).family->advances_all_fields;
    const double by_model = stages ? 0 : rate(evidence.code) / rate(winner.trial.code);
    const auto known = measured_.find({recorded_name(key), evidence.code});
    const double share = known == measured_.end() ? 0 : std::min(1.0, known->second / winner.trial.rate);
    const std::string kind = fmt::format("{}, {}", key.steps > 1 ? "runs" : "single steps", name(evidence.match));
    if (by_model > 0) summaries_["by the model, " + kind].add(std::min(1.0, by_model));
    if (share > 0) summaries_["measured, " + kind].add(share);
    fmt::print("{} | {} | {}{} | {} | {:.0f} | {} | {} | {:.0f}\n", recorded_name(key), name(evidence.match),
               evidence.code, stages ? " ..." : "", winner.trial.code, winner.trial.rate,
               by_model > 0 ? fmt::format("{:.2f}", by_model) : "", share > 0 ? fmt::format("{:.2f}", share) : "",
               taken_us);
  }

  std::string gpu_;
  bool size_;
  Measured measured_;
  std::vector<WinnerRecord> winners_;
  std::map<std::string, Summary> summaries_;
};

}  // namespace

int main(int argc, char** argv) try {
  po::options_description options("stencil_tune_bench_untuned [options] [trials.gz ...]");
  options.add_options()("help", "this text")("gpu", po::value<std::string>()->default_value("h200"), "whose winners")(
      "without", po::value<std::string>()->default_value("stencil"),
      "what is taken away: 'stencil', all winners of the same one; 'size', those of its form on the same grid")(
      "only", po::value<std::string>()->default_value(""), "problems whose name contains this")(
      "trials", po::value<std::vector<std::string>>()->default_value({}, ""), "files of recorded trials");
  po::positional_options_description positional;
  positional.add("trials", -1);
  po::variables_map given;
  po::store(po::command_line_parser(argc, argv).options(options).positional(positional).run(), given);
  if (given.count("help") > 0) {
    std::cout << options;
    return 0;
  }
  Untuned(given).print(given["only"].as<std::string>());
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
