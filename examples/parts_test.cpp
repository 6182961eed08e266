// The parts that need no GPU: stencils equal to their definitions, modes that solve their equations, pictures that
// come back. Run with the corpus folder.
#include "cell_algebra.hpp"
#include "eigenmode.hpp"
#include "picture.hpp"

#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>

namespace {

namespace st = stencil_tune;
using namespace examples;

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  ++failures;
}

void stencils_are_those_of_the_corpus(const std::filesystem::path& corpus) {
  const auto same = [&](const st::Stencil& stencil, const char* file) {
    return st::stencil_key(stencil) == st::stencil_key(st::load_stencil(corpus / file));
  };
  expect(same(acoustic_wave(3, 2), "acoustic3d_o2.toml"), "the wave of order 2 shares its winners with the corpus");
  expect(same(acoustic_wave(3, 4), "acoustic3d_o4.toml"), "the wave of order 4 shares its winners with the corpus");
  expect(same(acoustic_wave(3, 8), "acoustic3d_o8.toml"), "the wave of order 8 shares its winners with the corpus");
  expect(same(gaussian_5x5(), "gaussian5x5.toml"), "the filter shares its winners with the corpus");
}

void weights_have_their_order() {
  for (const int order : {2, 4, 6, 8}) {
    const std::vector<double> weights = second_derivative_weights(order);
    for (int power = 0; power <= order + 2; power += 2) {
      double moment = power == 0 ? weights[0] : 0;
      for (std::size_t k = 1; k < weights.size(); ++k)
        moment += 2 * weights[k] * std::pow(static_cast<double>(k), power);
      const double expected = power == 2 ? 2 : 0;
      const bool exact = std::fabs(moment - expected) < 1e-9;
      expect(exact == (power <= order), "differences of x^power are exact up to the order, and not beyond");
    }
  }
}

void wrong_orders_are_refused() {
  for (const int order : {0, 3, 10}) {
    bool refused = false;
    try {
      acoustic_wave(3, order);
    } catch (const st::Error&) {
      refused = true;
    }
    expect(refused, "orders other than 2, 4, 6 and 8 are refused");
  }
}

void modes_fit_their_boundary() {
  const st::Extents extents{.rank = 2, .n = {33, 20, 1}};
  const Eigenmode walls = make_eigenmode(extents, st::Boundary::hold, Trigonometric::sine, 16);
  expect(std::fabs(walls.wave_number[0] - 2 * std::numbers::pi / 16) < 1e-12, "32 cells hold two waves of 16");
  expect(walls.along[0].front() == 0 && walls.along[0].back() == 0, "held walls are zero");
  const Eigenmode periodic = make_eigenmode(extents, st::Boundary::periodic, Trigonometric::cosine, 10);
  expect(std::fabs(periodic.wave_number[1] - 2 * std::numbers::pi / 10) < 1e-12, "20 cells hold two waves of 10");

  std::vector<double> field = walls.values(0.75);
  const Projection pure = project(field, walls);
  expect(std::fabs(pure.amplitude - 0.75) < 1e-12 && pure.residual < 1e-12, "a mode's amplitude is found");
  field[40] += 0.5;
  expect(project(field, walls).residual > 0.4, "what is not the mode is found");
  field[40] = std::nan("");
  expect(std::isnan(project(field, walls).residual), "a NaN is not overlooked");
}

void pictures_come_back() {
  Picture picture{.width = 3, .height = 2, .planes = {}};
  for (std::size_t i = 0; i < 6; ++i) {
    picture.planes[0].push_back(static_cast<double>(i) / 5);
    picture.planes[1].push_back(i % 2 == 0 ? 0 : 1);
    picture.planes[2].push_back(0.25);
  }
  write_png("parts_test.png", picture);
  const Picture read = read_png("parts_test.png");
  expect(read.width == 3 && read.height == 2, "a picture keeps its size");
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < 6; ++i) {
      const bool close = std::fabs(read.planes[channel][i] - picture.planes[channel][i]) < 0.005;
      expect(close, "a picture keeps its colours to 8 bits");
    }
  }
  std::filesystem::remove("parts_test.png");
  bool refused = false;
  try {
    read_png("parts_test.png");
  } catch (const st::Error& error) {
    refused = error.code() == st::ErrorCode::file_io;
  }
  expect(refused, "a missing picture is named");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
    return 2;
  }
  stencils_are_those_of_the_corpus(argv[1]);
  weights_have_their_order();
  wrong_orders_are_refused();
  modes_fit_their_boundary();
  pictures_come_back();
  return failures == 0 ? 0 : 1;
}
