#include "tuner/session/json_progress.hpp"

#include "tuner/session/say.hpp"

#include <cmath>

namespace stencil_tune {
namespace {

constexpr double kEveryS = 0.2;

const char* name(Progress::Phase phase) {
  switch (phase) {
    case Progress::Phase::starting:
      return "starting";
    case Progress::Phase::searching:
      return "searching";
    case Progress::Phase::racing:
      return "racing";
  }
  return "";
}

nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace

void JsonProgress::started(const DeviceSession& device, const Progress& progress) {
  told_at_s_ = -1;  // forgets a session before
  best_told_ = 0;
  tell({{"event", "started"},
        {"gpu", device.device.name},
        {"architecture", device.device.architecture},
        {"ceiling_gbs", device.ceiling_gbs},
        {"predicted", predicted_},
        {"known", progress.known}});
}

void JsonProgress::finished_trial(const TrialRecord& /*trial*/, const Progress& progress) { tell_progress(progress); }

void JsonProgress::idle(const Progress& progress) { tell_progress(progress); }

void JsonProgress::waiting(const std::string& what) { tell({{"event", "waiting"}, {"what", what}}); }

void JsonProgress::tell_progress(const Progress& progress) {
  const double best = progress.best ? progress.best->rate : 0;
  if (best <= best_told_ && progress.elapsed_s < told_at_s_ + kEveryS && told_at_s_ >= 0) return;
  told_at_s_ = progress.elapsed_s;
  best_told_ = best;
  nlohmann::ordered_json event{{"event", "progress"},
                               {"phase", name(progress.phase)},
                               {"elapsed_s", progress.elapsed_s},
                               {"budget_s", finite_or_null(progress.budget_s)},
                               {"trials", progress.trials},
                               {"max_trials", nullptr},
                               {"failed", progress.failed},
                               {"known", progress.known},
                               {"best", nullptr}};
  if (progress.max_trials > 0) event["max_trials"] = progress.max_trials;
  if (progress.best) {
    const ProblemKey& problem = progress.best->problem;
    const bool is_stencils = problem.kind == SubjectKind::stencil;
    event["best"] = {{"code", progress.best->code},
                     {is_stencils ? "gstencils" : "rate", progress.best->rate},
                     {"share", progress.best->share}};
    if (!is_stencils) event["best"]["unit"] = problem.unit;
  }
  tell(event);
}

void JsonProgress::tell(nlohmann::ordered_json event) {
  if (!gpu_.empty()) event["gpu"] = gpu_;
  constexpr int kOneLine = -1;
  constexpr bool kAscii = true;
  say(out_, event.dump(kOneLine, ' ', kAscii, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace stencil_tune
