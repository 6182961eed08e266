#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

namespace stencil_tune {
namespace {

constexpr int kMaxOrder = 16;
constexpr std::string_view kSymmetricSuffix = "-symmetric";

/// The centre, then by distance x-, x+, y-, y+, z-, z+.
std::vector<Offset> star_offsets(int rank, int order) {
  std::vector<Offset> offsets{{0, 0, 0}};
  for (int distance = 1; distance <= order; ++distance) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
      for (const int sign : {-1, 1}) {
        Offset offset{0, 0, 0};
        offset[axis] = sign * distance;
        offsets.push_back(offset);
      }
    }
  }
  return offsets;
}

/// The centre, then by z, y, x.
std::vector<Offset> box_offsets(int rank, int order) {
  const int y_order = rank > 1 ? order : 0;
  const int z_order = rank > 2 ? order : 0;
  std::vector<Offset> offsets{{0, 0, 0}};
  for (int z = -z_order; z <= z_order; ++z) {
    for (int y = -y_order; y <= y_order; ++y) {
      for (int x = -order; x <= order; ++x) {
        if (x != 0 || y != 0 || z != 0) offsets.push_back({x, y, z});
      }
    }
  }
  return offsets;
}

/// What taps have in common that share a coefficient: |dx|, |dy|, |dz|, largest first.
Offset distance_of(const Offset& offset) {
  Offset distance{std::abs(offset[0]), std::abs(offset[1]), std::abs(offset[2])};
  std::sort(distance.rbegin(), distance.rend());
  return distance;
}

/// Taps that share a coefficient, in the order of their first tap.
std::vector<std::vector<Offset>> group(const std::vector<Offset>& offsets, Sharing sharing) {
  std::vector<std::vector<Offset>> groups;
  std::map<Offset, std::size_t> group_of;
  for (const Offset& offset : offsets) {
    const Offset key = sharing == Sharing::symmetric ? distance_of(offset) : offset;
    const auto [entry, added] = group_of.emplace(key, groups.size());
    if (added) groups.emplace_back();
    groups[entry->second].push_back(offset);
  }
  return groups;
}

/// Falling values, no two alike, so that a tap taken for another shows; the sum over all taps is 1.
std::vector<double> default_values(const std::vector<std::vector<Offset>>& groups) {
  std::vector<double> values;
  double sum = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    values.push_back(1.0 / static_cast<double>(i + 2));
    sum += values.back() * static_cast<double>(groups[i].size());
  }
  for (double& value : values) value /= sum;
  return values;
}

NodeId sum_of_reads(StencilBuilder& builder, int field, const std::vector<Offset>& offsets) {
  NodeId sum = -1;
  for (const Offset& offset : offsets) {
    const NodeId read = builder.read(field, offset);
    sum = sum < 0 ? read : builder.apply(Operation::add, sum, read);
  }
  return sum;
}

std::string_view name_of(Shape shape) { return shape == Shape::star ? "star" : "box"; }

/// u_next = u + alpha * laplacian(u): explicit Euler for the heat equation, alpha = diffusivity * dt / h^2, stable up
/// to 1 / (2 * rank). Written out as definitions are, so that corpus/heat3d.toml has the same key.
void define_heat(StencilBuilder& builder) {
  const int rank = builder.stencil().rank;
  const int u = builder.field("u");
  const int u_next = builder.field("u_next");
  const NodeId alpha = builder.coefficient_value(builder.coefficient("alpha", 1.0 / (4 * rank)));
  const NodeId centre = builder.read(u, {0, 0, 0});
  std::vector<Offset> neighbours = star_offsets(rank, 1);
  neighbours.erase(neighbours.begin());
  const NodeId weighted_centre = builder.apply(Operation::multiply, builder.number(-2 * rank), centre);
  const NodeId laplacian = builder.apply(Operation::add, weighted_centre, sum_of_reads(builder, u, neighbours));
  const NodeId change = builder.apply(Operation::multiply, alpha, laplacian);
  builder.update(u_next, builder.apply(Operation::add, centre, change));
  builder.rotate(u_next, u);
}

