// One of two types, by a condition. Only the type that is taken is ever instantiated.
#pragma once

namespace stencil_tune {

template <bool kCondition, class A, class B>
struct Chosen {
  using Type = A;
};
template <class A, class B>
struct Chosen<false, A, B> {
  using Type = B;
};
template <bool kCondition, class A, class B>
using Choose = typename Chosen<kCondition, A, B>::Type;

}  // namespace stencil_tune
