#include "generator/trim/trim.hpp"

#include "stencil_tune/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stencil_tune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A template file `text` inside the project's namespace, as the source that includes it gets it.
std::string written(const std::string& text, const std::string& source, std::string_view also_using = {}) {
  const std::string file = "// What it is for.\n#pragma once\n\nnamespace stencil_tune {\n\n" + text + "\n}\n";
  const std::vector<TemplateFile> files{{"stencil_tune/part.cuh", file}};
  return write_out("#include \"stencil_tune/part.cuh\"\n" + source, files, also_using).text();
}

constexpr const char* kTuning =
    "namespace k { struct Stencil { static constexpr int kLowZ = 1; };\n"
    "struct Tuning { static constexpr int kCluster = 1, kVector = 4; static constexpr Order kOrder = Order::natural; "
    "}; }\n";

/// The same for a function body; the source calls the function.
std::string body(const std::string& statements) {
  return written("enum class Order { natural, z_first, raster };\ntemplate <class S, class T, int kN>\nint f() {\n" +
                     statements + "}\n",
                 std::string(kTuning) + "int g() { return f<k::Stencil, k::Tuning, 3>(); }\n");
}

TEST(Trim, KeepsWhatTheSourceUsesBySomeWay) {
  const std::string text =
      written("int c() { return 1; }\nint b() { return c(); }\nint a() { return b(); }\n", "int x = b();\n");
  EXPECT_THAT(text, HasSubstr("int c()"));
  EXPECT_THAT(text, HasSubstr("int b()"));
  EXPECT_THAT(text, Not(HasSubstr("int a()")));
}

TEST(Trim, KeepsWhatTheCallerUses) {
  const std::string text = "int a() { return 1; }\nint b() { return 2; }\n";
  EXPECT_THAT(written(text, "int x = a();\n", "y = b();"), HasSubstr("int b()"));
  EXPECT_THAT(written(text, "int x = a();\n"), Not(HasSubstr("int b()")));
}

TEST(Trim, NamesInCommentsAndLiteralsAreNoUses) {
  const std::string text = written("int a();\nint b();\n", "int x = a();  // not b\nconst char* y = \"b\";\n");
  EXPECT_THAT(text, Not(HasSubstr("int b()")));
}

TEST(Trim, MembersGoOneByOneButDataAndOperatorsStay) {
  const std::string text = written(
      "struct A {\n  static constexpr int kUsed = 1;\n  static constexpr int kUnused = 2;\n  int data, more;\n"
      "  explicit A(int n) : data{n}, more(n) {}\n  int used() const { return kUsed; }\n"
      "  int unused() const { return kUnused; }\n  A operator+(int n) const { return A{data + n}; }\n};\n",
      "int x = A(1).used();\n");
  for (const char* kept : {"kUsed = 1", "int data, more;", "explicit A(int n) : data{n}, more(n) {}", "used() const",
                           "A operator+(int n) const { return A{data + n}; }"}) {
    EXPECT_THAT(text, HasSubstr(kept));
  }
  EXPECT_THAT(text, Not(HasSubstr("kUnused")));
  EXPECT_THAT(text, Not(HasSubstr("unused")));
}

TEST(Trim, ALabelStaysWithWhatItStandsAbove) {
  const char* type = "struct A {\n  int used() { return 1; }\n\n private:\n  int unused() { return 1; }\n};\n";
  EXPECT_THAT(written(type, "int x = A().used();\n"), Not(HasSubstr("private")));
  EXPECT_THAT(written(type, "int x = A().unused();\n"), HasSubstr(" private:\n  int unused()"));
}

TEST(Trim, OverloadsGoWhoseParametersNothingHas) {
  const std::string text = written(
      "struct F16 { int bits; };\nstruct BF16 { int bits; };\nint widen(F16 cell) { return from_f16(cell); }\n"
      "int widen(BF16 cell) { return cell.bits; }\nint from_f16(F16 cell) { return cell.bits; }\n",
      "struct S { using Storage = F16; };\nint x = widen(S::Storage());\n");
  EXPECT_THAT(text, HasSubstr("widen(F16"));
  EXPECT_THAT(text, HasSubstr("from_f16(F16"));
  EXPECT_THAT(text, Not(HasSubstr("BF16")));
}