/// u_next = mean of the neighbours: Jacobi's iteration for Laplace's equation.
void define_jacobi(StencilBuilder& builder) {
  const int rank = builder.stencil().rank;
  const int u = builder.field("u");
  const int u_next = builder.field("u_next");
  std::vector<Offset> neighbours = star_offsets(rank, 1);
  neighbours.erase(neighbours.begin());
  const NodeId sum = sum_of_reads(builder, u, neighbours);
  builder.update(u_next, builder.apply(Operation::divide, sum, builder.number(2 * rank)));
  builder.rotate(u_next, u);
}

struct BuiltinName {
  Shape shape;
  int rank;
  int order;
};

std::vector<BuiltinName> shapes() {
  std::vector<BuiltinName> all;
  for (const Shape shape : {Shape::star, Shape::box}) {
    for (int rank = 1; rank <= kMaxRank; ++rank) {
      for (int order = 1; order <= kMaxOrder; ++order) all.push_back({shape, rank, order});
    }
  }
  return all;
}

std::string to_string(const BuiltinName& builtin) {
  return fmt::format("{}{}d{}r", name_of(builtin.shape), builtin.rank, builtin.order);
}

std::optional<Stencil> find_shape(std::string_view name) {
  Sharing sharing = Sharing::distinct;
  if (name.ends_with(kSymmetricSuffix)) {
    sharing = Sharing::symmetric;
    name.remove_suffix(kSymmetricSuffix.size());
  }
  for (const BuiltinName& builtin : shapes()) {
    if (name == to_string(builtin)) return make_builtin(builtin.shape, builtin.rank, builtin.order, sharing);
  }
  return std::nullopt;
}

}  // namespace

Stencil make_builtin(Shape shape, int rank, int order, Sharing sharing) {
  if (rank < 1 || rank > kMaxRank) {
    throw Error(ErrorCode::invalid_argument, fmt::format("rank {} is outside 1 to {}", rank, kMaxRank));
  }
  if (order < 1 || order > kMaxOrder) {
    throw Error(ErrorCode::invalid_argument, fmt::format("order {} is outside 1 to {}", order, kMaxOrder));
  }
  std::string name = to_string(BuiltinName{shape, rank, order});
  if (sharing == Sharing::symmetric) name += kSymmetricSuffix;
  const auto groups = group(shape == Shape::star ? star_offsets(rank, order) : box_offsets(rank, order), sharing);
  const std::vector<double> values = default_values(groups);
  return define_stencil(name, rank, [&](StencilBuilder& builder) {
    const int in = builder.field("in");
    const int out = builder.field("out");
    NodeId sum = -1;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const NodeId coefficient = builder.coefficient_value(builder.coefficient(fmt::format("c{}", i), values[i]));
      const NodeId term = builder.apply(Operation::multiply, coefficient, sum_of_reads(builder, in, groups[i]));
      sum = sum < 0 ? term : builder.apply(Operation::add, sum, term);
    }
    builder.update(out, sum);
    builder.rotate(out, in);
  });
}

Stencil find_builtin(std::string_view name) {
  for (int rank = 1; rank <= kMaxRank; ++rank) {
    if (name == fmt::format("heat{}d", rank)) return define_stencil(std::string(name), rank, define_heat);
    if (name == fmt::format("jacobi{}d", rank)) return define_stencil(std::string(name), rank, define_jacobi);
  }
  if (std::optional<Stencil> stencil = find_shape(name)) return *std::move(stencil);
  throw Error(ErrorCode::unknown_name,
              fmt::format("unknown built-in stencil '{}'{}", name.substr(0, 60), did_you_mean(name, builtin_names())));
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  for (const std::string_view equation : {"heat", "jacobi"}) {
    for (int rank = 1; rank <= kMaxRank; ++rank) names.push_back(fmt::format("{}{}d", equation, rank));
  }
  for (const BuiltinName& builtin : shapes()) names.push_back(to_string(builtin));
  return names;
}

}  // namespace stencil_tune
