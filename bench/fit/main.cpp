// Fits the performance model's constants to recorded trials of a GPU, and writes its calibration.
#include "bench/fit/fit.hpp"
#include "bench/fit/ranking.hpp"
#include "bench/fit/terms.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace po = boost::program_options;

namespace stencil_tune {
namespace {

struct TrialFile {
  std::string path;
  std::vector<MeasuredProblem> problems;
};

struct Input {
  std::string gpu;
  std::vector<TrialFile> files;
};

Input read_files(const std::vector<std::string>& paths) {
  Input input;
  for (const std::string& path : paths) {
    const RecordedTrials recorded = read_recorded_trials(path);
    if (input.gpu.empty()) input.gpu = recorded.gpu;
    if (recorded.gpu != input.gpu) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} has trials of {}, files before it of {}", path, recorded.gpu, input.gpu));
    }
    input.files.push_back({path, parse_recorded(recorded)});
    std::size_t passed_over = 0;
    for (const MeasuredProblem& measured : input.files.back().problems) passed_over += measured.passed_over;
    if (passed_over > 0) fmt::print("{}: {} trials of candidates that there are no more\n", path, passed_over);
  }
  return input;
}

std::string today() {
  std::array<char, 16> text{};
  const std::time_t now = std::time(nullptr);
  std::strftime(text.data(), text.size(), "%Y-%m-%d", std::gmtime(&now));
  return text.data();
}

std::vector<FitRecord> judge_files(const Input& input, const DeviceModel& device, const Calibration& calibration) {
  std::vector<FitRecord> records;
  for (const TrialFile& file : input.files) {
    records.push_back(judge(std::filesystem::path(file.path).filename(), file.problems, device, calibration));
  }
  return records;
}

void print_records(std::string_view title, const std::vector<FitRecord>& records) {
  fmt::print("\n{}\n{:<28} problems candidates deviation    level  highest  first twelve behind  agreement\n", title,
             "");
  for (const FitRecord& record : records) {
    fmt::print("{:<28} {:>8} {:>10} {:>7.1f} % {:>6.1f} % {:>6.1f} %  {:>17.1f} %  {:>9.2f}\n", record.trials,
               record.problems, record.candidates, 100 * record.deviation, 100 * record.level, 100 * record.highest,
               100 * record.lost, record.agreement);
  }
}

void print_changes(const Calibration& before, const Calibration& after) {
  const nlohmann::json was = nlohmann::json(before).flatten(), is = nlohmann::json(after).flatten();
  fmt::print("\n");
  for (const auto& [name, value] : is.items()) {
    if (value.is_number_float() && was[name] != value) {
      fmt::print("{:<36} {:>10.4g} -> {:>10.4g}\n", name, was[name].get<double>(), value.get<double>());
    }
  }
}

void write(const Calibration& calibration, const std::string& path) {
  const nlohmann::json json = calibration;
  nlohmann::ordered_json ordered;  // what a reader looks for first
  for (const char* key : {"gpu", "date", "note", "fitted_to", "memory", "sweep", "fused", "registers", "terms"}) {
    ordered[key] = json.at(key);
  }
  std::ofstream file(path);
  file << ordered.dump(2) << '\n';
  if (!file.flush()) throw Error(ErrorCode::file_io, fmt::format("cannot write {}", path));
}

/// Figures to four digits, which is more than any fit knows.
Calibration rounded(const Calibration& calibration) {
  const auto round = [](nlohmann::json& number) { number = std::stod(fmt::format("{:.4g}", number.get<double>())); };
  nlohmann::json constants = calibration;
  for (const char* group : {"memory", "sweep", "fused", "registers"}) {
    for (nlohmann::json& constant : constants[group]) round(constant);
  }
  constexpr double kTermDigits = 1e4;
  for (nlohmann::json& family : constants["terms"]) {
    for (nlohmann::json& term : family) term = std::round(term.get<double>() * kTermDigits) / kTermDigits;
  }
  for (nlohmann::json& record : constants["fitted_to"]) {
    for (const char* figure : {"deviation", "level", "highest", "lost", "agreement"}) round(record[figure]);
  }
  return constants.get<Calibration>();
}

std::vector<MeasuredProblem> problems_of(const Input& input) {
  std::vector<MeasuredProblem> problems;
  for (const TrialFile& file : input.files) {
    problems.insert(problems.end(), file.problems.begin(), file.problems.end());
  }
  return problems;
}

/// Terms on top of the constants, and how much they help where they were not learned.
TermTable learn_terms(const Input& input, const DeviceModel& device, const Calibration& calibration) {
  const std::vector<MeasuredProblem> problems = problems_of(input);
  const TermFit fit(problems, device, calibration);
  TermFit::LeftOut left_out = fit.left_out();
  left_out.without.trials = "constants alone";
  left_out.with.trials = "with others' terms";
  print_records("each problem by terms of all other stencils' trials", {left_out.without, left_out.with});
  return fit.terms();
}

Calibration fit_to(const Input& input, const DeviceModel& device, Calibration start, bool quick) {
  const std::vector<MeasuredProblem> problems = problems_of(input);
  start.terms.clear();
  const FitOptions options = quick ? FitOptions{60, 140, 12} : FitOptions{};
  Calibration fitted = rounded(fit_constants(start, problems, device, options, [](int round, double squares) {
    fmt::print(stderr, "round {}: sum of squares {:.5g}\n", round, squares);
  }));
  fitted.gpu = input.gpu;
  fitted.date = today();
  fitted.note =
      fmt::format("By bench/fit{}, from the constants of {}, {}.", quick ? " --quick" : "", start.gpu, start.date);
  return fitted;
}

void calibrate(const po::variables_map& values) {
  const Input input = read_files(values["trials"].as<std::vector<std::string>>());
  const DeviceModel device = device_model_of_gpu(input.gpu);
  Calibration calibration = calibration_of(device);
  const bool writes = values.count("out") > 0, judges = values.count("judge") > 0;
  const bool keeps_constants = judges || values.count("terms") > 0;
  if (judges && writes && calibration.gpu != input.gpu) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has no constants of its own to judge: fit them", input.gpu));
  }
  calibration.fitted_to = judge_files(input, device, calibration);
  print_records(describe_calibration(device, calibration), calibration.fitted_to);
  if (!keeps_constants) {
    const Calibration fitted = fit_to(input, device, calibration, values.count("quick") > 0);
    print_changes(calibration, fitted);
    calibration = fitted;
  }
  if (!judges) {
    calibration.terms = learn_terms(input, device, calibration);
    calibration.fitted_to = judge_files(input, device, calibration);
    print_records("after the fit", calibration.fitted_to);
  }
  if (writes) write(rounded(calibration), values["out"].as<std::string>());
}

int run(int argc, char** argv) {
  po::options_description options("stencil_tune_fit [options] FILE.trials.gz...");
  options.add_options()("help", "this text")("out", po::value<std::string>()->value_name("FILE"),
                                             "write the calibration there")(
      "quick", "a sample of 200 candidates a problem")("terms", "keep the present constants and learn the terms anew")(
      "judge", "fit nothing: say how well the present constants do")(
      "trials", po::value<std::vector<std::string>>()->required(), "recorded trials of one GPU");
  po::positional_options_description positional;
  positional.add("trials", -1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(options).positional(positional).run(), values);
  if (values.count("help") > 0) {
    std::cout << options;
    return 0;
  }
  po::notify(values);
  calibrate(values);
  return 0;
}

}  // namespace
}  // namespace stencil_tune

int main(int argc, char** argv) {
  try {
    return stencil_tune::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
