// `stencil-tune kernel` as a user runs it, on a GPU that is made of the CPU: with its processes, its database and the
// kernels that ship.
#include "runtime/library/library_parts.hpp"
#include "tests/generator/user_kernel/definitions.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tests/tuner/commands/program_run.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace stencil_tune {
namespace {

using testing::kSaxpy;
using testing::replaced;

class KernelCommand : public CommandLineTest {
 protected:
  KernelCommand() {
    ::setenv("STENCIL_TUNE_LOCK_DIR", folder.path().c_str(), 1);
    ::setenv("STENCIL_TUNE_CACHE", STENCIL_TUNE_TEST_CACHE, 1);  // checking kernels are compiled once for all tests
  }

  /// The definition's path, quoted for a shell.
  std::string write(std::string_view text, const std::string& name = "saxpy.cu") const {
    const auto path = folder.path() / name;
    std::ofstream(path, std::ios::trunc) << text;
    return "'" + path.string() + "'";
  }

  nlohmann::json tuned(const std::string& arguments) const {
    const ProgramRun result = run("kernel " + arguments + " --json -q");
    EXPECT_EQ(result.status, 0) << arguments << "\n" << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }
};

// ---- the kernels that ship

struct Shipped {
  const char* name;
  const char* sizes;
};

class ShippedKernels : public KernelCommand, public ::testing::WithParamInterface<Shipped> {};

TEST_P(ShippedKernels, TuneThroughTheEngine) {
  const auto& [name, sizes] = GetParam();
  const auto json = tuned(std::string("kernels/") + name + ".cu --max-trials 2 --size " + sizes);
  ASSERT_TRUE(json.contains("kernels")) << json;
  EXPECT_EQ(json["kernels"][0]["kernel"], "winner");
  EXPECT_EQ(json["kernels"][1]["kernel"], "default");
  for (const auto& kernel : json["kernels"]) {
    EXPECT_EQ(kernel["outcome"], "ok") << kernel;
    EXPECT_GT(kernel["rate"], 0.0) << kernel;
    EXPECT_EQ(kernel["unit"], json["unit"]);
    EXPECT_FALSE(kernel.contains("gstencils")) << "not what a kernel's rate counts";
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedKernels,
                         ::testing::Values(Shipped{"convolution1d", "n=300,radius=3"},
                                           Shipped{"convolution2d", "width=37,height=21,pitch=40,radius=2"},
                                           Shipped{"histogram", "1000"}, Shipped{"matmul", "m=37,n=21,k=19"},
                                           Shipped{"reduction", "3000"}, Shipped{"scan", "3000"},
                                           Shipped{"transpose", "m=37,n=70"}),
                         [](const auto& kernel) { return std::string(kernel.param.name); });

// ---- one kernel's way through the verbs

TEST_F(KernelCommand, TunesListsShowsWritesAndGoesOn) {
  const std::string file = write(replaced(kSaxpy, "BLOCK = [32, 64, 128]", "BLOCK = [64, 128]"));
  const auto json = tuned(file + " --max-trials 2");
  EXPECT_EQ(json["kernel"], "saxpy");
  EXPECT_EQ(json["sizes"], "n=1000");
  EXPECT_EQ(json["unit"], "GFLOP/s");

  const auto again = tuned(file);
  EXPECT_EQ(again["notes"][0].get<std::string>().substr(0, 9), "3 trials ") << again["notes"];
  EXPECT_NE(again["notes"][0].get<std::string>().find("2 more known from earlier runs"), std::string::npos);
  const std::string winner = again["kernels"][0]["code"];
  EXPECT_EQ(winner.substr(0, 9), "BLOCK=128") << "the fastest on this GPU";
  EXPECT_EQ(tuned(file + " --size 77 --max-trials 1")["sizes"], "n=77");

  const auto list = nlohmann::json::parse(run("list --json").out);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["kind"], "kernel");
  const ProgramRun shown = run("show " + list[0]["id"].dump());
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("saxpy"), std::string::npos);
  EXPECT_NE(shown.out.find(list[0]["code"].get<std::string>()), std::string::npos) << shown.out;

