// Ranks that fail together, and requests that they refuse.
#include "tests/distributed/runs_on_host.hpp"

#include "distributed/agreement.hpp"
#include "stencil_tune/definition.hpp"

#include <chrono>

namespace stencil_tune {
namespace {

class DistributedFailures : public RunsOnHost {
 protected:
  /// What each rank's constructor throws.
  std::vector<std::string> errors_of(int ranks, const Request& request, const DistributedOptions& options) {
    Library library = this->library(1);
    return ThreadRanks(ranks).run([&](const std::shared_ptr<Communicator>& communicator) {
      DistributedKernel(library, communicator, request, options);
    });
  }

  void expect_on_all(const std::vector<std::string>& errors, const std::string& words) {
    for (const std::string& error : errors) EXPECT_NE(error.find(words), std::string::npos) << error;
  }
};

TEST_F(DistributedFailures, WhatFailsOnOneRankThrowsOnAllAndNamesIt) {
  const auto errors = ThreadRanks(3).run([](const std::shared_ptr<Communicator>& ranks) {
    agree(*ranks, [&] {
      if (ranks->rank() == 1) throw Error(ErrorCode::exceeds_device_memory, "no room for 3 fields");
    });
  });
  expect_on_all(errors, "rank 1: no room for 3 fields");
}

TEST_F(DistributedFailures, RanksThatAskForDifferentGridsAreTold) {
  Library library = this->library(1);
  const auto errors = ThreadRanks(2).run([&](const std::shared_ptr<Communicator>& ranks) {
    DistributedKernel(library, ranks, request_for("heat2d", {32 + ranks->rank(), 16, 1}, Boundary::hold));
  });
  expect_on_all(errors, "ranks 0 and 1 ask for different grids");
}

TEST_F(DistributedFailures, CutsThatCannotBeAreRefused) {
  const Request request = request_for("heat2d", {16, 9, 1}, Boundary::hold);
  expect_on_all(errors_of(2, request, {.cut = {3, 1, 1}}), "a cut of 3x1 has 3 parts for 2 ranks");
  expect_on_all(errors_of(3, request, {.cut = {1, 3, 1}, .steps_per_exchange = 4}), "exchange more often");
  Request padded = request;
  padded.pitch = 32;
  expect_on_all(errors_of(2, padded, {}), "leave it 0");
  Request placed = request_for("heat2d", {16, 9, 1}, Boundary::periodic);
  placed.stencil = parse_stencil("u_next = 0.5*u[x-1,y] + x", 2);
  expect_on_all(errors_of(2, placed, {.cut = {2, 1, 1}, .steps_per_exchange = 2}), "asks for the coordinate x");
  placed.stencil = parse_definition(
      "rank = 2\nfields = [\"u\", \"u_next\"]\n[update]\nu_next = \"u[x-1]*x_before[x-1] + u[y-1]*y_after[y+1]\"\n",
      "edges");
  expect_on_all(errors_of(2, placed, {.cut = {2, 1, 1}}), "or for x_before or x_after, and x is periodic");
  expect_on_all(errors_of(2, placed, {}), "none across x, y");
}

TEST_F(DistributedFailures, ALostRankEndsTheOthersWaiting) {
  Library library = this->library(1);
  const Request request = request_for("heat2d", {16, 12, 1}, Boundary::hold);
  const auto errors = ThreadRanks(3).run([&](const std::shared_ptr<Communicator>& ranks) {
    DistributedKernel kernel(library, ranks, request);
    kernel.prepare(nullptr);
    DistributedFields fields(kernel);
    if (ranks->rank() == 2) throw std::runtime_error("out of power");
    kernel.advance(nullptr, fields, 10);
  });
  EXPECT_EQ(errors[0], "rank 2 is lost");
  EXPECT_EQ(errors[1], "rank 2 is lost");
}

TEST_F(DistributedFailures, FieldsOfAnotherKernelAndWrongSizesAreRefused) {
  Library library = this->library(1);
  const Request request = request_for("heat2d", {16, 12, 1}, Boundary::hold);
  const auto errors = ThreadRanks(1).run([&](const std::shared_ptr<Communicator>& ranks) {
    DistributedKernel kernel(library, ranks, request), other(library, ranks, request);
    DistributedFields fields(other);
    const std::vector<double> cells(16 * 12 - 1);
    EXPECT_THROW(fields.write(0, as_bytes(cells)), Error);
    EXPECT_THROW(fields.write(2, as_bytes(cells)), Error);
    kernel.advance(nullptr, fields, 1);
  });
  expect_on_all(errors, "made for another DistributedKernel");
}

}  // namespace
}  // namespace stencil_tune
