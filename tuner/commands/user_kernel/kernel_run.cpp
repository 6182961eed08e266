#include "tuner/commands/user_kernel/kernel_run.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/text_table.hpp"
#include "tuner/user_kernel/host_trial.hpp"
#include "tuner/user_kernel/user_kernel_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

namespace stencil_tune {
namespace {

std::vector<ReportRow> rows_of(const SessionResult& result) {
  std::vector<ReportRow> rows;
  if (result.winner) rows.push_back({"winner", result.winner, ""});
  for (const BaselineResult& baseline : result.baselines) {
    rows.push_back({baseline.name, baseline.trial, baseline.reason});
  }
  return rows;
}

/// So many, spread evenly over all that are legal, behind the one that a search begins with.
std::vector<ParameterValues> spread_over(const KernelSearch& search, std::size_t most) {
  const std::vector<ParameterValues>& all = search.legal;
  const std::size_t count = std::min(most, all.size());
  std::vector<ParameterValues> some{default_configuration(search.kernel).values};
  for (std::size_t i = 0; i < count && some.size() < count; ++i) {
    const ParameterValues& values = all[i * all.size() / count];
    if (values != some.front()) some.push_back(values);
  }
  return some;
}

/// Says of the first few what they do on the CPU.
void run_some_on_host(const UserKernel& kernel, const std::atomic<bool>& stop,
                      std::vector<CompiledConfiguration>& configurations) {
  constexpr int kMost = 3;
  constexpr std::chrono::seconds kLongest{60};
  const auto small = with_small_sizes(kernel);
  if (!small) return;
  int tried = 0;
  for (CompiledConfiguration& each : configurations) {
    if (tried == kMost || stop) return;
    if (each.compiled.outcome != Outcome::ok) continue;
    const ParameterValues values = parse_configuration(kernel, each.compiled.code);
    if (broken_rule(*small, values)) continue;
    ++tried;
    try {
      const Patience patience{Patience::Clock::now() + kLongest, &stop};
      each.on_host = wrong_on_host(*small, values, patience).value_or("right with " + sizes_text(*small));
    } catch (const Error& error) {
      each.on_host = fmt::format("not run: {}", error.what());
      if (error.code() == ErrorCode::missing_library) return;
    }
  }
}

}  // namespace

std::string describe(const KernelSearch& search) {
  const std::string sizes = sizes_text(search.kernel);
  return fmt::format("{}{}{}: {}", search.kernel.name, sizes.empty() ? "" : ", ", sizes,
                     counted(search.legal.size(), "configuration"));
}

std::string kernel_report(const KernelSearch& search, const Target& target, const TuningOutcome& outcome,
                          const std::vector<std::string>& notes, const Terminal& terminal) {
  const SessionResult& result = outcome.result;
  std::string text = fmt::format("{}\n{} ({}), driver {}, copy ceiling {:.0f} GB/s\n\n", describe(search), target.gpu(),
                                 target.architecture, outcome.platform.driver, result.device.ceiling_gbs);
  text += rows_table(rows_of(result), user_kernel_problem_key(search.kernel).unit, false, terminal);
  for (const std::string& note : notes) text += "\n" + note;
  return text + "\n";
}

nlohmann::ordered_json kernel_report_json(const KernelSearch& search, const Target& target,
                                          const TuningOutcome& outcome, const std::vector<std::string>& notes) {
  const ProblemKey key = user_kernel_problem_key(search.kernel);
  nlohmann::ordered_json json{{"kernel", key.stencil_name},
                              {"key", key.stencil_key},
                              {"sizes", key.sizes},
                              {"unit", key.unit},
                              {"configurations", search.legal.size()},
                              {"device", {{"name", target.gpu()}, {"architecture", target.architecture}}},
                              {"copy_ceiling_gbs", outcome.result.device.ceiling_gbs}};
  json["kernels"] = nlohmann::ordered_json::array();
  for (const ReportRow& row : rows_of(outcome.result)) {
    nlohmann::ordered_json entry{{"kernel", row.name}};
    if (row.trial) {
      entry.update(trial_json(*row.trial));
    } else {
      entry["not_available"] = row.reason;
    }
    json["kernels"].push_back(std::move(entry));
  }
  json["notes"] = notes;
  return json;
}

std::vector<CompiledConfiguration> compile_kernel(const KernelSearch& search, const Target& target,
                                                  const TuningSettings& settings, std::size_t most) {
  remove_leftovers();
  const UserKernelSubject subject(search.kernel);
  const auto compilers = start_compile_workers(subject, worker_options(target, settings), {.stop = settings.stop});
  std::vector<std::string> order;
  for (const ParameterValues& values : spread_over(search, most)) {
    order.push_back(configuration_code(search.kernel, values));
    compilers->submit(order.back());
  }
  std::map<std::string, CompileResult> results;
  while (compilers->pending() > 0 && !*settings.stop) {
    constexpr std::chrono::milliseconds kPoll{200};
    if (auto result = compilers->poll(kPoll)) results[result->code] = std::move(*result);
  }
  std::vector<CompiledConfiguration> configurations;
  for (const std::string& code : order) {
    if (results.contains(code)) configurations.push_back({std::move(results.at(code)), ""});
  }
  run_some_on_host(search.kernel, *settings.stop, configurations);
  return configurations;
}

std::string compiled_report(const std::vector<CompiledConfiguration>& configurations, const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [compiled, on_host] : configurations) {
    const KernelResources& resources = compiled.kernel.resources;
    if (compiled.outcome == Outcome::ok) {
      rows.push_back({compiled.code, std::to_string(resources.registers), std::to_string(resources.spill_bytes),
                      std::to_string(resources.static_shared), on_host.substr(0, on_host.find('\n'))});
    } else {
      const std::string& log = compiled.message;
      rows.push_back({compiled.code, fmt::format("{}: {}", name(compiled.outcome), log.substr(0, log.find('\n')))});
    }
  }
  return text_table({{"code", false}, {"registers"}, {"spills, B"}, {"static shared, B"}, {"on the CPU", false}}, rows,
                    {"  ", terminal, {}});
}

}  // namespace stencil_tune
