#include "runtime/library/points/points_state.hpp"

#include "generator/candidates/family.hpp"
#include "generator/points/point_checks.hpp"
#include "generator/points/tile_points.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "runtime/library/launch/stage_launch.hpp"
#include "runtime/library/points/device_tables.hpp"
#include "stencil_tune/error.hpp"
#include "templates/points/point_arguments.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace stencil_tune {

namespace {

// What several launches capture is summed up at once: a sum takes a launch of its own, and the next steps wait for it.
constexpr std::size_t kCapturedBytes = std::size_t{16} << 20;
constexpr std::size_t kMostLaunches = 16;

// Cells, and receivers, that the first block of a launch of points has: more of them take two launches. Reckoned: a
// block goes through them in four rounds.
constexpr std::ptrdiff_t kMostShared = 4 * kPointThreads;

bool fuses(const PlanPart& part) {
  return part.passes() == 1 && std::all_of(part.stages.begin(), part.stages.end(),
                                           [](const StageKernel& stage) { return stage.tuning.family->fuses_steps; });
}

bool contains(const Box& box, const std::array<std::int64_t, kMaxRank>& cell) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cell[axis] < box.low[axis] || cell[axis] >= box.high[axis]) return false;
  }
  return true;
}

/// The cell as a kernel of a window knows it; nothing where its stencil has no such field.
std::optional<PointCell> in_window(PointCell cell, const Window& window) {
  const auto field = std::find(window.fields.begin(), window.fields.end(), cell.field);
  if (field == window.fields.end()) return std::nullopt;
  cell.field = static_cast<int>(field - window.fields.begin());
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) cell.cell[axis] -= window.origin[axis];
  return cell;
}

/// The points that a kernel sees: sources wherever it updates cells, those receivers' cells that it makes itself.
struct SeenPoints {
  PointList list;
  ReceiverCells receivers;
  std::vector<std::size_t> numbers;  ///< for each of its receivers' cells: the number among all
};

SeenPoints seen_by(const StageKernel& kernel, const PointList& points, const ReceiverCells& receivers) {
  SeenPoints seen{points, {}, {}};
  if (!kernel.window) {
    seen.receivers = receivers;
    for (std::size_t cell = 0; cell < receivers.cells.size(); ++cell) seen.numbers.push_back(cell);
    return seen;
  }
  seen.list.source_cells.clear();
  seen.list.receiver_cells.clear();
  const Box updated = updated_box(kernel.problem);
  for (const PointCell& cell : points.source_cells) {
    const auto known = in_window(cell, *kernel.window);
    if (known && contains(updated, known->cell)) seen.list.source_cells.push_back(*known);
  }
  for (std::size_t number = 0; number < receivers.cells.size(); ++number) {
    const auto known = in_window(receivers.cells[number], *kernel.window);
    if (!known || !contains(kernel.updated, known->cell)) continue;
    seen.list.receiver_cells.push_back(*known);
    seen.numbers.push_back(number);
  }
  seen.receivers.cells = seen.list.receiver_cells;
  return seen;
}

std::int64_t place_in_field(const Problem& problem, const PointCell& cell) {
  const std::int64_t place = place_in_array(problem, cell.field, cell.cell);
  if (place >= 0) return place;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("field '{}' has no cell ({}, {}, {}): its array holds the layers alone",
                          problem.stencil.fields[at(cell.field)], cell.cell[0], cell.cell[1], cell.cell[2]));
}

void check_counts(const PointList& points) {
  constexpr std::size_t kMost = std::numeric_limits<unsigned>::max();
  if (points.source_cells.size() < kMost && points.receiver_cells.size() < kMost) return;
  throw Error(ErrorCode::invalid_argument, "more than 2^32 cells of points");
}

/// Fills in the tables. All addresses are distances from the start of the memory until it is there.
class PlacementWriter {
 public:
  PlacementWriter(Points::State& state, const PointList& points)
      : state_(state), points_(points), problem_(state.kernel->step), cells_(receiver_cells(points)) {}

  void run() {
    find_shared_cells();
    for (const PlanPart& part : state_.kernel->plan) state_.parts.push_back(place(part));
    place_sources();
    place_receivers();
    const std::size_t captured = tables_.reserve(captured_bytes_);
    state_.bytes = tables_.bytes();
    Driver& driver = *state_.kernel->driver;
    state_.memory = driver.allocate(std::max<std::size_t>(state_.bytes, 1));
    tables_.copy_to(driver, state_.memory);
    find_addresses(captured);
    load();
  }

 private:
  bool doubles() const { return problem_.type == ElementType::f64; }
  std::size_t value_bytes() const { return doubles() ? sizeof(double) : sizeof(float); }

  std::size_t add_values(const std::vector<double>& values) {
    if (doubles()) return tables_.add(values);
    return tables_.add(std::vector<float>(values.begin(), values.end()));
  }

