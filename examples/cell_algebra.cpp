#include "cell_algebra.hpp"

#include "stencil_tune/error.hpp"

#include <string>

namespace examples {

namespace st = stencil_tune;

Cells operator+(Cells a, Cells b) { return {a.builder(), a.builder().apply(st::Operation::add, a.node(), b.node())}; }

Cells operator-(Cells a, Cells b) {
  return {a.builder(), a.builder().apply(st::Operation::subtract, a.node(), b.node())};
}

Cells operator*(Cells a, Cells b) {
  return {a.builder(), a.builder().apply(st::Operation::multiply, a.node(), b.node())};
}

Cells operator*(double a, Cells b) { return Cells(b.builder(), b.builder().number(a)) * b; }

Cells operator/(Cells a, double b) {
  return {a.builder(), a.builder().apply(st::Operation::divide, a.node(), a.builder().number(b))};
}

std::vector<double> second_derivative_weights(int order) {
  const int p = order / 2;
  std::vector<double> weights{0};
  for (int k = 1; k <= p; ++k) {
    double factor = k % 2 == 1 ? 1 : -1;  // times (p!)^2 / ((p-k)! (p+k)!)
    for (int i = 0; i < k; ++i) factor *= static_cast<double>(p - i) / (p + k - i);
    weights.push_back(2 * (factor / k) / k);
    weights[0] -= 2.0 / (static_cast<double>(k) * k);
  }
  return weights;
}

st::Stencil acoustic_wave(int rank, int order) {
  if (rank < 2 || rank > 3 || order < 2 || order > 8 || order % 2 != 0) {
    throw st::Error(st::ErrorCode::invalid_argument, "a wave of rank " + std::to_string(rank) + " and order " +
                                                         std::to_string(order) +
                                                         ": rank is 2 or 3, order 2, 4, 6 or 8");
  }
  st::StencilBuilder builder("acoustic" + std::to_string(rank) + "d_o" + std::to_string(order), rank);
  const int p = builder.field("p");
  const int p_prev = builder.field("p_prev");
  const int v = builder.field("v");
  const int p_next = builder.field("p_next");
  const auto at = [&](int field, const st::Offset& offset) { return Cells(builder, builder.read(field, offset)); };
  const st::Offset here{0, 0, 0};
  const auto along = [](std::size_t axis, int distance) {
    st::Offset offset{0, 0, 0};
    offset[axis] = distance;
    return offset;
  };

  const std::vector<double> weights = second_derivative_weights(order);
  Cells laplacian = rank * weights[0] * at(p, here);
  for (int k = 1; k <= order / 2; ++k) {
    Cells ring = at(p, along(0, -k)) + at(p, along(0, k));
    for (std::size_t axis = 1; axis < static_cast<std::size_t>(rank); ++axis) {
      ring = ring + at(p, along(axis, -k)) + at(p, along(axis, k));
    }
    laplacian = laplacian + weights[static_cast<std::size_t>(k)] * ring;
  }
  const Cells c2(builder, builder.coefficient_value(builder.coefficient("c2", 0.1)));
  const Cells next = 2 * at(p, here) - at(p_prev, here) + c2 * (at(v, here) * at(v, here)) * laplacian;
  builder.update(p_next, next.node());
  builder.rotate(p_next, p);
  builder.rotate(p, p_prev);
  return std::move(builder).build();
}

st::Stencil gaussian_5x5() {
  st::StencilBuilder builder("gaussian5x5", 2);
  const int image = builder.field("image");
  const int blurred = builder.field("blurred");
  const auto row = [&](int y) {
    const auto at = [&](int x) { return Cells(builder, builder.read(image, {x, y, 0})); };
    return (at(-2) + at(2)) + 4 * (at(-1) + at(1)) + 6 * at(0);
  };
  builder.update(blurred, (((row(-2) + row(2)) + 4 * (row(-1) + row(1)) + 6 * row(0)) / 256).node());
  builder.rotate(blurred, image);
  return std::move(builder).build();
}

}  // namespace examples
