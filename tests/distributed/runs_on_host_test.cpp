// Grids that are cut, on ranks that are threads: the cells are those of one domain, whatever the cut.
#include "tests/distributed/runs_on_host.hpp"

#include "stencil_tune/definition.hpp"
#include "tests/runtime/expect_error.hpp"

#include <array>

namespace stencil_tune {
namespace {

constexpr std::array kBoundaries{Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                 Boundary::reflect};

/// Cuts of a plane.
constexpr std::array kOneToEightRanks{Cut{1, 1, 1}, Cut{2, 1, 1}, Cut{1, 3, 1}, Cut{2, 2, 1},
                                      Cut{5, 1, 1}, Cut{2, 3, 1}, Cut{1, 7, 1}, Cut{2, 4, 1}};

TEST_F(RunsOnHost, EveryCutOfOneToEightRanksIsOneDomain) {
  const Request request = request_for("heat3d", {13, 11, 17}, Boundary::hold);
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const Cut& cut : cuts_into(ranks, 3)) expect_equal({.request = request, .cut = cut, .steps = {2, 1}});
  }
}

TEST_F(RunsOnHost, AnExchangeBringsTheLayersThatItsStepsNeed) {
  const Request request = request_for("heat3d", {13, 11, 17}, Boundary::hold);
  Library library = this->library(1);
  const auto errors = ThreadRanks(3).run([&](const auto& ranks) {
    const DistributedKernel kernel(library, ranks, request, {.cut = {1, 1, 3}, .steps_per_exchange = 2});
    const std::size_t neighbours = kernel.rank() == 1 ? 2 : 1;
    EXPECT_EQ(kernel.bytes_received(), neighbours * 2 * 13 * 11 * sizeof(double));
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST_F(RunsOnHost, FusedStepsWithEveryBoundary) {
  for (const Boundary boundary : kBoundaries) {
    const Request request = request_for("heat2d", {149, 29, 1}, boundary);
    for (int fused = 1; fused <= 4; ++fused) {
      for (const Cut& cut : {Cut{1, 3, 1}, Cut{2, 1, 1}, Cut{2, 2, 1}}) {
        expect_equal({.request = request, .cut = cut, .fused = fused, .steps = {fused, 2 * fused + 1}});
      }
    }
  }
}

TEST_F(RunsOnHost, EachAxisPeriodicAlone) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    Request request = request_for("star3d2r", {11, 9, 13}, Boundary::reflect);
    request.boundaries[axis] = Boundary::periodic;
    request.stencil.rotations = {{1, 0}};
    for (const Cut& cut : {Cut{2, 1, 1}, Cut{1, 2, 1}, Cut{1, 1, 3}, Cut{2, 2, 2}}) {
      expect_equal({.request = request, .cut = cut, .steps = {3}});
    }
  }
}

TEST_F(RunsOnHost, SeveralStepsAnExchangeWithoutFusedSteps) {
  const Request request = request_for("heat2d", {149, 19, 1}, Boundary::periodic);
  expect_equal({.request = request, .cut = {2, 2, 1}, .per_exchange = 3, .steps = {7, 2}});
  expect_equal({.request = request, .cut = {2, 2, 1}, .fused = 2, .per_exchange = 5, .steps = {11}});
}

TEST_F(RunsOnHost, ReadsToOneSideTravelOneWay) {
  Request request = request_for("heat2d", {23, 19, 1}, Boundary::clamp);
  request.stencil = parse_stencil("u_next = 0.4*u + 0.3*u[x-2,y] + 0.2*u[x,y+1] + 0.1*u[x-1,y+1]", 2);
  request.boundaries[1] = Boundary::periodic;
  expect_equal({.request = request, .cut = {2, 3, 1}, .fused = 1, .per_exchange = 2, .steps = {5}});
}

TEST_F(RunsOnHost, PartsThatAreThinnerThanWhatAnEdgeMirrors) {
  Request request = request_for("heat2d", {5, 19, 1}, Boundary::reflect);
  request.stencil = parse_stencil("u_next = 0.5*u + 0.25*u[x+1,y] + 0.25*k[x+1]; k(x)", 2);
  expect_equal({.request = request, .cut = {5, 1, 1}, .steps = {2}});
}

TEST_F(RunsOnHost, SystemsOfFieldsStagesAndTimeLevels) {
  for (const int fused : {1, 2, 3}) {
    const Request gray_scott = request_for("corpus/gray_scott2d.toml", {149, 23, 1}, Boundary::periodic);
    expect_equal({.request = gray_scott, .cut = {2, 2, 1}, .fused = fused, .steps = {fused + 1, 2 * fused}});
    const Request wave = request_for("corpus/acoustic3d_o4.toml", {70, 17, 21}, Boundary::hold);
    if (fused < 3) expect_equal({.request = wave, .cut = {1, 2, 2}, .fused = fused, .steps = {2 * fused + 1, 1}});
  }
}

TEST_F(RunsOnHost, StaggeredFieldsUnderHoldAndAcrossAPeriodicEdge) {
  Request yee = request_for("corpus/yee3d.toml", {13, 11, 12}, Boundary::hold);
  expect_equal({.request = yee, .cut = {2, 2, 2}, .steps = {3, 2}});
  yee.boundaries[2] = Boundary::periodic;
  expect_equal({.request = yee, .cut = {1, 2, 2}, .per_exchange = 2, .steps = {5}});
}

/// Outputs that become each other's field, an older level that is read at neighbours, and an estimate of u.
constexpr const char* kTurns = R"toml(
name = "turns"
rank = 2
fields = ["v_next", "u_next", "estimate", "u", "v", "old"]
[[stage]]
estimate = "0.5*u + 0.25*v[x+1] - 0.125*u[y-1]"
[[stage]]
u_next = "0.5*v[x-1] + 0.5*estimate[x+1] - 0.25*old[x-2]"
v_next = "0.5*estimate[y+1] + 0.25*v + 0.125*old[y+1]"
[rotate]
v_next = "u"
u_next = "v"
v = "old"
[hold]
estimate = "v"
)toml";

