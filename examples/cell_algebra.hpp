// Update rules written with operators: Cells wraps a node of a StencilBuilder.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <vector>

namespace examples {

/// The value of an expression at each cell. Refers to the builder, which must outlive it.
class Cells {
 public:
  Cells(stencil_tune::StencilBuilder& builder, stencil_tune::NodeId node) : builder_(&builder), node_(node) {}

  stencil_tune::StencilBuilder& builder() const { return *builder_; }
  stencil_tune::NodeId node() const { return node_; }

 private:
  stencil_tune::StencilBuilder* builder_;
  stencil_tune::NodeId node_;
};

Cells operator+(Cells a, Cells b);
Cells operator-(Cells a, Cells b);
Cells operator*(Cells a, Cells b);
Cells operator*(double a, Cells b);
Cells operator/(Cells a, double b);

/// p_next = 2 p - p_prev + c2 v^2 laplacian(p): the acoustic wave equation, leapfrog in time, central differences of
/// the given accuracy order in space. Fields p, p_prev, v, p_next; coefficient c2 = (dt / h)^2.
/// Throws Error(invalid_argument) unless rank is 2 or 3 and order 2, 4, 6 or 8.
stencil_tune::Stencil acoustic_wave(int rank, int order);

/// The 5x5 binomial filter, a Gaussian of variance 1: fields image, blurred.
stencil_tune::Stencil gaussian_5x5();

/// Weights of the second derivative on unit spacing, the centre first: B. Fornberg, Generation of Finite Difference
/// Formulas on Arbitrarily Spaced Grids (1988), in closed form.
std::vector<double> second_derivative_weights(int order);

}  // namespace examples