  std::size_t add_sources(const std::vector<SourceCell<double>>& sources) {
    if (doubles()) return tables_.add(sources);
    std::vector<SourceCell<float>> floats;
    for (const auto& source : sources) {
      floats.push_back({source.cell, source.field, source.series, static_cast<float>(source.weight)});
    }
    return tables_.add(floats);
  }

  template <class Type>
  static Type* distance(std::size_t bytes) {
    return reinterpret_cast<Type*>(bytes);
  }

  /// Whether no source comes between stages.
  bool sources_come_last() const {
    const int last = static_cast<int>(problem_.stencil.stages.size()) - 1;
    return std::all_of(points_.source_cells.begin(), points_.source_cells.end(),
                       [&](const PointCell& cell) { return writing_stage(problem_.step, cell.field) == last; });
  }

  PartPoints place(const PlanPart& part) {
    if (part.for_points && points_.source_cells.empty() && points_.receiver_cells.empty()) return {.takes_part = false};
    const bool in_stages = part.passes() == problem_.stencil.stages.size();
    const PartPoints after_steps{.takes_part = part.steps == 1 && (in_stages || sources_come_last())};
    if (!fuses(part)) return after_steps;
    PartPoints result;
    std::vector<unsigned> captured(cells_.cells.size());  // place of each receiver's cell
    for (const StageKernel& kernel : part.stages) {
      const std::string obstacle = place(kernel, result, captured);
      if (obstacle.empty()) continue;
      if (after_steps.takes_part) return after_steps;
      state_.notes.push_back(fmt::format("runs with points go without {}: {}", kernel.evidence.code, obstacle));
      return {.takes_part = false};
    }
    for (FusedPoints& each : result.fused) {
      each.tables.captured_stride = static_cast<long long>(result.captured_cells);
    }
    std::vector<unsigned> places;
    for (const std::size_t cell : cells_.of_entries) places.push_back(captured[cell]);
    result.places = tables_.add(by_receiver(places));
    const std::size_t of_launch = result.captured_cells * static_cast<std::size_t>(part.steps) * value_bytes();
    const std::size_t launches =
        of_launch == 0 ? 1 : std::clamp<std::size_t>(kCapturedBytes / of_launch, 1, kMostLaunches);
    result.launches_between_sums = static_cast<int>(launches);
    captured_bytes_ = std::max(captured_bytes_, of_launch * launches);
    return result;
  }

  /// Adds the kernel's points to its part's; says why they cannot be placed, "" where they can.
  std::string place(const StageKernel& kernel, PartPoints& part, std::vector<unsigned>& captured) {
    const Candidate candidate(kernel.problem, kernel.tuning);
    const SeenPoints seen = seen_by(kernel, points_, cells_);
    if (seen.list.source_cells.empty() && seen.list.receiver_cells.empty()) {
      part.fused.emplace_back();
      return "";
    }
    if (std::string obstacle = points_obstacle(candidate, seen.list); !obstacle.empty()) return obstacle;
    const TilePoints sorted = sort_by_tiles(candidate, seen.list, seen.receivers);
    FusedPoints& fused = part.fused.emplace_back();
    fused.kernel = state_.kernel->point_kernels->fused(candidate, *kernel.loaded);
    fused.table_bytes = candidate.shape().uses_tensor_maps ? kMostTableBytes : sizeof(PointTables<double>);
    fused.first_captured = part.captured_cells;
    fused.tables = {.tiles = distance<int>(tables_.add(sorted.tiles)),
                    .planes = distance<PointPlane>(tables_.add(sorted.planes)),
                    .warps = distance<WarpPoints>(tables_.add(sorted.warps)),
                    .sources = distance<SourceCell<double>>(add_sources(sorted.sources)),
                    .receivers = distance<ReceiverMask>(tables_.add(sorted.receivers)),
                    .series = nullptr,
                    .captured = nullptr,
                    .series_stride = state_.sources,
                    .captured_stride = 0,
                    .recorded = 0,
                    .reserved = 0};
    for (std::size_t i = 0; i < seen.numbers.size(); ++i) {
      captured[seen.numbers[i]] = static_cast<unsigned>(part.captured_cells) + sorted.places[i];
    }
    part.captured_cells += sorted.places.size();
    return "";
  }

  /// A cell of a field that a stage writes, by its place.
  using WrittenCell = std::pair<int, std::int64_t>;

