#include "db/exchange.hpp"

#include "db/trial_store.hpp"
#include "generator/stencil/problem.hpp"
#include "tests/db/testing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace stencil_tune {
namespace {

using Json = nlohmann::json;

constexpr const char* kOtherCode = "direct.bx64.by4.bz1.rx1.ry1.rz1.v1";

class ExchangeTest : public ::testing::Test {
 protected:
  /// Two winners: f32 and f64.
  ExchangeTest() {
    TrialStore trials(source_);
    trials.insert(a_trial(kCode, 400.0 / 3), 290);
    trials.insert(a_failure(kOtherCode, Outcome::timeout));
    TrialRecord other = a_trial(kOtherCode, 200);
    other.problem.type = ElementType::f64;
    trials.insert(other);
    text_ = format_winners(WinnerStore(source_).list());
  }

  /// Imports the text after `spoil` changed it; it must be refused and change nothing.
  ErrorCode code_of_spoiled(const std::function<void(Json&)>& spoil) {
    Json json = Json::parse(text_);
    spoil(json);
    return code_of(json.dump());
  }

  ErrorCode code_of(const std::string& text) {
    const ErrorCode code = error_of([&] { import_winners(target_, text); }).code();
    EXPECT_TRUE(TrialStore(target_).find({}).empty());
    EXPECT_TRUE(WinnerStore(target_).list().empty());
    return code;
  }

  TemporaryFolder folder_;
  Database source_ = Database::open(folder_ / "source.db");
  Database target_ = Database::open(folder_ / "target.db");
  std::string text_;
};

TEST_F(ExchangeTest, CarriesWinnersOfWholeSteps) {
  Json json = Json::parse(text_);
  json["winners"].back()["trial"]["stage"] = kWholeStep;
  import_winners(target_, json.dump());
  EXPECT_EQ(parse_winners(format_winners(WinnerStore(target_).list())).size(), 2U);
  const auto has_whole_step = [](const WinnerRecord& winner) { return winner.trial.problem.stage == kWholeStep; };
  const auto winners = WinnerStore(target_).list();
  EXPECT_EQ(std::count_if(winners.begin(), winners.end(), has_whole_step), 1);
}

TEST_F(ExchangeTest, CarriesWinnersWithTheirEvidence) {
  const ImportResult result = import_winners(target_, text_);
  EXPECT_EQ(result.merged.added, 2);
  EXPECT_EQ(result.merged.winners_changed, 2);
  EXPECT_TRUE(result.stale.empty());
  const auto winner = WinnerStore(target_).find(a_problem(), kGpu, Objective::burst);
  ASSERT_TRUE(winner);
  expect_same(winner->trial, a_trial(kCode, 400.0 / 3));
  EXPECT_EQ(winner->naive_rate, 290);
  EXPECT_EQ(winner->trials_seen, 2);
  EXPECT_EQ(format_winners(WinnerStore(target_).list()), text_);
}

TEST_F(ExchangeTest, AgainChangesNothing) {
  import_winners(target_, text_);
  const ImportResult again = import_winners(target_, text_);
  EXPECT_EQ(again.merged.duplicates, 2);
  EXPECT_EQ(again.merged.winners_changed, 0);
}

TEST_F(ExchangeTest, BetterTrialHereStaysTheWinner) {
  TrialStore(target_).insert(a_trial(kOtherCode, 500));
  import_winners(target_, text_);
  EXPECT_EQ(WinnerStore(target_).find(a_problem(), kGpu, Objective::burst)->trial.code, kOtherCode);
}

TEST_F(ExchangeTest, StaleWinnersAreMarkedAndNeverReplaceFreshOnes) {
  TrialStore(target_).insert(a_trial(kOtherCode, 10));
  Json json = Json::parse(text_);
  for (Json& winner : json["winners"]) winner["trial"]["template_signature"] = kOldSignature;
  const ImportResult result = import_winners(target_, json.dump());
  EXPECT_EQ(result.stale.size(), 2U);
  EXPECT_EQ(WinnerStore(target_).find(a_problem(), kGpu, Objective::burst)->trial.rate, 10);
}

TEST_F(ExchangeTest, ACandidateThatCannotRunIsLeftOutAndNamedAndTheOthersComeIn) {
  Json json = Json::parse(text_);
  json["winners"].back()["trial"]["code"] = "direct.bx32.nonsense";
  const ImportResult result = import_winners(target_, json.dump());
  EXPECT_EQ(result.merged.added, 1);
  ASSERT_EQ(result.cannot_run.size(), 1U);
  EXPECT_TRUE(result.cannot_run.front().starts_with("direct.bx32.nonsense: ")) << result.cannot_run.front();
  EXPECT_EQ(parse_winners(json.dump()).size(), 2U) << "reading alone judges no candidate";
}

TEST_F(ExchangeTest, SpoiledTextIsRefusedWhole) {
  const auto invalid = ErrorCode::invalid_argument;
  EXPECT_EQ(code_of(""), invalid);
  EXPECT_EQ(code_of("[]"), invalid);
  EXPECT_EQ(code_of(text_.substr(0, text_.size() / 2)), invalid);
  EXPECT_EQ(code_of(std::string(100000, '[')), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["format"] = "recipes"; }), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["version"] = 2; }), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["version"] = "1"; }), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j.erase("winners"); }), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["winners"] = 3; }), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["source"] = "__global__"; }), invalid);
}

