// Points between launches, for steps that are made stage by stage, and what sums up the cells that fused steps captured.
// A thread has a cell that sources add to, or a receiver (of captured cells: one for each record). Both go through their
// lists in order: no atomics, so that equal runs have equal bits.
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/points/point_arguments.cuh"

namespace stencil_tune {

STENCIL_DEVICE long long point_of_thread() {
  return static_cast<long long>(block_x()) * kPointThreads + thread_x();
}

template <class Storage, class Value>
STENCIL_DEVICE void add_sources(const AddArguments<Storage, Value>& a) {
  const long long cell = point_of_thread();
  if (cell >= a.count) return;
  Storage* at = a.field + a.cells[cell];
  Value value = *at;
  for (unsigned e = a.first[cell]; e < a.first[cell + 1]; ++e) value += a.weight[e] * a.series[a.source[e]];
  *at = value;
}

template <class Storage, class Value>
STENCIL_DEVICE void record_fields(const RecordArguments<Storage, Value>& a) {
  const long long receiver = point_of_thread();
  if (receiver >= a.count) return;
  Value sum = 0;
  for (unsigned e = a.first[receiver]; e < a.first[receiver + 1]; ++e) {
    sum += a.weight[e] * a.fields[a.field[e]][a.cells[e]];
  }
  a.record[receiver] = sum;
}

template <class Value>
STENCIL_DEVICE void sum_captured(const SumArguments<Value>& a) {
  const long long receiver = point_of_thread();
  if (receiver >= a.count) return;
  const long long record = block_y();
  const Value* captured = a.captured + record * a.stride;
  Value sum = 0;
  for (unsigned e = a.first[receiver]; e < a.first[receiver + 1]; ++e) sum += a.weight[e] * captured[a.places[e]];
  a.records[record * a.count + receiver] = sum;
}

}  // namespace stencil_tune
