// What definitions say of their edges and of fields that vary along some axes: what is understood, and what is refused.
#include "generator/definition/definition.hpp"
#include "generator/stencil/describe.hpp"
#include "generator/stencil/problem.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace stencil_tune {
namespace {

Stencil with_boundary(const std::string& boundary, const std::string& q = "0.5") {
  return parse_definition(fmt::format(R"toml(
rank = 2
fields = ["u", "v", "u_next", "v_next"]
[coefficients]
q = {}
[update]
u_next = "q*u + u[x-1] + v[x+1]"
v_next = "v + u[y+1]"
{}
)toml",
                                      q, boundary.empty() ? "" : "[boundary]\n" + boundary),
                          "edges.toml");
}

std::string refusal(const std::string& boundary) {
  try {
    with_boundary(boundary);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool refuses(const std::string& boundary, const std::string& why) {
  return refusal(boundary).find(why) != std::string::npos;
}

TEST(DefinedBoundaries, OfAllFieldsAndSidesAreTheProblemsOwn) {
  const Stencil plain = with_boundary("");
  for (const Boundary boundary :
       {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    const Stencil said = with_boundary(fmt::format("x = \"{}\"", name(boundary)));
    EXPECT_EQ(stencil_key(said), stencil_key(plain)) << "what kernels can do is no part of the update";
    const Problem problem = make_problem(said, ElementType::f32, {}, {2, {64, 64, 1}});
    EXPECT_EQ(problem.boundaries[0], boundary);
    EXPECT_EQ(problem.boundaries[1], Boundary::hold);
  }
}

TEST(DefinedBoundaries, OfOneFieldOrSideArePartOfTheUpdate) {
  const std::string plain = stencil_key(with_boundary("x = \"reflect\""));
  const std::string odd = stencil_key(with_boundary("x = \"odd\""));
  const std::string neumann = stencil_key(with_boundary("x = \"neumann(q)\""));
  EXPECT_NE(plain, odd);
  EXPECT_NE(odd, neumann);
  EXPECT_NE(odd, stencil_key(with_boundary("x = \"reflect\"\nu.x = \"odd\"")));
  EXPECT_NE(odd, stencil_key(with_boundary("x.low = \"odd\"\nx.high = \"reflect\"")));
  EXPECT_EQ(neumann, stencil_key(with_boundary("x = \"neumann(q)\"", "0.25"))) << "slopes are given at launch";
  EXPECT_EQ(stencil_key(with_boundary("x = \"neumann(1/4)\"")), stencil_key(with_boundary("x = \"neumann(0.25)\"")));
}

TEST(DefinedBoundaries, OfAFieldGoBeforeThoseOfAllWhateverItsName) {
  const auto key = [](const char* field) {  // keys of a table are read in the order of the alphabet
    return stencil_key(parse_definition(fmt::format(R"toml(
rank = 2
fields = ["{0}", "{0}_next"]
[update]
{0}_next = "{0} + {0}[x-1] + {0}[x+1]"
[boundary]
x = "reflect"
{0}.x = "odd"
)toml",
                                                    field),
                                        "edges.toml"));
  };
  EXPECT_EQ(key("alpha"), key("zeta"));
}

TEST(DefinedBoundaries, AreAnsweredByAMirrorWhereAnyIs) {
  const auto in_x = [](const std::string& boundary) { return with_boundary(boundary).boundary[0]; };
  EXPECT_EQ(in_x("x = \"odd\""), Boundary::reflect);
  EXPECT_EQ(in_x("x.low = \"zero\"\nx.high = \"neumann(1)\""), Boundary::reflect);
  EXPECT_EQ(in_x("x.low = \"zero\"\nx.high = \"clamp\""), Boundary::clamp);
  EXPECT_EQ(in_x("y = \"odd\""), std::nullopt);
}

TEST(DefinedBoundaries, ThatTheProblemContradictsAreRefused) {
  const Stencil odd = with_boundary("x = \"odd\"");
  const Extents grid{2, {64, 64, 1}};
  EXPECT_THROW(make_problem(odd, ElementType::f32, {Boundary::periodic, Boundary::hold, Boundary::hold}, grid), Error);
  EXPECT_NO_THROW(make_problem(odd, ElementType::f32, {Boundary::reflect, Boundary::zero, Boundary::hold}, grid));
}

TEST(DefinedBoundaries, MirrorOnce) {
  EXPECT_NO_THROW(make_problem(with_boundary("x = \"odd\""), ElementType::f32, {}, {2, {2, 64, 1}}));
  EXPECT_THROW(make_problem(with_boundary("x = \"odd\""), ElementType::f32, {}, {2, {1, 64, 1}}), Error);
}

TEST(DefinedBoundaries, ThatDoNotGoTogetherAreRefused) {
  EXPECT_TRUE(refuses("x.low = \"clamp\"\nx.high = \"odd\"", "do not go together"));
  EXPECT_TRUE(refuses("x.low = \"hold\"\nx.high = \"zero\"", "do not go together"));
  EXPECT_TRUE(refuses("x = \"reflect\"\nv.x = \"periodic\"", "do not go together"));
  EXPECT_TRUE(refuses("u.x = \"odd\"", "field 'v' is read beyond the high edge in x too"));
  EXPECT_TRUE(refuses("x.low = \"odd\"", "field 'v' is read beyond the high edge in x too"));
  EXPECT_TRUE(refuses("z = \"odd\"", "no axis of a stencil of rank 2")) << refusal("z = \"odd\"");
  EXPECT_TRUE(refuses("x.left = \"odd\"", "'left' is no side of an axis"));
  EXPECT_TRUE(refuses("w.x = \"odd\"", "'w' is not one of the fields"));
  EXPECT_TRUE(refuses("u = \"odd\"", "write u.x"));
  EXPECT_TRUE(refuses("x = \"even\"", "'even' is no boundary"));
  EXPECT_TRUE(refuses("x = \"neumann\"", "'neumann' is no boundary"));
  EXPECT_TRUE(refuses("x = \"odd(q)\"", "is no boundary"));
  EXPECT_TRUE(refuses("x = \"neumann(u)\"", "the same in all cells"));
  EXPECT_TRUE(refuses("x = \"neumann(p)\"", "'p' is no field"));
  EXPECT_TRUE(refuses("x = \"robin(1, q)\"", "'robin' takes 3 numbers"));
  EXPECT_TRUE(refuses("x = \"robin(1, q, u)\"", "the same in all cells"));
  EXPECT_FALSE(refuses("x = \"robin(min(1, q), 2, 3)\"", "robin"));
}

TEST(Profiles, AreFieldsAlongOneAxis) {
  const Stencil stencil = parse_definition(
      "rank = 3\nfields = [\"u\", \"dz(z)\", \"v\"]\n[update]\nv = \"u*dz[z-1] + d_z_forward(dz)*u[x+1]\"\n", "p.toml");
  EXPECT_EQ(stencil.fields, (std::vector<std::string>{"u", "dz", "v"}));
  EXPECT_EQ(profile_along(stencil, 1), along_axis(2));
  EXPECT_EQ(profile_along(stencil, 0), 0U);
  const Problem problem = make_problem(stencil, ElementType::f32, {}, {3, {20, 30, 40}});
  EXPECT_EQ(problem.facts.inputs, (std::vector<int>{0})) << "of the whole grid";
  EXPECT_EQ(kernel_inputs(problem), (std::vector<int>{0, 1}));
  EXPECT_EQ(cells_of_field(problem, 1), 40);
  EXPECT_EQ(cells_of_field(problem, 0), 20 * 30 * 40);
}

TEST(Profiles, AreDeclaredInOneLinersToo) {
  const Stencil line = parse_stencil("u_next = u + dz[z+1]*laplacian(u); dz(z)", 3);
  EXPECT_EQ(line.fields, (std::vector<std::string>{"dz", "u", "u_next"}));
  EXPECT_EQ(profile_along(line, 0), along_axis(2));
  EXPECT_EQ(parse_stencil("sqrt(z)*u[x+1]", 3).profiles.size(), 0U) << "a function's call";
}

TEST(Profiles, LiveOnTwoAxesOrInTime) {
  const Stencil line = parse_stencil("u_next = u[x+1] - w*(h[y-1] + g[x+2, z])*u; g(x, z); h(x,y); w(t)", 3);
  EXPECT_EQ(line.fields, (std::vector<std::string>{"g", "h", "w", "u", "u_next"}));
  EXPECT_EQ(declared_name(line, 0), "g(x, z)");
  EXPECT_EQ(profile_along(line, 1), along_axis(0) | along_axis(1));
  EXPECT_EQ(declared_name(line, 2), "w(t)");
  const std::string text = canonical_text(line);
  EXPECT_NE(text.find("along 0,1[0,-1]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("along 0,2[2,0]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("along t[]\n"), std::string::npos) << text;
  const Problem problem = make_problem(line, ElementType::f32, {}, {3, {20, 30, 40}});
  EXPECT_TRUE(problem.facts.asks_place) << "the step's number";
  EXPECT_EQ(cells_of_field(problem, 0), 20 * 40);
  EXPECT_EQ(cells_of_field(problem, 1), 20 * 30);
  const Problem still = make_problem(parse_stencil("u[x+1]*h; h(y, z)", 3), ElementType::f32, {}, {3, {20, 30, 40}});
  EXPECT_FALSE(still.facts.asks_place);
  EXPECT_EQ(profile_rows(still), (std::vector<std::int64_t>{30}));
}

TEST(Profiles, OnAxesThatThereAreNotAreRefused) {
  const auto refused = [](const std::string& clauses, int rank) -> std::string {
    try {
      parse_stencil("u_next = u[x+1]*w; " + clauses, rank);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const char* clause : {"w(y, x)", "w(x, x)", "w(x, t)", "w(q)", "w(x, q)"}) {
    EXPECT_NE(
        refused(clause, 3).find("'w' varies along one axis, one of x, y, z, along two of them, w(x, y), with time"),
        std::string::npos)
        << refused(clause, 3);
  }
  EXPECT_NE(refused("w(x, y)", 2).find("one of x, y, with time"), std::string::npos) << "that is the whole grid";
  EXPECT_NE(refused("v = w[t-1]; w(t)", 1).find("'w' varies with time alone, and a step reads its own entry; write w"),
            std::string::npos);
  EXPECT_NE(refused("v = w[z+1]; w(x, y)", 3).find("'w' varies along x, y alone; write w[x+1]"), std::string::npos);
}

TEST(Profiles, AxesArePartOfTheKey) {
  const auto key = [](const char* axis, const char* read) {
    return stencil_key(parse_definition(fmt::format("rank = 2\nfields = [\"u\", \"d({})\", \"v\"]\n[update]\nv = "
                                                    "\"u - {}\"\n",
                                                    axis, read),
                                        "p.toml"));
  };
  EXPECT_NE(key("x", "d"), key("y", "d"));
  EXPECT_NE(key("x", "d"), key("x", "d[x+1]"));
  EXPECT_NE(key("x", "d"), key("t", "d"));
}

TEST(Profiles, AreReadAlongTheirAxisAndNeverWritten) {
  const auto why = [](const std::string& update) -> std::string {
    try {
      parse_definition("rank = 2\nfields = [\"u\", \"d(y)\", \"v\"]\n[update]\n" + update + "\n", "p.toml");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(why("v = \"u*d[y+1]\""), "");
  EXPECT_NE(why("v = \"u*d[x+1]\"").find("'d' varies along y alone; write d[y+1]"), std::string::npos);
  EXPECT_NE(why("d = \"u\"\nv = \"u*d\"").find("cannot be written"), std::string::npos);
  EXPECT_THROW(parse_definition("rank = 2\nfields = [\"u\", \"d(z)\", \"v\"]\n[update]\nv = \"u*d\"\n", "p.toml"),
               Error);
}

}  // namespace
}  // namespace stencil_tune
