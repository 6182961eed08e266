#include "runtime/compile/nvrtc_search.hpp"

#include "runtime/compile/nvrtc_api.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

TEST(NvrtcSearch, TriesToolkitsThenTheLinkersPathThenPythonEnvironments) {
  const TemporaryFolder folder;
  const std::string toolkit = folder.touch("toolkit/lib64/libnvrtc.so.12");
  const std::string wheel13 = folder.touch("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const std::string wheel12 = folder.touch("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  const NvrtcSearch search{.override_path = "",
                           .toolkits = {folder.path() / "toolkit", folder.path() / "absent"},
                           .python_environments = {folder.path() / "venv"}};
  EXPECT_EQ(nvrtc_candidates(search), (std::vector<std::string>{toolkit, "libnvrtc.so.13", "libnvrtc.so.12",
                                                                "libnvrtc.so.11.2", wheel13, wheel12}));
}

TEST(NvrtcSearch, RefusesAPythonEnvironmentThatOthersMayWrite) {
  const TemporaryFolder folder;
  const std::filesystem::path wheel = folder.touch("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const NvrtcSearch search{.python_environments = {folder.path() / "venv"}};
  const auto offers_wheel = [&] {
    const auto candidates = nvrtc_candidates(search);
    return std::find(candidates.begin(), candidates.end(), wheel) != candidates.end();
  };
  EXPECT_TRUE(offers_wheel());
  for (const auto& writable : {folder.path() / "venv", wheel.parent_path(), wheel}) {
    std::filesystem::permissions(writable, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
    EXPECT_FALSE(offers_wheel()) << writable;
    EXPECT_NE(describe(search).find("refused: " + writable.string()), std::string::npos) << describe(search);
    std::filesystem::permissions(writable, std::filesystem::perms::others_write, std::filesystem::perm_options::remove);
  }
}

TEST(NvrtcSearch, TheProjectsEnvironmentIsThatOfItsCheckoutAlone) {
  const TemporaryFolder folder;
  folder.touch(".venv/pyvenv.cfg");  // someone else's, who owns a folder above
  folder.touch("checkout/scripts/setup");
  const auto program = folder.touch("checkout/build/default/bin/stencil-tune");
  EXPECT_EQ(project_environment(program), "");
  folder.touch("checkout/.venv/pyvenv.cfg");
  EXPECT_EQ(project_environment(program), folder.path() / "checkout" / ".venv");
  EXPECT_EQ(project_environment(folder.touch("bin/stencil-tune")), "");
}

TEST(NvrtcSearch, FindsTheWheelsBesideThePythonPackage) {
  const TemporaryFolder folder;
  const auto library = folder.touch("lib/python3.12/site-packages/stencil_tune/lib/libstencil_tune.so.0");
  EXPECT_EQ(packages_around(library), "") << "a folder of that name alone is no package";
  folder.touch("lib/python3.12/site-packages/stencil_tune/__init__.py");
  const auto packages = packages_around(library);
  EXPECT_EQ(packages, folder.path() / "lib" / "python3.12" / "site-packages");
  const std::string wheel = folder.touch("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(nvrtc_candidates({.python_packages = {packages}}).back(), wheel);
  std::filesystem::permissions(packages, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_NE(nvrtc_candidates({.python_packages = {packages}}).back(), wheel);
}

TEST(NvrtcSearch, LooksNowhereElseWhenToldWhere) {
  const TemporaryFolder folder;
  const std::string library = folder.touch("own/libnvrtc.so.13");
  folder.touch("toolkit/lib64/libnvrtc.so.12");
  NvrtcSearch search{.override_path = folder.path() / "own", .toolkits = {folder.path() / "toolkit"}};
  EXPECT_EQ(nvrtc_candidates(search), std::vector<std::string>{library});
  search.override_path = "/elsewhere/libnvrtc.so.13";
  EXPECT_EQ(nvrtc_candidates(search), std::vector<std::string>{"/elsewhere/libnvrtc.so.13"});
}

TEST(NvrtcSearch, ReadsTheVersionOffTheBuiltinsBesideIt) {
  const TemporaryFolder folder;
  folder.touch("new/lib64/libnvrtc.so.13");
  folder.touch("new/lib64/libnvrtc-builtins.so.13.0");
  folder.touch("new/lib64/libnvrtc-builtins.alt.so.13.0");
  folder.touch("old/lib64/libnvrtc.so.12");
  folder.touch("old/lib64/libnvrtc-builtins.so.12.6");
  const NvrtcSearch search{.override_path = "", .toolkits = {folder.path() / "new", folder.path() / "old"}};
  EXPECT_EQ(version_by_name(search, 0), "13.0");
  EXPECT_EQ(version_by_name(search, 12), "12.6") << "a driver for CUDA 12 cannot use 13";
}

TEST(NvrtcSearch, TheSameVersionUnderTwoNamesIsOne) {
  const TemporaryFolder folder;
  folder.touch("toolkit/lib64/libnvrtc.so.13");
  folder.touch("toolkit/lib64/libnvrtc-builtins.so.13.0");
  folder.touch("toolkit/lib64/libnvrtc-builtins.so.13.0.88");
  EXPECT_EQ(version_by_name({.override_path = "", .toolkits = {folder.path() / "toolkit"}}, 0), "13.0");
}

TEST(NvrtcSearch, DoesNotGuessAVersionAmongSeveral) {
  const TemporaryFolder folder;
  folder.touch("toolkit/lib64/libnvrtc.so.12");
  folder.touch("toolkit/lib64/libnvrtc-builtins.so.12.4");
  folder.touch("toolkit/lib64/libnvrtc-builtins.so.12.6");
  EXPECT_EQ(version_by_name({.override_path = "", .toolkits = {folder.path() / "toolkit"}}, 0), "");
  EXPECT_EQ(version_by_name({}, 0), "") << "nothing can be said of what the dynamic linker would find";
}

TEST(NvrtcSearch, MissingNvrtcIsAnErrorThatSaysWhereItLookedAndWhatToDo) {
  const NvrtcSearch search{.override_path = "/no/such/libnvrtc.so.13"};
  EXPECT_ERROR(NvrtcApi::open(search), ErrorCode::missing_library, "/no/such/libnvrtc.so.13");
  EXPECT_ERROR(NvrtcApi::open(search), ErrorCode::missing_library, "STENCIL_TUNE_NVRTC");
}

TEST(NvrtcSearch, NvrtcNewerThanTheDriverIsNamed) {
  EXPECT_NO_THROW(require_driver_accepts("12.6", "13.0"));
  EXPECT_NO_THROW(require_driver_accepts("13.2", "13.0")) << "minor versions are compatible";
  EXPECT_ERROR(require_driver_accepts("13.0", "12.8"), ErrorCode::unsupported_driver, "13.0");
}

}  // namespace
}  // namespace stencil_tune
