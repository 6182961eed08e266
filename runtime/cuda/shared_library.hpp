// A dynamic library opened at run time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace stencil_tune {

/// Owns one dlopen handle; the library is closed with the last owner.
class SharedLibrary {
 public:
  enum class Visibility { local, global };

  /// A path, or a plain soname that the dynamic linker looks for. Nothing when it cannot be opened; `why` then says
  /// why.
  static std::optional<SharedLibrary> open(const std::string& path_or_soname, std::string* why = nullptr,
                                           Visibility visibility = Visibility::local);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  /// The symbol's address, null when the library has none of that name.
  void* find(const char* symbol) const noexcept;

  /// The function's address. Throws Error(missing_library): a library too old for us.
  template <class Function>
  void require(Function& function, const char* symbol) const {
    function = reinterpret_cast<Function>(require_address(symbol));
  }

  /// Where the dynamic linker found it.
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  SharedLibrary(void* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}

  void* require_address(const char* symbol) const;

  void* handle_ = nullptr;
  std::filesystem::path path_;
};

}  // namespace stencil_tune
