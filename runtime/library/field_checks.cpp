#include "runtime/library/field_checks.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {

namespace {

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

std::size_t bytes_of(const Problem& problem, int field) {
  if (profile_along(problem.stencil, field) == kAlongTime) return size_of(storage_of(problem, field));  // one at least
  return static_cast<std::size_t>(cells_of_field(problem, field)) * size_of(storage_of(problem, field));
}

void check_address(const Problem& problem, std::size_t alignment, std::span<void* const> fields, int field) {
  const auto index = static_cast<std::size_t>(field);
  const std::uintptr_t where = address(fields[index]);
  const std::size_t cell = size_of(storage_of(problem, field));
  alignment = std::max(cell, alignment * cell / widest_cell_bytes(problem));  // as many cells as of the widest
  if (is_profile(problem.stencil, field)) alignment = cell;                   // read cell by cell
  if (where == 0) refuse(fmt::format("field '{}' is a null pointer", problem.stencil.fields[index]));
  if (where % alignment != 0) {
    refuse(
        fmt::format("field '{}' is at {:#x}, which is no multiple of the {} bytes this kernel needs; align it, or look "
                    "the kernel up for arrays like it, with an alignment of {}",
                    problem.stencil.fields[index], where, alignment, cell));
  }
}

void check_overlap(const Problem& problem, std::span<void* const> fields, int output, int other) {
  if (output == other) return;
  const std::uintptr_t a = address(fields[static_cast<std::size_t>(output)]);
  const std::uintptr_t b = address(fields[static_cast<std::size_t>(other)]);
  const std::size_t size = bytes_of(problem, output), other_size = bytes_of(problem, other);
  if (a + size <= b || b + other_size <= a) return;
  refuse(
      fmt::format("output field '{}' at {:#x} overlaps field '{}' at {:#x}: they have {} and {} bytes; a stencil "
                  "cannot be applied in place",
                  problem.stencil.fields[static_cast<std::size_t>(output)], a,
                  problem.stencil.fields[static_cast<std::size_t>(other)], b, size, other_size));
}

}  // namespace

void check_fields(const Problem& problem, std::size_t alignment, std::span<void* const> fields) {
  if (fields.size() != problem.stencil.fields.size()) {
    refuse(fmt::format("stencil '{}' has {} fields, {} addresses were given", problem.stencil.name,
                       problem.stencil.fields.size(), fields.size()));
  }
  for (const int field : kernel_inputs(problem, problem.steps)) check_address(problem, alignment, fields, field);
  for (const int field : problem.facts.outputs) check_address(problem, alignment, fields, field);
  for (const int output : problem.facts.outputs) {
    for (const int input : kernel_inputs(problem, problem.steps)) check_overlap(problem, fields, output, input);
    for (const int other : problem.facts.outputs) check_overlap(problem, fields, output, other);
  }
}

ArrayLayout checked_array(const Problem& problem, int field) {
  const std::vector<std::string>& fields = problem.stencil.fields;
  if (field < 0 || static_cast<std::size_t>(field) >= fields.size()) {
    refuse(fmt::format("field {}: stencil '{}' has {}", field, problem.stencil.name, fields.size()));
  }
  if (profile_along(problem.stencil, field) != kAlongTime) return array_of(problem, field);
  refuse(fmt::format("field '{}' varies with time: its array has an entry for each step", fields[at(field)]));
}

void check_reach(Driver& driver, int device, const Problem& problem, std::span<void* const> fields) {
  const auto check = [&](int field) {
    const auto index = static_cast<std::size_t>(field);
    const std::uintptr_t where = address(fields[index]);
    if (driver.reaches(device, where)) return;
    const int owner = driver.device_of(where);
    refuse(fmt::format("field '{}' at {:#x} is {}, which GPU {} does not reach; allocate it on that GPU",
                       problem.stencil.fields[index], where,
                       owner < 0 ? "no device memory" : fmt::format("memory of GPU {}", owner), device));
  };
  for (const int field : kernel_inputs(problem, problem.steps)) check(field);
  for (const int field : problem.facts.outputs) check(field);
}

void check_box(const Box& box, const Box& updated) {
  if (box.cells() == 0) return;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (box.low[axis] >= updated.low[axis] && box.high[axis] <= updated.high[axis]) continue;
    refuse(fmt::format("the box covers cells {} to {} along {}, but only {} to {} are updated", box.low[axis],
                       box.high[axis] - 1, "xyz"[axis], updated.low[axis], updated.high[axis] - 1));
  }
}

}  // namespace stencil_tune
