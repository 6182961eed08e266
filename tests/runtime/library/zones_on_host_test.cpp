// Grids with layers, made zone by zone on the host executor, against the reference of the whole.
#include "generator/cut/zones.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "tests/runtime/library/tuned_zones.hpp"
#include "tuner/executor/field_data.hpp"
#include "tuner/executor/guarded_array.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace stencil_tune {
namespace {

/// In three axes, with a layer at one end alone of the last, fields of two axes and one of time.
constexpr const char* kThreeAxes = R"toml(
name = "three_axes"
rank = 3
fields = ["p", "p_prev", "mx(x in layer)", "my(y in layer)", "mz(z in layer)", "h(x, y)", "g(y, z)", "w(t)",
          "p_next", "mx_next(x in layer)", "my_next(y in layer)", "mz_next(z in layer)"]
[update]
mx_next = "0.5*mx + 0.25*(p[x+1] - p[x-1])"
my_next = "0.5*my + 0.25*(p[y+1] - p)"
mz_next = "0.5*mz + 0.25*(p - p[z-1])"
p_next = "1.5*p - 0.6*p_prev + 0.1*h[y+1]*laplacian(p) + 0.1*g*(mx - mx[x-1] + my[y+1] - my) + 0.1*g[z-1]*mz[z+1] + w"
[rotate]
p_next = "p"
p = "p_prev"
mx_next = "mx"
my_next = "my"
mz_next = "mz"
)toml";

using Fields = std::vector<std::vector<double>>;

bool is_in_layer(const Problem& problem, int field, std::size_t cell) {
  const int axis = layer_axis(problem.stencil, field);
  if (axis < 0) return true;
  const auto at = static_cast<std::int64_t>(cell);
  const std::int64_t x = at % problem.pitch, y = at / problem.pitch % problem.extents.n[1];
  const std::int64_t z = at / (problem.pitch * problem.extents.n[1]);
  const std::int64_t i = axis == 0 ? x : axis == 1 ? y : z;
  const auto a = static_cast<std::size_t>(axis);
  return i < problem.stencil.layers->low[a] || i >= problem.extents.n[a] - problem.stencil.layers->high[a];
}

class ZonesOnHost : public TunedZones {
 protected:
  void expect_right(const Problem& problem, Kernel& kernel, int steps) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Fields before(problem.stencil.fields.size(),
                  std::vector<double>(static_cast<std::size_t>(problem.allocated_cells())));
    for (auto& field : before) {
      std::generate(field.begin(), field.end(), [&] { return round_to_storage(uniform(random), problem.type); });
    }
    std::vector<GuardedArray> arrays = arrays_of(problem, kernel, before);
    std::vector<void*> fields;
    for (const GuardedArray& array : arrays) fields.push_back(array.data());
    kernel.advance_at(kCheckPlace, nullptr, fields, steps);
    for (const GuardedArray& array : arrays) EXPECT_TRUE(array.slack_intact());
    Fields inputs;
    for (const int field : kernel_inputs(problem, steps)) inputs.push_back(before[static_cast<std::size_t>(field)]);
    for (const ReferenceField& expected : evaluate_reference(problem, inputs, {}, false, steps)) {
      int field = expected.field;
      for (const Rotation& rotation : problem.stencil.rotations) {
        if (rotation.from == expected.field) field = rotation.to;
      }
      const auto* array = static_cast<const std::byte*>(fields[static_cast<std::size_t>(field)]);
      for (std::size_t i = 0; i < expected.value.size(); ++i) {
        if (!is_in_layer(problem, field, i)) continue;
        const std::int64_t place = place_in_array(problem, field, cell_at(problem, i));
        const double found = load_cell(problem.type, array + place * static_cast<std::int64_t>(size_of(problem.type)));
        const double held =
            before[static_cast<std::size_t>(problem.step.layers_at[static_cast<std::size_t>(field)])][i];
        ASSERT_TRUE(expected.tolerance[i] < 0 ? found == held : expected.accepts(i, found))
            << problem.stencil.name << ", field " << problem.stencil.fields[static_cast<std::size_t>(field)]
            << ", cell " << i % static_cast<std::size_t>(problem.pitch) << ", "
            << i / static_cast<std::size_t>(problem.pitch) << " after " << steps << " steps: " << found << ", not "
            << expected.value[i];
      }
    }
  }

 private:
  static std::array<std::int64_t, kMaxRank> cell_at(const Problem& problem, std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    return {at % problem.pitch, at / problem.pitch % problem.extents.n[1], at / (problem.pitch * problem.extents.n[1])};
  }

  /// Each as long as the kernel says it is: what reads or stores beyond meets a page that no one may touch.
  static std::vector<GuardedArray> arrays_of(const Problem& problem, const Kernel& kernel, const Fields& cells) {
    std::vector<GuardedArray> arrays;
    for (int field = 0; field < static_cast<int>(cells.size()); ++field) {
      const std::vector<double>& values = cells[static_cast<std::size_t>(field)];
      const bool dense = is_profile(problem.stencil, field);
      const std::int64_t count = dense ? cells_of_field(problem, field) : kernel.array(field).cells();
      std::vector<double> stored(static_cast<std::size_t>(count), 0.5);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t place =
            dense ? static_cast<std::int64_t>(i) : place_in_array(problem, field, cell_at(problem, i));
        if (place >= 0 && place < count) stored[static_cast<std::size_t>(place)] = values[i];
      }
      const auto placement =
          field % 2 == 0 ? GuardedArray::Placement::against_end : GuardedArray::Placement::against_start;
      GuardedArray& array =
          arrays.emplace_back(stored.size() * size_of(problem.type), dense ? size_of(problem.type) : 16, placement);
      array.poison();
      for (std::size_t i = 0; i < stored.size(); ++i) {
        store_cell(problem.type, stored[i], i, array);
      }
    }
    return arrays;
  }
};

