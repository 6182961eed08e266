#include "tuner/session/progress.hpp"

#include "tuner/session/say.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

constexpr int kBarCells = 20;
constexpr double kPlainEveryS = 10;  // without a terminal: at least this often
constexpr double kBetterWorthSaying = 1.005;

int terminal_columns(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

double done_share(const Progress& progress) {
  double share = std::isfinite(progress.budget_s) ? progress.elapsed_s / progress.budget_s : 0;
  if (progress.max_trials > 0) share = std::max(share, static_cast<double>(progress.trials) / progress.max_trials);
  return std::clamp(share, 0.0, 1.0);
}

std::string best_text(const Progress& progress, bool predicted) {
  if (!progress.best) return "no result yet";
  const char* mark = predicted ? "~" : "";
  return fmt::format("best {0}{1:.1f} GStencil/s ({0}{2:.0f} % of copy) {3}", mark, progress.best->gstencils,
                     100 * progress.best->share, progress.best->code);
}

std::string counts_text(const Progress& progress) {
  std::string text = fmt::format("{} tried", progress.trials);
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

std::string progress_line(const Progress& progress, bool predicted, int columns) {
  const int filled = static_cast<int>(std::lround(done_share(progress) * kBarCells));
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kBarCells - filled), '-');
  const std::string what = progress.phase == Progress::Phase::racing ? racing_text(predicted) : counts_text(progress);
  std::string line =
      fmt::format("[{}] {:>9}  {}  {}", bar, time_left_text(progress), what, best_text(progress, predicted));
  if (static_cast<int>(line.size()) > columns) line.resize(static_cast<std::size_t>(std::max(0, columns)));
  return line;
}

ConsoleProgress::ConsoleProgress(std::FILE* out, bool predicted)
    : out_(out), terminal_(isatty(fileno(out)) != 0), predicted_(predicted) {}

ConsoleProgress::~ConsoleProgress() { clear(); }

void ConsoleProgress::started(const DeviceSession& device, const Progress& progress) {
  racing_ = false;  // of a session before
  best_said_ = said_at_s_ = 0;
  say(fmt::format("{} {} ({}), copy ceiling {:.0f} GB/s{}", predicted_ ? "predicting for" : "tuning on",
                  device.device.name, device.device.architecture, device.ceiling_gbs,
                  device.fits_in_l2 ? ", grid fits in L2" : ""));
  if (progress.known > 0) say(fmt::format("resuming: {} trials of earlier runs are known", progress.known));
}

void ConsoleProgress::finished_trial(const TrialRecord& /*trial*/, const Progress& progress) {
  if (terminal_) {
    redraw(progress);
    return;
  }
  const bool better = progress.best && progress.best->gstencils > best_said_ * kBetterWorthSaying;
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
  const std::string line = progress_line(progress, predicted_, terminal_columns(out_) - 1);
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
  stencil_tune::say(out_, line + "\n");
}

void ConsoleProgress::say_status(const Progress& progress) {
  if (progress.best) best_said_ = progress.best->gstencils;
  said_at_s_ = progress.elapsed_s;
  say(fmt::format("{:4.0f} s  {}  {}", progress.elapsed_s, counts_text(progress), best_text(progress, predicted_)));
}

}  // namespace stencil_tune
