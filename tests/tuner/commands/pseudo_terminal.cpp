#include "tests/tuner/commands/pseudo_terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace stencil_tune::testing {
namespace {

[[noreturn]] void run_child(const char* terminal, const std::vector<std::string>& command, int columns,
                            const std::vector<std::string>& environment) {
  setsid();
  const int fd = open(terminal, O_RDWR);
  const winsize size{.ws_row = 40, .ws_col = static_cast<unsigned short>(columns), .ws_xpixel = 0, .ws_ypixel = 0};
  if (fd < 0 || ioctl(fd, TIOCSWINSZ, &size) != 0) _exit(97);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(fd, stream);
  for (const char* name : {"COLUMNS", "NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(name);
  setenv("TERM", "xterm", 1);
  for (const std::string& variable : environment) putenv(strdup(variable.c_str()));
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(strdup(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(98);
}

}  // namespace

std::optional<TerminalRun> run_on_terminal(const std::vector<std::string>& command, int columns,
                                           const std::vector<std::string>& environment) {
  const int ours = posix_openpt(O_RDWR | O_NOCTTY);
  if (ours < 0 || grantpt(ours) != 0 || unlockpt(ours) != 0) return std::nullopt;
  const std::string terminal = ptsname(ours);
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) run_child(terminal.c_str(), command, columns, environment);
  TerminalRun result;
  std::array<char, 4096> buffer{};
  for (;;) {
    // Until the child has opened its end there is nothing to read either: it is an end only once the child is gone.
    const ssize_t got = read(ours, buffer.data(), buffer.size());
    if (got > 0) {
      result.output.append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      break;
    }
    usleep(1000);
  }
  close(ours);
  std::erase(result.output, '\r');
  return result;
}

}  // namespace stencil_tune::testing