  /// Sources of the last stage add to some cells that receivers read: these receivers stand first, and wait for them.
  void find_shared_cells() {
    const StepFacts& step = problem_.step;
    std::set<WrittenCell> added;
    for (const PointCell& cell : points_.source_cells) {
      if (writing_stage(step, cell.field).value() + 1 < std::ssize(step.stages)) continue;
      added.emplace(cell.field, place_in_field(problem_, cell));
    }
    std::vector<bool> shares(at(points_.receivers), false);
    for (const PointCell& cell : points_.receiver_cells) {
      const WrittenCell read{recorded_output(step, cell.field).value(), place_in_field(problem_, cell)};
      if (added.count(read) == 0) continue;
      shared_.insert(read);
      shares[at(cell.point)] = true;
    }
    sharing_receivers_ = std::count(shares.begin(), shares.end(), true);
    if (std::max(std::ssize(shared_), sharing_receivers_) > kMostShared) {
      state_.receivers_apart = true;
      shared_.clear();
      sharing_receivers_ = 0;
      shares.assign(shares.size(), false);
    }
    numbers_.resize(shares.size());
    std::iota(numbers_.begin(), numbers_.end(), 0);
    std::stable_partition(numbers_.begin(), numbers_.end(), [&](int receiver) { return shares[at(receiver)]; });
    std::vector<std::size_t> rank(numbers_.size());
    for (std::size_t i = 0; i < numbers_.size(); ++i) rank[at(numbers_[i])] = i;
    entries_.resize(points_.receiver_cells.size());
    std::iota(entries_.begin(), entries_.end(), std::size_t{0});
    std::stable_sort(entries_.begin(), entries_.end(), [&](std::size_t a, std::size_t b) {
      return rank[at(points_.receiver_cells[a].point)] < rank[at(points_.receiver_cells[b].point)];
    });
  }

  /// What the receivers' cells have, receiver by receiver; within one the order of the list stays.
  template <class Type>
  std::vector<Type> by_receiver(const std::vector<Type>& of_entries) const {
    std::vector<Type> sorted;
    for (const std::size_t entry : entries_) sorted.push_back(of_entries[entry]);
    return sorted;
  }

  /// The field's number among these, to which it is added where it is missing.
  static int number_in(std::vector<int>& fields, int field) {
    auto known = std::find(fields.begin(), fields.end(), field);
    if (known == fields.end()) known = fields.insert(known, field);
    return static_cast<int>(known - fields.begin());
  }