  const auto written = folder.path() / "winner.cu";
  EXPECT_EQ(run("kernel " + file + " -o '" + written.string() + "'").status, 0);
  EXPECT_NE(read(written).find("#define BLOCK 128\n"), std::string::npos) << read(written);

  const ProgramRun exported = run("export " + file + " --with-main --name saxpy_best");
  EXPECT_EQ(exported.status, 0) << exported.err;
  EXPECT_NE(exported.out.find("\ncudaError_t saxpy_best(float* y, const float* x, float a, long long n, cudaStream_t"),
            std::string::npos)
      << exported.out;
  EXPECT_NE(exported.out.find("int main() { return saxpy_best_check::run(); }"), std::string::npos);
  const ProgramRun page = run("report " + file);
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_NE(page.out.find("saxpy, n=1000"), std::string::npos);
  EXPECT_NE(page.out.find("GFLOP/s"), std::string::npos);
  EXPECT_EQ(page.out.find("GStencil/s"), std::string::npos) << page.out;
  EXPECT_EQ(run("explain " + file + " BLOCK=128,ITEMS=2").out,
            "BLOCK=128,ITEMS=2 of saxpy with n=1000:\n  legal\n  block (128, 1, 1), grid (4, 1, 1), 0 bytes of dynamic "
            "shared memory\n");
  EXPECT_NE(run("explain " + file + " BLOCK=128,ITEMS=4").out.find("at most 256 cells a block"), std::string::npos);
  EXPECT_EQ(run("export " + file + " --gpu h100").status, 1) << "nothing was tuned there";
  EXPECT_NE(run("list --json").out.find("\"objective\": \"burst\""), std::string::npos);
  expect_error("kernel " + file + " --size 5 -o '" + written.string() + "'", 1, "nothing was tuned of saxpy with n=5");
}

TEST_F(KernelCommand, TrialsGoToOtherTunersFormatsAndBack) {
  tuned(write(kSaxpy) + " --max-trials 2");
  const auto path = folder.path() / "cache.json";
  const std::string other = " --db '" + (folder.path() / "other.db").string() + "'";
  const ProgramRun exported = run("db export '" + path.string() + "' --format kernel-tuner");
  ASSERT_EQ(exported.status, 0) << exported.err;
  EXPECT_NE(read(path).find("\"ITEMS\""), std::string::npos) << read(path);
  const ProgramRun imported = run("db import '" + path.string() + "' --format kernel-tuner" + other);
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_NE(imported.out.find("2 trials added, 0 here already"), std::string::npos) << imported.out;
  const ProgramRun again = run("kernel " + write(kSaxpy) + " --max-trials 1 --json -q" + other);
  EXPECT_NE(again.out.find("more known from earlier runs"), std::string::npos) << again.out << again.err;
}

TEST_F(KernelCommand, CtrlCKeepsWhatWasFound) {
  const std::string file =
      write(replaced(replaced(kSaxpy, "ITEMS = [1, 2, 4]", "ITEMS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]"),
                     "BLOCK * ITEMS <= 256", "BLOCK * ITEMS <= 2048"));
  const auto said = folder.path() / "said";
  const std::string command = "exec '" STENCIL_TUNE_PROGRAM "' kernel " + file + " --db '" + database +
                              "' >/dev/null 2>'" + said.string() + "' </dev/null";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (read(said).find(" tried") == std::string::npos && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 130) << read(said);
  const auto json = tuned(file + " --max-trials 1");
  EXPECT_NE(json["notes"][0].get<std::string>().find("more known from earlier runs"), std::string::npos) << json;
}