TEST(Trim, WhatAConditionChoosesStandsInPlaceOfTheChoice) {
  const std::string types =
      "struct ByLanes {};\nstruct ByTma {};\ntemplate <class S, class T, bool kTma>\nstruct Copies { using Type = "
      "ByLanes; };\n"
      "template <class S, class T>\nstruct Copies<S, T, true> { using Type = ByTma; };\n"
      "template <class S, class T>\nint f() { return sizeof(typename Copies<S, T, T::kTma>::Type); }\n";
  const auto with = [&](const char* tma) {
    return written(types, std::string("struct Stencil {};\nstruct Tuning { static constexpr bool kTma = ") + tma +
                              "; };\nint x = f<Stencil, Tuning>();\n");
  };
  EXPECT_THAT(with("false"), Not(HasSubstr("ByTma")));
  EXPECT_THAT(with("false"), HasSubstr("sizeof(ByLanes)"));
  EXPECT_THAT(with("true"), HasSubstr("sizeof(ByTma)"));
  EXPECT_THAT(with("true"), Not(HasSubstr("ByLanes")));
  EXPECT_THAT(with("true"), Not(HasSubstr("struct Copies"))) << "what was chosen stands where the choice was";
  EXPECT_THAT(with("unknown()"), HasSubstr("struct ByTma"));
}

TEST(Trim, OnlyTheBranchThatIsTakenStays) {
  EXPECT_THAT(body("  if constexpr (T::kCluster > 1) {\n    a();\n  } else {\n    b();\n    c();\n  }\n  d();\n"),
              HasSubstr("int f() {\n  b();\n  c();\n  d();\n}"));
  EXPECT_THAT(body("  // Why.\n  if constexpr (T::kCluster > 1) a();  // and how\n  d();\n"),
              HasSubstr("int f() { d(); }"));
  EXPECT_THAT(body("  if (T::kVector == 4 && S::kLowZ == 1) a();\n"), HasSubstr("int f() { a(); }"));
}

TEST(Trim, ConstantsOfASystemAreThoseOfItsStep) {
  const std::string text = written(
      "template <class Step> struct SystemOf : Step {};\ntemplate <class S>\nint f() {\n"
      "  if constexpr (S::kMakesParts) a();\n  if constexpr (S::kLevels > 1) b();\n  return 1;\n}\n",
      "namespace k { struct Step { static constexpr bool kMakesParts = false; static constexpr int kLevels = 2; };\n"
      "using Stencil = stencil_tune::SystemOf<Step>; }\nint g() { return f<k::Stencil>(); }\n");
  EXPECT_THAT(text, HasSubstr("b();\n"));
  EXPECT_THAT(text, Not(HasSubstr("a();")));
  EXPECT_THAT(text, Not(HasSubstr("if constexpr")));
}

TEST(Trim, WhatFollowsAReturnGoes) {
  EXPECT_THAT(body("  if constexpr (T::kVector == 4) return 1;\n  return 2;\n"), HasSubstr("int f() { return 1; }"));
  EXPECT_THAT(body("  for (;;) {\n    if constexpr (T::kVector == 4) return 1;\n    b();\n  }\n  return 2;\n"),
              HasSubstr("for (;;) return 1;\n  return 2;\n"));
}

TEST(Trim, BranchesOfOtherStatementsKeepTheirBraces) {
  EXPECT_THAT(body("  for (;;) if constexpr (T::kVector == 4) { a(); b(); }\n"), HasSubstr("for (;;) { a(); b(); }\n"));
  EXPECT_THAT(body("  for (;;) if constexpr (T::kVector == 1) a();\n  b();\n"), HasSubstr("for (;;) {}\n  b();"));
  EXPECT_THAT(
      body("  if (n) {\n    a();\n  } else if constexpr (T::kVector == 1) {\n    b();\n  } else {\n    c();\n  }\n"),
      HasSubstr("if (n) a();\n  else c();\n"));
}

