// Runs of a grid that is cut, on ranks that are threads, beside the same run of the whole: kernels run on the CPU.
#pragma once

#include "runtime/library/library_parts.hpp"
#include "stencil_tune/distributed.hpp"
#include "tests/distributed/cut_cases.hpp"
#include "tests/distributed/graph_recorder.hpp"
#include "tests/distributed/thread_ranks.hpp"
#include "tests/runtime/library/host_driver.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// The driver of all ranks. Refuses what a capture cannot have.
class SharedHostDriver : public HostDriver {
 public:
  CUmod_st* load_module(std::span<const std::byte> source) override {
    GraphRecorder::of_thread().refuse("a module is loaded");
    const std::scoped_lock lock(mutex_);
    return HostDriver::load_module(source);
  }
  CUfunc_st* function(CUmod_st* module, const std::string& entry) override {
    const std::scoped_lock lock(mutex_);
    return HostDriver::function(module, entry);
  }
  void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
              std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override {
    const std::vector<std::byte> kept(argument.begin(), argument.end());
    GraphRecorder::of_thread().run([=, this] {
      const std::scoped_lock lock(mutex_);
      HostDriver::launch(function, grid, block, shared_bytes, kept, stream);
    });
  }
  void copy_region(DevicePointer to, DevicePointer from, const CopyRegion& region, CUstream_st* stream) override {
    GraphRecorder::of_thread().run([=, this] { HostDriver::copy_region(to, from, region, stream); });
  }
  void fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st* stream) override {
    GraphRecorder::of_thread().run([=, this] { HostDriver::fill_bytes(to, value, bytes, stream); });
  }
  void copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st* stream) override {
    GraphRecorder::of_thread().refuse("cells are copied from the host");
    HostDriver::copy_to_device(to, from, bytes, stream);
  }
  void copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st* stream) override {
    GraphRecorder::of_thread().refuse("cells are copied to the host");
    HostDriver::copy_to_host(to, from, bytes, stream);
  }
  DevicePointer allocate(std::size_t bytes) override {
    GraphRecorder::of_thread().refuse("memory is allocated");
    return HostDriver::allocate(bytes);
  }
  void synchronize_stream(CUstream_st* stream) override {
    GraphRecorder::of_thread().refuse("a stream is waited for");
    HostDriver::synchronize_stream(stream);
  }
  bool stream_done(CUstream_st* stream) override {
    GraphRecorder::of_thread().refuse("a stream is asked");
    return HostDriver::stream_done(stream);
  }
  /// What travels on a stream of its own arrives when another one waits for it, and not before.
  void wait_for_event(CUstream_st* stream, CUevent_st*) override { LateArrival::of_thread().wait(stream); }
  CUevent_st* create_event() override {
    const std::scoped_lock lock(mutex_);
    return HostDriver::create_event();
  }
  CUstream_st* create_stream() override {
    const std::scoped_lock lock(mutex_);
    return HostDriver::create_stream();
  }
  CUstream_st* create_urgent_stream() override {
    ++urgent_streams;
    return create_stream();
  }

  std::atomic<int> urgent_streams = 0;

 private:
  std::mutex mutex_;
};

struct DistributedRun {
  Request request{};
  Cut cut{1, 1, 1};
  int fused = 1;              ///< steps of the kernel that was tuned
  int per_exchange = 0;       ///< 0: as the library chooses
  std::vector<int> steps{5};  ///< steps of the calls of advance, one after another
  Place place{};
  bool overlap = false;

  std::string describe() const;
};

using Cells = std::vector<double>;

class RunsOnHost : public ::testing::Test {
 protected:
  /// The fields of the run on one domain are, to the bit, those that the ranks gather; each rank's halos held NaN
  /// before. Fields between stages count nowhere.
  void expect_equal(const DistributedRun& run);

  /// A library that knows a winner with so many fused steps for whatever is asked.
  Library library(int fused);

  static SharedHostDriver& driver();

 private:
  std::vector<Cells> on_one_domain(const DistributedRun& run, const std::vector<Cells>& start);
  std::vector<Cells> on_ranks(const DistributedRun& run, const std::vector<Cells>& start);
};

/// In f64, on a grid of such extents; boundary on all axes.
Request request_for(const std::string& stencil, const std::array<std::int64_t, kMaxRank>& extents, Boundary boundary);

/// Random cells for each field; of a profile as many as it has, of time twenty.
std::vector<Cells> random_cells(const Request& request);

}  // namespace stencil_tune
