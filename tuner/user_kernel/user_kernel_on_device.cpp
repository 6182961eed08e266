#include "tuner/user_kernel/user_kernel_on_device.hpp"

#include "runtime/compile/caching_compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/user_kernel/cells.hpp"
#include "tuner/user_kernel/host_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kGuardBytes = 256 << 10;  // before and behind each array
constexpr std::uint8_t kNan = 0xff;             // in every byte of a cell: a NaN in each floating-point type
constexpr std::array<std::uint8_t, 2> kPoisons{0xff, 0x5a};  // for whole numbers, any of which may be right once

bool is_poison(std::span<const std::byte> bytes, std::uint8_t poison) {
  return std::all_of(bytes.begin(), bytes.end(), [poison](std::byte each) { return each == std::byte{poison}; });
}

/// The byte in the bands around the array. What is read beyond an input is a NaN, which spreads unchanged; what kernels
/// may write lies between other bytes, so that a NaN that is written there shows.
std::uint8_t guard_of(const KernelArgument& argument) { return argument.is_compared() ? 0x5a : kNan; }

std::uint8_t poison_of(const KernelArgument& argument, std::uint8_t of_whole_numbers) {
  return is_floating(argument.type) ? kNan : of_whole_numbers;
}

/// What goes wrong in `use`, as the reference's doing.
template <class Use>
void of_reference(const UserKernel& kernel, Use use) {
  try {
    use();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("the reference {} fails: {}", kernel.reference.kernel, error.what()));
  }
}

}  // namespace

template <class Chosen>
void UserKernelOnDevice::copy_symbols(const Module& module, const Data& data, const Chosen& is_chosen) const {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const KernelArgument& argument = *arrays_[i].argument;
    if (argument.symbol.empty() || !is_chosen(argument)) continue;
    module.write_symbol(argument.symbol, data.before[i]->address(), arrays_[i].bytes, stream_);
  }
}

void UserKernelOnDevice::copy_symbols(const Module& module, const Data& data) const {
  copy_symbols(module, data, [](const KernelArgument&) { return true; });
}

// ---- what is right

/// A kernel on the device, or a function of the host.
class UserKernelOnDevice::Reference {
 public:
  explicit Reference(UserKernelOnDevice& subject) : subject_(subject) {
    const UserKernel& kernel = subject.kernel_;
    if (kernel.reference.kernel.empty()) {
      function_.emplace(kernel);
      return;
    }
    geometry_ = reference_launch(kernel);
    const KernelSource source = reference_source(kernel, legal_configurations(kernel).front());
    of_reference(kernel, [&] {
      module_.emplace(subject.driver_, open_cached_nvrtc()->compile(source, subject.device_.architecture));
    });
    if (auto limit = exceeded_limit(*module_, geometry_)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the reference {} cannot run here: {}", kernel.reference.kernel, *limit));
    }
  }

  /// Leaves in the arrays what is right.
  void run(const Data& data) const {
    subject_.fill(data);
    if (function_) return run_function();
    of_reference(subject_.kernel_, [&] {
      subject_.copy_symbols(*module_, data, [&](const KernelArgument& argument) {
        return is_symbol_of_reference(subject_.kernel_, argument);
      });
      module_->launch_packed(geometry_, subject_.arguments_, subject_.stream_);
      subject_.driver_.synchronize_stream(subject_.stream_);
    });
  }

 private:
  void run_function() const {
    std::vector<Bytes> cells;
    for (const Array& array : subject_.arrays_) cells.push_back(subject_.read_bytes(array.begin(), array.bytes));
    function_->call(cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      subject_.arrays_[i].buffer.write(cells[i], subject_.stream_, kGuardBytes);
      subject_.driver_.synchronize_stream(subject_.stream_);
    }
  }

  UserKernelOnDevice& subject_;
  std::optional<HostFunction> function_;
  std::optional<Module> module_;
  LaunchGeometry geometry_;
};

UserKernelOnDevice::UserKernelOnDevice(Driver& driver, const DeviceFacts& device, const UserKernel& kernel,
                                       std::uint64_t seed, CUstream_st* stream)
    : driver_(driver),
      device_(device),
      kernel_(kernel),
      stream_(stream),
      cells_(driver, open_check_compiler()->compile(cells_source(), device.architecture), stream) {
  allocate();
  arguments_ = packed_arguments();
  const Reference reference(*this);
  for (std::size_t i = 0; i < data_.size(); ++i) {
    data_[i] = data_of(seed + i);
    data_[i].poison = kPoisons[i];
    compute_expected(data_[i], reference);
  }
}

UserKernelOnDevice::~UserKernelOnDevice() = default;

DevicePointer UserKernelOnDevice::Array::begin() const noexcept { return buffer.address() + kGuardBytes; }

