// A kernel of the user's own on one GPU: its arrays, what is right, and whether a candidate is.
#pragma once

#include "generator/user_kernel/configuration.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "runtime/cuda/module.hpp"
#include "tuner/subject/on_device.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// Every array lies between guard bands. A check fills inputs, poisons outputs and guards, launches once, and looks at
/// every byte: outputs against the reference, inputs against what they held, guards against the poison. Checks take
/// turns between two sets of random data. All of it stays on the GPU, which needs up to five times the arrays' memory:
/// arrays themselves, and of each set of data what they hold before a launch and after it.
class UserKernelOnDevice final : public SubjectOnDevice {
 public:
  /// Allocates, and has the reference compute what is right. The kernel must outlive it. Throws Error:
  /// exceeds_device_memory; invalid_argument for lengths that cannot be and a reference that leaves outputs unwritten;
  /// what compiling and launching the reference throw.
  UserKernelOnDevice(Driver& driver, const DeviceFacts& device, const UserKernel& kernel, std::uint64_t seed,
                     CUstream_st* stream);
  ~UserKernelOnDevice() override;

  std::unique_ptr<CandidateOnDevice> load(const std::string& code, const CompiledKernel& kernel) override;
  CopyBuffers copy_buffers() override;
  void fill_for_timing() override;

 private:
  class LoadedCandidate;
  class Reference;

  /// An array argument; its cells begin behind the first guard band.
  struct Array {
    const KernelArgument* argument = nullptr;
    std::int64_t cells = 0;
    std::size_t bytes = 0;
    DeviceBuffer buffer;

    DevicePointer begin() const noexcept;
  };
  using Bytes = std::vector<std::byte>;
  /// What each array holds before a launch (nothing for outputs), and what a launch leaves there (nothing for inputs).
  struct Data {
    std::vector<std::optional<DeviceBuffer>> before;
    std::vector<std::optional<DeviceBuffer>> after;
    std::uint8_t poison = 0;  ///< fills whole numbers: each set of data has its own; floating point has a NaN
  };

  void allocate();
  std::size_t needed_bytes() const;
  Bytes packed_arguments() const;
  Data data_of(std::uint64_t seed) const;
  void compute_expected(Data& data, const Reference& reference);
  void fill(const Data& data);
  template <class Chosen>
  void copy_symbols(const Module& module, const Data& data, const Chosen& is_chosen) const;
  void copy_symbols(const Module& module, const Data& data) const;
  Bytes read_bytes(DevicePointer from, std::size_t bytes) const;
  check::CellReport compare(const Array& array, const DeviceBuffer& expected, std::uint8_t poison) const;
  std::string wrong_text(const Array& array, const DeviceBuffer& expected, const check::CellReport& report) const;
  std::optional<std::string> look_at(std::size_t array, const Data& data) const;
  std::optional<std::string> look_at_guards(const Array& array) const;
  std::optional<std::string> check(const Module& module, const LaunchGeometry& geometry);

  Driver& driver_;
  DeviceFacts device_;
  const UserKernel& kernel_;
  CUstream_st* stream_;
  CellKernels cells_;
  std::vector<Array> arrays_;
  Bytes arguments_;  ///< packed
  std::array<Data, 2> data_;
  std::size_t turn_ = 0;              ///< number of the data that is checked with next
  std::vector<DeviceBuffer> copies_;  ///< for the copy ceiling, until the first candidate
};

}  // namespace stencil_tune
