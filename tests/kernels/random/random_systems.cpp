#include "tests/kernels/random/random_systems.hpp"

#include "tests/kernels/random/random_expressions.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kMostFields = 4;
constexpr int kMostStages = 4;

/// A field that steps advance.
struct Advanced {
  int now = 0;
  int next = 0;  ///< `now` itself: written in place
  int stage = 0;
  Fields older;  ///< the values before, youngest first
};

class RandomSystem {
 public:
  explicit RandomSystem(Draw& draw)
      : draw_(draw), rank_(draw.between(1, kMaxRank)), expressions_(draw, rank_, {.sums = 1, .nesting = 2}) {}

  Stencil build() && {
    const int stages = draw_.between(1, kMostStages);
    beside_ = make_fields(builder(), "beside", draw_.one_of({0, 0, 1}));
    add_fields(stages);
    at_cell_ = make_fields(builder(), "at", draw_.one_of({0, 1, 1, 2}));
    for (int stage = 0; stage < stages; ++stage) add_stage(stage);
    rotate();
    return std::move(builder()).build();
  }

 private:
  StencilBuilder& builder() { return expressions_.builder(); }

  void add_fields(int stages) {
    const int count = draw_.between(1, kMostFields);
    for (int i = 0; i < count; ++i) {
      Advanced field{.now = builder().field(fmt::format("u{}", i)), .stage = draw_.between(0, stages - 1), .older = {}};
      const bool in_place = stages > 1 && draw_.one_in(6);
      if (!in_place)
        field.older = make_fields(builder(), fmt::format("u{}_old", i).c_str(), draw_.one_of({0, 0, 1, 2}));
      field.next = in_place ? field.now : builder().field(fmt::format("u{}_next", i));
      fields_.push_back(field);
    }
  }

  /// All that a stage may read with its surroundings: no field that it writes.
  Fields readable(int stage) const {
    Fields fields = beside_;
    for (const Advanced& field : fields_) {
      if (field.now != field.next || field.stage != stage) fields.push_back(field.now);
      if (field.now != field.next && field.stage < stage) fields.push_back(field.next);
      if (!field.older.empty()) fields.push_back(field.older.front());
    }
    fields.insert(fields.end(), between_.begin(), between_.end());
    return fields;
  }

  /// Some of them, the latest among them: what stages read of each other is what goes wrong.
  Fields some_of(const Fields& fields) {
    Fields some;
    for (const int field : fields) {
      if (draw_.one_in(2) || field == fields.back()) some.push_back(field);
    }
    return some;
  }

  void add_stage(int stage) {
    Fields outputs;
    for (const Advanced& field : fields_) {
      if (field.stage == stage) outputs.push_back(field.next);
    }
    Fields written;  // no field of the next step
    if (outputs.empty() || draw_.one_in(5)) written.push_back(builder().field(fmt::format("between{}", stage)));
    outputs.insert(outputs.end(), written.begin(), written.end());

    Fields all = readable(stage);
    if (all.empty()) all = beside_ = make_fields(builder(), "beside", 1);
    expressions_.begin_stage(rank_ == 3 ? 2 : 3);
    for (const int output : outputs) {
      const Fields fields = some_of(all);
      const Fields at_cell = at_cell_.empty() || draw_.one_in(3) ? Fields{} : some_of(at_cell_);
      builder().update(output, expressions_.any_update(fields, at_cell));
    }
    between_.insert(between_.end(), written.begin(), written.end());
  }

  /// Now and then each result becomes the next field instead of its own; nobody reads what rotates into nothing.
  void rotate() {
    std::vector<Advanced> moving;
    Fields held = beside_, between = between_;
    for (const Advanced& field : fields_) {
      const bool in_place = field.now == field.next;
      const bool moves = !in_place && !draw_.one_in(10);
      if (moves) moving.push_back(field);
      if (!moves) between.push_back(field.next);  // in place too, where no stage reads it before it is written
      if (!in_place) held.push_back(field.now);
    }
    const std::size_t shift = moving.size() > 1 && draw_.one_in(3) ? 1 : 0;
    for (std::size_t i = 0; i < moving.size(); ++i) {
      const Advanced& to = moving[(i + shift) % moving.size()];
      builder().rotate(moving[i].next, to.now);
      int from = to.now;
      for (const int older : to.older) {
        builder().rotate(from, older);
        from = older;
      }
    }
    for (const int field : between) {
      Fields others = held;
      std::erase(others, field);
      if (!others.empty()) builder().hold(field, draw_.one_of(others));
    }
  }

  Draw& draw_;
  int rank_;
  RandomExpressions expressions_;
  std::vector<Advanced> fields_;
  Fields beside_, at_cell_;  ///< constants
  Fields between_;           ///< written so far, and no field of the next step
};

}  // namespace

Stencil random_system(Draw& draw) { return RandomSystem(draw).build(); }

}  // namespace stencil_tune
