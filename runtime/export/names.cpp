#include "runtime/export/export.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace stencil_tune {

namespace {

// Reserved in C, C++ or CUDA, or used by the launcher and the self-check themselves.
constexpr std::string_view kReserved[] = {
    "S",
    "T",
    "a",
    "after",
    "alignas",
    "alignof",
    "allowed",
    "and",
    "and_eq",
    "answer",
    "arguments",
    "asm",
    "auto",
    "before",
    "bitand",
    "bitor",
    "block",
    "beyond",
    "bool",
    "box",
    "break",
    "buffers",
    "case",
    "catch",
    "cell",
    "cells",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "check",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "coefficients",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "dense",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "encode",
    "enum",
    "error",
    "every_cell",
    "explicit",
    "export",
    "extents",
    "extern",
    "false",
    "fields",
    "first_step",
    "float",
    "for",
    "found",
    "friend",
    "goto",
    "grid",
    "grid_origin",
    "high",
    "i",
    "if",
    "inline",
    "int",
    "is_aligned",
    "j",
    "kDefaults",
    "kEnd",
    "kernel",
    "launch",
    "line",
    "long",
    "low",
    "main",
    "map",
    "measure",
    "more",
    "mutable",
    "n",
    "namespace",
    "narrow",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "nx",
    "ny",
    "nz",
    "operator",
    "or",
    "or_eq",
    "plain",
    "pointers",
    "printf",
    "private",
    "protected",
    "public",
    "query",
    "read",
    "reference",
    "register",
    "reinterpret_cast",
    "require",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "std",
    "steps",
    "stream",
    "stride",
    "stride_y",
    "stride_z",
    "strides",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "tile",
    "tiles",
    "total",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "whole",
    "widen",
    "wrong",
    "x",
    "xor",
    "xor_eq",
    "y",
    "z",
};

// Global names of the C library and CUDA: functions that a launcher of that name would contradict or, without a word of
// warning, replace; and types. clang-format off keeps the tables short.
// clang-format off
constexpr std::string_view kLibrary[] = {
    "abort", "abs", "accept", "access", "alarm", "atexit", "atof", "atoi", "atol", "bind", "bsearch", "calloc",
    "char1", "char2", "char3", "char4", "chdir", "chmod", "chown", "clock", "clock_t", "close", "connect",
    "daemon", "dim3", "div", "double1", "double2", "double3", "double4", "dup", "execl", "exit", "fclose",
    "fflush", "ffs", "fileno", "float1", "float2", "float3", "float4", "fopen", "fork", "fputc", "fputs",
    "fread", "free", "fscanf", "fseek", "ftell", "fwrite", "getc", "getchar", "getenv", "getline", "gets",
    "getw", "half", "half2", "hash", "index", "int1", "int16_t", "int2", "int3", "int32_t", "int4", "int64_t",
    "int8_t", "intptr_t", "ioctl", "isalpha", "isdigit", "isspace", "kill", "labs", "ldiv", "link", "listen",
    "llabs", "lldiv", "llmax", "llmin", "lockf", "long1", "long2", "long3", "long4", "longlong1", "longlong2",
    "longlong3", "longlong4", "lseek", "malloc", "max", "memchr", "memcmp", "memcpy", "memmove", "memset",
    "min", "mkdir", "mktime", "mmap", "nice", "nullptr_t", "nv_bfloat16", "nv_bfloat162", "nv_half", "off_t",
    "open", "pause", "perror", "pipe", "poll", "ptrdiff_t", "putc", "putchar", "puts", "qsort", "raise", "rand",
    "random", "readlink", "realloc", "recv", "remove", "rename", "rewind", "rindex", "rmdir", "scanf", "select",
    "send", "setbuf", "short1", "short2", "short3", "short4", "shutdown", "signal", "size_t", "sleep",
    "snprintf", "socket", "sprintf", "srand", "srandom", "ssize_t", "stat", "strcat", "strchr", "strcmp",
    "strcpy", "strdup", "strlen", "strtod", "strtol", "swab", "symlink", "sync", "syscall", "system", "time",
    "time_t", "tmpfile", "toascii", "tolower", "toupper", "truncate", "uchar1", "uchar2", "uchar3", "uchar4",
    "uint", "uint1", "uint16_t", "uint2", "uint3", "uint32_t", "uint4", "uint64_t", "uint8_t", "uintptr_t",
    "ullmax", "ullmin", "ulong", "ulong1", "ulong2", "ulong3", "ulong4", "ulonglong1", "ulonglong2",
    "ulonglong3", "ulonglong4", "umask", "umax", "umin", "uname", "ungetc", "unlink", "ushort", "ushort1",
    "ushort2", "ushort3", "ushort4", "usleep", "utime", "va_list", "valloc", "vfork", "wait", "write",
};

// These are there for float and long double too, with an f or l at the end.
constexpr std::string_view kMathematics[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh",
    "cospi", "drem", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp", "exp10", "exp2", "expm1", "fabs",
    "fdim", "fdivide", "finite", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gamma", "hypot", "ilogb",
    "isinf", "isnan", "j0", "j1", "jn", "ldexp", "lgamma", "llrint", "llround", "log", "log10", "log1p", "log2",
    "logb", "lrint", "lround", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "norm", "norm3d",
    "norm4d", "normcdf", "normcdfinv", "pow", "rcbrt", "remainder", "remquo", "rhypot", "rint", "rnorm",
    "rnorm3d", "rnorm4d", "round", "roundeven", "rsqrt", "scalb", "scalbln", "scalbn", "signbit", "significand",
    "sin", "sincos", "sincospi", "sinh", "sinpi", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0", "y1", "yn",
};
// clang-format on

template <std::size_t size>
bool is_one_of(const std::string_view (&words)[size], std::string_view name) {
  return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

bool is_taken(std::string_view name) {
  if (is_one_of(kReserved, name) || is_one_of(kLibrary, name) || is_one_of(kMathematics, name)) return true;
  if (name.starts_with("cuda") || name.starts_with("CU")) return true;
  const bool typed = !name.empty() && (name.back() == 'f' || name.back() == 'l');
  return typed && is_one_of(kMathematics, name.substr(0, name.size() - 1));
}

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
  if (is_taken(name)) name += '_';
  return name;
}

std::string comment_text(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c >= ' ' && c <= '~' && c != '\\' ? c : '?';
  return safe;
}

}  // namespace stencil_tune
