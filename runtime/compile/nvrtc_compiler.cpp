#include "runtime/compile/nvrtc_compiler.hpp"

#include "generator/trim/trim.hpp"
#include "runtime/compile/nvrtc_api.hpp"
#include "runtime/compile/ptxas_log.hpp"
#include "runtime/cuda/driver.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace stencil_tune {

namespace {

/// An nvrtcProgram with its log and binary.
class Program {
 public:
  Program(const NvrtcApi& api, const KernelSource& source, std::span<const char* const> header_texts,
          std::span<const char* const> header_names)
      : api_(api) {
    api_.check(api_.create_program(&handle_, source.text.c_str(), (source.entry + ".cu").c_str(),
                                   static_cast<int>(header_texts.size()), header_texts.data(), header_names.data()),
               "give the source to NVRTC");
    if (source.is_own) {
      name_ = source.entry;
      api_.check(api_.add_name(handle_, name_.c_str()), "name the kernel to NVRTC");
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { api_.destroy_program(&handle_); }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.compile_program(handle_, static_cast<int>(pointers.size()), pointers.data());
  }

  /// The kernel's name in the binary: C++ names are mangled there.
  std::string entry(const KernelSource& source) const {
    if (name_.empty()) return source.entry;
    const char* lowered = nullptr;
    api_.check(api_.lowered_name(handle_, name_.c_str(), &lowered), "ask NVRTC for the kernel's name");
    return lowered;
  }

  std::string log() const {
    std::size_t size = 0;
    api_.check(api_.log_size(handle_, &size), "read NVRTC's log");
    std::string text(size, '\0');
    api_.check(api_.log(handle_, text.data()), "read NVRTC's log");
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    api_.check(api_.cubin_size(handle_, &size), "read the binary from NVRTC");
    std::vector<std::byte> bytes(size);
    api_.check(api_.cubin(handle_, reinterpret_cast<char*>(bytes.data())), "read the binary from NVRTC");
    return bytes;
  }

 private:
  const NvrtcApi& api_;
  nvrtcProgram handle_ = nullptr;
  std::string name_;  ///< the entry's name in C++; empty: the entry is extern "C"
};

/// "sm_90", "sm_90a": what may stand in an option.
void require_well_formed(std::string_view arch) {
  bool good = arch.starts_with("sm_") && arch.size() >= 5 && arch.size() <= 7;
  for (const char c : good ? arch.substr(3) : std::string_view())
    good = good && std::isalnum(static_cast<unsigned char>(c));
  if (!good) {
    throw Error(ErrorCode::unknown_name, fmt::format("'{}' is no GPU architecture; one looks like sm_90", arch));
  }
}

/// For kernels of the user's own that include <cuda_fp16.h> and its like: the headers of the first toolkit that is
/// here. They are those of NVRTC's version, as a rule, so that binaries are kept by that version alone.
void add_toolkit_headers(std::vector<std::string>& options) {
  std::error_code ignored;
  for (const std::filesystem::path& toolkit : NvrtcSearch::from_environment().toolkits) {
    if (!std::filesystem::is_regular_file(toolkit / "include/cuda_fp16.h", ignored)) continue;
    options.push_back("--include-path=" + (toolkit / "include").string());
    return;
  }
}

class NvrtcCompiler final : public Compiler {
 public:
  NvrtcCompiler(NvrtcApi api, std::span<const TemplateFile> headers) : api_(std::move(api)) {
    // Named views need not end in a zero byte, NVRTC's strings must.
    for (const TemplateFile& header : headers) {
      names_.emplace_back(header.name);
      texts_.emplace_back(header.text);
    }
    for (const std::string& name : names_) name_pointers_.push_back(name.c_str());
    for (const std::string& text : texts_) text_pointers_.push_back(text.c_str());
    for (std::size_t i = 0; i < names_.size(); ++i) headers_.push_back({names_[i], texts_[i]});
  }