TEST(Trim, WhatItCannotDecideStays) {
  for (const char* condition : {"kN == 3", "T::kUnheard > 1", "sizeof(S) == 4", "T::kVector << 1 == 8",
                                "T::kVector / 0 == 1", "g(T::kVector)", "kN == 3 && kN < T::kVector", "(T::kVector"}) {
    const std::string statement = std::string("if constexpr (") + condition + ") a();";
    EXPECT_THAT(body("  " + statement + "\n"), HasSubstr(statement)) << condition;
  }
  EXPECT_THAT(body("  if constexpr (kN == 3 && T::kVector == 1) a();\n"), Not(HasSubstr("a()"))) << "whatever kN is";
}

TEST(Trim, OfAChoiceWhatTheConditionChoosesStays) {
  EXPECT_THAT(body("  return T::kVector == 4 ? a() : b();\n"), HasSubstr("int f() { return a(); }"));
  EXPECT_THAT(body("  return T::kVector == 1 ? a() : n ? b() : c();\n"), HasSubstr("return n ? b() : c();"));
  EXPECT_THAT(body("  return n ? b() : T::kVector == 1 ? a() : c();\n"), HasSubstr("return n ? b() : c();"));
  EXPECT_THAT(body("  return p[k + (T::kVector == 4 ? inside<kN>(x, n) : x)];\n"),
              HasSubstr("p[k + inside<kN>(x, n)];"));
  EXPECT_THAT(body("  return 2 * (T::kVector == 4 ? x + 1 : x);\n"), HasSubstr("return 2 * (x + 1);"));
  EXPECT_THAT(body("  call(T::kVector == 1 ? x : y, z);\n"), HasSubstr("call(y, z);"));
  EXPECT_THAT(body("  call(x + (T::kVector == 1 ? y : 0), z);\n"), HasSubstr("call(x, z);"));
  EXPECT_THAT(body("  return x * (T::kVector == 1 ? y : 1);\n"), HasSubstr("return x;"));
  EXPECT_THAT(body("  return kN == 3 ? a() : b();\n"), HasSubstr("kN == 3 ? a() : b();")) << "whatever kN is";
  const char* unsure = "call(T::kVector == 1 ? x : g<1, 2>(y), z);";
  EXPECT_THAT(body(std::string("  ") + unsure + "\n"), HasSubstr(unsure))
      << "a comma may stand in a template's arguments";
  for (const char* last : {"f<kN, T::kVector == 1 ? 1 : 0>(x);", "f<kN, T::kVector == 4 ? 1 : 0>(x);"}) {
    EXPECT_THAT(body(std::string("  ") + last + "\n"), HasSubstr(last)) << "the last argument of a template";
  }
}

TEST(Trim, OperandsThatDecideNothingGo) {
  EXPECT_THAT(body("  if (T::kVector == 4 && n > 1) a();\n"), HasSubstr("if (n > 1) a();"));
  EXPECT_THAT(body("  if (n > 1 || T::kVector == 1) a();\n"), HasSubstr("if (n > 1) a();"));
  EXPECT_THAT(body("  return n > 1 && T::kVector == 4 && m;\n"), HasSubstr("return n > 1 && m;"));
  EXPECT_THAT(body("  if (T::kVector == 1 || (n && m)) a();\n"), HasSubstr("if (n && m) a();"));
  EXPECT_THAT(body("  if (T::kVector == 4 && tiles[0] > 1) a();\n"), HasSubstr("if (tiles[0] > 1) a();"));
  EXPECT_THAT(body("  g(n || T::kVector == 1);\n"), HasSubstr("g(n || T::kVector == 1);"))
      << "not only its truth counts";
}

TEST(Trim, VariablesThatMayBeUnusedAndAreGo) {
  EXPECT_THAT(body("  [[maybe_unused]] Edge edge;\n  [[maybe_unused]] bool at_edge = false;\n  return 1;\n"),
              HasSubstr("int f() { return 1; }"));
  EXPECT_THAT(body("  [[maybe_unused]] Edge edge(n);\n  return edge.n;\n"), HasSubstr("Edge edge(n);"));
  EXPECT_THAT(body("  [[maybe_unused]] const int n = ask();\n  return 1;\n"), HasSubstr("n = ask();"));
  EXPECT_THAT(body("  const bool beyond = n < 0;\n  return T::kVector == 1 ? beyond : 1;\n"),
              HasSubstr("int f() { return 1; }"));
}