struct Case {
  const char* definition;
  Boundary boundary;
  const char* layers;
  int fused;
};

TEST_F(ZonesOnHost, ARunInZonesIsThatOfTheWholeGrid) {
  using enum Boundary;
  for (const auto& [definition, boundary, layers, fused] : {Case{kAbsorbed, hold, "9", 2},
                                                            {kAbsorbed, hold, "x=6:0,y=0:8", 1},
                                                            {kSponge, reflect, "x=6:0,y=0:8", 2},
                                                            {kSponge, hold, "x=11:5,y=7", 2}}) {
    const Problem problem = layered(definition, {2, {131, 71, 1}}, layers, boundary);
    SCOPED_TRACE(problem.stencil.name + " " + std::string(name(boundary)) + " " + layers);
    Kernel kernel = lookup_tuned(problem, {fused});
    EXPECT_EQ(kernel.fused_steps(), fused);
    const std::string sentence = kernel.run_evidence().sentence();
    EXPECT_NE(sentence.find(fmt::format("zones, by their layers, {} step{} at once: about {:.1f} GStencil/s", fused,
                                        fused == 1 ? "" : "s", kernel.run_evidence().gstencils)),
              std::string::npos)
        << sentence;
    kernel.prepare();
    expect_right(problem, kernel, 2 * fused + 1);
  }
}

TEST_F(ZonesOnHost, StageByStageARunInZonesIsThatOfTheWholeGrid) {
  using enum Boundary;
  for (const auto& [definition, boundary, layers, zones] : {Case{kStaggered, hold, "9", 1 + 3},
                                                            {kStaggered, reflect, "x=6:0,y=0:8", 1 + 2},
                                                            {kStaggered, zero, "x=0,y=7", 1 + 3},
                                                            {kAbsorbed, hold, "9", 3 + 3},
                                                            {kAbsorbed, zero, "x=0,y=7", 2 + 3}}) {
    for (const bool slabs : {false, true}) {
      const Problem problem = with_slabs(layered(definition, {2, {152, 91, 1}}, layers, boundary), slabs);
      SCOPED_TRACE(fmt::format("{} {} {} {}", problem.stencil.name, name(boundary), layers, slabs));
      Kernel kernel = lookup_tuned(problem, {1}, "stages");
      const std::string sentence = kernel.run_evidence().sentence();
      EXPECT_NE(sentence.find(fmt::format("by their layers, stage by stage: about {:.1f} GStencil/s",
                                          kernel.run_evidence().gstencils)),
                std::string::npos)
          << sentence;
      EXPECT_FALSE(kernel.fuses_stages());
      kernel.prepare();
      driver_.launched = 0;
      expect_right(problem, kernel, 3);
      EXPECT_EQ(driver_.launched, 3 * zones);
    }
  }
}

