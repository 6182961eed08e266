// What both sides of the comparison have in common: they are told on standard input how many steps to make.
#pragma once

#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include <unistd.h>

/// Random cells between -1 and 1: a kernel's power, and by it its clock, depends on them.
inline std::vector<double> random_cells(std::size_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> cells(count);
  for (double& cell : cells) cell = uniform(random);
  return cells;
}

/// Reads lines `REST_MS STEPS`; each is a rest, then run(steps), which prints its rate.
template <class Run>
void serve(Run run) {
  int rest = 0, steps = 0;
  while (std::scanf("%d %d", &rest, &steps) == 2) {
    usleep(1000u * static_cast<unsigned>(rest));
    run(steps);
    std::fflush(stdout);
  }
}
