#include "runtime/export.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace stencil_tune {

namespace {

// Reserved in C, C++ or CUDA, or used by the launcher and the self-check themselves.
constexpr std::string_view kReserved[] = {
    "S",           "T",          "a",
    "alignas",     "alignof",    "allowed",
    "and",         "and_eq",     "answer",
    "arguments",   "asm",        "auto",
    "bitand",      "bitor",      "block",
    "beyond",      "bool",       "box",
    "break",       "case",       "catch",
    "cell",        "cells",      "char",
    "char16_t",    "char32_t",   "char8_t",
    "check",       "class",      "co_await",
    "co_return",   "co_yield",   "coefficients",
    "compl",       "concept",    "const",
    "const_cast",  "consteval",  "constexpr",
    "constinit",   "continue",   "decltype",
    "default",     "delete",     "dense",
    "do",          "double",     "dynamic_cast",
    "else",        "encode",     "enum",
    "error",       "every_cell", "explicit",
    "export",      "extents",    "extern",
    "false",       "fields",     "float",
    "for",         "found",      "friend",
    "goto",        "grid",       "held",
    "high",        "i",          "if",
    "inline",      "int",        "j",
    "kDefaults",   "kernel",     "launch",
    "line",        "long",       "low",
    "main",        "map",        "measure",
    "more",        "mutable",    "n",
    "namespace",   "narrow",     "new",
    "noexcept",    "not",        "not_eq",
    "nullptr",     "nx",         "ny",
    "nz",          "operator",   "or",
    "or_eq",       "plain",      "pointers",
    "printf",      "private",    "protected",
    "public",      "query",      "read",
    "reference",   "register",   "reinterpret_cast",
    "require",     "requires",   "restrict",
    "return",      "short",      "signed",
    "sizeof",      "static",     "static_assert",
    "static_cast", "std",        "stream",
    "stride",      "stride_y",   "stride_z",
    "strides",     "struct",     "switch",
    "template",    "this",       "thread_local",
    "throw",       "tile",       "tiles",
    "total",       "true",       "try",
    "typedef",     "typeid",     "typename",
    "union",       "unsigned",   "using",
    "virtual",     "void",       "volatile",
    "wchar_t",     "while",      "whole",
    "widen",       "wraps",      "wrong",
    "x",           "xor",        "xor_eq",
    "y",           "z",
};

}  // namespace

std::string export_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 64)) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte < 0x80 && std::isalnum(byte) != 0 ? c : '_';
  }
  // Leading underscores and doubled ones are the implementation's.
  name.erase(std::unique(name.begin(), name.end(), [](char a, char b) { return a == '_' && b == '_'; }), name.end());
  if (name.empty() || name == "_") name = "stencil";
  if (name[0] == '_') name.erase(0, 1);
  if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "s");
  if (std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved)) name += '_';
  return name;
}

std::string comment_text(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c >= ' ' && c <= '~' && c != '\\' ? c : '?';
  return safe;
}

}  // namespace stencil_tune