/// Zones whose winner nobody knows have a kernel all the same.
TEST_F(ZonesOnHost, OneInThreeAxesOfWhichOnlyTheInsideIsKnown) {
  const Problem problem = layered(kThreeAxes, {3, {72, 24, 22}}, "x=5,y=3,z=0:4", Boundary::zero);
  Kernel kernel = lookup_tuned(problem, {2}, "inside");
  EXPECT_EQ(kernel.fused_steps(), 2);
  EXPECT_EQ(kernel.match(), Match::default_candidate) << "what most cells of a layer run";
  kernel.prepare();
  expect_right(problem, kernel, 5);
}

TEST_F(ZonesOnHost, WhatIsLeftOfARunIsMadeByZonesOfFewerSteps) {
  const Problem problem = layered(kAbsorbed, {2, {131, 71, 1}}, "x=11:5,y=7", Boundary::zero);
  Kernel kernel = lookup_tuned(problem, {2, 3});
  EXPECT_EQ(kernel.fused_steps(), 3);
  kernel.prepare();
  for (const auto& [steps, launches] : {std::pair{8, 3}, {4, 2}}) {  // 3 + 3 + 2, and 2 + 2: no single one
    driver_.launched = 0;
    expect_right(problem, kernel, steps);
    EXPECT_EQ(driver_.launched, launches * 9);
  }
}

/// By its rate alone the inside of more steps promises more.
TEST_F(ZonesOnHost, ZonesWhoseRateNobodyKnowsTakeSecondPlace) {
  const Problem problem = layered(kSponge, {2, {4000, 4000, 1}}, "8", Boundary::zero);
  EXPECT_EQ(lookup_tuned(problem, {2, 3}, "all").fused_steps(), 3);
  EXPECT_EQ(lookup_tuned(problem, {3}, "inside").fused_steps(), 3);
  EXPECT_EQ(lookup_tuned(problem, {2, 3}, "two whole, three inside").fused_steps(), 2);
}

TEST_F(ZonesOnHost, AFaceAlongZIsWalkedThroughAlongY) {
  const Problem problem = layered(kThreeAxes, {3, {72, 66, 30}}, "x=0,y=0,z=0:9", Boundary::zero);
  Kernel kernel = lookup_tuned(problem, {2});
  EXPECT_EQ(kernel.fused_steps(), 2) << kernel.run_evidence().sentence();
  EXPECT_GT(walks_along_y_, 0);
  kernel.prepare();
  expect_right(problem, kernel, 2);
}

/// Sources in every zone and at their seams, and receivers beside them.
PointList points_everywhere(const Problem& problem) {
  PointList points;
  const auto field = [&](const char* name) {
    const auto& names = problem.stencil.fields;
    return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const std::int64_t x : {2, 9, 16, 17, 60, 139, 140, 141, 154}) {
    for (const std::int64_t y : {2, 10, 11, 12, 40, 80, 81, 82, 90}) {
      points.source_cells.push_back({points.sources++, field("p_next"), {x, y, 0}, 0.5});
      points.receiver_cells.push_back({points.receivers, field("p"), {x, y, 0}, 1});
      points.receiver_cells.push_back({points.receivers++, field("p"), {x - 1, y, 0}, 0.25});
    }
  }
  points.source_cells.push_back({0, field("psx_next"), {4, 40, 0}, 1});
  points.receiver_cells.push_back({1, field("psx"), {4, 41, 0}, 1});
  return points;
}

