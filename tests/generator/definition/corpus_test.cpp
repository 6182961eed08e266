#include "generator/definition/corpus.hpp"
#include "generator/candidates/space.hpp"
#include "generator/cut/zones.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/regroup.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/stencil/derivatives/adjoint.hpp"
#include "stencil_tune/batch.hpp"
#include "stencil_tune/error.hpp"
#include "tests/generator/definition/corpus_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

std::string path_of(const std::string& name) { return "corpus/" + name + ".toml"; }

/// Between 0 and 1, the same for the same place; 0 or 1 for the game of life, and where it is asked for layers.
double value_at(int cell, const std::string& field, const Offset& offset) {
  std::uint64_t hash = std::hash<std::string>()(field) ^ 0x9e3779b97f4a7c15u;
  for (const int part : {cell, offset[0], offset[1], offset[2]}) {
    hash = (hash ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(part))) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 31;
  }
  const double value = static_cast<double>(hash >> 11) * 0x1p-53;
  const bool is_asked = field.size() > 9 && field.compare(field.size() - 9, 9, "_in_layer") == 0;
  return field == "alive" || is_asked ? std::round(value) : value;
}

double evaluate(const Stencil& stencil, NodeId root, int cell) {
  std::vector<double> values;
  for (NodeId id = 0; id <= root; ++id) {
    const Node& node = stencil.nodes[static_cast<std::size_t>(id)];
    const auto v = [&](int i) {
      const NodeId operand = node.operands[static_cast<std::size_t>(i)];
      return values[static_cast<std::size_t>(operand)];
    };
    switch (node.op) {
      case Operation::number:
        values.push_back(node.value);
        break;
      case Operation::coefficient:
        values.push_back(stencil.coefficients[static_cast<std::size_t>(node.index)].value);
        break;
      case Operation::read:
      case Operation::profile:
        values.push_back(value_at(cell, stencil.fields[static_cast<std::size_t>(node.index)], node.offset));
        break;
      case Operation::in_layer:
        values.push_back(value_at(cell, std::string(1, "xyz"[node.index]) + "_in_layer", node.offset));
        break;
      case Operation::negate:
        values.push_back(-v(0));
        break;
      case Operation::absolute:
        values.push_back(std::fabs(v(0)));
        break;
      case Operation::square_root:
        values.push_back(std::sqrt(v(0)));
        break;
      case Operation::exponential:
        values.push_back(std::exp(v(0)));
        break;
      case Operation::add:
        values.push_back(v(0) + v(1));
        break;
      case Operation::subtract:
        values.push_back(v(0) - v(1));
        break;
      case Operation::multiply:
        values.push_back(v(0) * v(1));
        break;
      case Operation::divide:
        values.push_back(v(0) / v(1));
        break;
      case Operation::minimum:
        values.push_back(std::fmin(v(0), v(1)));
        break;
      case Operation::maximum:
        values.push_back(std::fmax(v(0), v(1)));
        break;
      case Operation::less:
        values.push_back(v(0) < v(1));
        break;
      case Operation::less_equal:
        values.push_back(v(0) <= v(1));
        break;
      case Operation::equal:
        values.push_back(v(0) == v(1));
        break;
      case Operation::select:
        values.push_back(v(0) != 0 ? v(1) : v(2));
        break;
      case Operation::sine:
        values.push_back(std::sin(v(0)));
        break;
      case Operation::cosine:
        values.push_back(std::cos(v(0)));
        break;
      case Operation::tangent:
        values.push_back(std::tan(v(0)));
        break;
      case Operation::hyperbolic_tangent:
        values.push_back(std::tanh(v(0)));
        break;
      case Operation::logarithm:
        values.push_back(std::log(v(0)));
        break;
      case Operation::power:
        values.push_back(std::pow(v(0), v(1)));
        break;
      case Operation::coordinate:
      case Operation::step:
      case Operation::before:
      case Operation::after:
      case Operation::outside:
      case Operation::floor:
      case Operation::modulo:
      case Operation::random:
      case Operation::round:
        ADD_FAILURE() << "no definition of the corpus asks where a cell is, or has words that jump";
        values.push_back(0);
        break;
    }
  }
  return values.back();
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, ComputesWhatItsPlainImplementationComputes) {
  const Stencil stencil = load_definition(path_of(GetParam()));
  const std::vector<CellUpdate>& stages = corpus_reference().at(GetParam());
  ASSERT_EQ(stencil.stages.size(), stages.size());
  const auto coefficient = [&](const std::string& name) {
    for (const Coefficient& c : stencil.coefficients) {
      if (c.name == name) return c.value;
    }
    ADD_FAILURE() << "no coefficient " << name;
    return 0.0;
  };
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    for (int cell = 0; cell < 50; ++cell) {
      const auto at = [&](const std::string& field, int x, int y, int z) { return value_at(cell, field, {x, y, z}); };
      const std::map<std::string, double> expected = stages[stage](at, coefficient);
      const std::vector<Update>& updates = stencil.stages[stage].updates;
      ASSERT_EQ(updates.size(), expected.size());
      for (const Update& update : updates) {
        const std::string& field = stencil.fields[static_cast<std::size_t>(update.output)];
        EXPECT_NEAR(evaluate(stencil, update.expression, cell), expected.at(field), 1e-12) << field;
      }
    }
  }
}

