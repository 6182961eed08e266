// Launches captured as CUDA graphs, by the driver's own functions.
#pragma once

#include "runtime/cuda/shared_library.hpp"

#include <gtest/gtest.h>

#include <cuda.h>

namespace stencil_tune {

/// What the library does not need of the driver and a test does.
struct DriverFunctions {
  SharedLibrary library = SharedLibrary::open("libcuda.so.1", nullptr).value();
  CUresult (*create_context)(CUcontext*, unsigned, CUdevice) = nullptr;
  decltype(&::cuCtxDestroy) destroy_context = nullptr;
  CUresult (*begin_capture)(CUstream, CUstreamCaptureMode) = nullptr;
  decltype(&::cuStreamEndCapture) end_capture = nullptr;
  CUresult (*instantiate)(CUgraphExec*, CUgraph, unsigned long long) = nullptr;
  decltype(&::cuGraphLaunch) launch_graph = nullptr;
  decltype(&::cuGraphExecDestroy) destroy_executable = nullptr;
  decltype(&::cuGraphDestroy) destroy_graph = nullptr;

  DriverFunctions() {
    library.require(create_context, "cuCtxCreate_v2");
    library.require(destroy_context, "cuCtxDestroy_v2");
    library.require(begin_capture, "cuStreamBeginCapture_v2");
    library.require(end_capture, "cuStreamEndCapture");
    library.require(instantiate, "cuGraphInstantiateWithFlags");
    library.require(launch_graph, "cuGraphLaunch");
    library.require(destroy_executable, "cuGraphExecDestroy");
    library.require(destroy_graph, "cuGraphDestroy");
  }
};

/// The launches made between construction and finish(), as one graph.
class Capture {
 public:
  Capture(DriverFunctions& functions, CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL)
      : functions_(functions), stream_(stream) {
    EXPECT_EQ(functions_.begin_capture(stream_, mode), CUDA_SUCCESS);
  }
  ~Capture() {
    if (executable_ != nullptr) functions_.destroy_executable(executable_);
    if (graph_ != nullptr) functions_.destroy_graph(graph_);
  }

  void finish() {
    ASSERT_EQ(functions_.end_capture(stream_, &graph_), CUDA_SUCCESS);
    ASSERT_EQ(functions_.instantiate(&executable_, graph_, 0), CUDA_SUCCESS);
  }
  void launch() { ASSERT_EQ(functions_.launch_graph(executable_, stream_), CUDA_SUCCESS); }

 private:
  DriverFunctions& functions_;
  CUstream stream_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace stencil_tune
