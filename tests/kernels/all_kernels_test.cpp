// The full product: every form of kernel x built-in stencil x element type x boundary, tens of thousands of kernels;
// and whole steps of the corpus's systems x fused steps x boundary.
#include "tests/kernels/corpus_step_cases.hpp"
#include "tests/kernels/kernel_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::size_t kKernelsTogether = 12;

void check_together(std::span<const HostCase> cases) {
  const auto verdicts = check_cases_on_host(cases);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_TRUE(verdicts[i].right) << describe(cases[i]) << "\n" << verdicts[i].message;
    EXPECT_GT(verdicts[i].cells_checked, 0) << describe(cases[i]);
  }
}

// Compiling takes most of the time: side by side on all cores. Launches take turns.
void check_all(const std::vector<HostCase>& cases) {
  ASSERT_FALSE(cases.empty());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    workers.emplace_back([&] {
      for (std::size_t first = 0; (first = next.fetch_add(kKernelsTogether)) < cases.size();) {
        check_together(std::span(cases).subspan(first, std::min(kKernelsTogether, cases.size() - first)));
      }
    });
  }
}

TEST(AllKernels, AgreeWithTheReferenceInEveryCell) { check_all(all_cases()); }

TEST(AllSystems, AgreeWithTheReferenceInEveryCell) { check_all(corpus_step_cases()); }

}  // namespace
}  // namespace stencil_tune