/// Bytes of all arrays, and what they hold before a launch and after it in both sets of data.
std::size_t UserKernelOnDevice::needed_bytes() const {
  std::size_t total = 0;
  for (const KernelArgument& argument : kernel_.arguments) {
    if (!argument.is_array) continue;
    const std::size_t bytes = static_cast<std::size_t>(cells_of(kernel_, argument)) * size_of(argument.type);
    const std::size_t kept = argument.role == Role::inout ? 2 : 1;
    total += bytes + 2 * kGuardBytes + kept * data_.size() * bytes;
  }
  return total;
}

void UserKernelOnDevice::allocate() {
  if (const std::size_t needed = needed_bytes(); needed > driver_.free_memory()) {
    throw Error(
        ErrorCode::exceeds_device_memory,
        fmt::format("the arrays of {} with {}, two sets of inputs and what is right for them need {} bytes; the "
                    "GPU has {} free",
                    kernel_.name, sizes_text(kernel_), needed, driver_.free_memory()));
  }
  for (const KernelArgument& argument : kernel_.arguments) {
    if (!argument.is_array) continue;
    const std::int64_t cells = cells_of(kernel_, argument);
    const std::size_t bytes = static_cast<std::size_t>(cells) * size_of(argument.type);
    arrays_.push_back({&argument, cells, bytes, DeviceBuffer(driver_, bytes + 2 * kGuardBytes)});
  }
}

/// Each at its natural alignment, in the kernel's order.
UserKernelOnDevice::Bytes UserKernelOnDevice::packed_arguments() const {
  Bytes packed;
  auto array = arrays_.begin();
  for (const KernelArgument& argument : kernel_.arguments) {
    Bytes bytes;
    if (argument.is_array) {
      const DevicePointer address = (array++)->begin();
      if (!argument.is_parameter) continue;
      bytes.resize(sizeof address);
      std::memcpy(bytes.data(), &address, sizeof address);
    } else {
      bytes = value_bytes(argument, kernel_.size_values());
    }
    packed.resize((packed.size() + bytes.size() - 1) / bytes.size() * bytes.size());
    packed.insert(packed.end(), bytes.begin(), bytes.end());
  }
  return packed;
}

UserKernelOnDevice::Data UserKernelOnDevice::data_of(std::uint64_t seed) const {
  Data data;
  for (const Array& array : arrays_) {
    std::optional<DeviceBuffer>& before = data.before.emplace_back();
    if (array.argument->role == Role::output) continue;
    before.emplace(driver_, array.bytes);
    if (!array.argument->captured.empty()) {
      before->write(captured_bytes(*array.argument, array.bytes), stream_);
      driver_.synchronize_stream(stream_);
      continue;
    }
    cells_.fill({reinterpret_cast<void*>(before->address()), array.cells, filled_cells(*array.argument, seed)});
  }
  return data;
}

void UserKernelOnDevice::compute_expected(Data& data, const Reference& reference) {
  reference.run(data);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Array& array = arrays_[i];
    const KernelArgument& argument = *array.argument;
    std::optional<DeviceBuffer>& after = data.after.emplace_back();
    if (const auto outside = look_at_guards(array)) {
      throw Error(ErrorCode::invalid_argument, "of the reference: " + *outside);
    }
    if (argument.role == Role::input) {
      if (compare(array, *data.before[i], data.poison).wrong == 0) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the reference writes to '{}', which is neither output nor inout", argument.name));
    }
    after.emplace(driver_, array.bytes);
    driver_.copy_on_device(after->address(), array.begin(), array.bytes, stream_);
    if (argument.role != Role::output || !is_floating(argument.type)) continue;
    if (const auto left = compare(array, *after, kNan).unwritten; left > 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the reference leaves {} of {} cells of '{}' unwritten, or writes NaN", left, array.cells,
                              argument.name));
    }
  }
}

// ---- checks

void UserKernelOnDevice::fill(const Data& data) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    Array& array = arrays_[i];
    array.buffer.fill(guard_of(*array.argument), stream_);
    if (data.before[i]) {
      driver_.copy_on_device(array.begin(), data.before[i]->address(), array.bytes, stream_);
    } else {
      driver_.fill_bytes(array.begin(), poison_of(*array.argument, data.poison), array.bytes, stream_);
    }
  }
}

UserKernelOnDevice::Bytes UserKernelOnDevice::read_bytes(DevicePointer from, std::size_t count) const {
  Bytes bytes(count);
  driver_.copy_to_host(bytes.data(), from, count, stream_);
  driver_.synchronize_stream(stream_);
  return bytes;
}

check::CellReport UserKernelOnDevice::compare(const Array& array, const DeviceBuffer& expected,
                                              std::uint8_t poison) const {
  const KernelArgument& argument = *array.argument;
  return cells_.compare({.found = reinterpret_cast<const void*>(array.begin()),
                         .expected = reinterpret_cast<const void*>(expected.address()),
                         .report = nullptr,
                         .count = array.cells,
                         .tolerance = argument.is_compared() ? kernel_.reference.tolerance : 0,
                         .type = cell_type(argument.type),
                         .poison = poison});
}

