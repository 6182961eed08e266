// What a person watching a session sees: one line redrawn on a terminal, plain lines elsewhere.
#pragma once

#include "tuner/session/session.hpp"

#include <cstdio>
#include <string>

namespace stencil_tune {

/// "[######----]  24 s left  212 tried, 3 failed  best 455.1 GStencil/s (86 % of copy) streaming.bx32", less what
/// `columns` have no room for: nothing is cut in the middle. Predicted figures carry a "~".
std::string progress_line(const Progress& progress, bool predicted, int columns);

class ConsoleProgress : public SessionObserver {
 public:
  /// `predicted`: figures are marked as such. `gpu`: where sessions on several run side by side, each line begins with
  /// it and none is redrawn. Writes to `out`, which stays open.
  ConsoleProgress(std::FILE* out, bool predicted, std::string gpu = "");
  ~ConsoleProgress() override;

  void started(const DeviceSession& device, const Progress& progress) override;
  void finished_trial(const TrialRecord& trial, const Progress& progress) override;
  void idle(const Progress& progress) override;
  void waiting(const std::string& what) override { say(what); }

 private:
  void redraw(const Progress& progress);
  void clear();
  void say(const std::string& line);
  void say_status(const Progress& progress);

  std::FILE* out_;
  bool terminal_;
  bool predicted_;
  std::string gpu_;
  bool drawn_ = false;
  bool racing_ = false;
  double best_said_ = 0;
  double said_at_s_ = 0;
};

/// Tells nobody.
class SilentProgress : public SessionObserver {
 public:
  void started(const DeviceSession&, const Progress&) override {}
  void finished_trial(const TrialRecord&, const Progress&) override {}
  void idle(const Progress&) override {}
  void waiting(const std::string&) override {}
};

}  // namespace stencil_tune