TEST_F(ZonesOnHost, SourcesAndReceiversAreThoseOfTheWholeGrid) {
  constexpr int kSteps = 7;
  const Problem problem = layered(kAbsorbed, {2, {157, 93, 1}}, "8", Boundary::zero);
  const PointList list = points_everywhere(problem);
  std::vector<double> series(static_cast<std::size_t>(kSteps * list.sources));
  for (std::size_t i = 0; i < series.size(); ++i) series[i] = 0.01 * static_cast<double>(i % 17) - 0.05;
  const auto run = [&](Kernel kernel) {
    kernel.prepare();
    const Points points = kernel.place_points(list);
    std::vector<double> records(static_cast<std::size_t>(points.records(kSteps) * list.receivers), -1);
    Fields cells(problem.stencil.fields.size(),
                 std::vector<double>(static_cast<std::size_t>(problem.allocated_cells()), 0.125));
    std::vector<void*> fields;
    for (auto& field : cells) fields.push_back(field.data());
    kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, fields, kSteps);
    return std::pair(points.fused_steps(), records);
  };
  const auto [single, expected] = run(lookup(problem, {}));
  EXPECT_EQ(single, 1);
  for (const auto& [steps, known] : {std::pair{2, "all"}, {1, "stages"}}) {
    const auto [fused, found] = run(lookup_tuned(problem, {steps}, known));
    EXPECT_EQ(fused, steps);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-12) << known << ", record " << i / static_cast<std::size_t>(list.receivers)
                                                << ", receiver " << i % static_cast<std::size_t>(list.receivers);
    }
  }
}

TEST_F(ZonesOnHost, ZonesCoverTheGridOnceAndInsideThereIsTheBareEquation) {
  const Problem problem = layered(kAbsorbed, {2, {200, 150, 1}}, "x=12:9,y=8", Boundary::hold);
  const std::vector<Zone> all = zones(problem, 2);
  ASSERT_EQ(all.size(), 9U);
  const Box updated = updated_box(problem);
  std::vector<int> made(static_cast<std::size_t>(problem.allocated_cells()), 0);
  std::set<std::string> names;
  for (const Zone& zone : all) {
    names.insert(zone.name);
    for (std::int64_t y = zone.box.low[1]; y < zone.box.high[1]; ++y) {
      for (std::int64_t x = zone.box.low[0]; x < zone.box.high[0]; ++x) {
        ++made[static_cast<std::size_t>((zone.origin[1] + y) * problem.pitch + zone.origin[0] + x)];
      }
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"inside", "x", "y", "xy"}));
  for (std::int64_t y = 0; y < 150; ++y) {
    for (std::int64_t x = 0; x < 200; ++x) {
      const bool is_updated = x >= updated.low[0] && x < updated.high[0] && y >= updated.low[1] && y < updated.high[1];
      ASSERT_EQ(made[static_cast<std::size_t>(y * problem.pitch + x)], is_updated ? 1 : 0) << x << ", " << y;
    }
  }
  const Zone& inside = *std::find_if(all.begin(), all.end(), [](const Zone& zone) { return zone.name == "inside"; });
  EXPECT_EQ(inside.problem.stencil.fields, (std::vector<std::string>{"p", "p_prev", "v", "p_next"}));
  EXPECT_EQ(inside.problem.stencil.stages.size(), 1U);
  EXPECT_FALSE(asks_layers(inside.problem));
  // Two steps see two cells far, and the layer's update one more; the first cell of no layer is number 8.
  EXPECT_EQ(inside.origin[1] + inside.box.low[1], 10);
}

/// Where no layer is, nothing is left of its stages: that zone is made as the whole grid would be.
TEST_F(ZonesOnHost, AZoneWithNothingToDoHasTheWholeUpdate) {
  constexpr const char* kLayersAlone = R"toml(
name = "layers_alone"
rank = 2
fields = ["m(x in layer)", "q(x in layer)", "u", "m_next(x in layer)"]
[[stage]]
q = "m[y+1] + u[x-1]"
[[stage]]
m_next = "0.5*q[x+1] + m"
[rotate]
m_next = "m"
)toml";
  const std::vector<Zone> all = zones(layered(kLayersAlone, {2, {200, 150, 1}}, "12", Boundary::zero), 2);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.front().name, "inside");
  EXPECT_EQ(all.front().problem.stencil.stages.size(), 2U);
}

