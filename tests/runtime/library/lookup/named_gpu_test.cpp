// A login node: lookups for GPUs by their name, where there is neither a driver nor a compiler.
#include "runtime/cuda/gpu_names.hpp"
#include "runtime/library/kernel_state.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <tuple>

namespace stencil_tune {
namespace {

LibraryParts parts_without_gpu() {
  LibraryParts parts;
  parts.driver = []() -> Driver& { throw Error(ErrorCode::missing_library, "no driver on this machine"); };
  parts.compiler = []() -> std::shared_ptr<Compiler> { throw Error(ErrorCode::missing_library, "no NVRTC here"); };
  parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
  return parts;
}

Library make_library(LibraryParts parts = parts_without_gpu()) {
  return Library(std::make_unique<Library::Impl>(std::move(parts)));
}

Request star(const std::string& gpu, int steps = 1) {
  return {
      .stencil = find_builtin("star3d1r"), .extents = {.rank = 3, .n = {512, 512, 512}}, .steps = steps, .gpu = gpu};
}

/// The library of the machine itself, with the winners that ship and nothing else.
Library shipped_library(const TemporaryFolder& folder) {
  setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
  unsetenv("STENCIL_TUNE_DB");
  return Library();
}

TEST(NamedGpu, WinnersThatShipAreFoundByShortNameAndModel) {
  const TemporaryFolder folder;
  Library library = shipped_library(folder);
  for (const char* gpu : {"h200", "H200", "NVIDIA H200"}) {
    const Kernel kernel = library.lookup(star(gpu, 100));
    EXPECT_LE(kernel.match(), Match::stale) << gpu;
    EXPECT_GT(kernel.fused_steps(), 1);
    EXPECT_EQ(kernel.evidence().gpu, "NVIDIA H200");
    EXPECT_GT(kernel.evidence().gstencils, 500);
    EXPECT_EQ(kernel.architecture(), "sm_90");
    EXPECT_NE(kernel.evidence().sentence().find("no GPU was asked"), std::string::npos);
  }
}

/// Absorbing layers: what an untuned run of a stencil of the corpus, and of stencil_tune.models' waves, is made of.
TEST(NamedGpu, WavesInMatchedLayersAreMadeInZonesByWinnersThatShip) {
  const TemporaryFolder folder;
  Library library = shipped_library(folder);
  for (const auto& [name, steps, rate] :
       {std::tuple{"acoustic3d_o2_cpml", 4, 300}, {"acoustic3d_o4_cpml", 2, 170}, {"acoustic3d_o8_cpml", 1, 120}}) {
    const Stencil stencil = find_stencil(name);
    const Request request{.stencil = stencil, .extents = {3, {512, 512, 512}}, .steps = 100, .gpu = "h200"};
    const Kernel kernel = library.lookup(request);
    EXPECT_EQ(kernel.fused_steps(), steps) << name;
    EXPECT_EQ(kernel.match(), Match::exact) << kernel.run_evidence().sentence();
    EXPECT_GT(kernel.run_evidence().gstencils, rate) << name;
  }
}

TEST(NamedGpu, SmallZonesThatNobodyTunedTakeWhatTheModelChooses) {
  const TemporaryFolder folder;
  Library library = shipped_library(folder);
  const Request request{
      .stencil = find_stencil("acoustic3d_o8_cpml"), .extents = {3, {512, 512, 512}}, .steps = 100, .gpu = "h200"};
  const Kernel kernel = library.lookup(request);
  std::map<Match, int> zones;
  for (const StageKernel& zone : kernel.state().main_stages()) ++zones[zone.evidence.match];
  EXPECT_EQ(zones, (std::map<Match, int>{{Match::exact, 11}, {Match::predicted, 16}}));
}

TEST(NamedGpu, AnArchitectureAloneIsNeverAnExactMatch) {
  const TemporaryFolder folder;
  Library library = shipped_library(folder);
  const Kernel kernel = library.lookup(star("sm_90"));
  EXPECT_EQ(kernel.match(), Match::same_architecture);
  EXPECT_EQ(library.lookup(star("sm_80")).match(), Match::predicted) << "what won elsewhere is no more than a start";
}

TEST(NamedGpu, GpusAreToldApart) {
  Library library = make_library();
  EXPECT_EQ(library.lookup(star("a100")).architecture(), "sm_80");
  EXPECT_EQ(library.lookup(star("h100")).architecture(), "sm_90");
  EXPECT_EQ(library.lookup(star("sm_70")).architecture(), "sm_70");
}

TEST(NamedGpu, AModelThatWonSomethingIsKnown) {
  LibraryParts parts = parts_without_gpu();
  parts.architecture_of = [](const std::string& gpu) {
    return gpu == "NVIDIA A100-PCIE-40GB" ? std::optional<std::string>("sm_80") : std::nullopt;
  };
  EXPECT_EQ(make_library(std::move(parts)).lookup(star("NVIDIA A100-PCIE-40GB")).architecture(), "sm_80");
}

TEST(NamedGpu, OthersAreRefusedWithTheNearestName) {
  Library library = make_library();
  EXPECT_ERROR(library.lookup(star("h20")), ErrorCode::unknown_name, "h200");
  EXPECT_ERROR(library.lookup(star("sm_30")), ErrorCode::unknown_name, "sm_30");
  Request both = star("h200");
  both.device = 0;
  EXPECT_ERROR(library.lookup(both), ErrorCode::invalid_argument, "not both");
}

TEST(NamedGpu, WhatWouldRunItSaysWhatIsMissing) {
  Library library = make_library();
  Kernel kernel = library.lookup(star("a100"));
  void* fields[] = {reinterpret_cast<void*>(0x1000), reinterpret_cast<void*>(0x90000000)};
  EXPECT_FALSE(kernel.ready());
  EXPECT_ERROR(kernel.prepare(), ErrorCode::no_device, "NVIDIA A100-SXM4-80GB by name");
  EXPECT_ERROR(kernel.wait(), ErrorCode::no_device, "by name");
  EXPECT_ERROR(kernel.launch(nullptr, fields), ErrorCode::no_device, "by name");
  EXPECT_ERROR(kernel.advance(nullptr, fields, 2), ErrorCode::no_device, "by name");
}

TEST(NamedGpu, NothingIsTunedForOne) {
  LibraryParts parts = parts_without_gpu();
  parts.tune = [](const TuningJob&) -> bool { throw Error(ErrorCode::internal, "a GPU that is not here was tuned"); };
  parts.compile_in_background = true;
  EXPECT_EQ(make_library(std::move(parts)).lookup(star("h200")).match(), Match::default_candidate);
}

TEST(NamedGpu, NamesAreFoundInAnyCase) {
  ASSERT_NE(find_gpu_name("RTX4090"), nullptr);
  EXPECT_EQ(find_gpu_name("RTX4090")->model, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(find_gpu_name("nvidia h200"), find_gpu_name("h200"));
  EXPECT_EQ(find_gpu_name("h20"), nullptr);
}

}  // namespace
}  // namespace stencil_tune