  CompiledKernel compile(const KernelSource& source, std::string_view arch) override {
    require_well_formed(arch);
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::string> options = nvrtc_options(arch);
    if (source.is_own) add_toolkit_headers(options);
    // What is compiled here is what an export of the kernel holds.
    const KernelSource written =
        source.is_own ? source : KernelSource{.text = write_out(source.text, headers_).text(), .entry = source.entry};
    Compiled compiled = compile(written, arch, options);
    if (!ptxas_log_describes(compiled.log, compiled.entry)) {
      // NVRTC 13 may answer from a cache of its own, which keeps the binary and forgets what the assembler said.
      options.emplace_back("--no-cache");
      compiled = compile(written, arch, options);
    }
    CompiledKernel kernel{.cubin = std::move(compiled.cubin),
                          .entry = compiled.entry,
                          .resources = read_ptxas_log(compiled.log, compiled.entry)};
    kernel.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return kernel;
  }

  void require_architecture(std::string_view arch) const override {
    require_well_formed(arch);
    if (!supports(arch)) throw Error(ErrorCode::unknown_name, unsupported(arch));
  }

  std::string version() const override { return fmt::format("{}.{}", api_.major, api_.minor); }

 private:
  std::vector<int> architectures() const {
    int count = 0;
    api_.check(api_.architecture_count(&count), "ask how many architectures NVRTC compiles for");
    std::vector<int> known(static_cast<std::size_t>(count));
    api_.check(api_.architectures(known.data()), "ask which architectures NVRTC compiles for");
    return known;
  }

  bool supports(std::string_view arch) const {
    const std::vector<int> known = architectures();
    return std::find(known.begin(), known.end(), std::atoi(std::string(arch.substr(3)).c_str())) != known.end();
  }

  std::string unsupported(std::string_view arch) const {
    return fmt::format(
        "NVRTC {} does not compile for {}, but for sm_{}; name one of these, or set STENCIL_TUNE_NVRTC to the libnvrtc "
        "of a CUDA toolkit that knows {}",
        version(), arch, fmt::join(architectures(), ", sm_"), arch);
  }

  struct Compiled {
    std::vector<std::byte> cubin;
    std::string entry;
    std::string log;
  };

  Compiled compile(const KernelSource& source, std::string_view arch, const std::vector<std::string>& options) {
    Program program(api_, source, text_pointers_, name_pointers_);
    const nvrtcResult result = program.compile(options);
    std::string log = program.log();
    if (result == NVRTC_ERROR_INVALID_OPTION && !supports(arch)) {
      throw Error(ErrorCode::compile_failed, unsupported(arch));
    }
    if (result != NVRTC_SUCCESS) {
      throw Error(ErrorCode::compile_failed,
                  fmt::format("NVRTC {} cannot compile kernel '{}' for {}: {}\n{}", version(), source.entry, arch,
                              api_.error_string(result), log));
    }
    return {program.cubin(), program.entry(source), std::move(log)};
  }

  NvrtcApi api_;
  std::vector<std::string> names_;
  std::vector<std::string> texts_;
  std::vector<const char*> name_pointers_;
  std::vector<const char*> text_pointers_;
  std::vector<TemplateFile> headers_;  ///< the same
};

}  // namespace

std::vector<std::string> nvrtc_options(std::string_view arch) {
  return {"--std=c++17", fmt::format("--gpu-architecture={}", arch), "--device-as-default-execution-space",
          "--ptxas-options=-v"};
}

std::unique_ptr<Compiler> open_nvrtc(const NvrtcSearch& search, int newest_major,
                                     std::span<const TemplateFile> headers) {
  return std::make_unique<NvrtcCompiler>(NvrtcApi::open(search, newest_major), headers);
}

int newest_loadable_major() {
  try {
    return cuda_driver().version() / 1000;
  } catch (const Error&) {
    return 0;
  }
}

std::unique_ptr<Compiler> open_nvrtc() {
  return open_nvrtc(NvrtcSearch::from_environment(), newest_loadable_major(), template_files());
}

}  // namespace stencil_tune
