// A Driver without a GPU: it answers with made-up facts, hands out numbered handles and writes down what it was asked.
#pragma once

#include "runtime/cuda/driver.hpp"
#include "stencil_tune/error.hpp"
#include "templates/box_copy_arguments.cuh"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace stencil_tune {

inline void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

struct RecordedLaunch {
  CUfunc_st* function = nullptr;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  std::size_t shared_bytes = 0;
  std::vector<std::byte> argument;
  CUstream_st* stream = nullptr;
};

/// The boxes that a launch copies.
inline std::vector<BoxArgument<std::byte>> boxes_of(const RecordedLaunch& launch) {
  BoxArguments<std::byte> argument{};
  std::memcpy(&argument, launch.argument.data(), std::min(sizeof argument, launch.argument.size()));
  std::vector<BoxArgument<std::byte>> boxes{argument.boxes[0]};
  while (boxes.back().end_block < launch.grid[0]) boxes.push_back(argument.boxes[boxes.size()]);
  return boxes;
}

class FakeDriver : public Driver {
 public:
  struct Gpu {
    std::string name = "Fake GPU";
    std::uint8_t uuid_start = 0x10;
    int major = 9;
    int minor = 0;
  };

  std::vector<Gpu> gpus{Gpu{}};
  std::atomic<int> current = 0;            ///< the ordinal of the current context's GPU; -1: no context
  std::uint64_t context_number = 1;        ///< a test that destroys and makes contexts counts on
  std::vector<RecordedLaunch> launches;    ///< launches of all kernels but ...
  std::vector<RecordedLaunch> box_copies;  ///< ... the one that copies boxes (templates/box_copies.cuh)
  std::vector<std::string> calls;          ///< what else was asked, in order
  std::map<DevicePointer, int> owners;     ///< pointers that belong to another GPU than 0, or (-1) to none
  std::string refuse;                      ///< the name of a call that fails

  int version() override { return 13000; }
  int device_count() override { return static_cast<int>(gpus.size()); }
  std::string device_name(int device) override { return gpus.at(device).name; }
  std::array<std::uint8_t, 16> device_uuid(int device) override {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(gpus.at(device).uuid_start + i);
    return bytes;
  }
  std::size_t device_memory(int) override { return std::size_t{80} << 30; }
  int attribute(int device, DeviceAttribute attribute) override {
    switch (attribute) {
      case DeviceAttribute::compute_capability_major:
        return gpus.at(device).major;
      case DeviceAttribute::compute_capability_minor:
        return gpus.at(device).minor;
      case DeviceAttribute::max_threads_per_block:
        return 1024;
      case DeviceAttribute::max_registers_per_block:
      case DeviceAttribute::max_registers_per_multiprocessor:
        return 65536;
      case DeviceAttribute::max_threads_per_multiprocessor:
        return 2048;
      case DeviceAttribute::max_blocks_per_multiprocessor:
        return 32;
      case DeviceAttribute::max_shared_per_block_optin:
        return 232448;
      case DeviceAttribute::max_shared_per_multiprocessor:
        return 233472;
      case DeviceAttribute::multiprocessors:
        return 132;
      case DeviceAttribute::l2_bytes:
        return 60 << 20;
      case DeviceAttribute::clock_khz:
        return 1980000;
      case DeviceAttribute::memory_clock_khz:
        return 3201000;
      case DeviceAttribute::memory_bus_bits:
        return 6144;
    }
    return 0;
  }

  CUctx_st* retain_primary_context(int device) override {
    note("retain_primary_context");
    return handle<CUctx_st>(0x100 + device);
  }
  void release_primary_context(int) noexcept override { note_quietly("release_primary_context"); }
  CUctx_st* current_context() override { return current < 0 ? nullptr : handle<CUctx_st>(0x100 + current); }
  void set_current_context(CUctx_st* context) override {
    note("set_current_context");
    current = context == nullptr ? -1 : static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 0x100;
  }
  std::uint64_t current_context_id() override { return current < 0 ? 0 : 1000 * (current + 1) + context_number; }
  int current_device() override {
    if (current < 0) throw Error(ErrorCode::invalid_argument, "no current context");
    return current;
  }
  void synchronize_context() override { note("synchronize_context"); }
  std::size_t free_memory() override { return std::size_t{79} << 30; }

