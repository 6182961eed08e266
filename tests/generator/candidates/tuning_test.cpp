#include "generator/candidates/family.hpp"

#include "stencil_tune/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace stencil_tune {
namespace {

using ::testing::HasSubstr;

/// The message of the malformed_code error that parsing the text throws; empty when it parses.
std::string rejection(std::string_view text) {
  try {
    parse_code(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed_code) << text;
    return error.what();
  }
  return {};
}

/// Any values of the table, legal together or not.
Tuning random_tuning(const Family& family, std::mt19937& random) {
  Tuning tuning(family);
  for (const Parameter& parameter : family.parameters) {
    parameter.set(tuning, parameter.values[random() % parameter.values.size()]);
  }
  return tuning;
}

TEST(FamilyTable, WordsAndPrefixesOfAFamilyAreUnique) {
  for (const Family* family : families()) {
    std::set<std::string_view> seen;
    for (const Parameter& parameter : family->parameters) {
      if (!parameter.is_word()) {
        EXPECT_TRUE(seen.insert(parameter.prefix).second) << parameter.prefix;
      }
      for (std::string_view word : parameter.words) EXPECT_TRUE(seen.insert(word).second) << word;
    }
  }
}

TEST(FamilyTable, APrefixOrWordMeansTheSameInEveryFamily) {
  std::map<std::string_view, std::string_view> parameter_of;
  for (const Family* family : families()) {
    for (const Parameter& parameter : family->parameters) {
      std::vector<std::string_view> spellings = parameter.words;
      if (!parameter.is_word()) spellings.push_back(parameter.prefix);
      for (const std::string_view spelling : spellings) {
        EXPECT_EQ(parameter_of.try_emplace(spelling, parameter.name).first->second, parameter.name) << spelling;
      }
    }
  }
}

TEST(FamilyTable, RowsAreComplete) {
  for (const Family* family : families()) {
    EXPECT_FALSE(family->meaning.empty());
    for (const Parameter& parameter : family->parameters) {
      SCOPED_TRACE(std::string(family->name) + ", " + std::string(parameter.name));
      EXPECT_FALSE(parameter.meaning.empty());
      EXPECT_TRUE(std::is_sorted(parameter.values.begin(), parameter.values.end()));
      EXPECT_FALSE(parameter.values.empty());
      EXPECT_EQ(parameter.default_value, parameter.get(Tuning(*family)));
      EXPECT_EQ(parameter.words.empty(), !parameter.prefix.empty());
      EXPECT_EQ(parameter.words.size(), parameter.word_meanings.size());
      if (!parameter.constants.empty()) {
        EXPECT_EQ(parameter.constants.size(), parameter.words.size());
      }
    }
  }
}

TEST(FamilyTable, NamesWhatItDoesNotHold) {
  EXPECT_EQ(&family_named("temporal"), parse_code("temporal.bx32.by4.t2").family);
  EXPECT_THROW(family_named("streeming"), Error);
}

TEST(Differences, CountParametersWithOtherValues) {
  const Tuning a = parse_code("streaming.bx32.by8.cz64.ring.sums.pf2");
  EXPECT_EQ(differences(a, a), 0);
  EXPECT_EQ(differences(a, parse_code("streaming.bx32.by4.cz64.ring.sums.pf2")), 1);
  EXPECT_EQ(differences(a, parse_code("streaming.bx64.by4.cz64.ring.pf4.raster")), 5);
}

TEST(Code, LeavesOutDefaultsThatAreNotAlwaysCoded) {
  Tuning tuning(family_named("streaming"));
  tuning.register_x = 4;
  tuning.vector = 4;
  tuning.depth = 4;
  EXPECT_EQ(code(tuning), "streaming.bx32.by4.rx4.v4.cz4.regs");
  EXPECT_EQ(code(Tuning(family_named("temporal"))), "temporal.bx32.by4.t2") << "rows are copied by lanes";
}

TEST(Code, NamesEveryNonDefaultWord) {
  Tuning tuning(family_named("streaming"));
  tuning.planes = Planes::shared;
  tuning.cover = Cover::input;
  tuning.neighbours = Neighbours::shuffle;
  tuning.order = BlockOrder::z_first;
  tuning.load = LoadHint::read_only;
  tuning.store = StoreHint::streaming;
  tuning.unroll = 2;
  tuning.min_blocks = 4;
  EXPECT_EQ(code(tuning), "streaming.bx32.by4.cz1.shared.cin.shfl.zfirst.ldro.stcs.u2.mb4");
}

TEST(Code, HasSharesAndBatchesOfRowsInSystolicKernels) {
  const Tuning tuning = parse_code("systolic.rx7.pf1.t8.tg4.rb2.sh3");
  EXPECT_EQ(std::pair(tuning.shares, tuning.batch), std::pair(3, 2));
  EXPECT_EQ(std::pair(tuning.chunks, tuning.unroll), std::pair(1, 1)) << "other families' parameters";
  EXPECT_EQ(code(tuning), "systolic.bx32.by1.rx7.pf1.t8.tg4.rb2.sh3");
  EXPECT_EQ(parse_code("systolic.rx7.pf1.t8.tg4").shares, 1);
  EXPECT_THROW(parse_code("systolic.rx7.pf1.t8.tg4.sh0"), Error) << "unlike temporal kernels, they have shares always";
}

TEST(Code, IsWhatAStreamPrints) {
  std::ostringstream out;
  out << Tuning{};
  EXPECT_EQ(out.str(), "direct.bx32.by4");
}

TEST(Code, ParsesBackExactly) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const Tuning tuning = random_tuning(*families()[static_cast<std::size_t>(i) % families().size()], random);
    const std::string text = code(tuning);
    EXPECT_EQ(parse_code(text), tuning) << text;
    EXPECT_EQ(code(parse_code(text)), text);
  }
}

