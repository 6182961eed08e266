// The parameters of the kernels in points_alone.cuh. Plain C++ that the host, which writes them, and the kernels compile.
#pragma once

namespace stencil_tune {

inline constexpr int kPointThreads = 128;  ///< of a block

/// Sources of a field.
template <class Storage, class Value>
struct AddArguments {
  Storage* field;
  const long long* cells;  ///< that sources add to: places in the field
  const unsigned* first;   ///< of each cell: its first entry; they end with the next cell's
  const int* source;       ///< of each entry ...
  const Value* weight;     ///< ... and what multiplies its value
  const Value* series;     ///< of the step: [source]
  long long count;         ///< cells
};

inline constexpr int kMostRecordedFields = 64;

/// Receivers of fields in memory.
template <class Storage, class Value>
struct RecordArguments {
  const Storage* fields[kMostRecordedFields];
  const unsigned* first;   ///< of each receiver: its first cell; they end with the next receiver's
  const long long* cells;  ///< places in their fields
  const int* field;        ///< of each cell: its place among `fields`
  const Value* weight;
  Value* record;    ///< [receiver]
  long long count;  ///< receivers
};

/// Receivers of captured cells; blocks (n, record).
template <class Value>
struct SumArguments {
  const Value* captured;   ///< of the first step that is recorded
  const unsigned* first;   ///< of each receiver
  const unsigned* places;  ///< of its cells among those captured of a step
  const Value* weight;
  Value* records;    ///< [record][receiver]
  long long count;   ///< receivers
  long long stride;  ///< captured values from one recorded step to the next
};

}  // namespace stencil_tune
