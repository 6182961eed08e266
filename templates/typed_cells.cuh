// Fields of a kernel that are stored in several types: Storage is AnyCell then, and what points to a field's cells knows
// their type. S says which one that is. Comes before the templates that read and write such cells.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/element.cuh"

namespace stencil_tune {

/// A whole number.
template <class Bits>
struct Whole {
  Bits bits;
  STENCIL_DEVICE operator float() const { return static_cast<float>(bits); }
  STENCIL_DEVICE operator double() const { return static_cast<double>(bits); }
  template <class Value>
  STENCIL_DEVICE Whole& operator=(Value value) {
    bits = static_cast<Bits>(int_from(value));
    return *this;
  }
};

/// As enum ElementType counts.
enum class CellType { f64, f32, f16, bf16, u8, i8, u16, i16, i32 };

// clang-format off
template <CellType kType> struct CellOf;
template <> struct CellOf<CellType::f64> { using Type = double; };
template <> struct CellOf<CellType::f32> { using Type = float; };
template <> struct CellOf<CellType::f16> { using Type = F16; };
template <> struct CellOf<CellType::bf16> { using Type = BF16; };
template <> struct CellOf<CellType::u8> { using Type = Whole<unsigned char>; };
template <> struct CellOf<CellType::i8> { using Type = Whole<signed char>; };
template <> struct CellOf<CellType::u16> { using Type = Whole<unsigned short>; };
template <> struct CellOf<CellType::i16> { using Type = Whole<short>; };
template <> struct CellOf<CellType::i32> { using Type = Whole<int>; };
// clang-format on

/// Calls use(a type's CellOf) for a type that is known once loops over fields are unrolled.
template <class Use>
STENCIL_DEVICE void with_cell(CellType type, const Use& use) {
  switch (type) {
    case CellType::f64: return use(CellOf<CellType::f64>{});
    case CellType::f32: return use(CellOf<CellType::f32>{});
    case CellType::f16: return use(CellOf<CellType::f16>{});
    case CellType::bf16: return use(CellOf<CellType::bf16>{});
    case CellType::u8: return use(CellOf<CellType::u8>{});
    case CellType::i8: return use(CellOf<CellType::i8>{});
    case CellType::u16: return use(CellOf<CellType::u16>{});
    case CellType::i16: return use(CellOf<CellType::i16>{});
    case CellType::i32: return use(CellOf<CellType::i32>{});
  }
}

STENCIL_DEVICE constexpr int bytes_of(CellType type) {
  return type == CellType::f64                                                ? 8
         : type == CellType::f32 || type == CellType::i32                     ? 4
         : type == CellType::u8 || type == CellType::i8                       ? 1
                                                                              : 2;
}

/// Stands for a cell of any type.
struct AnyCell {
  unsigned char first_byte;
};

/// Where cells of a field stand, as a pointer to them. Cell: AnyCell, const where they are read alone.
template <class Cell>
struct TypedCells {
  Cell* at;
  CellType type;
  template <class Index>
  STENCIL_DEVICE TypedCells operator+(Index cells) const {
    return {at + static_cast<long long>(cells) * bytes_of(type), type};
  }
  template <class Index>
  STENCIL_DEVICE TypedCells& operator+=(Index cells) {
    return *this = *this + cells;
  }
};

// Vectors are counted so that those of the widest cells are not too wide; of the types that a switch names, others are.
constexpr int kWidestWord = 16;

template <LoadHint kHint, int N, class Cell, class Value>
STENCIL_DEVICE void load_cells(const TypedCells<Cell>& from, Value* to) {
  with_cell(from.type, [&](auto cell) {
    using Storage = typename decltype(cell)::Type;
    if constexpr (N * sizeof(Storage) <= kWidestWord) load_cells<kHint, N>(reinterpret_cast<const Storage*>(from.at), to);
  });
}

template <StoreHint kHint, int N, class Value>
STENCIL_DEVICE void store_cells(const TypedCells<AnyCell>& to, const Value* from) {
  with_cell(to.type, [&](auto cell) {
    using Storage = typename decltype(cell)::Type;
    if constexpr (N * sizeof(Storage) <= kWidestWord) store_cells<kHint, N>(reinterpret_cast<Storage*>(to.at), from);
  });
}

/// S says which type each is stored in.
template <class S>
struct FieldCells<S, AnyCell> {
  using Input = TypedCells<const AnyCell>;
  using Output = TypedCells<AnyCell>;
  template <int kInput>
  using InputCell = typename CellOf<S::input_type(kInput)>::Type;

  STENCIL_DEVICE static Input input(const Arguments<S>& a, int f) { return {a.in[f], S::input_type(f)}; }
  STENCIL_DEVICE static Output output(const Arguments<S>& a, int o) { return {a.out[o], S::output_type(o)}; }
  STENCIL_DEVICE static Input profile(long long address, int number) {
    return {reinterpret_cast<const AnyCell*>(address), S::profile_type(number)};
  }
};

}  // namespace stencil_tune