TEST_F(RunsOnHost, FieldsThatTakeTurnsCarryTheLayersOfTheirOwn) {
  for (const auto& [x, y] : {std::pair{Boundary::hold, Boundary::hold},
                             {Boundary::periodic, Boundary::hold},
                             {Boundary::hold, Boundary::periodic},
                             {Boundary::periodic, Boundary::zero}}) {
    Request request = request_for("heat2d", {143, 29, 1}, Boundary::hold);
    request.stencil = parse_definition(kTurns, "turns.toml");
    request.boundaries = {x, y, Boundary::hold};
    for (const int fused : {1, 2}) {
      for (const Cut& cut : {Cut{2, 1, 1}, Cut{1, 2, 1}, Cut{2, 2, 1}}) {
        expect_equal({.request = request, .cut = cut, .fused = fused, .per_exchange = 2, .steps = {1, 4, 3}});
      }
    }
  }
}

TEST_F(RunsOnHost, AnIntermediateNeedsNoWordWhereAnAxisIsHoldBecauseItIsCut) {
  Request request = request_for("heat2d", {23, 19, 1}, Boundary::periodic);
  const std::string text = kTurns;
  request.stencil = parse_definition(text.substr(0, text.find("[hold]")), "turns.toml");
  expect_equal({.request = request, .cut = {2, 2, 1}, .steps = {3}});
}

TEST_F(RunsOnHost, ProfilesAreCutAlongTheirAxis) {
  Request yee = request_for("corpus/yee3d_layer.toml", {9, 8, 7}, Boundary::zero);
  yee.boundaries[0] = Boundary::periodic;
  expect_equal({.request = yee, .cut = {2, 1, 2}, .steps = {2}});
}

