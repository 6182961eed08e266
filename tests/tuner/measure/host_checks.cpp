#include "tests/tuner/measure/host_checks.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>

// What CUDA has and C++ lacks, for a launch of one thread.
#define __device__ inline
#define __global__
#define __grid_constant__
namespace {
struct Coordinates {
  unsigned x, y, z;
};
constexpr Coordinates threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{1, 1, 1}, gridDim{1, 1, 1};

template <class T>
void atomicAdd(T* to, T value) {
  *to += value;
}
template <class T>
void atomicMin(T* to, T value) {
  if (value < *to) *to = value;
}
float __double2float_ru(double value) {
  const float nearest = static_cast<float>(value);
  return nearest < value ? std::nextafter(nearest, std::numeric_limits<float>::infinity()) : nearest;
}
}  // namespace

#define STENCIL_TUNE_SLOTS 512
#include "tuner/verify/device/cells.cu"
#include "tuner/verify/device/verification.cu"

namespace stencil_tune::testing {
namespace {

template <auto kernel, class Arguments>
void call(std::span<const std::byte> bytes) {
  Arguments arguments;
  std::memcpy(&arguments, bytes.data(), sizeof arguments);
  kernel(arguments);
}

using Check = void (*)(std::span<const std::byte>);

const std::map<std::string, Check>& checks() {
  static const std::map<std::string, Check> all{
      {"fill", call<check::fill, check::FillArguments>},
      {"poison", call<check::poison, check::PoisonArguments>},
      {"reference", call<check::reference, check::ReferenceArguments>},
      {"compare", call<check::compare, check::CompareArguments>},
      {"untouched", call<check::untouched, check::UntouchedArguments>},
      {"unchanged", call<check::unchanged, check::UnchangedArguments>},
      {"fill_cells", call<check::fill_cells, check::FillCellsArguments>},
      {"compare_cells", call<check::compare_cells, check::CompareCellsArguments>},
  };
  return all;
}

}  // namespace

bool is_check(const std::string& entry) { return entry.starts_with("copy_") || checks().contains(entry); }

void run_check(const std::string& entry, std::span<const std::byte> argument) {
  const auto found = checks().find(entry);
  if (found != checks().end()) found->second(argument);  // plain copies are only timed
}

}  // namespace stencil_tune::testing