TEST(Trim, OverloadsForNumbersThatTheSourceDoesNotNameGo) {
  const char* overloads = "int widen(double cell) { return 1; }\nint widen(float cell) { return 2; }\n";
  const std::string text = written(overloads, "using Value = float;\nint x = widen(Value());\n", "double sum;");
  EXPECT_THAT(text, HasSubstr("widen(float"));
  EXPECT_THAT(text, Not(HasSubstr("widen(double")));
}

TEST(Trim, HeadsOfTemplatesShareALineWithWhatTheyIntroduceWhereThereIsRoom) {
  const std::string source = "int x = A<1>().f<2>();\n";
  EXPECT_THAT(
      written("template <int kN>\nstruct A {\n  template <int kM>\n  int f() {\n    a();\n    b();\n  }\n};\n", source),
      HasSubstr("template <int kN> struct A {\n  template <int kM> int f() {\n    a();\n"));
  const std::string longer = "template <int kN>\nstruct A : " + std::string(100, 'b') + " {\n  int f();\n};\n";
  EXPECT_THAT(written(longer, source), HasSubstr("template <int kN>\nstruct A"));
}

TEST(Trim, TypesOfOneShortMemberStandOnALine) {
  const auto kept = [](const std::string& type) { return written(type, "using B = A;\nint x = g();\n"); };
  EXPECT_THAT(kept("struct A {\n  unsigned x, y;\n};\n"), HasSubstr("struct A { unsigned x, y; };\n"));
  EXPECT_THAT(kept("struct A {\n  int f() { return 1; }\n  int g() { return 2; }\n};\n"),
              HasSubstr("struct A { int g() { return 2; } };\n"));
  for (const std::string& whole : {
           std::string("struct A {\n  int x;\n  int y;\n};\n"),
           std::string("struct A {\n  int x;  ///< why\n};\n"),
           std::string("struct A {\n  int g() {\n    a();\n    b();\n  }\n};\n"),
           "struct A {\n  int " + std::string(110, 'x') + ";\n};\n",
       }) {
    EXPECT_THAT(kept(whole), HasSubstr(whole));
  }
}

TEST(Trim, ASingleShortStatementStandsBehindItsCondition) {
  EXPECT_THAT(body("  if (n) {\n    a();\n  }\n  b();\n"), HasSubstr("  if (n) a();\n  b();\n"));
  EXPECT_THAT(body("  STENCIL_UNROLL\n  for (;;) {\n    a();\n  }\n  b();\n"),
              HasSubstr("  STENCIL_UNROLL for (;;) a();\n  b();\n"));
  EXPECT_THAT(body("  if (n) {\n    a();\n  } else {\n    b();\n  }\n  c();\n"),
              HasSubstr("  if (n) a();\n  else b();\n  c();\n"));
  for (const std::string& whole : {
           std::string("  if (n) {\n    a();\n  } else {\n    b();\n    c();\n  }\n"),
           std::string("  if (n) {\n    a();\n  } else if (m) {\n    b();\n  }\n"),
           std::string("  if (n) {\n    a();\n  } else if (m) {\n    b();\n  } else {\n    c();\n  }\n"),
           std::string("  if (n) {\n    if (m) a();\n  }\n  b();\n"),
           std::string("  if (n) {\n    a(); b();\n  }\n"),
           std::string("  if (n) {\n    a();  // why\n  }\n"),
           std::string("  if (n &&\n      m) {\n    a();\n  }\n"),
           "  if (n) {\n    " + std::string(110, 'a') + "();\n  }\n",
       }) {
    EXPECT_THAT(body(whole), HasSubstr(whole));
  }
}

TEST(Trim, UnrolledLoopsThatAreNestedWithNothingBetweenThemHaveNoBraces) {
  const std::string nest =
      "  STENCIL_UNROLL\n  for (i;;) {\n    STENCIL_UNROLL\n    for (j;;) {\n      STENCIL_UNROLL\n      for (k;;) "
      "a();\n";
  EXPECT_THAT(
      body(nest + "    }\n  }\n  b();\n"),
      HasSubstr("  STENCIL_UNROLL for (i;;)\n    STENCIL_UNROLL for (j;;)\n      STENCIL_UNROLL for (k;;) a();\n"
                "  b();\n"));
  EXPECT_THAT(body(nest + "    }\n    b();\n  }\n"), HasSubstr("for (k;;) a();\n    b();\n  }\n"));
}

