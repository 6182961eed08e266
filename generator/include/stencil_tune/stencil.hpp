// The stencil: an update rule as a typed expression graph.
//
// A Stencil is a value: plain data that the builders below make and everything else reads.
// Expressions live in one arena (`nodes`); equal expressions are one node, so common subexpressions are shared by
// construction and operands always come before the node that uses them.
#pragma once

#include "stencil_tune/grid.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stencil_tune {

/// A constant displacement, in cells: x, y, z. Axes beyond the rank are 0.
using Offset = std::array<int, kMaxRank>;

/// What a node of an expression does.
enum class Operation {
  number,       ///< a literal
  coefficient,  ///< a named coefficient: a run-time kernel argument
  read,         ///< field[x + dx, y + dy, z + dz]
  negate,
  absolute,
  square_root,
  exponential,
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  less,        ///< 1 or 0
  less_equal,  ///< 1 or 0
  equal,       ///< 1 or 0
  select,      ///< operand 0 != 0 ? operand 1 : operand 2
  sine,
  cosine,
  tangent,
  hyperbolic_tangent,
  logarithm,   ///< natural
  power,       ///< operand 0 to the operand 1, as C's pow
  coordinate,  ///< the cell's on an axis, moved by an offset along it: a whole number (Place)
  step,        ///< number of the step (Place)
  before,      ///< cells that the cell, moved by an offset along an axis, lies before the first one of the grid; else 0
  after,       ///< ... behind the last one
  outside,     ///< ... before the first or behind the last one, where the axis's boundary is zero; else 0
  profile,     ///< a field that varies along some axes alone, at the cell moved by an offset along them, or with time
  in_layer,    ///< 1 where the cell, moved by an offset along an axis, lies in a layer of the axis (Layer); else 0
  floor,       ///< the largest whole number that is not above the operand
  modulo,      ///< operand 0 less the multiple of operand 1 that leaves 0 or what has the sign of operand 1
  random,      ///< uniform in [0, 1): Philox of the cell, moved by an offset, the step, a seed and a call's number
  round,       ///< the nearest whole number, of two the even one
};

/// How many operands an operation takes (0 to 3).
int operand_count(Operation op) noexcept;
std::string_view name(Operation op) noexcept;  ///< the enumerator's

using NodeId = int;  ///< index into Stencil::nodes

/// One operation of an expression.
struct Node {
  Operation op = Operation::number;  ///< what it does
  double value = 0;                  ///< number; outside: 1 where make_problem() found the boundary zero;
                                     ///< random: its key (StencilBuilder::random)
  int index = 0;                     ///< coefficient or field; coordinate, before ... in_layer: axis; random:
                                     ///< the coefficient that is its seed, or -1
  Offset offset{0, 0, 0};            ///< read, profile, random; along the axis: coordinate, before ... in_layer
  std::array<NodeId, 3> operands{-1, -1, -1};  ///< as many as the operation takes

  friend bool operator==(const Node& a, const Node& b) {
    return std::tie(a.op, a.value, a.index, a.offset, a.operands) ==
           std::tie(b.op, b.value, b.index, b.offset, b.operands);
  }
  friend bool operator!=(const Node& a, const Node& b) { return !(a == b); }
};

/// A named number of an update, the same in all cells.
struct Coefficient {
  std::string name;  ///< for people
  double value = 0;  ///< default; callers pass their own at launch
};

/// field(output) at the cell = expression
struct Update {
  int output = 0;         ///< index into fields
  NodeId expression = 0;  ///< its value at the cell
};

/// One sweep over the grid that writes all its outputs. A stage does not read what it writes.
struct Stage {
  std::vector<Update> updates;  ///< one for each field that it writes
};

/// After a step the buffer of field `from` becomes field `to` (u_next -> u; for two-level schemes also u -> u_prev).
struct Rotation {
  int from = 0;  ///< index into fields
  int to = 0;    ///< index into fields
};

/// The field whose held layers an intermediate has: one that a stage writes, a later one reads, and no rotation moves.
struct Hold {
  int field = 0;      ///< index into fields: the intermediate
  int layers_of = 0;  ///< index into fields: one that steps change, or that none writes
};

