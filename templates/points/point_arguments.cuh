// The parameters of the kernels in points_alone.cuh. Plain C++ that the host, which writes them, and the kernels compile.
#pragma once

namespace stencil_tune {

inline constexpr int kPointThreads = 128;  ///< threads of a block

/// Sources of a field.
template <class Storage, class Value>
struct AddArguments {
  Storage* field;
  const long long* cells;  ///< cells that sources add to: places in the field
  const unsigned* first;   ///< [cell]: its first entry; its entries end with the next cell's first
  const int* source;       ///< [entry]: its source ...
  const Value* weight;     ///< ... and what multiplies its value
  const Value* series;     ///< [source]: the value in this step
  long long count;         ///< cells
};

inline constexpr int kMostRecordedFields = 64;

/// Receivers of fields in memory.
template <class Storage, class Value>
struct RecordArguments {
  const Storage* fields[kMostRecordedFields];
  const unsigned* first;   ///< [receiver]: its first cell; its cells end with the next receiver's first
  const long long* cells;  ///< places in their fields
  const int* field;        ///< [cell]: its place among `fields`
  const Value* weight;
  Value* record;    ///< [receiver]
  long long count;  ///< receivers
};

/// Receivers of captured cells; blocks (n, record).
template <class Value>
struct SumArguments {
  const Value* captured;   ///< values that the first recorded step captured
  const unsigned* first;   ///< [receiver]: the first of its places
  const unsigned* places;  ///< where its cells stand among those that a step captured
  const Value* weight;
  Value* records;    ///< [record][receiver]
  long long count;   ///< receivers
  long long stride;  ///< captured values from one recorded step to the next
};

}  // namespace stencil_tune
