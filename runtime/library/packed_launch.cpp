#include "runtime/library/packed_launch.hpp"

#include "stencil_tune/error.hpp"

#include <cstring>
#include <numeric>

namespace stencil_tune {

namespace {

constexpr std::size_t kTensorMapBytes = 128;
constexpr std::uint64_t kMarker = 0x5745'4c4c'0000'0000;  // no extent, stride or tile count looks like it

/// Where `wanted` stands in the bytes. pack_arguments() alone knows the layout; markers tell it.
std::size_t find_bytes(std::span<const std::byte> bytes, std::span<const std::byte> wanted, std::size_t alignment) {
  for (std::size_t at = 0; at + wanted.size() <= bytes.size(); at += alignment) {
    if (std::memcmp(bytes.data() + at, wanted.data(), wanted.size()) == 0) return at;
  }
  throw Error(ErrorCode::internal, "the packed arguments do not hold what was packed");
}

std::vector<std::size_t> find_addresses(std::span<const std::byte> bytes, std::span<const std::uint64_t> addresses) {
  std::vector<std::size_t> offsets;
  for (const std::uint64_t& address : addresses) {
    offsets.push_back(find_bytes(bytes, std::as_bytes(std::span(&address, 1)), sizeof(address)));
  }
  return offsets;
}

/// What a coefficient is in the kernel.
template <class Value>
void write_as(std::span<const double> coefficients, std::byte* to) {
  for (const double coefficient : coefficients) {
    const auto value = static_cast<Value>(coefficient);
    std::memcpy(to, &value, sizeof(Value));
    to += sizeof(Value);
  }
}

void write_coefficients(ElementType type, std::span<const double> coefficients, std::byte* to) {
  if (type == ElementType::f64) {
    write_as<double>(coefficients, to);
  } else {
    write_as<float>(coefficients, to);
  }
}

std::size_t coefficient_bytes(ElementType type) { return type == ElementType::f64 ? sizeof(double) : sizeof(float); }

}  // namespace

PackedLaunch::PackedLaunch(const Problem& problem, const Tuning& tuning, const Box& box)
    : geometry_(launch_geometry(problem, tuning, box)), type_(problem.type) {
  std::vector<std::uint64_t> inputs(problem.facts.inputs.size());
  std::vector<std::uint64_t> outputs(problem.facts.outputs.size());
  std::iota(inputs.begin(), inputs.end(), kMarker);
  std::iota(outputs.begin(), outputs.end(), kMarker + inputs.size());
  std::vector<double> coefficients(problem.stencil.coefficients.size());
  std::iota(coefficients.begin(), coefficients.end(), 1.5);
  packed_ = pack_arguments(problem, box, tuning, inputs, outputs, coefficients);

  inputs_ = find_addresses(packed_, inputs);
  outputs_ = find_addresses(packed_, outputs);
  if (!coefficients.empty()) {
    std::vector<std::byte> written(coefficients.size() * coefficient_bytes(type_));
    write_coefficients(type_, coefficients, written.data());
    coefficients_ = find_bytes(packed_, written, coefficient_bytes(type_));
  }
  maps_ = tensor_maps(problem, tuning, inputs);

  for (std::size_t i = 0; i < coefficients.size(); ++i) coefficients[i] = problem.stencil.coefficients[i].value;
  write_coefficients(type_, coefficients, packed_.data() + coefficients_);
}

void PackedLaunch::write_argument(Driver& driver, std::span<const std::uint64_t> inputs,
                                  std::span<const std::uint64_t> outputs, std::span<const double> coefficients,
                                  std::span<std::byte> to) const {
  std::memcpy(to.data(), packed_.data(), packed_.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) std::memcpy(to.data() + inputs_[i], &inputs[i], sizeof(inputs[i]));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(to.data() + outputs_[i], &outputs[i], sizeof(outputs[i]));
  write_coefficients(type_, coefficients, to.data() + coefficients_);
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    TensorMapRequest map = maps_[i];
    map.address = inputs[i];
    driver.encode_tensor_map(type_, map, to.subspan(map.offset, kTensorMapBytes));
  }
}

}  // namespace stencil_tune