/// What a field varies along: a bit for each axis, x the lowest, or the one of time. 0: it is one of the whole grid.
using Along = unsigned;
inline constexpr Along kAlongTime = 1U << kMaxRank;  ///< the bit of time
/// The bit of an axis, from 0 on.
constexpr Along along_axis(int axis) noexcept { return 1U << static_cast<unsigned>(axis); }
std::vector<int> axes_of(Along along);  ///< from x on; none of time
std::string along_text(Along along);    ///< as definitions have it: "z", "x, y", "t"
std::string varies_along(Along along);  ///< "along x, y alone", "with time alone"

/// A field that varies along one axis alone, or along two of three: an array of as many cells as the grid has along
/// them, dense, the first axis fastest. Or one that varies with time alone: an entry a step, by the step's number.
/// Updates read it, and write it never. Beyond an edge the axis's boundary answers as for any field; under hold the
/// nearest cell does.
struct Profile {
  int field = 0;    ///< index into fields
  Along along = 0;  ///< its axes, or time
};

/// A field that exists only in the layers at the two ends of an axis. Elsewhere it is read as 0, and 0 is written
/// there.
struct LayerField {
  int field = 0;  ///< index into fields
  int axis = 0;   ///< whose layers, from 0 on
};

/// A field whose cells are stored in a type of their own. What updates read of it, and write, are the numbers as they
/// are stored: StencilBuilder::value() and stored() stand between them and the field's values.
struct FieldStorage {
  int field = 0;                        ///< index into fields
  ElementType type = ElementType::f32;  ///< what its cells are in memory
};

/// A word for what lies beyond an edge. Kernels know the first five themselves (Boundary).
enum class EdgeWord {
  hold,
  zero,
  clamp,
  periodic,
  reflect,
  odd,        ///< mirrored with the sign changed: u[-k] = -u[k]
  neumann,    ///< mirrored with a slope: u[-k] = u[k] + 2 k q at the low side, and likewise at the high one
  dirichlet,  ///< mirrored at a value: u[-k] = 2 v - u[k]
  robin,      ///< mirrored so that a u + b du/dn = g at the edge: u[-k] = ((b - a k) u[k] + 2 k g) / (b + a k)
};

/// What a definition says of a field beyond one side of an axis.
struct WrittenEdge {
  int field = 0;                   ///< index into fields
  int axis = 0;                    ///< from 0 on
  bool high = false;               ///< the side
  EdgeWord word = EdgeWord::hold;  ///< what lies there
  /// What the word takes, as indices into WrittenForm::nodes: q, outward, of neumann; v of dirichlet; a, b, g of robin.
  std::array<NodeId, 3> terms{-1, -1, -1};
};

/// The updates as their author wrote them: nothing is carried out, simplified or brought into another order. What is
/// derived from a stencil's own nodes is checked against these. Fields and coefficients are the stencil's.
struct WrittenForm {
  std::vector<Node> nodes;         ///< operands before their users
  std::vector<Stage> stages;       ///< outputs as in Stencil::stages; expressions are indices into these nodes
  std::vector<WrittenEdge> edges;  ///< beyond which these reads go as they stand; Stencil::nodes have the words in them
};

struct Measures;

/// An update rule: fields, coefficients, and what each stage of a step writes.
struct Stencil {
  std::string name;                       ///< for people; never part of the key
  int rank = 3;                           ///< axes: 1 to 3
  std::vector<std::string> fields;        ///< names; a kernel takes the fields' addresses in this order
  std::vector<Coefficient> coefficients;  ///< a kernel takes their values in this order
  std::vector<Node> nodes;                ///< all expressions
  std::vector<Stage> stages;              ///< run in order; built-ins have one
  std::vector<Rotation> rotations;        ///< how buffers change places after a step
  std::vector<Hold> holds;                ///< whose held layers intermediates have (StepStage::layers_of)
  std::vector<Profile> profiles;          ///< those of the fields that are none of the whole grid
  std::vector<LayerField> layer_fields;   ///< those of the fields that exist only in layers
  std::vector<FieldStorage> storages;     ///< those of the fields that are not stored in the problem's type
  std::optional<LayerWidths> layers;      ///< how wide the layers are; given with the problem. Never part of the
                                          ///< key
  std::array<std::optional<Boundary>, kMaxRank>
      boundary;  ///< what its definition says of an axis; part of a problem's boundaries, never of the key
  std::optional<ElementType>
      element;          ///< what its definition asks for where the user does not say; never part of the key
  WrittenForm written;  ///< see define_stencil(); without stages where it is not known. Never part of the key
  std::shared_ptr<const Measures> measures;  ///< what runs may measure; null: nothing. Never part of the key
};

