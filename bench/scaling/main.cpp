// How the rates of a grid over all GPUs of this machine scale, and how fast its links are.
//
//     stencil_tune_bench_scaling FOLDER      writes scaling.json and scaling.txt there
//
// Exit status: 0, 1 an error or a run that could not be measured, 2 usage, 77 fewer than two GPUs or no NCCL.
#include "bench/scaling/gpu_ranks.hpp"
#include "bench/scaling/record.hpp"
#include "runtime/cuda/device.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using namespace stencil_tune;

constexpr int kSkipped = 77;

/// How many GPUs there are that NCCL joins; 0 where there is nothing to measure, with the reason on standard error.
int gpus_here() try {
  const int gpus = static_cast<int>(list_devices().size());
  if (gpus < 2) {
    fmt::print(stderr, "two GPUs are needed, {} found\n", gpus);
    return 0;
  }
  bench::nccl_version();
  return gpus;
} catch (const Error& error) {
  if (error.code() != ErrorCode::missing_library) throw;
  fmt::print(stderr, "{}\n", error.what());
  return 0;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw Error(ErrorCode::file_io, fmt::format("cannot write {}", file.string()));
}

int record(const fs::path& folder, int gpus, std::int64_t cells) {
  fs::create_directories(folder);
  const auto record = bench::record_scaling(gpus, cells);
  write(folder / "scaling.json", record.dump(2) + "\n");
  const std::string table = bench::scaling_table(record);
  write(folder / "scaling.txt", table);
  fmt::print("{}", table);
  return record.contains("not_measured") ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  po::options_description options("stencil_tune_bench_scaling FOLDER");
  options.add_options()("help", "this")("folder", po::value<std::string>(), "where scaling.json and scaling.txt go")(
      "cells", po::value<std::int64_t>()->default_value(1024), "on an axis, of each GPU (weak) and in all (strong)");
  po::variables_map given;
  po::store(po::command_line_parser(argc, argv)
                .options(options)
                .positional(po::positional_options_description().add("folder", 1))
                .run(),
            given);
  po::notify(given);
  if (given.count("help") > 0) {
    std::cout << options;
    return 0;
  }
  if (given.count("folder") == 0) {
    std::cerr << options;
    return 2;
  }
  const int gpus = gpus_here();
  if (gpus == 0) return kSkipped;
  return record(given["folder"].as<std::string>(), gpus, given["cells"].as<std::int64_t>());
} catch (const po::error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
