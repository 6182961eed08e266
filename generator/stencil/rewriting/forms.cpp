// The two forms of a stencil.
#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

bool same_outputs(const Stage& a, const Stage& b) {
  return std::equal(a.updates.begin(), a.updates.end(), b.updates.begin(), b.updates.end(),
                    [](const Update& x, const Update& y) { return x.output == y.output; });
}

bool same_coefficient(const Coefficient& a, const Coefficient& b) { return a.name == b.name && a.value == b.value; }

bool same_rotation(const Rotation& a, const Rotation& b) { return a.from == b.from && a.to == b.to; }

bool same_hold(const Hold& a, const Hold& b) { return a.field == b.field && a.layers_of == b.layers_of; }

template <class T, class Same>
bool all_same(const std::vector<T>& a, const std::vector<T>& b, const Same& same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

Stencil defined(const std::string& name, int rank, Form form, const std::function<void(StencilBuilder&)>& define) {
  StencilBuilder builder(name, rank, form);
  define(builder);
  return std::move(builder).build();
}

}  // namespace

Stencil with_written_form(Stencil simplified, Stencil written) {
  const bool agree = simplified.rank == written.rank && simplified.fields == written.fields &&
                     all_same(simplified.coefficients, written.coefficients, same_coefficient) &&
                     all_same(simplified.stages, written.stages, same_outputs) &&
                     all_same(simplified.rotations, written.rotations, same_rotation) &&
                     all_same(simplified.holds, written.holds, same_hold);
  if (!agree) {
    throw Error(
        ErrorCode::internal,
        fmt::format("stencil '{}' has other fields, coefficients, outputs, rotations or held layers as it is written",
                    simplified.name));
  }
  simplified.written = {std::move(written.nodes), std::move(written.stages), std::move(written.written.edges)};
  return simplified;
}

Stencil define_stencil(const std::string& name, int rank, const std::function<void(StencilBuilder&)>& define) {
  Stencil simplified = defined(name, rank, Form::simplified, define);
  return with_written_form(std::move(simplified), defined(name, rank, Form::written, define));
}

}  // namespace stencil_tune
