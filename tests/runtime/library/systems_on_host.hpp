// A library of one system whose kernels run on the CPU, with the winners that a test wants.
#pragma once

#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/library/host_driver.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace stencil_tune {

/// The winner of runs of so many steps.
inline WinnerRecord winner_of(const Problem& problem, int steps, const Tuning& tuning) {
  WinnerRecord record;
  record.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                          .stencil_name = problem.stencil.name,
                          .stage = problem.stage,
                          .type = problem.type,
                          .boundaries = problem.boundaries,
                          .extents = problem.extents,
                          .pitch = problem.pitch,
                          .steps = steps};
  record.trial.platform.architecture = "sm_90";
  record.trial.code = code(tuning);
  record.trial.rate = 1;
  return record;
}

/// The same of the system's family.
inline WinnerRecord winner(const Problem& problem, int steps, int fused) {
  Problem run = problem;
  run.steps = steps;
  Tuning tuning = default_candidate(family_named("system"), run, {}).value();
  tuning.steps = fused;
  return winner_of(problem, steps, tuning);
}

class SystemsOnHost : public ::testing::Test {
 protected:
  Kernel lookup(const Problem& problem, std::vector<WinnerRecord> winners) {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
    parts.winners = [winners](const Problem&, const std::string&) { return winners; };
    library_.emplace(std::make_unique<Library::Impl>(std::move(parts)));
    return library_->lookup({.stencil = problem.stencil,
                             .type = problem.type,
                             .extents = problem.extents,
                             .boundaries = problem.boundaries,
                             .slabs = problem.slabs,
                             .alignment = 16,
                             .steps = 100});
  }

  HostDriver driver_;
  std::optional<Library> library_;
};

}  // namespace stencil_tune
