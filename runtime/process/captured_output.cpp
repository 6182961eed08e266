#include "runtime/process/captured_output.hpp"

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>

namespace stencil_tune {

CapturedOutput::CapturedOutput() : file_(::memfd_create("captured-output", MFD_CLOEXEC)) {
  if (file_.get() < 0) {
    throw Error(ErrorCode::file_io, std::string("cannot make a file in memory: ") + std::strerror(errno));
  }
}

std::size_t CapturedOutput::size() const {
  struct stat status {};
  return ::fstat(file_.get(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

// By offset: the program writes at the position that both descriptors share.
std::string CapturedOutput::read(std::size_t offset) const {
  std::string text(size() - offset, '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t part = ::pread(file_.get(), text.data() + got, text.size() - got, static_cast<off_t>(offset + got));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) break;
    got += static_cast<std::size_t>(part);
  }
  text.resize(got);
  return text;
}

std::string CapturedOutput::text() const { return read(0); }

std::string CapturedOutput::last(std::size_t bytes) const {
  const std::size_t all = size();
  std::string text = read(all - std::min(all, bytes));
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

}  // namespace stencil_tune