TEST_F(KernelCommand, TunesACapturedLaunchWithItsArguments) {
  const auto captured = folder.path() / "saxpy.n=50";
  std::filesystem::create_directory(captured);
  const auto put = [&](const char* name, std::string_view bytes) {
    std::ofstream(captured / name, std::ios::binary) << bytes;
  };
  put("definition.cu", kSaxpy);
  // Right for captured numbers alone, all of which are 1: with random ones it would be wrong.
  put("kernel.cu", replaced(kSaxpy, "y[i] = a * x[i] + y[i];\n  }", "y[i] = 2 * x[i] * x[i] + 1;\n  }"));
  put("sizes.txt", "n=50");
  const std::vector<float> ones(50, 1);
  const float two = 2;
  const int n = 50;
  for (const char* name : {"x.bin", "y.bin"}) {
    put(name, {reinterpret_cast<const char*>(ones.data()), ones.size() * sizeof(float)});
  }
  put("a.bin", {reinterpret_cast<const char*>(&two), sizeof two});
  put("n.bin", {reinterpret_cast<const char*>(&n), sizeof n});
  const auto json = tuned("'" + captured.string() + "' --max-trials 1");
  EXPECT_EQ(json["sizes"], "n=50");
  EXPECT_EQ(json["kernels"][0]["outcome"], "ok") << json;
  expect_error("kernel '" + captured.string() + "' --size 60", 2,
               "'y' takes 240 bytes with these sizes, 200 were captured");
}

TEST_F(KernelCommand, TheReferenceMayBeAFunctionOfALibrary) {
  std::filesystem::copy_file(STENCIL_TUNE_SAXPY_REFERENCE, folder.path() / "libreference.so");
  const auto by_function = [&](const std::string& text, const std::string& function) {
    return write(replaced(text, "kernel = \"saxpy_naive\"\nblock = 128\ngrid = \"ceil_div(n, 128)\"\n",
                          "library = \"libreference.so\"\nfunction = \"" + function + "\"\n"));
  };
  EXPECT_EQ(tuned(by_function(std::string(kSaxpy), "saxpy_reference") + " --max-trials 1")["kernels"][0]["outcome"],
            "ok");
  const ProgramRun wrong = run(
      "kernel " + by_function(replaced(kSaxpy, "y[i];\n  }", "2 * y[i];\n  }"), "saxpy_reference") + " --max-trials 1");
  EXPECT_EQ(wrong.status, 1) << wrong.out;
  EXPECT_NE((wrong.out + wrong.err).find("1 wrong_result"), std::string::npos) << wrong.out << wrong.err;
  expect_error("kernel " + by_function(std::string(kSaxpy), "nowhere"), 2, "has no function 'nowhere'");
}

TEST_F(KernelCommand, TunesAndExportsAKernelWithConstantMemory) {
  const std::string file = write(testing::kWeighted, "weighted.cu");
  const auto json = tuned(file);
  ASSERT_TRUE(json.contains("kernels")) << json;
  EXPECT_EQ(json["kernels"][0]["outcome"], "ok") << json;
  EXPECT_EQ(json["notes"][0].get<std::string>().substr(0, 9), "2 trials ") << json["notes"];
  const ProgramRun exported = run("export " + file + " --code BLOCK=32 --with-main");
  EXPECT_NE(exported.out.find("launch_weighted(float* out, const float* weights_argument, const float* in, "),
            std::string::npos)
      << exported.out;
  EXPECT_NE(exported.out.find("cudaMemcpyToSymbolAsync(weights, weights_argument, "), std::string::npos);
  EXPECT_NE(exported.out.find("launch_arguments[] = {(void*)&out, (void*)&in, "), std::string::npos);
}

TEST_F(KernelCommand, TrialsKeepTheirParametersOrderThroughFilesThatSortThem) {
  std::string text = replaced(kSaxpy, "BLOCK = [32, 64, 128]\nITEMS = [1, 2, 4]", "ITEMS = [1, 2, 4]\nBLOCK = [64]");
  tuned(write(text) + " --max-trials 2");
  const std::string file = "'" + (folder.path() / "trials.json").string() + "'";
  ASSERT_EQ(run("db export " + file + " --format t4").status, 0);
  const ProgramRun again = run("db import " + file + " --format t4");
  EXPECT_NE(again.out.find("0 trials added, 2 here already"), std::string::npos) << again.out << again.err;
}

// ---- what is wrong