std::optional<std::string> UserKernelOnDevice::look_at(std::size_t number, const Data& data) const {
  const Array& array = arrays_[number];
  const KernelArgument& argument = *array.argument;
  const DeviceBuffer& expected = argument.is_compared() ? *data.after[number] : *data.before[number];
  const check::CellReport report = compare(array, expected, poison_of(argument, data.poison));
  if (report.wrong == 0) return look_at_guards(array);
  if (!argument.is_compared()) {
    return fmt::format("'{}' was changed, which is neither output nor inout", argument.name);
  }
  const std::string wrong = wrong_text(array, expected, report);
  if (report.unwritten == 0) return wrong;
  return fmt::format("{}; {} were never written, or are NaN", wrong, report.unwritten);
}

std::string UserKernelOnDevice::wrong_text(const Array& array, const DeviceBuffer& expected,
                                           const check::CellReport& report) const {
  const std::size_t width = size_of(array.argument->type);
  const std::size_t at = static_cast<std::size_t>(report.first_wrong) * width;
  const Bytes found = read_bytes(array.begin() + at, width), right = read_bytes(expected.address() + at, width);
  return wrong_cells_text(*array.argument, {array.cells, report.wrong, report.first_wrong, found, right});
}

std::optional<std::string> UserKernelOnDevice::look_at_guards(const Array& array) const {
  Bytes guard(kGuardBytes);
  for (const std::size_t offset : {std::size_t{0}, kGuardBytes + array.bytes}) {
    array.buffer.read(guard, stream_, offset);
    driver_.synchronize_stream(stream_);
    if (is_poison(guard, guard_of(*array.argument))) continue;
    return fmt::format("a write {} the array '{}'", offset == 0 ? "before" : "behind", array.argument->name);
  }
  return std::nullopt;
}

std::optional<std::string> UserKernelOnDevice::check(const Module& module, const LaunchGeometry& geometry) {
  const Data& data = data_[turn_++ % data_.size()];
  fill(data);
  copy_symbols(module, data);
  module.launch_packed(geometry, arguments_, stream_);
  driver_.synchronize_stream(stream_);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (auto wrong = look_at(i, data)) return wrong;
  }
  return std::nullopt;
}

// ---- candidates

class UserKernelOnDevice::LoadedCandidate final : public CandidateOnDevice {
 public:
  LoadedCandidate(UserKernelOnDevice& subject, const std::string& code, const CompiledKernel& kernel)
      : subject_(subject),
        geometry_(launch_of(subject.kernel_, parse_configuration(subject.kernel_, code))),
        module_(subject.driver_, kernel) {
    subject_.copy_symbols(module_, subject_.data_.front());
  }

  std::optional<std::string> exceeded_limit() override { return stencil_tune::exceeded_limit(module_, geometry_); }
  double occupancy() const override { return stencil_tune::occupancy(module_, geometry_, subject_.device_.limits); }
  std::optional<std::string> verify() override {
    return verify_launches(static_cast<int>(subject_.data_.size()), Cells::all);
  }
  std::optional<std::string> verify_launches(int launches, Cells) override {
    for (int i = 0; i < launches; ++i) {
      if (auto wrong = subject_.check(module_, geometry_)) return wrong;
    }
    subject_.copy_symbols(module_, subject_.data_.front());  // the data that it is timed with
    return std::nullopt;
  }
  Sharpness sharpness() override { return {}; }
  void launch(int count) override {
    for (int i = 0; i < count; ++i) module_.launch_packed(geometry_, subject_.arguments_, subject_.stream_);
  }

 private:
  UserKernelOnDevice& subject_;
  LaunchGeometry geometry_;
  Module module_;
};

std::unique_ptr<CandidateOnDevice> UserKernelOnDevice::load(const std::string& code, const CompiledKernel& kernel) {
  copies_.clear();
  return std::make_unique<LoadedCandidate>(*this, code, kernel);
}

SubjectOnDevice::CopyBuffers UserKernelOnDevice::copy_buffers() {
  const auto largest = std::max_element(arrays_.begin(), arrays_.end(),
                                        [](const Array& a, const Array& b) { return a.bytes < b.bytes; });
  constexpr std::size_t kUnit = 16;  // bytes of a vector
  const std::size_t bytes = (largest->bytes + kUnit - 1) / kUnit * kUnit;
  for (int i = 0; i < 2; ++i) copies_.emplace_back(driver_, bytes);
  return {copies_[0].address(), copies_[1].address(), bytes};
}

void UserKernelOnDevice::fill_for_timing() { fill(data_.front()); }

}  // namespace stencil_tune
