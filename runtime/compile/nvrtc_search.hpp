// Where NVRTC may be installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stencil_tune {

/// What the search looks at; a test fills its own.
struct NvrtcSearch {
  std::string override_path{};                    ///< STENCIL_TUNE_NVRTC: a library or its folder; nothing else then
  std::vector<std::filesystem::path> toolkits{};  ///< $CUDA_HOME, $CUDA_PATH, /usr/local/cuda
  std::vector<std::filesystem::path> python_environments{};  ///< $VIRTUAL_ENV, and that of the project
  std::vector<std::filesystem::path> python_packages{};      ///< the folder that holds our Python package, if any

  static NvrtcSearch from_environment();
};

/// The environment that scripts/setup makes, .venv at the root of the checkout that the program lies in; empty where it
/// lies in none.
std::filesystem::path project_environment(const std::filesystem::path& program);

/// Where the Python package that the file belongs to stands beside others: site-packages, as a rule; empty where it
/// belongs to none.
std::filesystem::path packages_around(const std::filesystem::path& file);

/// What to try to open, in order: full paths of files that are there, and plain sonames for the dynamic linker.
/// Python environments lie in places that others may have written: a library there counts only where it and all folders
/// down to it belong to this user or root, and nobody else may write to them.
std::vector<std::string> nvrtc_candidates(const NvrtcSearch& search);

/// The version of the NVRTC that NvrtcApi::open() would choose, told by the files' names alone: "13.0". Empty where
/// they do not tell. Opening the library takes 15 ms, which a program that finds its binaries in the cache need not
/// spend.
std::string version_by_name(const NvrtcSearch& search, int newest_major);

/// For the message when nothing was found: the places, one a line.
std::string describe(const NvrtcSearch& search);

/// NVRTC opens its builtins library by name and has no run path to find it: the files beside it that fit its version,
/// to be opened first by their full paths. version: "13.0".
std::vector<std::filesystem::path> builtins_beside(const std::filesystem::path& nvrtc, const std::string& version);

}  // namespace stencil_tune
