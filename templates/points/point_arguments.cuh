// The parameters of the kernels in points_alone.cuh. Plain C++ that the host, which writes them, and the kernels compile.
#pragma once

namespace stencil_tune {

inline constexpr int kPointThreads = 128;  ///< threads of a block
inline constexpr int kMostPointFields = 64;

/// Cells that sources add to. A cell's place is in its field, its field's in StepPoints::fields.
template <class Value>
struct SourceLists {
  const long long* cells;  ///< [cell]: its place
  const int* field;        ///< [cell]
  const unsigned* first;   ///< [cell]: its first entry; its entries end with the next cell's first
  const int* source;       ///< [entry]: its source ...
  const Value* weight;     ///< ... and what multiplies its value
  const Value* series;     ///< [source]: the value in this step
  long long shared;        ///< cells that receivers read too: the first ones
  long long count;         ///< cells
};

/// Receivers of fields in memory.
template <class Value>
struct ReceiverLists {
  const int* number;       ///< [receiver]: its place in a record
  const unsigned* first;   ///< [receiver]: its first cell; its cells end with the next receiver's first
  const long long* cells;  ///< [cell]: its place
  const int* field;        ///< [cell]
  const Value* weight;     ///< [cell]
  Value* record;
  long long shared;  ///< receivers that read a cell which a source adds to: the first ones
  long long count;   ///< receivers
};

/// Sources of a stage, and receivers after a step; either may be none.
template <class Storage, class Value>
struct StepPoints {
  Storage* fields[kMostPointFields];
  SourceLists<Value> sources;
  ReceiverLists<Value> receivers;
};

/// Receivers of captured cells; blocks (n, record).
template <class Value>
struct SumArguments {
  const Value* captured;   ///< values that the first recorded step captured
  const int* number;       ///< as above
  const unsigned* first;   ///< [receiver]: the first of its places
  const unsigned* places;  ///< where its cells stand among those that a step captured
  const Value* weight;
  Value* records;    ///< [record][receiver]
  long long count;   ///< receivers
  long long stride;  ///< captured values from one recorded step to the next
};

}  // namespace stencil_tune