TEST_F(ExchangeTest, SpoiledLastWinnerKeepsTheFirstOutToo) {
  const auto invalid = ErrorCode::invalid_argument;
  const auto code_with = [&](const char* field, const Json& value) {
    return code_of_spoiled([&](Json& j) { j["winners"].back()["trial"][field] = value; });
  };
  EXPECT_EQ(code_with("code", ""), invalid);
  EXPECT_EQ(code_with("code", "direct.\n"), invalid);
  EXPECT_EQ(code_with("type", "f8"), invalid);
  EXPECT_EQ(code_with("type", 1), invalid);
  EXPECT_EQ(code_with("boundary_x", "mirror"), invalid);
  EXPECT_EQ(code_with("outcome", "wrong_result"), invalid);
  EXPECT_EQ(code_with("nx", 0), invalid);
  EXPECT_EQ(code_with("nx", -1), invalid);
  EXPECT_EQ(code_with("nx", 1.5), invalid);
  EXPECT_EQ(code_with("nx", 18446744073709551615ULL), invalid);
  EXPECT_EQ(code_with("samples", 4294967296LL), invalid);
  EXPECT_EQ(code_with("rate", nullptr), invalid);
  EXPECT_EQ(code_with("rate", -1.0), invalid);
  EXPECT_EQ(code_with("raced", 1), invalid);
  EXPECT_EQ(code_with("objective", "beauty"), invalid);
  EXPECT_EQ(code_with("sharpness", -0.5), invalid);
  EXPECT_EQ(code_with("stencil_key", "../../etc/passwd"), invalid);
  EXPECT_EQ(code_with("gpu", "\x1b[31m"), invalid);
  EXPECT_EQ(code_with("extra", 1), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["winners"].back()["trial"].erase("driver"); }), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["winners"].back()["naive_rate"] = -1; }), invalid);
  EXPECT_EQ(code_of_spoiled([](Json& j) { j["winners"].back()["trials_seen"] = -1; }), invalid);
  EXPECT_EQ(code_with("stage", -2), invalid);
}

TEST_F(ExchangeTest, EndlessFileIsRefused) {
  EXPECT_EQ(error_of([] { read_winners_file("/dev/zero"); }).code(), ErrorCode::file_io);
  const auto path = folder_ / "winners.json";
  write_file(path, text_);
  std::filesystem::resize_file(path, (std::uintmax_t{32} << 20) + 1);
  const Error error = error_of([&] { read_winners_file(path); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(std::string(error.what()).find("32 MiB"), std::string::npos) << error.what();
}

TEST_F(ExchangeTest, FileIsReadWholeAndAMissingOneOrAFolderIsAnError) {
  write_file(folder_ / "winners.json", text_);
  EXPECT_EQ(read_winners_file(folder_ / "winners.json"), text_);
  write_file(folder_ / "winners.json", "");
  EXPECT_EQ(read_winners_file(folder_ / "winners.json"), "");
  EXPECT_EQ(error_of([&] { read_winners_file(folder_ / "none.json"); }).code(), ErrorCode::file_io);
  EXPECT_EQ(error_of([&] { read_winners_file(folder_.path()); }).code(), ErrorCode::file_io);
}

TEST_F(ExchangeTest, NestingIsRefusedWhereItBegins) {
  for (const char* opening : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += opening;
    const Error error = error_of([&] { parse_winners(text); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("nested"), std::string::npos) << error.what();
  }
}

TEST_F(ExchangeTest, TextSpeaksToNoTerminal) {
  TrialRecord trial = a_trial(kCode, 10);
  trial.problem.stencil_name = "d\xc3\xa9j\xc3\xa0\xc2\x9b\xe2\x80\xae\x1b";
  const std::string text = format_winners(std::vector<WinnerRecord>{{trial, 0, 1}});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST_F(ExchangeTest, EveryFieldMustBeThere) {
  const Json trial = Json::parse(text_)["winners"][0]["trial"];
  for (const auto& [field, value] : trial.items()) {
    EXPECT_EQ(code_of_spoiled([&, name = field](Json& j) { j["winners"][0]["trial"].erase(name); }),
              ErrorCode::invalid_argument)
        << field;
  }
}

TEST_F(ExchangeTest, MessageSaysWhichWinnerAndField) {
  Json json = Json::parse(text_);
  json["winners"][1]["trial"]["nx"] = "wide";
  const Error error = error_of([&] { parse_winners(json.dump()); });
  EXPECT_NE(std::string(error.what()).find("winner 2: 'nx'"), std::string::npos) << error.what();
}

TEST_F(ExchangeTest, MessageIsOnePrintableLine) {
  for (const char* field : {"outcome", "type", "\n\x1b[2J"}) {
    Json json = Json::parse(text_);
    json["winners"][0]["trial"][field] = "x\nall is well\x1b[2J";
    const std::string message = error_of([&] { parse_winners(json.dump()); }).what();
    EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos) << message;
  }
}

TEST_F(ExchangeTest, InfiniteNumbersAreRefused) {
  std::string text = text_;
  const auto at = text.find("\"rate\": ");
  text.replace(at, text.find(',', at) - at, "\"rate\": 1e999");
  EXPECT_EQ(code_of(text), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stencil_tune