/// Inside of the layers nobody reads q.
TEST_F(ZonesOnHost, AFieldBetweenStagesThatALayerAloneReadsIsStoredNowhere) {
  constexpr const char* kReadInLayers = R"toml(
name = "read_in_layers"
rank = 2
fields = ["u", "m(x in layer)", "q", "u_next", "m_next(x in layer)"]
[[stage]]
q = "0.5*u[x-1] + 0.25*u[y+1]"
[[stage]]
m_next = "0.5*q[x+1] + m"
u_next = "0.5*u + 0.25*u[x+1] + m"
[rotate]
u_next = "u"
m_next = "m"
)toml";
  const Problem problem = layered(kReadInLayers, {2, {157, 93, 1}}, "9", Boundary::zero);
  const std::vector<int> stored = kernel_outputs(problem, 2);
  for (const Zone& zone : zones(problem, 2)) {
    for (const int output : kernel_outputs(zone.problem, 2)) {
      EXPECT_EQ(std::count(stored.begin(), stored.end(), zone.fields[static_cast<std::size_t>(output)]), 1)
          << zone.name;
    }
  }
  Kernel kernel = lookup_tuned(problem, {2});
  EXPECT_EQ(kernel.fused_steps(), 2);
  kernel.prepare();
  expect_right(problem, kernel, 5);
}

/// Arrays of fields in layers that hold the layers alone: in zones, whose tiles lanes or TMA fill, and stage by stage.
TEST_F(ZonesOnHost, ARunOnSlabsIsThatOfTheWholeGrid) {
  using enum Boundary;
  constexpr std::string_view kByTma = "system.bx32.by4.rx2.ry2.v2.tmarows.pf2.t2.rim";
  constexpr std::string_view kByLanes = "system.bx32.by4.rx2.ry2.v2.pf2.t2.rim";
  for (const auto& [definition, boundary, layers, fused] : {Case{kAbsorbed, hold, "9", 2},
                                                            {kAbsorbed, zero, "x=6:0,y=0:8", 1},
                                                            {kAbsorbed, clamp, "x=0:7,y=9:3", 2},
                                                            {kSponge, reflect, "x=6:0,y=0:8", 2},
                                                            {kSponge, hold, "x=11:5,y=7", 2}}) {
    for (const auto type : {ElementType::f64, ElementType::f32}) {
      const Problem problem = with_slabs(layered(definition, {2, {152, 91, 1}}, layers, boundary, type));
      for (const std::string_view wanted : {std::string_view(), kByTma, kByLanes}) {
        SCOPED_TRACE(fmt::format("{} {} {} {} {}", problem.stencil.name, name(boundary), layers, name(type), wanted));
        Kernel kernel = lookup_tuned(problem, {fused}, "all", wanted);
        EXPECT_EQ(kernel.fused_steps(), fused);
        kernel.prepare();
        expect_right(problem, kernel, 2 * fused + 1);
      }
      SCOPED_TRACE(fmt::format("{} {} {} {} stage by stage", problem.stencil.name, name(boundary), layers, name(type)));
      Kernel plain = lookup(problem, {});
      EXPECT_EQ(plain.fused_steps(), 1);
      plain.prepare();
      expect_right(problem, plain, 3);
    }
  }
  EXPECT_GT(takes_wanted_, 0);
}

TEST_F(ZonesOnHost, ASlabAlongZIsWalkedThroughAlongY) {
  constexpr std::string_view kByTma = "system.bx32.by4.rx1.ry4.v1.tmarows.pf2.t2";
  const Problem problem = with_slabs(layered(kThreeAxes, {3, {72, 66, 30}}, "x=0,y=0,z=0:9", Boundary::zero));
  for (const std::string_view wanted : {std::string_view(), kByTma}) {
    Kernel kernel = lookup_tuned(problem, {2}, "all", wanted);
    EXPECT_EQ(kernel.fused_steps(), 2) << kernel.run_evidence().sentence();
    kernel.prepare();
    expect_right(problem, kernel, 3);
  }
  EXPECT_GT(walks_along_y_, 0);
  EXPECT_GT(takes_wanted_, 0);
}

