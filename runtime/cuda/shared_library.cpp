#include "runtime/cuda/shared_library.hpp"

#include "stencil_tune/error.hpp"

#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

std::optional<SharedLibrary> SharedLibrary::open(const std::string& path_or_soname, std::string* why,
                                                 Visibility visibility) {
  const int scope = visibility == Visibility::global ? RTLD_GLOBAL : RTLD_LOCAL;
  // Stays loaded: NVRTC and the driver keep memory and threads of their own beyond any of our handles.
  void* handle = dlopen(path_or_soname.c_str(), RTLD_NOW | RTLD_NODELETE | scope);
  if (handle == nullptr) {
    if (why != nullptr) {
      const char* message = dlerror();
      *why = message != nullptr ? message : "unknown reason";
    }
    return std::nullopt;
  }
  link_map* map = nullptr;
  const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr;
  return SharedLibrary(handle, known ? map->l_name : path_or_soname);
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

void* SharedLibrary::require_address(const char* symbol) const {
  void* address = find(symbol);
  if (address == nullptr) {
    throw Error(ErrorCode::missing_library,
                fmt::format("{} has no function {}: it is too old; install a newer one", path_.string(), symbol));
  }
  return address;
}

}  // namespace stencil_tune