TEST(Trim, EnumeratorsThatNothingHasEqualNothing) {
  EXPECT_THAT(body("  if constexpr (kN == Order::raster) a();\n"), Not(HasSubstr("a()")));
  EXPECT_THAT(body("  if constexpr (kN == Order::natural) a();\n"), HasSubstr("a()"));
  EXPECT_THAT(body("  if constexpr (kN == Order::raster) a();\n  b(Order::raster);\n"), HasSubstr("a()"));
}

TEST(Trim, TheOnlyEnumeratorThatAnythingHasDecides) {
  const std::string choice =
      "template <Order kOrder>\nint f() {\n  if constexpr (kOrder == Order::raster) return 1;\n"
      "  if constexpr (kOrder != Order::raster) return 2;\n  return 3;\n}\n";
  const std::string order = "enum class Order { natural, z_first, raster };\n";
  EXPECT_THAT(written(order + choice, "int x = f<Order::raster>();\n"), HasSubstr("int f() { return 1; }"));
  EXPECT_THAT(written(order + choice, "int x = f<Order::raster>() + f<Order::natural>();\n"), HasSubstr("return 3;"));
}

TEST(Trim, ParametersOfATemplateHideConstants) {
  const std::string text = written(
      "constexpr int kDeep = 4;\nstruct A {\n  static constexpr int kWide = 1;\n  template <int kWide, int kDeep>\n"
      "  int f() {\n    if constexpr (kWide == 1) a();\n    if constexpr (kDeep == 4) b();\n    return 1;\n  }\n"
      "  int g() {\n    if constexpr (kWide == 2) c();\n    return f<1, 1>();\n  }\n};\n",
      "int x = A().g();\n");
  EXPECT_THAT(text, HasSubstr("if constexpr (kWide == 1) a();"));
  EXPECT_THAT(text, HasSubstr("if constexpr (kDeep == 4) b();"));
  EXPECT_THAT(text, Not(HasSubstr("c()")));
}

TEST(Trim, FunctionsThatReturnAConstantDecide) {
  const std::string text = written(
      "struct A {\n  static constexpr bool kClustered = false;\n  bool at_seam() const { return kClustered && here(); "
      "}\n"
      "  bool here() const { return n > 1; }\n  int n;\n};\nint f(A a) {\n  if (a.at_seam()) send();\n"
      "  if (a.here()) stay();\n  return 1;\n}\n",
      "int x = f(A{});\n");
  EXPECT_THAT(text, Not(HasSubstr("send()")));
  EXPECT_THAT(text, HasSubstr("if (a.here()) stay();"));
}

TEST(Trim, ConstantsOfATypeThatAnotherNamesDecide) {
  const std::string text = written(
      "template <class S, class T>\nstruct Shape {\n  static constexpr int kWarps = T::kVector / 4;\n};\n"
      "template <class S, class T>\nstruct A {\n  using Of = Shape<S, T>;\n  int f() {\n"
      "    if constexpr (Of::kWarps > 1) a();\n    if constexpr (Of::kWarps == 1) b();\n    return 1;\n  }\n};\n",
      std::string(kTuning) + "int x = A<k::Stencil, k::Tuning>().f();\n");
  EXPECT_THAT(text, HasSubstr("int f() {\n    b();\n    return 1;\n  }"));
}

TEST(Trim, ConstantsThatNothingUsesAnyMoreGoAndValuesStay) {
  EXPECT_THAT(body("  constexpr int kAxis = 1;\n  const int rank = ask();\n"
                   "  if constexpr (T::kCluster > 1) a(kAxis, rank);\n  return 1;\n"),
              HasSubstr("int f() {\n  [[maybe_unused]] const int rank = ask();\n  return 1;\n}"));
}