/// How a measure makes one number of its values in all cells.
enum class Reduction { sum, minimum, maximum };

/// What runs may measure: numbers made of all cells.
struct Measures {
  /// Its one stage computes the measures' values in a cell. Fields and coefficients are those of the stencil that is
  /// measured; behind them come the outputs, one a measure, by its name.
  Stencil stencil;
  std::vector<Reduction> reductions;  ///< one a measure
};
std::vector<std::string> measure_names(const Stencil& stencil);  ///< in the order of the definition
std::string_view name(Reduction reduction) noexcept;             ///< "sum", "min", "max"

/// What becomes of operations that a builder is given.
enum class Form {
  simplified,  ///< what can be settled is, and equal expressions are one: what keys and kernels are made of
  written,     ///< they stay as they are: what kernels are checked against
};

/// What a field that is a profile varies along; 0 for one of the whole grid.
Along profile_along(const Stencil& stencil, int field) noexcept;
bool is_profile(const Stencil& stencil, int field) noexcept;  ///< whether it varies along something alone

/// The axis in whose layers alone the field exists; -1 for others.
int layer_axis(const Stencil& stencil, int field) noexcept;

/// The type that the field's cells are stored in, in a problem of that type.
ElementType storage_of(const Stencil& stencil, int field, ElementType type) noexcept;

/// Builds the arena: every function returns the id of an existing equal node or adds one.
class StencilBuilder {
 public:
  StencilBuilder(std::string name, int rank, Form form = Form::simplified);  ///< an empty one
  explicit StencilBuilder(Stencil stencil);  ///< goes on from a stencil that a builder made: ids stay as they are

  int field(std::string_view name);                              ///< index of the field, added at first use
  int coefficient(std::string_view name, double default_value);  ///< index, added at first use
  int profile(std::string_view name,
              Along along);  ///< index of a field that varies along these alone, added at first use
  int profile(std::string_view name, int axis) = delete;  // of an axis: along_axis(axis)
  void layer_field(int field, int axis);                  ///< the field exists only in the axis's layers
  void layers(const LayerWidths& widths);                 ///< where nobody asks for others
  /// The field's cells are stored in a type of their own: its value is the stored number * scale + shift, both nodes
  /// that are the same in all cells, or -1. Before anything reads or writes the field.
  void storage(int field, ElementType type, NodeId scale = -1, NodeId shift = -1);
  void boundary(int axis, Boundary boundary);  ///< sets the axis's, in place of what a problem says

  NodeId number(double value);                ///< a literal
  NodeId coefficient_value(int coefficient);  ///< by its index
  NodeId read(int field,
              Offset offset);  ///< a field's cell at that distance; a profile's offset counts on its axes alone
  /// The field's value at the cell at that distance, made of the number that read() finds there. Where the axis's
  /// boundary is zero, values beyond its edges are 0.
  NodeId value(int field, const Offset& offset);
  /// What update() is given so that the field holds that value: (value - shift) / scale, for whole numbers rounded to
  /// the nearest, ties to even, and held within the type's range. NaN becomes its least number.
  NodeId stored(int field, NodeId value);
  NodeId coordinate(int axis,
                    int offset = 0);     ///< the cell's, or that of a cell so far along the axis: Place::origin + index
  NodeId step();                         ///< Place::step; the next step's is one more
  NodeId before(int axis, int offset);   ///< how far the cell at that offset lies before the grid's first; 0 elsewhere
  NodeId after(int axis, int offset);    ///< how far behind the last
  NodeId outside(int axis, int offset);  ///< how far beyond either, where the axis's boundary is zero
  NodeId in_layer(int axis, int offset);  ///< whether the cell at that offset lies in a layer of the axis
  /// A number in [0, 1), another in each cell and step: word 0 of Philox 4x32-10 (Salmon et al., SC 2011), with word 1
  /// in f64. Its counter is the coordinates and the step, its key the seed and the call's number. `key` has both: the
  /// number of the call times 2^32, and the seed where no coefficient's value is it.
  NodeId random(double key, int seed_coefficient = -1, const Offset& offset = {0, 0, 0});

