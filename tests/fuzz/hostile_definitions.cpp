#include "tests/fuzz/hostile_definitions.hpp"

namespace stencil_tune {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string nested(const std::string& open, const std::string& inner, const std::string& close, int depth) {
  return repeated(open, depth) + inner + repeated(close, depth);
}

std::vector<std::string> injections() {
  return {"}",
          "} extern void f() {",
          "u; } __global__ void k() { asm(\"trap;\"); }",
          "u\n#include </etc/passwd>\n",
          "#include \"/etc/passwd\"",
          "#pragma once",
          "%:include <x>",
          "_Pragma(\"message\")",
          "__asm(\"trap;\")",
          "__asm__ volatile (\"exit;\")",
          "asm volatile(\"bra 0;\")",
          "u // comment",
          "u /* comment */",
          "u /* open",
          "*/ u /*",
          "u ?\?/\n v",
          "?\?=include <x>",
          "u ?\?< v",
          "<% u %>",
          "u \\\n + u",
          "\\u0075",
          "\\",
          "\"; system(\"id\"); \"",
          "'",
          "R\"(u)\"",
          "L'u'",
          "u ? u : v",
          "u, u",
          "u = v",
          "u += 1",
          "u++",
          "&u",
          "*u",
          "u->v",
          "u.v",
          "u::v",
          "::u",
          "u[u[x-1]]",
          "u[threadIdx.x]",
          "u[x-1](u)",
          "threadIdx.x",
          "__syncthreads()",
          "atomicAdd(u, 1)",
          "printf(u)",
          "sizeof(u)",
          "(float)u",
          "(u, v)",
          "new int[10]",
          "template<class T> u",
          "[]{}()",
          "[[noreturn]] u",
          "goto u",
          "return u",
          "while(1)",
          "co_await u",
          "import std",
          "using namespace std",
          "{{u}}",
          "${HOME}",
          "$(id)",
          "`id`",
          "%s%n%s%n",
          "{}{:x}",
          "'; DROP TABLE winners; --",
          "../../etc/passwd",
          "@u",
          "~u",
          "u & v",
          "u | v",
          "u << 40",
          "u ? u :",
          "1 ? u : ((",
          "u[x+1e9*1e9]",
          "u % 0 % 0",
          "sum(a in 0..9999, b in 0..9999, sum(c in 0..9999, u*a*b*c))",
          "sum(a in -1e6..1e6, sin(u*a))",
          "sum(sum in 0..1, sum)",
          "sum(a in 1e9..1e30, u)",
          "sum(a in 0..1, sum(a in 0..1, u))",
          "random(random(1))",
          "random(-1)",
          "random(1, 1e9)"};
}

std::vector<std::string> numbers() {
  return {"1e999",
          "-1e999",
          "1e-999",
          "1e39 * u",
          "nan",
          "NaN",
          "-nan(ind)",
          "inf",
          "INFINITY",
          "0x1p9999",
          "0b1",
          "1'000",
          "1_000",
          "1.2.3",
          "1..2",
          ".",
          "1e",
          "1e+",
          "1.f",
          "1u",
          "00000001x",
          "1/0",
          "u/0",
          "0/0",
          "u/(1-1)",
          "sqrt(-1)*u",
          "exp(1e9)",
          "log(0)*u",
          "log(-1)*u",
          "pow(-1, 0.5)*u",
          "pow(0, -1)*u",
          "pow(10, 999)*u",
          "sin()*u",
          "u*sin",
          "sin[x]*u",
          "u + x[x-99999999999999999999]",
          "u + t[x-1]",
          "exp(89)^4",
          "u^999999",
          "u^-999999",
          "u^0.5",
          "u^u",
          "2^2^2^2^2*u",
          "u^(1/0)",
          "u^1e30",
          "(1e38*10)*u",
          "u[x-99999999999999999999]",
          "u[x-1e9]",
          "u[x--1]",
          "u[x-0.5]",
          "u[x*2]",
          "u[2147483647, 0]",
          "u[-2147483648, 0]",
          "laplacian(u, accuracy=1e9)",
          "laplacian(u, accuracy=-2)",
          "laplacian(u, accuracy=2.0000001)",
          "laplacian(u, accuracy=nan)",
          repeated("9", 400),
          "0." + repeated("0", 400) + "1",
          "1e" + repeated("9", 400),
          "." + repeated("9", 5000)};
}

std::vector<std::string> shapes() {
  const std::string operators = "laplacian(u, accuracy=16)";
  std::string doubled = "u + v";
  for (int i = 0; i < 10; ++i) doubled = "(" + doubled + ")*(" + doubled + ")";
  return {nested("(", "u", ")", 10000),
          repeated("(", 30000),
          repeated(")", 30000),
          nested("u[", "x", "]", 1000),
          repeated("[", 30000),
          repeated("-", 30000) + "u",
          repeated("!", 30000) + "u",
          repeated("u^", 10000) + "2",
          repeated("2^", 60) + "2",
          nested("sqrt(", "u", ")", 5000),
          nested("laplacian(", "u", ", 16)", 60),
          nested("d_x(", "u", ", 16)", 30),
          nested("laplacian(", operators, ")", 8),
          nested("d_xx(", "u*u", ")", 10),
          repeated("u+", 20000) + "u",
          repeated("u*", 20000) + "u",
          repeated("min(u,", 3000) + "u" + repeated(")", 3000),
          "max(" + repeated("u,", 5000) + "u)",
          repeated("u<", 1000) + "u",
          repeated("u&&", 5000) + "u",
          repeated("a", 30000),
          repeated("u ", 10000),
          repeated(" ", 60000),
          repeated("\n", 60000),
          doubled,
          "min()",
          "min(u)",
          "select(u)",
          "select(u, u, u, u)",
          "laplacian()",
          "laplacian(1)",
          "laplacian(u",
          "laplacian(u,",
          "laplacian(u, accuracy",
          "laplacian(u, accuracy=",
          "u[",
          "u[]",
          "u[,]",
          "u[x",
          "u[x-",
          "u[x,",
          "u[x,y,z]",
          "u[x,x]",
          "u[w]",
          "u()",
          "d_z(u)",
          "+",
          ""};
}

std::vector<std::string> unicode() {
  return {"\xd1\x83",       // Cyrillic u
          "u\xe2\x80\x8b",  // zero-width space
          "\xe2\x80\xae"
          "u + v",                   // right-to-left override
          "u\xcc\x88",               // combining diaeresis
          "\xf0\x9f\x92\xa5",        // an emoji
          "u \xc3\x97 v",            // multiplication sign
          "u\xc2\xb2",               // superscript two
          "u \xe2\x88\x92 v",        // minus sign
          "\xef\xbb\xbfu",           // byte order mark
          "\xef\xbd\x95",            // full-width u
          "\xff\xfe",                // no UTF-8
          "\xc0\xaf",                // overlong slash
          "\xed\xa0\x80",            // a surrogate
          "u\xe2\x80\xa8+ v",        // line separator
          "\xc2\xa0u",               // no-break space
          "\xf4\x90\x80\x80",        // beyond the last code point
          "u\xf0\x9f",               // cut short
          std::string("u\0+ v", 6),  // NUL
          "u\x01",
          "u\x1b[2J",
          "u\x7f",
          "u\r\n+ v"};
}

std::vector<std::string> attacks_on_toml() {
  const std::string head = "rank = 2\nfields = [\"u\", \"v\"]\n";
  const std::string update = "[update]\nv = \"u\"\n";
  return {
      repeated("[", 60000),
      "a = " + repeated("[", 60000),
      "a = " + nested("[", "1", "]", 200),
      "a = " + repeated("{a=", 20000),
      repeated("a.", 30000) + "a = 1",
      "[" + repeated("a.", 30000) + "a]",
      repeated("0.0 .", 15000) + "0 = 1",
      repeated("\"#\".", 15000) + "a = 1",
      repeated("'='.a . ", 7000) + "a = 1",
      repeated("[" + repeated("a.", 15) + "a]\n" + repeated("b.", 15) + "b = " + repeated("{c.c.c=", 15) + "\n", 300),
      "a = " + repeated("[{a.a.a.a.a.a.a.a.a.a.a.a.a.a =\n", 2000),
      repeated("[[stage]]\n", 5000) + "rank = 1",
      head + repeated("[[stage]]\nv = \"u\"\n", 17),
      head + update + "[coefficients]\n" + repeated("a", 60000) + " = 1",
      head + update + "[update]\nv = \"u\"",
      head + "[update]\n\"\" = \"u\"\n",
      head + "[update]\n\"v\\u0000\" = \"u\"\n",
      head + "[update]\nv = [\"u\"]\n",
      head + "[update]\nv = 1\n",
      head + "[update.v]\nw = \"u\"\n",
      head + "[stage]\nv = \"u\"\n",
      head + "stage = [1, 2]\n",
      head + "update = \"v\"\n",
      head + "rotate = 3\n" + update,
      head + update + "[rotate]\nu = [\"v\"]\n",
      head + update + "[let]\nu = \"v\"\n",
      head + update + "[let]\nw = \"w\"\n",
      head + update + "[let]\na = \"b\"\nb = \"a\"\n",
      "rank = 99999999999999999999999\n",
      "rank = -1\n",
      "rank = 2.0\n",
      "rank = \"2\"\n",
      "rank = [2]\n",
      "rank = 2\nfields = \"u\"\n",
      "rank = 2\nfields = [1, 2]\n",
      "rank = 2\nfields = [[\"u\"]]\n",
      "rank = 2\nfields = []\n" + update,
      "rank = 2\nrank = 3\n",
      "name = 5\n" + head + update,
      "name = \"../../x\"\n" + head + update,
      "name = \"a\\nb\"\n" + head + update,
      "name = \"\"\n" + head + update,
      "element = \"f32; }\"\n" + head + update,
      "element = 32\n" + head + update,
      "source = [1]\n" + head + update,
      "1979-05-27T07:32:00Z = 1",
      "a = 1979-13-99",
      std::string(1, '\0'),
      "\xef\xbb\xbf" + head + update,
      "\xff\xff\xff",
      std::string(70000, '#')};
}

/// Every definition that puts the piece in a place of its own.
std::vector<std::string> placed(const std::string& piece) {
  const auto whole = [](const std::string& name, const std::string& field, const std::string& coefficient,
                        const std::string& let, const std::string& update) {
    return name + "rank = 2\nfields = [\"u\", \"v\"" + field + "]\n[coefficients]\nc = 1.0\n" + coefficient +
           "[let]\nw = \"c*u\"\n" + let + "[update]\nv = " + update + "\n";
  };
  return {whole("", "", "", "", "\"" + piece + "\""),
          whole("", "", "", "", "\"\"\"" + piece + " + w\"\"\""),
          whole("", "", "", "", "'''w + " + piece + "'''"),
          whole("", "", "", "q = '''" + piece + "'''\n", "\"w + q\""),
          whole("", ", \"" + piece + "\"", "", "", "\"w\""),
          whole("", "", "\"" + piece + "\" = 1.0\n", "", "\"w\""),
          whole("", "", "q = " + piece + "\n", "", "\"w + q\""),
          whole("name = \"" + piece + "\"\n", "", "", "", "\"w\""),
          piece};
}

}  // namespace

std::vector<std::string> hostile_pieces() {
  std::vector<std::string> all;
  for (const auto& group : {injections(), numbers(), shapes(), unicode()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

std::vector<std::string> hostile_definitions() {
  std::vector<std::string> all = attacks_on_toml();
  for (const std::string& piece : hostile_pieces()) {
    for (std::string& definition : placed(piece)) all.push_back(std::move(definition));
  }
  return all;
}

}  // namespace stencil_tune
