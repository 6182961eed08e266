// What the self-check of an exported file has to know of its kernel, and the parts that are the same in all files.
#pragma once

#include "generator/template_file.hpp"
#include "runtime/export/text.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace stencil_tune {

/// A field or a spare buffer (generator/stencil/buffers.hpp).
struct CheckedPlace {
  Along along = 0;    ///< what a field varies along, where it is a profile
  int layers_of = 0;  ///< the first place whose buffer comes to the same places: its held layers must be the same
};

/// A buffer that the launcher takes.
struct CheckedBuffer {
  int place = 0;
  bool is_read = false;
  int next = 0;  ///< the launcher's buffer that stands here in the next launch
};

/// A field that launches leave, under the name that it has after the step.
struct CheckedField {
  int field = 0;
  int buffer = 0;         ///< one of the launcher's buffers
  std::size_t stage = 0;  ///< place in SelfCheck::stages of the one that wrote it
};

struct SelfCheck {
  std::vector<int> stages;           ///< stages that a step makes
  std::vector<Rotation> rotations;   ///< rotations that end it
  std::vector<CheckedPlace> places;  ///< fields in the definition's order, then spare buffers
  std::vector<CheckedBuffer> buffers;
  std::vector<CheckedField> launched;  ///< what one launch leaves
  std::vector<CheckedField> advanced;  ///< what `launches` leave; none: the file has no NAME_advance
  std::vector<int> launches;           ///< steps of each that the check makes by NAME_advance
  Extents extents;                     ///< extents of the grid that is checked: awkward on purpose
};

/// run: nothing where the file has no NAME_advance.
SelfCheck self_check(const Candidate& candidate, const ExportSignature& signature, const ExportedRun* run);

/// "self_check/numbers.cuh", types.cuh and run.cuh, in this order.
std::span<const TemplateFile> self_check_files();

}  // namespace stencil_tune