/// Sums of 64 cells each. FAULT says what goes wrong.
constexpr std::string_view kFaulty = R"cu(/* stencil-tune
kernel = "sums"
[sizes]
n = 1000
[parameters]
FAULT = [0, 1, 2, 3, 4]
[launch]
block = 64
grid = "ceil_div(n, 64)"
[[arguments]]
name = "out"
type = "f32*"
length = "ceil_div(n, 64)"
output = true
[[arguments]]
name = "in"
type = "f32*"
length = "n"
fill = "integers"
[[arguments]]
name = "n"
type = "i32"
value = "n"
[reference]
kernel = "sums_naive"
block = 1
grid = "ceil_div(n, 64)"
*/
__global__ void sums(float* out, const float* in, int n) {
  __shared__ float parts[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  parts[threadIdx.x] = i < n ? in[i] : 0;
#if FAULT == 9
  for (volatile int forever = 1; forever != 0;) __syncthreads();
#endif
  for (int half = 32; half > 0; half /= 2) {
#if FAULT != 1
    __syncthreads();
#endif
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
#if FAULT == 2
  if (threadIdx.x == 0) out[blockIdx.x + 1] = parts[0];
#elif FAULT == 3
  if (threadIdx.x == 0) out[blockIdx.x + (1LL << 40)] = parts[0];
#endif
#if FAULT == 4
  if (threadIdx.x == 0 && blockIdx.x % 2 == 0) out[blockIdx.x] = parts[0];
#else
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
#endif
}

__global__ void sums_naive(float* out, const float* in, int n) {
  float sum = 0;
  for (int i = 64 * blockIdx.x; i < n && i < 64 * (blockIdx.x + 1); ++i) sum += in[i];
  out[blockIdx.x] = sum;
}
)cu";

TEST_F(KernelCommand, AConfigurationThatRacesOrWritesOutsideCostsItselfAlone) {
  const auto json = tuned(write(kFaulty));
  ASSERT_TRUE(json.contains("kernels")) << json;
  EXPECT_EQ(json["kernels"][0]["code"], "FAULT=0");
  const std::string note = json["notes"][0];
  EXPECT_EQ(note.substr(0, 9), "5 trials ") << note;
  EXPECT_NE(note.find("3 wrong_result"), std::string::npos) << note << ": the race, the write outside, what is left";
  EXPECT_NE(note.find("1 launch_failed"), std::string::npos) << note << ": the write far outside";
}

TEST_F(KernelCommand, AConfigurationThatHangsCostsItselfAlone) {
  const std::string file = write(replaced(kFaulty, "FAULT = [0, 1, 2, 3, 4]", "FAULT = [0, 9]"));
  // A launch may take as long as the budget. On a loaded machine a short one ends before both kernels are compiled.
  nlohmann::json json;
  for (const char* budget : {"--size 1000 --budget 5", "--size 2000 --budget 40"}) {
    json = tuned(file + " --max-trials 2 " + budget);
    if (json.contains("/kernels/0"_json_pointer) && json["notes"].dump().find("2 trials") != std::string::npos) break;
  }
  ASSERT_TRUE(json.contains("/kernels/0"_json_pointer)) << json;
  EXPECT_EQ(json["kernels"][0]["code"], "FAULT=0");
  const std::string note = json["notes"][0];
  EXPECT_NE(note.find("1 timeout"), std::string::npos) << note;
}

TEST_F(KernelCommand, AReferenceThatWritesFarOutsideEndsWithAMessage) {
  const std::string naive = "if (i < n) y[i] = a * x[i] + y[i];\n}";
  expect_error("kernel " + write(replaced(kSaxpy, naive, "if (i < n) y[i + (1LL << 40)] = 0;\n}")), 1,
               "the reference saxpy_naive");
}

TEST_F(KernelCommand, BadDefinitionsAreSaid) {
  const std::string reference = "kernel = \"saxpy_naive\"\nblock = 128\ngrid = \"ceil_div(n, 128)\"\n";
  struct Bad {
    std::string text;
    const char* message;
  };
  const Bad all[] = {
      {"__global__ void saxpy() {}", "there is no definition here"},
      {replaced(kSaxpy, "BLOCK * ITEMS <= 256", "BLOCK * ITEMS > 100000"), "at most 256 cells a block"},
      {replaced(kSaxpy, reference, "file = \"nowhere.cu\"\n" + reference), "nowhere.cu"},
      {replaced(kSaxpy, reference, "library = \"libnowhere.so\"\nfunction = \"saxpy\"\n"), "libnowhere.so"},
      {replaced(kSaxpy, "length = \"n\"\ninout", "length = \"n / 0\"\ninout"), "n / 0"},
      {replaced(kSaxpy, "block = [\"BLOCK\"]", "block = [\"BLOK\"]"), "BLOK"},
      {replaced(kSaxpy, "inout = true\n", ""), "output"},
  };
  for (const auto& [text, message] : all) {
    const ProgramRun result = run("kernel " + write(text));
    EXPECT_NE(result.status, 0) << message;
    EXPECT_NE(result.err.find(message), std::string::npos) << message << "\n" << result.err;
    EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
  }
  expect_error("kernel '" + (folder.path() / "none.cu").string() + "'", 1, "none.cu");
}

TEST_F(KernelCommand, AReferenceThatDoesNotCompileEndsWithTheCompilersWords) {
  const std::string file = write(replaced(kSaxpy, "const int i = (block", "const int i = undeclared + (block"));
  const ProgramRun result = run("kernel " + file);
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("the reference saxpy_naive fails: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("undeclared"), std::string::npos) << result.err;
}

// ---- stencils on the same GPU

/// Device code of the check too: its inputs are filled before the reference of the steps is made of them.
TEST_F(KernelCommand, ALookupThatRacesFindsWhatWonTheRace) {
  // Only what would run untuned is timed: the host takes its time to compile a kernel.
  const std::string program = (folder.path() / "program").string();
  std::ofstream(program) << "#!/bin/sh\nexec '" STENCIL_TUNE_PROGRAM "' \"$@\" --max-trials 1\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  FakeDriver driver;
  driver.gpus = {{.name = "Host GPU"}};
  ::unsetenv("STENCIL_TUNE_DB");
  ::setenv("XDG_DATA_HOME", (folder.path() / "never tuned").c_str(), 1);
  ::setenv("CPLUS_INCLUDE_PATH", STENCIL_TUNE_TEMPLATES, 1);  // kernels of stencils include the templates
  LibraryParts parts = open_parts({.program = program});
  parts.driver = [&]() -> Driver& { return driver; };
  Library library(std::make_unique<Library::Impl>(std::move(parts)));
  Request request{.stencil = find_builtin("star2d1r"), .extents = {2, {40, 24, 1}}, .pitch = 64};
  const Kernel untuned = library.lookup(request);
  EXPECT_EQ(untuned.match(), Match::same_architecture) << "winners that ship";
  request.race_s = 20;  // as long as that one run may take
  const Kernel raced = library.lookup(request);
  EXPECT_EQ(raced.match(), Match::exact) << raced.evidence().sentence();
  EXPECT_EQ(raced.evidence().code, untuned.evidence().code);
  EXPECT_NE(raced.evidence().sentence().find("it won a race of 20 s at "), std::string::npos);
  ::unsetenv("XDG_DATA_HOME");
}

TEST_F(KernelCommand, ATunedStencilIsComparedAfterFusedSteps) {
  ::setenv("CPLUS_INCLUDE_PATH", STENCIL_TUNE_TEMPLATES, 1);  // kernels of stencils include the templates
  const std::string code = "system.bx32.by2.ry4.pf1.t2";
  const ProgramRun result =
      run("tune --stencil corpus/acoustic3d_o2.toml --dims 40x20x20 --pitch 64 --steps 8 --json -q " +
          ("--budget 300s --candidates " + code));
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_TRUE(json.contains("kernels")) << result.out;
  EXPECT_EQ(json["kernels"][0]["code"], code) << json["kernels"];
  EXPECT_EQ(json["kernels"][0]["outcome"], "ok");
}

}  // namespace
}  // namespace stencil_tune
