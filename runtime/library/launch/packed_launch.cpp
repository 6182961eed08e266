#include "runtime/library/launch/packed_launch.hpp"

namespace stencil_tune {

PackedLaunch::PackedLaunch(const Candidate& candidate, const Box& box, std::optional<std::size_t> shared_bytes)
    : geometry_(launch_geometry(candidate, box)), type_(candidate.problem().type), arguments_(candidate, box) {
  if (shared_bytes) geometry_.shared_bytes = *shared_bytes;
}

void PackedLaunch::write_argument(Driver& driver, std::span<const std::uint64_t> inputs,
                                  std::span<const std::uint64_t> outputs, std::span<const double> coefficients,
                                  std::span<std::byte> to, const Place& place) const {
  const auto encode = [&driver, this](const TensorMapRequest& map, std::span<std::byte> at) {
    driver.encode_tensor_map(type_, map, at);
  };
  arguments_.write(inputs, outputs, coefficients, encode, to, place);
}

}  // namespace stencil_tune