TEST_P(Corpus, LinearWeightsAreTheExpressionsOwn) {
  const Stencil stencil = load_definition(path_of(GetParam()));
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
    const StageFacts facts = analyse(stencil, stage);
    if (!facts.linear || facts.outputs.size() != 1) continue;
    ASSERT_EQ(facts.linear_taps.size(), facts.taps.size());
    double sum = 0;
    for (const LinearTap& tap : facts.linear_taps) {
      const double weight = tap.weight < 0 ? 1 : evaluate(stencil, tap.weight, 0);
      sum += (tap.negative ? -weight : weight) *
             value_at(7, stencil.fields[static_cast<std::size_t>(tap.tap.field)], tap.tap.offset);
    }
    const NodeId root = stencil.stages[static_cast<std::size_t>(stage)].updates[0].expression;
    EXPECT_NEAR(sum, evaluate(stencil, root, 7), 1e-12);
  }
}

TEST_P(Corpus, IsNamedAfterItsFile) { EXPECT_EQ(load_definition(path_of(GetParam())).name, GetParam()); }

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, stages] : corpus_reference()) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::ValuesIn(names()),
                         [](const testing::TestParamInfo<std::string>& test) { return test.param; });

TEST(CorpusFolder, EveryFileHasAPlainImplementation) {
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator("corpus")) files.insert(entry.path().stem().string());
  std::set<std::string> known;
  for (const std::string& name : names()) known.insert(name);
  EXPECT_EQ(files, known);
}

TEST(CorpusFolder, StencilsDiffer) {
  std::set<std::string> keys;
  for (const std::string& name : names()) keys.insert(stencil_key(load_definition(path_of(name))));
  EXPECT_EQ(keys.size(), names().size());
}

TEST(CorpusFolder, IsKnownByName) {
  const std::vector<std::string> builtins = builtin_names();
  std::set<std::string> equations;
  for (const std::string& name : names()) {
    if (std::find(builtins.begin(), builtins.end(), name) != builtins.end()) continue;
    equations.insert(name);
    EXPECT_EQ(stencil_key(find_stencil(name)), stencil_key(load_definition(path_of(name)))) << name;
    EXPECT_EQ(find_stencil(name).name, name);
  }
  const std::vector<std::string> listed = equation_names();
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), equations);
  EXPECT_EQ(stencil_key(find_stencil("jacobi1d")), stencil_key(find_builtin("jacobi1d"))) << "not the corpus' own";
}

TEST(CorpusFolder, SuggestsItsNamesToo) {
  try {
    find_stencil("yee2d");
    FAIL() << "found a stencil that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unknown_name);
    EXPECT_NE(std::string(error.what()).find("'yee3d'"), std::string::npos) << error.what();
  }
}

TEST(CorpusFolder, TellsAnotherStencilOfTheSameNameApart) {
  const std::string key = stencil_key(find_stencil("yee3d"));
  EXPECT_TRUE(known_stencil("yee3d", key));
  EXPECT_FALSE(known_stencil("yee3d_lossy", key));
  EXPECT_FALSE(known_stencil("mine", key));
}

