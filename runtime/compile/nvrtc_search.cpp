#include "runtime/compile/nvrtc_search.hpp"

#include "runtime/files/trust.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

namespace stencil_tune {

namespace fs = std::filesystem;

namespace {

// NVRTC's sonames: 11.2 served all of 11.x from 11.2 on, since then one a major version. Newest first.
constexpr std::array<const char*, 3> kSonames{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Entries of a folder, sorted by name; none when it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void add_libraries_in(const fs::path& folder, std::vector<std::string>& candidates) {
  std::error_code ignored;
  for (const char* soname : kSonames) {
    if (fs::exists(folder / soname, ignored)) candidates.push_back(folder / soname);
  }
}

/// Why the file, or a folder on the way from the environment to it, is not to be trusted; empty where all are.
std::string objection_to(const fs::path& file, const fs::path& environment) {
  for (fs::path path = file;; path = path.parent_path()) {
    if (const std::string why = why_unsafe(path, Owner::user_or_root); !why.empty()) return path.string() + ": " + why;
    if (path == environment || path == path.parent_path()) return {};
  }
}

/// NVIDIA's wheels put the library into nvidia/cu13/lib (since CUDA 13) or nvidia/cuda_nvrtc/lib.
void add_wheels_in(const fs::path& packages, std::vector<std::string>& candidates) {
  for (const char* folder : {"cu13", "cuda_nvrtc"}) add_libraries_in(packages / "nvidia" / folder / "lib", candidates);
}

/// What stands in a place of Python's, which others may have written.
struct Wheels {
  fs::path place;
  std::vector<std::string> libraries;
};

std::vector<Wheels> wheels_of(const NvrtcSearch& search) {
  std::vector<Wheels> all;
  for (const fs::path& environment : search.python_environments) {
    Wheels& wheels = all.emplace_back(Wheels{environment, {}});
    for (const fs::path& python : entries(environment / "lib")) {
      if (python.filename().string().starts_with("python")) add_wheels_in(python / "site-packages", wheels.libraries);
    }
  }
  for (const fs::path& packages : search.python_packages) {
    add_wheels_in(packages, all.emplace_back(Wheels{packages, {}}).libraries);
  }
  return all;
}

/// The file that this code was loaded from: the program, or a shared library that it has loaded.
fs::path own_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&nvrtc_candidates), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failed;
  const fs::path file = fs::canonical(info.dli_fname, failed);
  return failed ? fs::path() : file;
}

}  // namespace

NvrtcSearch NvrtcSearch::from_environment() {
  NvrtcSearch search;
  search.override_path = environment("STENCIL_TUNE_NVRTC");
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string value = environment(variable); !value.empty()) search.toolkits.emplace_back(value);
  }
  search.toolkits.emplace_back("/usr/local/cuda");

  if (const std::string value = environment("VIRTUAL_ENV"); !value.empty())
    search.python_environments.emplace_back(value);
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (const fs::path own = project_environment(program); !own.empty()) search.python_environments.push_back(own);
  for (const fs::path& file : {own_file(), program}) {
    if (const fs::path packages = packages_around(file); !packages.empty()) {
      search.python_packages.push_back(packages);
      break;
    }
  }
  return search;
}

// Builds are below the root of the checkout. The working folder is not looked at: loading code from wherever a program
// happens to be started is not ours to do.
fs::path project_environment(const fs::path& program) {
  std::error_code ignored;
  for (fs::path folder = program.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
    if (!fs::exists(folder / "scripts" / "setup", ignored)) continue;
    return fs::is_directory(folder / ".venv", ignored) ? folder / ".venv" : fs::path();
  }
  return {};
}

fs::path packages_around(const fs::path& file) {
  std::error_code ignored;
  for (fs::path folder = file.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
    if (folder.filename() == "stencil_tune" && fs::exists(folder / "__init__.py", ignored)) return folder.parent_path();
  }
  return {};
}

std::vector<std::string> nvrtc_candidates(const NvrtcSearch& search) {
  std::vector<std::string> candidates;
  if (!search.override_path.empty()) {
    std::error_code ignored;
    if (fs::is_directory(search.override_path, ignored)) {
      add_libraries_in(search.override_path, candidates);
    } else {
      candidates.push_back(search.override_path);
    }
    return candidates;
  }
  for (const fs::path& toolkit : search.toolkits) {
    for (const char* folder : {"lib64", "lib"}) add_libraries_in(toolkit / folder, candidates);
  }
  candidates.insert(candidates.end(), kSonames.begin(), kSonames.end());
  for (const Wheels& wheels : wheels_of(search)) {
    for (const std::string& wheel : wheels.libraries) {
      if (objection_to(wheel, wheels.place).empty()) candidates.push_back(wheel);
    }
  }
  return candidates;
}

std::string version_by_name(const NvrtcSearch& search, int newest_major) {
  constexpr std::string_view kNvrtc = "libnvrtc.so.";
  constexpr std::string_view kBuiltins = "libnvrtc-builtins.so.";
  for (const std::string& candidate : nvrtc_candidates(search)) {
    const fs::path path = candidate;
    const std::string file = path.filename();
    if (!path.is_absolute() || !file.starts_with(kNvrtc)) return {};
    const std::string major = file.substr(kNvrtc.size(), file.find('.', kNvrtc.size()) - kNvrtc.size());
    if (newest_major != 0 && std::atoi(major.c_str()) > newest_major) continue;
    // Toolkits have one file; some have it again under its full version, "13.0.88".
    std::set<std::string> versions;
    for (const fs::path& builtins : builtins_beside(path, major + ".")) {
      const std::string version = builtins.filename().string().substr(kBuiltins.size());
      versions.insert(version.substr(0, version.find('.', major.size() + 1)));
    }
    return versions.size() == 1 ? *versions.begin() : std::string();
  }
  return {};
}

std::string describe(const NvrtcSearch& search) {
  if (!search.override_path.empty()) return "  STENCIL_TUNE_NVRTC=" + search.override_path;
  std::string text;
  for (const fs::path& toolkit : search.toolkits) text += "  " + (toolkit / "lib64").string() + "\n";
  text += "  the dynamic linker's path\n";
  for (const Wheels& wheels : wheels_of(search)) {
    text += "  " + wheels.place.string() + "\n";
    for (const std::string& wheel : wheels.libraries) {
      if (const std::string why = objection_to(wheel, wheels.place); !why.empty()) text += "    refused: " + why + "\n";
    }
  }
  text.pop_back();
  return text;
}

std::vector<fs::path> builtins_beside(const fs::path& nvrtc, const std::string& version) {
  std::error_code ignored;
  const fs::path file = fs::canonical(nvrtc, ignored);
  std::vector<fs::path> found;
  for (const fs::path& entry : entries((ignored ? nvrtc : file).parent_path())) {
    if (entry.filename().string().starts_with("libnvrtc-builtins.so." + version)) found.push_back(entry);
  }
  return found;
}

}  // namespace stencil_tune
