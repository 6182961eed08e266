#include "tuner/session/progress.hpp"

#include "tuner/session/say.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/terminal.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kBarCells = 20;
constexpr int kShortBarCells = 10;   // on narrow terminals
constexpr int kWide = 100;           // columns
constexpr double kPlainEveryS = 10;  // without a terminal: at least this often
constexpr double kBetterWorthSaying = 1.005;

double done_share(const Progress& progress) {
  double share = std::isfinite(progress.budget_s) ? progress.elapsed_s / progress.budget_s : 0;
  if (progress.max_trials > 0) share = std::max(share, static_cast<double>(progress.trials) / progress.max_trials);
  return std::clamp(share, 0.0, 1.0);
}

/// From what matters most on.
std::vector<std::string> best_texts(const Progress& progress, bool predicted) {
  if (!progress.best) return {"no result yet"};
  const char* mark = predicted ? "~" : "";
  return {fmt::format("best {}{:.1f} {}", mark, progress.best->rate, progress.best->problem.unit),
          fmt::format("({}{:.0f} % of copy)", mark, 100 * progress.best->share), progress.best->code};
}

std::string counts_text(const Progress& progress) {
  std::string text = fmt::format("{} tried", progress.trials);
  if (progress.trials == 0 && progress.compiling > 0) text += fmt::format(", {} being compiled", progress.compiling);
  if (progress.failed > 0) text += fmt::format(", {} failed", progress.failed);
  if (progress.known > 0) text += fmt::format(", {} known", progress.known);
  return text;
}

std::string time_left_text(const Progress& progress) {
  if (!std::isfinite(progress.budget_s)) return fmt::format("{:.0f} s", progress.elapsed_s);
  return fmt::format("{:.0f} s left", std::max(0.0, progress.budget_s - progress.elapsed_s));
}

std::string racing_text(bool predicted) {
  return predicted ? "running the finalists on the CPU" : "racing the finalists";
}

}  // namespace

std::string_view name(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::budget:
      return "budget spent";
    case StopReason::max_trials:
      return "all trials made";
    case StopReason::exhausted:
      return "every candidate tried";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "";
}

std::string progress_line(const Progress& progress, bool predicted, int columns) {
  const int cells = columns < kWide ? kShortBarCells : kBarCells;
  const int filled = static_cast<int>(std::lround(done_share(progress) * cells));
  const std::string bar =
      std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(cells - filled), '-');
  const std::string what = progress.phase == Progress::Phase::racing ? racing_text(predicted) : counts_text(progress);
  std::string line = fmt::format("[{}] {:>9}  {} ", bar, time_left_text(progress), what);
  for (const std::string& part : best_texts(progress, predicted)) {
    if (static_cast<int>(columns_of(line) + 1 + columns_of(part)) > columns) break;
    line += " " + part;
  }
  line.resize(std::min(line.find_last_not_of(' ') + 1, static_cast<std::size_t>(std::max(0, columns))));
  return line;
}

ConsoleProgress::ConsoleProgress(std::FILE* out, bool predicted, std::string gpu)
    : out_(out), terminal_(gpu.empty() && isatty(fileno(out)) != 0), predicted_(predicted), gpu_(std::move(gpu)) {}

ConsoleProgress::~ConsoleProgress() { clear(); }

void ConsoleProgress::started(const DeviceSession& device, const Progress& progress) {
  racing_ = false;  // forgets a session before
  best_said_ = said_at_s_ = 0;
  say(fmt::format("{} {} ({}), copy ceiling {}{:.0f} GB/s{}", predicted_ ? "predicting for" : "tuning on",
                  device.device.name, device.device.architecture, predicted_ ? "~" : "", device.ceiling_gbs,
                  device.fits_in_l2 ? ", grid fits in L2" : ""));
  if (progress.known > 0) say(fmt::format("resuming: {} of earlier runs known", counted(progress.known, "trial")));
}

void ConsoleProgress::finished_trial(const TrialRecord& /*trial*/, const Progress& progress) {
  if (terminal_) {
    redraw(progress);
    return;
  }
  const bool better = progress.best && progress.best->rate > best_said_ * kBetterWorthSaying;
  if (better || progress.elapsed_s >= said_at_s_ + kPlainEveryS) say_status(progress);
}

void ConsoleProgress::idle(const Progress& progress) {
  if (terminal_) {
    redraw(progress);
  } else if (progress.phase == Progress::Phase::racing && !racing_) {
    racing_ = true;
    say(racing_text(predicted_));
  } else if (progress.elapsed_s >= said_at_s_ + kPlainEveryS) {
    say_status(progress);
  }
}

void ConsoleProgress::redraw(const Progress& progress) {
  const std::string line = progress_line(progress, predicted_, terminal_of(out_).columns - 1);
  stencil_tune::say(out_, "\r\033[K" + line);
  drawn_ = true;
}

void ConsoleProgress::clear() {
  if (!drawn_) return;
  stencil_tune::say(out_, "\r\033[K");
  drawn_ = false;
}

void ConsoleProgress::say(const std::string& line) {
  clear();
  const std::string whole = gpu_.empty() ? line : gpu_ + ": " + line;
  stencil_tune::say(out_, wrap_lines(whole, terminal_of(out_).columns, "  ") + "\n");
}

void ConsoleProgress::say_status(const Progress& progress) {
  if (progress.best) best_said_ = progress.best->rate;
  said_at_s_ = progress.elapsed_s;
  say(fmt::format("{:4.0f} s  {}  {}", progress.elapsed_s, counts_text(progress),
                  fmt::join(best_texts(progress, predicted_), " ")));
}

}  // namespace stencil_tune