  /// Throws Error(malformed_definition) for the wrong number of operands. What can be settled now is: operations on
  /// numbers are carried out, x*1, x/1, x+0 and --x are x. So that uniform work leaves the cell's update and weights
  /// stay visible, division of field values by a read-free divisor d becomes multiplication by (1/d), and
  /// a*(b*x) with read-free a, b becomes (a*b)*x. None of this in the written form.
  NodeId apply(Operation op, NodeId a, NodeId b = -1, NodeId c = -1);

  void begin_stage();  ///< updates that follow belong to a new stage; the first begins by itself
  void update(int output_field, NodeId expression);  ///< the field's next value, in the present stage
  void rotate(int from_field, int to_field);         ///< changes places of buffers after a step
  void hold(int field, int layers_of);               ///< an intermediate has that field's held layers
  void edge(const WrittenEdge& edge);                ///< adds a word of the written form
  void rewrite(
      const std::function<NodeId(NodeId)>& change);  ///< each update's expression becomes what `change` makes of it

  const Stencil& stencil() const noexcept { return stencil_; }  ///< as far as it has come
  Form form() const noexcept { return form_; }                  ///< what becomes of its expressions

  /// Whether the node differs from cell to cell or from step to step: a field's value enters it, a coordinate, the
  /// distance from an edge, a profile or the step's number.
  bool reads_field(NodeId node) const { return reads_field_[static_cast<std::size_t>(node)]; }

  /// Checks the whole (every stage writes something and reads nothing it writes, reads lie within the rank), adds the
  /// nodes that weights of linear updates need (StageFacts::linear_taps), and drops nodes that nothing uses. The
  /// written form is only rid of those. Throws Error(malformed_definition).
  Stencil build() &&;

 private:
  /// What lies between a field's stored numbers and its values; -1: nothing.
  struct Scale {
    int field;
    NodeId scale, shift;
  };
  Scale scale_of(int field) const;

  bool same(const Node& a, const Node& b) const;
  NodeId intern(const Node& node);
  NodeId along_axis(Operation op, int axis, int offset);
  NodeId append(const Node& node);
  NodeId simplify(Operation op, NodeId a, NodeId b, NodeId c);  ///< -1 when nothing is simpler

  Form form_ = Form::simplified;
  Stencil stencil_;
  std::vector<Scale> scales_;
  std::vector<bool> reads_field_;  ///< [node]
  std::unordered_multimap<std::size_t, NodeId> by_hash_;
  std::unordered_map<std::string, int> coefficient_index_;
};

/// Both forms of one stencil as one: the simplified, with the other as what is written.
/// Throws Error(internal) where they differ in fields, coefficients, stages or rotations.
Stencil with_written_form(Stencil simplified, Stencil written);

/// A stencil in both forms. `define` is called once for each, with an empty builder, and must do the same both times:
/// kernels made of what the builder simplified are then checked against what was written.
/// A stencil that one StencilBuilder built has the simplified form alone, which kernels are then checked against.
Stencil define_stencil(const std::string& name, int rank, const std::function<void(StencilBuilder&)>& define);

// ---- built-ins ------------------------------------------------------------------------------------------------------

