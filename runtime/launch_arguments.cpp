#include "runtime/launch_arguments.hpp"

namespace stencil_tune {

namespace {

constexpr std::size_t kTensorMapBytes = 128;

}  // namespace

std::vector<std::byte> launch_arguments(Driver& driver, const Problem& problem, const Box& box, const Tuning& tuning,
                                        std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                                        std::span<const double> coefficients) {
  std::vector<std::byte> packed = pack_arguments(problem, box, tuning, inputs, outputs, coefficients);
  for (const TensorMapRequest& map : tensor_maps(problem, tuning, inputs)) {
    driver.encode_tensor_map(problem.type, map, std::span(packed).subspan(map.offset, kTensorMapBytes));
  }
  return packed;
}

}  // namespace stencil_tune
