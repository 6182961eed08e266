// A driver whose kernels run on the CPU, from their source.
#pragma once

#include "runtime/compile/compiler.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tests/runtime/library/host_graphs.hpp"
#include "tuner/executor/executor.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Hands the source on as what it compiled.
class SourceCompiler : public Compiler {
 public:
  CompiledKernel compile(const KernelSource& source, std::string_view) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(source.text.data());
    return {.cubin = {bytes, bytes + source.text.size()}, .entry = source.entry, .resources = {}, .seconds = 0};
  }
  std::string version() const override { return "13.0"; }
};

/// Runs what SourceCompiler made, on the CPU.
class HostDriver : public FakeDriver {
 public:
  CUmod_st* load_module(std::span<const std::byte> source) override {
    const std::scoped_lock lock(loading_);
    sources_.emplace_back(reinterpret_cast<const char*>(source.data()), source.size());
    return reinterpret_cast<CUmod_st*>(sources_.size());
  }
  CUfunc_st* function(CUmod_st* module, const std::string& entry) override {
    const std::scoped_lock lock(loading_);
    const std::string& text = sources_.at(reinterpret_cast<std::uintptr_t>(module) - 1);
    const bool is_own = text.find("#include \"stencil_tune/") == std::string::npos;
    const KernelSource source{.text = text, .entry = entry, .is_own = is_own};
    const auto [known, added] = numbers_.emplace(source.text, kernels_.size() + 1);
    if (added) {
      libraries_.emplace_back(std::span(&source, 1), files);
      kernels_.push_back(libraries_.back().kernel(entry));
      clusters_.push_back(cluster_of(source.text));
    }
    return know(reinterpret_cast<CUfunc_st*>(known->second), entry);
  }
  DeviceSymbol symbol(CUmod_st* module, const std::string& name) override {
    const std::scoped_lock lock(loading_);
    const std::size_t number = numbers_.at(sources_.at(reinterpret_cast<std::uintptr_t>(module) - 1));
    const auto variable = libraries_.at(number - 1).variable(name);
    return {reinterpret_cast<std::uintptr_t>(variable.data()), variable.size()};
  }
  void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
              std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override {
    if (graphs.captures(stream)) {
      const std::vector<std::byte> kept(argument.begin(), argument.end());
      return graphs.keep(stream, [=, this] { launch(function, grid, block, shared_bytes, kept, nullptr); });
    }
    const HostKernel& kernel = kernels_.at(reinterpret_cast<std::uintptr_t>(function) - 1);
    const unsigned cluster = clusters_.at(reinterpret_cast<std::uintptr_t>(function) - 1);
    const auto fault = kernel.run({.grid = grid, .block = block, .shared_bytes = shared_bytes, .cluster = cluster},
                                  argument, {.order = order});
    EXPECT_FALSE(fault) << fault->message;
    ++(copies_boxes(function) ? copied_boxes : launched);
  }
  void encode_tensor_map(ElementType type, const TensorMapRequest& map, std::span<std::byte> to) override {
    stencil_tune::encode_tensor_map(map, size_of(type), to);
  }
  DevicePointer allocate(std::size_t bytes) override {
    return reinterpret_cast<DevicePointer>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  }
  void free(DevicePointer pointer) noexcept override { std::free(reinterpret_cast<void*>(pointer)); }
  void copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st*) override {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st*) override {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  }
  void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st*) override {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  }
  void fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st*) override {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
  }
  bool captures(CUstream_st* stream) override { return graphs.captures(stream); }
  void begin_capture(CUstream_st* stream) override { graphs.begin(stream); }
  void drop_capture(CUstream_st*) noexcept override { graphs.drop(); }
  CUgraphExec_st* end_capture(CUstream_st* stream, CUgraphExec_st* earlier) override {
    return graphs.end(stream, earlier);
  }
  void launch_graph(CUgraphExec_st* graph, CUstream_st*) override { graphs.launch(graph); }
  void destroy_graph(CUgraphExec_st* graph) noexcept override { graphs.destroy(graph); }
  void record_event(CUevent_st* event, CUstream_st* stream) override { graphs.record(event, stream); }
  void wait_for_event(CUstream_st* stream, CUevent_st* event) override { graphs.wait(stream, event); }
  void copy_region(DevicePointer to, DevicePointer from, const CopyRegion& region, CUstream_st*) override {
    for (std::size_t z = 0; z < region.extent[2]; ++z) {
      for (std::size_t y = 0; y < region.extent[1]; ++y) {
        const std::size_t start = (z * region.plane_rows + y) * region.row_bytes;
        std::memcpy(reinterpret_cast<void*>(to + start), reinterpret_cast<const void*>(from + start), region.extent[0]);
      }
    }
  }

  int launched = 0;      ///< kernels but ...
  int copied_boxes = 0;  ///< ... the one that copies boxes
  HostGraphs graphs;
  ThreadOrder order = ThreadOrder::ascending;
  std::span<const TemplateFile> files = template_files();  ///< templates that kernels are made of

 private:
  /// As the kernel itself says it to CUDA.
  static unsigned cluster_of(const std::string& text) {
    constexpr std::string_view kSays = "STENCIL_CLUSTER(";
    const std::size_t at = text.find(kSays);
    return at == std::string::npos ? 1U : static_cast<unsigned>(std::stoul(text.substr(at + kSays.size())));
  }

  std::mutex loading_;  ///< kernels are prepared beside each other
  std::vector<std::string> sources_;
  std::map<std::string, std::size_t> numbers_;  ///< numbers of the kernels that were compiled, by their source
  std::vector<HostLibrary> libraries_;
  std::vector<HostKernel> kernels_;
  std::vector<unsigned> clusters_;
};

}  // namespace stencil_tune