TEST(ParseCode, TakesPartsInAnyOrderAndSpelledOutDefaults) {
  EXPECT_EQ(parse_code("streaming.regs.v4.cz4.by4.rx4.bx32"), parse_code("streaming.bx32.by4.rx4.v4.cz4.regs"));
  EXPECT_EQ(parse_code("tiled.bx32.by4.rx1.cout.natural.ldca.stwb.mb0"), parse_code("tiled.bx32.by4"));
}

TEST(ParseCode, TakesNumbersOutsideTheTable) { EXPECT_EQ(parse_code("direct.bx96.by7").block_x, 96); }

TEST(ParseCode, NamesAnUnknownPartAndSuggestsTheNearest) {
  EXPECT_THAT(rejection("streaming.bx32.by4.cz4.reg"), HasSubstr("'reg' is no tuning parameter; did you mean 'regs'?"));
  EXPECT_THAT(rejection("direct.bx32.bu4"), HasSubstr("'bu4'"));
  EXPECT_THAT(rejection("direct.bxx32.by4"), HasSubstr("did you mean 'bx32'?"));
  EXPECT_THAT(rejection("streeming.bx32.by4"), HasSubstr("did you mean 'streaming'?"));
}

TEST(ParseCode, RejectsAnEmptyCodeAndEmptyParts) {
  EXPECT_THAT(rejection(""), HasSubstr("kernel family"));
  EXPECT_THAT(rejection("direct."), HasSubstr("empty part"));
  EXPECT_THAT(rejection("direct..bx32"), HasSubstr("empty part"));
  EXPECT_THAT(rejection(".bx32"), HasSubstr("kernel family"));
}

TEST(ParseCode, RejectsNumbersThatAreNotPositiveOrNotNumbers) {
  for (const char* part : {"by0", "by-4", "by+4", "by", "by4x", "by 4", "by99999999999999999999", "by65537"}) {
    EXPECT_THAT(rejection(std::string("direct.bx32.") + part), HasSubstr("'by")) << part;
  }
  EXPECT_THAT(rejection("direct.bx032"), HasSubstr("leading zeros; write 'bx32'"));
  EXPECT_EQ(rejection("direct.mb0"), "") << "0 blocks per SM leaves the compiler free";
}

TEST(ParseCode, RejectsASecondValue) {
  EXPECT_THAT(rejection("direct.bx32.by4.bx32"), HasSubstr("'bx32' gives threads in x a second value"));
  EXPECT_THAT(rejection("streaming.shared.regs"), HasSubstr("'regs' gives planes a second value"));
}

TEST(ParseCode, RejectsAParameterThatTheFamilyDoesNotUse) {
  EXPECT_THAT(rejection("direct.bx32.by4.cz4"), HasSubstr("'cz4' (coarsening depth) is no parameter of family direct"));
  EXPECT_THAT(rejection("streaming.bz2"), HasSubstr("'bz2'"));
  EXPECT_THAT(rejection("tiled.shfl"), HasSubstr("'shfl'"));
}

TEST(ParseCode, QuotesWhatATerminalWouldObeyInEscapedForm) {
  const std::string message = rejection("direct.\x1b[2J\n\xc2\x9b");
  EXPECT_EQ(message.find_first_of("\x1b\n\x9b"), std::string::npos) << message;
  EXPECT_NE(message.find("\\x1b[2J\\x0a"), std::string::npos) << message;
}

TEST(ParseCode, SurvivesBytesThatAreNoText) {
  EXPECT_NE(rejection(std::string_view("\xff\x00.\n", 4)), "");
  EXPECT_NE(rejection(std::string("direct.") + std::string(100000, 'b')), "");
}

}  // namespace
}  // namespace stencil_tune