TEST(CorpusFolder, KnowsStepsBackAndBatches) {
  const Stencil wave = find_stencil("acoustic2d_o4_cpml");
  for (const Stencil& each : {batched(wave), adjoint_step_of(wave, {"v"}), adjoint_step_of(batched(wave), {"v"})}) {
    EXPECT_TRUE(known_stencil("acoustic2d_o4_cpml", stencil_key(each))) << each.name;
    EXPECT_FALSE(known_stencil("heat2d", stencil_key(each)));
  }
}

TEST(CorpusFolder, KnowsWhatIsLeftOfAStencilInAZone) {
  const Problem step =
      make_problem(find_stencil("acoustic3d_o2_cpml"), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 3, kWholeStep);
  int known = 0;
  for (const Zone& zone : zones(step, 3)) {
    const std::string key = stencil_key(zone.problem.stencil);
    const auto found = known_stencil("acoustic3d_o2_cpml", key);
    ASSERT_TRUE(found) << zone.name;
    EXPECT_EQ(found->fields, zone.problem.stencil.fields) << zone.name;
    ++known;
    for (const std::size_t axis : {1, 2}) {
      const bool is_across = zone.name.find("xyz"[axis]) != std::string::npos;
      EXPECT_TRUE(!is_across || zone.problem.extents.n[axis] == 32) << zone.name << ": rows of one tile";
    }
  }
  EXPECT_EQ(known, 27);
}

TEST(CorpusFolder, HeatIsTheBuiltIn) {
  EXPECT_EQ(stencil_key(load_definition(path_of("heat3d"))), stencil_key(find_builtin("heat3d")));
  EXPECT_EQ(stencil_key(load_definition(path_of("heat2d"))), stencil_key(find_builtin("heat2d")));
}

// ---- what a definition costs against the built-in of the same shape -------------------------------------------------

Problem on_small_grid(const Stencil& stencil) {
  return make_problem(stencil, ElementType::f32, Boundaries{},
                      {stencil.rank, {64, stencil.rank > 1 ? 64 : 1, stencil.rank > 2 ? 64 : 1}});
}

/// The kernel's source without the update's statements and the number of coefficients.
std::string source_but_for_arithmetic(const Problem& problem, const Tuning& tuning) {
  std::string text = generate({problem, tuning}).text;
  const auto cut = [&text](std::string_view from, std::string_view to) {
    const std::size_t first = text.find(from);
    ASSERT_NE(first, std::string::npos);
    text.erase(first, text.find(to, first) - first);
  };
  cut("kCoefficients = ", ";");
  cut("static void update(", "\n  }\n");
  return text;
}

/// Operations of the update as it is written into a kernel.
int written_operations(const Stencil& stencil) {
  StencilBuilder builder(stencil);
  const NodeId root = stencil.stages[0].updates[0].expression;
  return operations_in_tile(builder.stencil(), {regroup(builder, root, analyse(builder.stencil(), 0).linear_taps)});
}

TEST(CorpusSource, DiffersFromTheBuiltInOfItsShapeByItsArithmeticAloneAndHasNoMoreOfIt) {
  for (const auto& [definition, builtin] : std::map<std::string, std::string>{{"heat2d", "star2d1r"},
                                                                              {"heat3d", "star3d1r"},
                                                                              {"jacobi1d", "star1d1r"},
                                                                              {"box27", "box3d1r"},
                                                                              {"gaussian5x5", "box2d2r"},
                                                                              {"gaussian9x9", "box2d4r"}}) {
    const Problem ours = on_small_grid(load_definition(path_of(definition)));
    const Problem theirs = on_small_grid(find_builtin(builtin));
    EXPECT_LE(written_operations(ours.stencil), written_operations(theirs.stencil)) << definition;
    for (const Family* family : families()) {
      const auto tuning = default_candidate(*family, theirs, Limits{});
      if (!tuning) continue;
      EXPECT_EQ(source_but_for_arithmetic(ours, *tuning), source_but_for_arithmetic(theirs, *tuning))
          << definition << ", " << code(*tuning);
    }
  }
}

TEST(CorpusSource, OfTheSameEquationHasTheSameKey) {
  for (const std::string name : {"heat2d", "heat3d"}) {
    EXPECT_EQ(stencil_key(load_definition(path_of(name))), stencil_key(find_builtin(name)));
  }
}

}  // namespace
}  // namespace stencil_tune
