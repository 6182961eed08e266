// A program on a terminal of a given width.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune::testing {

struct TerminalRun {
  int status = -1;
  std::string output;  ///< standard output and error, newlines as files have them
};

/// environment: "NAME=value". Nothing where this machine has no pseudo-terminals.
std::optional<TerminalRun> run_on_terminal(const std::vector<std::string>& command, int columns,
                                           const std::vector<std::string>& environment = {});

}  // namespace stencil_tune::testing
