// The GPU tests are also their own workers: the tuner starts "this program" with an internal verb.
#include "tests/kernels/copy_family.hpp"
#include "tuner/workers/worker.hpp"

#include <gtest/gtest.h>

#include <string_view>

int main(int argc, char** argv) {
  stencil_tune::add_copy_family();  // workers must know it too
  if (argc > 1 && std::string_view(argv[1]) == "internal-device-worker") return stencil_tune::device_worker_main();
  if (argc > 1 && std::string_view(argv[1]) == "internal-compile-worker") return stencil_tune::compile_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
