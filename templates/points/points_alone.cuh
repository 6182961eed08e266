// Points between launches, for steps that are made stage by stage, and what sums up the cells that fused steps captured.
// A thread has a cell that sources add to, or a receiver (of captured cells: one for each record). Both go through their
// lists in order: no atomics, so that equal runs have equal bits.
//
//     block 0       sources whose cells receivers read | barrier | those receivers      few, or none
//     blocks 1...   all other sources' cells, all other receivers                       in any order
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/points/point_arguments.cuh"

namespace stencil_tune {

template <class Storage, class Value>
STENCIL_DEVICE void add_sources(const StepPoints<Storage, Value>& a, long long cell) {
  const SourceLists<Value>& sources = a.sources;
  Storage* at = a.fields[sources.field[cell]] + sources.cells[cell];
  Value value = *at;
  for (unsigned e = sources.first[cell]; e < sources.first[cell + 1]; ++e) {
    value += sources.weight[e] * sources.series[sources.source[e]];
  }
  *at = value;
}

template <class Storage, class Value>
STENCIL_DEVICE void record_fields(const StepPoints<Storage, Value>& a, long long receiver) {
  const ReceiverLists<Value>& receivers = a.receivers;
  Value sum = 0;
  for (unsigned e = receivers.first[receiver]; e < receivers.first[receiver + 1]; ++e) {
    sum += receivers.weight[e] * a.fields[receivers.field[e]][receivers.cells[e]];
  }
  receivers.record[receivers.number[receiver]] = sum;
}

template <class Storage, class Value>
STENCIL_DEVICE void step_points(const StepPoints<Storage, Value>& a) {
  if (block_x() == 0) {
    for (long long cell = thread_x(); cell < a.sources.shared; cell += kPointThreads) add_sources(a, cell);
    barrier();
    for (long long each = thread_x(); each < a.receivers.shared; each += kPointThreads) record_fields(a, each);
    return;
  }
  const long long point = static_cast<long long>(block_x() - 1) * kPointThreads + thread_x();
  const long long cell = a.sources.shared + point;
  if (cell < a.sources.count) return add_sources(a, cell);
  const long long receiver = a.receivers.shared + cell - a.sources.count;
  if (receiver < a.receivers.count) record_fields(a, receiver);
}

template <class Value>
STENCIL_DEVICE void sum_captured(const SumArguments<Value>& a) {
  const long long receiver = static_cast<long long>(block_x()) * kPointThreads + thread_x();
  if (receiver >= a.count) return;
  const long long record = block_y();
  const Value* captured = a.captured + record * a.stride;
  Value sum = 0;
  for (unsigned e = a.first[receiver]; e < a.first[receiver + 1]; ++e) sum += a.weight[e] * captured[a.places[e]];
  a.records[record * a.count + a.number[receiver]] = sum;
}

}  // namespace stencil_tune