/// Kernels of single steps take no points: these come once all zones are made.
TEST_F(ZonesOnHost, PointsFollowTheZonesOfASingleStep) {
  constexpr int kSteps = 4;
  const Problem problem = layered(kSponge, {2, {157, 93, 1}}, "8", Boundary::hold);
  PointList list;
  for (const std::int64_t x : {3, 40, 150}) {
    list.source_cells.push_back({list.sources++, 3, {x, 40, 0}, 0.5});
    list.receiver_cells.push_back({list.receivers++, 0, {x + 1, 41, 0}, 1});
  }
  std::vector<double> series(static_cast<std::size_t>(kSteps * list.sources));
  for (std::size_t i = 0; i < series.size(); ++i) series[i] = 0.01 * static_cast<double>(i % 17) - 0.05;
  const auto run = [&](Kernel kernel) {
    kernel.prepare();
    const Points points = kernel.place_points(list);
    std::vector<double> records(static_cast<std::size_t>(kSteps * list.receivers), -1);
    Fields cells(problem.stencil.fields.size(),
                 std::vector<double>(static_cast<std::size_t>(problem.allocated_cells()), 0.125));
    std::vector<void*> fields;
    for (auto& field : cells) fields.push_back(field.data());
    driver_.launched = 0;
    kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, fields, kSteps);
    return records;
  };
  const std::vector<double> in_zones = run(lookup_tuned(problem, {1}));
  EXPECT_EQ(driver_.launched, (9 + 1) * kSteps);
  const std::vector<double> expected = run(lookup(problem, {}));
  EXPECT_EQ(driver_.launched, (1 + 1) * kSteps);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(in_zones[i], expected[i], 1e-12) << "record " << i;
}

/// A point where an array has no cell would be added to another one.
TEST_F(ZonesOnHost, PointsOnSlabsAreWhereTheLayersAre) {
  const Problem problem = with_slabs(layered(kAbsorbed, {2, {157, 93, 1}}, "8", Boundary::zero));
  const PointList list = points_everywhere(problem);
  constexpr int kSteps = 5;
  std::vector<double> series(static_cast<std::size_t>(kSteps * list.sources));
  for (std::size_t i = 0; i < series.size(); ++i) series[i] = 0.01 * static_cast<double>(i % 17) - 0.05;
  const auto run = [&](const Problem& of, Kernel kernel) {
    kernel.prepare();
    const Points points = kernel.place_points(list);
    std::vector<double> records(static_cast<std::size_t>(points.records(kSteps) * list.receivers), -1);
    Fields cells;
    for (int field = 0; field < static_cast<int>(of.stencil.fields.size()); ++field) {
      cells.emplace_back(static_cast<std::size_t>(kernel.array(field).cells()), 0.125);
    }
    std::vector<void*> fields;
    for (auto& field : cells) fields.push_back(field.data());
    kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, fields, kSteps);
    return records;
  };
  const Problem whole = with_slabs(problem, false);
  const std::vector<double> expected = run(whole, lookup(whole, {})), alone = run(problem, lookup(problem, {}));
  const std::vector<double> fused = run(problem, lookup_tuned(problem, {2}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(alone[i], expected[i]) << "record " << i;
    ASSERT_NEAR(fused[i], expected[i], 1e-12) << "record " << i;
  }
  PointList between = list;
  for (PointCell& cell : between.source_cells) {
    if (problem.stencil.fields[static_cast<std::size_t>(cell.field)] == "psx_next") cell.cell[0] = 70;
  }
  Kernel kernel = lookup(problem, {});
  kernel.prepare();
  EXPECT_THROW(kernel.place_points(between), Error);
}

TEST_F(ZonesOnHost, AGridWithoutRoomInsideIsMadeWhole) {
  EXPECT_TRUE(zones(layered(kAbsorbed, {2, {40, 30, 1}}, "14", Boundary::hold), 2).empty());
}

}  // namespace
}  // namespace stencil_tune