/// star: points on the axes; box: the full cube.
enum class Shape { star, box };
/// How many coefficients a built-in has.
enum class Sharing {
  distinct,   ///< one coefficient a tap: the textbook's c0..c6
  symmetric,  ///< one coefficient a distance (star: |d|; box: the multiset of |dx|,|dy|,|dz|)
};

/// The weighted sum over a star (6r+1 points in 3D) or a box ((2r+1)^3 points) of order r.
/// Fields "in" -> "out". Default coefficients have sum of |c| = 1.
/// Throws Error(invalid_argument) for rank outside 1..3 or order outside 1..16.
Stencil make_builtin(Shape shape, int rank, int order, Sharing sharing = Sharing::distinct);

/// A built-in by name: "star3d1r", "box2d1r", "heat3d", "heat2d", ... ; `names` lists all.
/// Throws Error(unknown_name) with the nearest name.
Stencil find_builtin(std::string_view name);
std::vector<std::string> builtin_names();  ///< all, but for those with symmetric coefficients

// ---- facts ----------------------------------------------------------------------------------------------------------

/// How far a field is read on one axis: offsets low..high (low <= 0 <= high).
struct Reach {
  int low = 0;   ///< 0 or negative
  int high = 0;  ///< 0 or positive

  friend bool operator==(const Reach& a, const Reach& b) { return a.low == b.low && a.high == b.high; }
  friend bool operator!=(const Reach& a, const Reach& b) { return !(a == b); }
};

/// A cell that an update reads.
struct Tap {
  int field = 0;           ///< index into Stencil::fields
  Offset offset{0, 0, 0};  ///< from the cell that is updated

  friend bool operator==(const Tap& a, const Tap& b) { return a.field == b.field && a.offset == b.offset; }
  friend bool operator!=(const Tap& a, const Tap& b) { return !(a == b); }
  friend bool operator<(const Tap& a, const Tap& b) {
    return std::tie(a.field, a.offset) < std::tie(b.field, b.offset);
  }
};

/// One weighted tap of a linear update; `weight` is the node that multiplies it (no read in it), -1 for 1.
struct LinearTap {
  Tap tap;                ///< what is read
  NodeId weight = -1;     ///< -1: one
  bool negative = false;  ///< whether it is subtracted
};

/// What the expression graph of one stage says, derived once.
struct StageFacts {
  std::vector<int> inputs;                         ///< fields read, in order of index
  std::vector<int> outputs;                        ///< fields written, in order of update
  std::vector<Tap> taps;                           ///< distinct reads, sorted by field, then z, y, x
  std::vector<std::array<Reach, kMaxRank>> reach;  ///< [input][axis]
  std::array<Reach, kMaxRank> farthest{};          ///< over all inputs: what boundary hold keeps on each side
  std::array<int, kMaxRank> radius{0, 0, 0};       ///< the further of the two
  bool linear = false;                             ///< every output is a weighted sum of taps with read-free weights
  std::vector<LinearTap> linear_taps;  ///< taps of the single output, each once, where it is linear; else empty
  int operations = 0;   ///< arithmetic on field values per updated cell, shared nodes once; read-free nodes don't count
  bool star = false;    ///< every tap lies on an axis
  bool placed = false;  ///< updates ask for their cell's place: coordinates, the step, an edge or a profile enter them
  bool asks_place = false;  ///< ... coordinates or the step's number: a launch says the Place
};

/// Derives the facts of one stage.
StageFacts analyse(const Stencil& stencil, int stage);

/// Bytes a sweep must move per updated cell: each input read once, each output written once.
std::size_t minimal_bytes(const StageFacts& facts, ElementType type);

/// Hash (32 hex digits) of the canonical expression: structure, literals and which places share a coefficient;
/// never names or coefficient values.
std::string stencil_key(const Stencil& stencil);

/// Hash (16 hex digits) of what decides how fast a stage is, or with -1 all of them: the taps of a linear update of one
/// field, else the structure. Stencils that differ in numbers, and in which places share one, have the same form.
std::string stencil_form(const Stencil& stencil, int stage);

/// The canonical text that stencil_key hashes; also what `stencils show` prints.
std::string canonical_text(const Stencil& stencil);

}  // namespace stencil_tune