TEST_F(RunsOnHost, ProfilesOfTwoAxesAreCutAlongBothAndThoseOfTimeGoOn) {
  Request request = request_for("heat3d", {11, 9, 10}, Boundary::clamp);
  request.boundaries[1] = Boundary::periodic;
  request.stencil = parse_stencil(
      "u_next = 0.5*u[x-1] + 0.1*h[x+1, y-2]*u[y+1] + g[z-1]*b*u[z+1] + w; h(x, y); g(y, z); b(x, z); w(t)", 3);
  const DistributedRun run{.request = request, .cut = {2, 2, 2}, .per_exchange = 2, .steps = {3, 2}, .place = {{}, 15}};
  expect_equal(run);
  const auto errors = ThreadRanks(1).run([&](const auto& ranks) {
    Library one = library(1);
    DistributedKernel kernel(one, ranks, request, {});
    DistributedFields fields(kernel);
    const std::vector<Cells> start = random_cells(request);
    for (int field = 0; field < 5; ++field) fields.write(field, as_bytes(start[static_cast<std::size_t>(field)]));
    kernel.advance(nullptr, fields, 6, {}, {{}, 15});
  });
  EXPECT_NE(errors.front().find("field 'w' has 20 entries, and steps 15 to 20 were asked for"), std::string::npos)
      << errors.front();
}

TEST_F(RunsOnHost, CoordinatesAndStepsAreThoseOfTheWhole) {
  Request request = request_for("heat2d", {17, 13, 1}, Boundary::reflect);
  request.stencil = parse_stencil("u_next = 0.5*u[x-1,y] + 0.01*(x + 10*y) + 0.001*t", 2);
  expect_equal({.request = request, .cut = {2, 2, 1}, .per_exchange = 2, .steps = {3, 2}, .place = {{100, -7, 0}, 5}});
}

TEST_F(RunsOnHost, EdgesThatADefinitionChangesStandAtTheGridsOwn) {
  Request request = request_for("heat2d", {21, 19, 1}, Boundary::hold);
  request.stencil = parse_definition(R"toml(
rank = 2
fields = ["u", "u_next"]
[update]
u_next = "0.5*u + 0.1*(u[x-1] + u[x+1] - u[y-1] + u[y+1])"
[rotate]
u_next = "u"
[boundary]
x = "odd"
y.low = "neumann(0.25)"
y.high = "reflect"
)toml",
                                     "walls.toml");
  expect_equal({.request = request, .cut = {2, 3, 1}, .per_exchange = 2, .steps = {5}});
}

TEST_F(RunsOnHost, WordsBeyondTwoEdgesMeetAtTheGridsOwnCorners) {
  Request request = request_for("heat2d", {35, 37, 1}, Boundary::zero);
  request.boundaries[1] = Boundary::hold;
  request.stencil = parse_definition(R"toml(
rank = 2
fields = ["u", "u_next"]
[update]
u_next = "0.5*u + 0.1*(u[x-1, y-1] + u[x+2, y+1] - u[x+1, y-2])"
[boundary]
y = "neumann(0.25)"
)toml",
                                     "corners.toml");
  for (const Cut& cut : kOneToEightRanks) {
    expect_equal({.request = request, .cut = cut, .per_exchange = 2, .steps = {3}});
  }
}

TEST_F(RunsOnHost, DistancesFromEdgesAreThoseOfTheWhole) {
  Request request = request_for("heat2d", {53, 37, 1}, Boundary::hold);
  request.stencil = parse_definition(R"toml(
rank = 2
fields = ["u", "u_next"]
[update]
u_next = "0.5*u[x-1] + 0.25*u[y+1]*(1 + x_before[x-3]) + 0.01*y_after[y+2] - 0.02*x_after[x+1]*y_before"
)toml",
                                     "distances.toml");
  for (const Cut& cut : kOneToEightRanks) {
    expect_equal({.request = request, .cut = cut, .per_exchange = 2, .steps = {3}});
  }
  for (const Boundary in_x : {Boundary::zero, Boundary::clamp, Boundary::reflect}) {
    request.boundaries[0] = in_x;
    expect_equal({.request = request, .cut = {3, 2, 1}, .per_exchange = 2, .steps = {3}});
  }
}

}  // namespace
}  // namespace stencil_tune