  static void check_number_of_fields(std::size_t fields) {
    if (fields <= kMostPointFields) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("points at {} fields after one stage; {} are possible", fields, kMostPointFields));
  }

  /// Cells of sources, and what each has in the order of the list; cells that are not shared come last.
  using SourcesByCell = std::map<std::pair<bool, WrittenCell>, std::vector<const PointCell*>>;

  void place_sources() {
    std::vector<SourcesByCell> stages(problem_.step.stages.size());
    for (const PointCell& cell : points_.source_cells) {
      const WrittenCell place{cell.field, place_in_field(problem_, cell)};
      stages[at(writing_stage(problem_.step, cell.field).value())][{shared_.count(place) == 0, place}].push_back(&cell);
    }
    for (const SourcesByCell& cells : stages) state_.sources_of.push_back(place(cells));
  }

  StageSources place(const SourcesByCell& cells) {
    StageSources sources;
    std::vector<long long> places;
    std::vector<int> field, source;
    std::vector<unsigned> first{0};
    std::vector<double> weight;
    for (const auto& [cell, entries] : cells) {
      if (!cell.first) ++sources.lists.shared;
      field.push_back(number_in(sources.fields, cell.second.first));
      places.push_back(cell.second.second);
      for (const PointCell* entry : entries) {
        source.push_back(entry->point);
        weight.push_back(entry->weight);
      }
      first.push_back(static_cast<unsigned>(source.size()));
    }
    check_number_of_fields(sources.fields.size());
    sources.lists.cells = distance<const long long>(tables_.add(places));
    sources.lists.field = distance<const int>(tables_.add(field));
    sources.lists.first = distance<const unsigned>(tables_.add(first));
    sources.lists.source = distance<const int>(tables_.add(source));
    sources.lists.weight = distance<const double>(add_values(weight));
    sources.lists.count = std::ssize(places);
    return sources;
  }

  void place_receivers() {
    const std::size_t source_fields = state_.sources_of.back().fields.size();
    Receivers& recorded = state_.recorded;
    std::vector<long long> cells;
    std::vector<int> field;
    std::vector<double> weight;
    std::vector<unsigned> cells_of(at(points_.receivers));
    for (const PointCell& cell : points_.receiver_cells) {
      field.push_back(static_cast<int>(source_fields) + number_in(recorded.fields, cell.field));
      cells.push_back(place_in_field(problem_, cell));
      weight.push_back(cell.weight);
      ++cells_of[at(cell.point)];
    }
    check_number_of_fields(source_fields + recorded.fields.size());
    std::vector<unsigned> first{0};
    for (const int receiver : numbers_) first.push_back(first.back() + cells_of[at(receiver)]);
    recorded.lists = {.number = distance<const int>(tables_.add(numbers_)),
                      .first = distance<const unsigned>(tables_.add(first)),
                      .cells = distance<const long long>(tables_.add(by_receiver(cells))),
                      .field = distance<const int>(tables_.add(by_receiver(field))),
                      .weight = distance<const double>(add_values(by_receiver(weight))),
                      .record = nullptr,
                      .shared = sharing_receivers_,
                      .count = points_.receivers};
  }

  template <class Type>
  void move(Type*& address) const {
    address = reinterpret_cast<Type*>(state_.memory + reinterpret_cast<std::uintptr_t>(address));
  }
  void move(DevicePointer& address) const { address += state_.memory; }

  void find_addresses(std::size_t captured) {
    for (PartPoints& part : state_.parts) {
      if (part.fused.empty()) continue;
      for (FusedPoints& fused : part.fused) {
        if (fused.kernel == nullptr) continue;
        PointTables<double>& tables = fused.tables;
        move(tables.tiles);
        move(tables.planes);
        move(tables.warps);
        move(tables.sources);
        move(tables.receivers);
      }
      move(part.places);
      part.captured = state_.memory + captured;
    }
    for (StageSources& each : state_.sources_of) {
      move(each.lists.cells);
      move(each.lists.field);
      move(each.lists.first);
      move(each.lists.source);
      move(each.lists.weight);
    }
    ReceiverLists<double>& receivers = state_.recorded.lists;
    move(receivers.number);
    move(receivers.first);
    move(receivers.cells);
    move(receivers.field);
    move(receivers.weight);
  }

  void load() {
    const LoadedKernel& any = *state_.kernel->stages().front().loaded;
    const auto alone = [&](PointTask task) {
      auto kernel = state_.kernel->point_kernels->alone(task, problem_.type, any);
      kernel->prepare(0);
      return kernel;
    };
    std::vector<KernelToPrepare> with_points;
    for (std::size_t i = 0; i < state_.parts.size(); ++i) {
      for (std::size_t kernel = 0; kernel < state_.parts[i].fused.size(); ++kernel) {
        LoadedKernel* const each = state_.parts[i].fused[kernel].kernel.get();
        const StageKernel& plain = state_.kernel->plan[i].stages[kernel];
        if (each != nullptr) with_points.push_back({each, plain.whole->geometry().shared_bytes});
      }
    }
    prepare_beside_each_other(*state_.kernel->driver, with_points);
    if (!points_.source_cells.empty() || points_.receivers > 0) state_.step = alone(PointTask::step);
    if (points_.receivers > 0 && !with_points.empty()) state_.sum = alone(PointTask::sum);
  }

  Points::State& state_;
  const PointList& points_;
  const Problem& problem_;
  const ReceiverCells cells_;
  DeviceTables tables_;
  std::size_t captured_bytes_ = 0;
  std::set<WrittenCell> shared_;  ///< that receivers read and sources of the last stage add to
  std::ptrdiff_t sharing_receivers_ = 0;
  std::vector<int> numbers_;          ///< the receivers in the order of the tables
  std::vector<std::size_t> entries_;  ///< their cells, receiver by receiver in that order
};

}  // namespace

Points::State::State(std::shared_ptr<const Kernel::State> of, const PointList& points)
    : kernel(std::move(of)),
      context_id(kernel->driver->current_context_id()),
      sources(points.sources),
      receivers(points.receivers),
      every(points.every) {
  check_points(kernel->step, points);
  check_counts(points);
  PlacementWriter(*this, points).run();
  const auto main = std::find_if(parts.begin(), parts.end(), [](const PartPoints& each) { return each.takes_part; });
  fused_steps = kernel->plan[static_cast<std::size_t>(main - parts.begin())].steps;
  if (!notes.empty()) {
    notes.push_back(fmt::format("they make {} in a launch", fused_steps > 1 ? fmt::format("{} steps", fused_steps)
                                                                            : std::string("one step, or stage,")));
  }
}

Points::State::~State() {
  if (memory == 0) return;
  try {
    if (kernel->driver->current_context_id() == context_id) kernel->driver->free(memory);
  } catch (const Error&) {
    // A lost device: nothing can be freed any more.
  }
}

int Points::sources() const noexcept { return state_->sources; }

int Points::receivers() const noexcept { return state_->receivers; }

std::int64_t Points::records(std::int64_t steps) const noexcept { return steps / state_->every; }

int Points::fused_steps() const noexcept { return state_->fused_steps; }

const std::vector<std::string>& Points::notes() const noexcept { return state_->notes; }

std::size_t Points::device_bytes() const noexcept { return state_->bytes; }

Points Kernel::place_points(const PointList& points) {
  prepare();
  return Points(std::make_shared<Points::State>(state_, points));
}

}  // namespace stencil_tune