TEST(Trim, CommentsStandAboveWhatIsLeft) {
  const std::string text = written(
      "/// Of a.\nint a();\n\n// Section one.\n\n/// Of b.\nint b();\n/// Of c.\nint c();\n\n// Section two.\n\nint "
      "d();\n",
      "int x = c();\n");
  EXPECT_THAT(text,
              HasSubstr("// What it is for.\n\nnamespace stencil_tune {\n\n// Section one.\n/// Of c.\nint c();\n\n}"));
}

TEST(Trim, MembersOfTheSourcesOwnTypesGoToo) {
  const std::string text =
      written("template <class T>\nint f() { return T::kUsed + T::Inner::kDeep; }\n",
              "struct Tuning {\n  // Cells.\n  static constexpr int kUnused = 1, kUsed = 2;\n"
              "  static constexpr int kAlone = 3;\n  struct Inner {\n    static constexpr int kDeep = 4;\n  };\n"
              "  // Never called.\n  static int unused() { return 1; }\n};\nint unasked() { return 1; }\nint x = "
              "f<Tuning>();\n");
  EXPECT_THAT(text, HasSubstr("struct Tuning {\n  // Cells.\n  static constexpr int kUsed = 2;\n"
                              "  struct Inner {\n    static constexpr int kDeep = 4;\n  };\n};\n"));
  EXPECT_THAT(text, HasSubstr("int unasked()")) << "what is no member stays";
}

TEST(Trim, ConstantsOfOneDeclarationGoOneByOne) {
  const auto of = [](const std::string& uses) {
    return written(
        "struct A {\n  static constexpr int kOne = 1, kTwo = kOne + 1,\n                       kMore[] = {1, 2},"
        " kLast{f(1, 2)};  // why\n};\n",
        "int x = " + uses + ";\n");
  };
  EXPECT_THAT(of("A::kTwo"), HasSubstr("  static constexpr int kOne = 1, kTwo = kOne + 1;  // why\n"));
  EXPECT_THAT(of("A::kLast + A::kMore"),
              HasSubstr("  static constexpr int kMore[] = {1, 2}, kLast{f(1, 2)};  // why\n"));
}

TEST(Trim, ConstantsOfOneTypeThatFollowEachOtherShareALine) {
  const std::string text =
      written("int f();\n",
              "struct T {\n  static constexpr int kA = 1;\n  static constexpr int kB = 2, kC = 3;\n"
              "  // Apart.\n  static constexpr int kD = 4;\n  static constexpr bool kE = true;\n};\n"
              "int x = f(T::kA, T::kB, T::kD, T::kE);\n");
  EXPECT_THAT(text, HasSubstr("{\n  static constexpr int kA = 1, kB = 2;\n  // Apart.\n  static constexpr int kD = 4;\n"
                              "  static constexpr bool kE = true;\n}"));
}

TEST(Trim, TypesOfOneLineKeepToIt) {
  const char* type = "struct A { using Type = int; };\n";
  EXPECT_THAT(written(type, "A::Type x;\n"), HasSubstr(type));
}

TEST(Trim, AFunctionOfNothingStandsOnOneLine) {
  EXPECT_THAT(written("void f() {\n  if constexpr (false) g();\n}\n", "int x = (f(), 1);\n"),
              HasSubstr("void f() {}\n"));
}

TEST(Trim, TextWithoutTemplatesStaysAsItIs) {
  const std::string text = "#include \"other.h\"\n\nint unused() { return 1; }\n";
  EXPECT_EQ(write_out(text, {}).text(), text);
}

TEST(Trim, UnfinishedTextIsNoReasonToFail) {
  for (const char* broken : {"struct A { int f() {", "template <", "}", "int a = (1;", "#define", "#if 1\nint a;",
                             "enum class", "using", "if constexpr (", "namespace {", "\"", "/*"}) {
    EXPECT_NO_THROW(written(broken, "int x = a;\n")) << broken;
    EXPECT_NO_THROW(body(broken)) << broken;
  }
}

TEST(Trim, RefusesATemplateThatIsNotThere) {
  EXPECT_THROW(write_out("#include \"stencil_tune/none.cuh\"\n", {}), Error);
}

}  // namespace
}  // namespace stencil_tune
