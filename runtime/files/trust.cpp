#include "runtime/files/trust.hpp"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace stencil_tune {

std::string why_unsafe(const std::filesystem::path& path, Owner owner) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::strerror(errno);
  const bool is_roots = owner == Owner::user_or_root && status.st_uid == 0;
  if (status.st_uid != ::geteuid() && !is_roots) return "it belongs to user " + std::to_string(status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it (chmod go-w would mend that)";
  return {};
}

std::string why_unsafe_link(const std::filesystem::path& link) {
  struct stat status {};
  if (::lstat(link.c_str(), &status) != 0) return std::strerror(errno);
  if (status.st_uid == ::geteuid() || status.st_uid == 0) return {};
  return "it belongs to user " + std::to_string(status.st_uid);
}

}  // namespace stencil_tune