  DevicePointer allocate(std::size_t bytes) override {
    note("allocate");
    const DevicePointer pointer = next_pointer_;
    next_pointer_ += (bytes + 511) / 512 * 512;
    return pointer;
  }
  void free(DevicePointer) noexcept override { note_quietly("free"); }
  bool reaches(int device, DevicePointer pointer) override { return owners.empty() || device_of(pointer) == device; }
  int device_of(DevicePointer pointer) override {
    const auto found = owners.find(pointer);
    return found == owners.end() ? 0 : found->second;
  }
  void copy_to_device(DevicePointer, const void*, std::size_t, CUstream_st*) override { note("copy_to_device"); }
  void copy_to_host(void*, DevicePointer, std::size_t, CUstream_st*) override { note("copy_to_host"); }
  void copy_on_device(DevicePointer, DevicePointer, std::size_t, CUstream_st*) override { note("copy_on_device"); }
  void copy_region(DevicePointer, DevicePointer, const CopyRegion&, CUstream_st*) override { note("copy_region"); }
  void fill_bytes(DevicePointer, std::uint8_t, std::size_t, CUstream_st*) override { note("fill_bytes"); }
  void fill_words(DevicePointer, std::uint32_t, std::size_t, CUstream_st*) override { note("fill_words"); }

  CUmod_st* load_module(std::span<const std::byte>) override {
    note("load_module");
    return handle<CUmod_st>(next_handle_++);
  }
  void unload_module(CUmod_st*) noexcept override { note_quietly("unload_module"); }
  CUfunc_st* function(CUmod_st*, const std::string& entry) override {
    note("function");
    return know(handle<CUfunc_st>(next_handle_++), entry);
  }
  DeviceSymbol symbol(CUmod_st*, const std::string&) override {
    note("symbol");
    return {};
  }
  int function_attribute(CUfunc_st*, FunctionAttribute) override { return 32; }
  void allow_shared(CUfunc_st*, std::size_t) override { note("allow_shared"); }
  int resident_blocks(CUfunc_st*, int threads, std::size_t) override { return 2048 / threads; }
  void encode_tensor_map(ElementType, const TensorMapRequest& map, std::span<std::byte> to) override {
    std::memcpy(to.data(), &map.address, sizeof(map.address));
  }
  void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
              std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override {
    const bool copies = copies_boxes(function);
    note(copies ? "copy_boxes" : "launch");
    const std::scoped_lock lock(mutex_);
    (copies ? box_copies : launches)
        .push_back({function, grid, block, shared_bytes, {argument.begin(), argument.end()}, stream});
  }

  void ignore_captures() override { note("ignore_captures"); }

  bool captures(CUstream_st*) override { return false; }
  void begin_capture(CUstream_st*) override { note("begin_capture"); }
  void drop_capture(CUstream_st*) noexcept override { note_quietly("drop_capture"); }
  CUgraphExec_st* end_capture(CUstream_st*, CUgraphExec_st* earlier) override {
    note("end_capture");
    return earlier != nullptr ? earlier : handle<CUgraphExec_st>(next_handle_++);
  }
  void launch_graph(CUgraphExec_st*, CUstream_st*) override { note("launch_graph"); }
  void destroy_graph(CUgraphExec_st*) noexcept override { note_quietly("destroy_graph"); }

  CUstream_st* create_stream() override { return handle<CUstream_st>(next_handle_++); }
  void destroy_stream(CUstream_st*) noexcept override { note_quietly("destroy_stream"); }
  void synchronize_stream(CUstream_st*) override { note("synchronize_stream"); }
  bool stream_done(CUstream_st*) override { return true; }
  CUevent_st* create_event() override { return handle<CUevent_st>(next_handle_++); }
  void destroy_event(CUevent_st*) noexcept override { note_quietly("destroy_event"); }
  void record_event(CUevent_st*, CUstream_st*) override { note("record_event"); }
  void synchronize_event(CUevent_st*) override { note("synchronize_event"); }
  void wait_for_event(CUstream_st*, CUevent_st*) override { note("wait_for_event"); }
  float elapsed_ms(CUevent_st*, CUevent_st*) override { return 1; }

  int count(const std::string& call) {
    const std::scoped_lock lock(mutex_);
    int number = 0;
    for (const std::string& each : calls) number += each == call ? 1 : 0;
    return number;
  }

 protected:
  /// Whether launches of the function copy boxes.
  bool copies_boxes(CUfunc_st* function) {
    const std::scoped_lock lock(mutex_);
    return box_copiers_.count(function) > 0;
  }
  CUfunc_st* know(CUfunc_st* function, const std::string& entry) {
    const std::scoped_lock lock(mutex_);
    if (entry == "stencil_box_copies") box_copiers_.insert(function);
    return function;
  }

 private:
  template <class Type>
  static Type* handle(std::uintptr_t number) {
    return reinterpret_cast<Type*>(number);
  }
  void note_quietly(const char* call) noexcept {
    const std::scoped_lock lock(mutex_);
    calls.emplace_back(call);
  }
  void note(const char* call) {
    note_quietly(call);
    if (refuse == call) throw Error(ErrorCode::launch_failed, std::string("the fake driver refuses ") + call);
  }

  std::mutex mutex_;
  std::set<CUfunc_st*> box_copiers_;
  std::uintptr_t next_handle_ = 0x1000;
  DevicePointer next_pointer_ = 0x10000000;
};

}  // namespace stencil_tune
