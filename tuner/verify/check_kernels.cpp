#include "tuner/verify/check_kernels.hpp"

#include "runtime/compile/binary_cache.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/compile/nvrtc_compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/check_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace stencil_tune {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::int64_t kMostColumns = 4096;  // blocks along a row
constexpr std::int64_t kMostRows = 8192;     // blocks over the rows; each takes several

unsigned blocks(std::int64_t wanted, std::int64_t most) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
}

/// The cache knows a source by its text, which here only includes the files: their hash (FNV-1a) has to be in it.
std::string version_line() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const TemplateFile& file : check_files()) {
    for (char c : file.text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return fmt::format("// {:016x}\n", hash);
}

template <class Arguments>
void launch_over(Driver& driver, CUfunc_st* function, std::int64_t width, std::int64_t rows, const Arguments& arguments,
                 CUstream_st* stream) {
  const std::array<unsigned, 3> grid{blocks((width + kThreads - 1) / kThreads, kMostColumns), blocks(rows, kMostRows),
                                     1};
  driver.launch(function, grid, {kThreads, 1, 1}, 0, std::as_bytes(std::span(&arguments, 1)), stream);
}

std::int64_t width_of(const check::Layout& layout) { return layout.high[0] - layout.low[0]; }
std::int64_t allocated_rows(const check::Layout& layout) { return layout.n[1] * layout.n[2]; }

}  // namespace

std::unique_ptr<Compiler> open_check_compiler() {
  const int newest_major = newest_loadable_major();
  const auto open = [newest_major] { return open_nvrtc(NvrtcSearch::from_environment(), newest_major, check_files()); };
  const std::filesystem::path folder = default_cache_folder();
  if (folder.empty()) return open();
  try {
    return std::make_unique<CachingCompiler>(BinaryCache(folder), open);
  } catch (const Error&) {
    return open();  // whoever compiles candidates says why the cache cannot be used
  }
}

KernelSource verification_source(int slots) {
  return {fmt::format("#define STENCIL_TUNE_SLOTS {}\n#include \"tuner/verify/device/verification.cu\"\n{}", slots,
                      version_line()),
          "reference"};
}

KernelSource copy_source() { return {"#include \"tuner/verify/device/copy.cu\"\n" + version_line(), "copy_1_cached"}; }

KernelSource cells_source() {
  return {"#include \"tuner/verify/device/cells.cu\"\n" + version_line(), "compare_cells"};
}

CheckKernels::CheckKernels(Driver& driver, const CompiledKernel& binary, CUstream_st* stream)
    : driver_(driver),
      stream_(stream),
      library_(driver, binary),
      fill_(library_.find("fill")),
      poison_(library_.find("poison")),
      reference_(library_.find("reference")),
      compare_(library_.find("compare")),
      untouched_(library_.find("untouched")),
      unchanged_(library_.find("unchanged")) {}

template <class Arguments>
void CheckKernels::launch(CUfunc_st* function, std::int64_t width, std::int64_t rows,
                          const Arguments& arguments) const {
  launch_over(driver_, function, width, rows, arguments, stream_);
}

void CheckKernels::fill(const check::FillArguments& arguments) const {
  launch(fill_, arguments.layout.n[0], allocated_rows(arguments.layout), arguments);
}

void CheckKernels::poison(const check::PoisonArguments& arguments) const {
  launch(poison_, arguments.count, 1, arguments);
}

void CheckKernels::reference(const check::ReferenceArguments& arguments) const {
  launch(reference_, width_of(arguments.layout), arguments.rows, arguments);
}

void CheckKernels::compare(const check::CompareArguments& arguments) const {
  launch(compare_, width_of(arguments.layout), arguments.rows, arguments);
}

void CheckKernels::untouched(const check::UntouchedArguments& arguments) const {
  launch(untouched_, arguments.layout.pitch, allocated_rows(arguments.layout), arguments);
}

void CheckKernels::unchanged(const check::UnchangedArguments& arguments) const {
  launch(unchanged_, arguments.layout.pitch, allocated_rows(arguments.layout), arguments);
}

CellKernels::CellKernels(Driver& driver, const CompiledKernel& binary, CUstream_st* stream)
    : driver_(driver),
      stream_(stream),
      library_(driver, binary),
      fill_(library_.find("fill_cells")),
      compare_(library_.find("compare_cells")),
      report_(driver, sizeof(check::CellReport)) {}

void CellKernels::fill(const check::FillCellsArguments& arguments) const {
  launch_over(driver_, fill_, arguments.count, 1, arguments, stream_);
}

check::CellReport CellKernels::compare(check::CompareCellsArguments arguments) const {
  check::CellReport report{0, 0, arguments.count};
  const auto bytes = std::as_writable_bytes(std::span(&report, 1));
  report_.write(bytes, stream_);
  arguments.report = reinterpret_cast<check::CellReport*>(report_.address());
  launch_over(driver_, compare_, arguments.count, 1, arguments, stream_);
  report_.read(bytes, stream_);
  driver_.synchronize_stream(stream_);
  return report;
}

}  // namespace stencil_tune
