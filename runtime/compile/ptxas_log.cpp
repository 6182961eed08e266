#include "runtime/compile/ptxas_log.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <optional>

namespace stencil_tune {

namespace {

/// The number that stands right before `words`: "Used 48 registers" -> 48 for " registers".
std::optional<int> number_before(std::string_view text, std::string_view words) {
  const std::size_t end = text.find(words);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
  int value = 0;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + end, value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

/// From "Compiling entry function 'entry'" to the next one.
std::string_view section_of(std::string_view log, std::string_view entry) {
  constexpr std::string_view kOpening = "Compiling entry function '";
  const std::size_t begin = log.find(fmt::format("{}{}'", kOpening, entry));
  if (begin == std::string_view::npos) return {};
  const std::size_t next = log.find(kOpening, begin + kOpening.size());
  return log.substr(begin, next == std::string_view::npos ? next : next - begin);
}

}  // namespace

bool ptxas_log_describes(std::string_view log, std::string_view entry) { return !section_of(log, entry).empty(); }

KernelResources read_ptxas_log(std::string_view log, std::string_view entry) {
  const std::string_view section = section_of(log, entry);
  const auto registers = number_before(section, " registers");
  if (!registers) {
    throw Error(ErrorCode::internal,
                fmt::format("the assembler's log says nothing of kernel '{}'; it reads:\n{}", entry, log));
  }
  KernelResources resources;
  resources.registers = *registers;
  resources.stack_bytes = number_before(section, " bytes stack frame").value_or(0);
  resources.spill_bytes = number_before(section, " bytes spill stores").value_or(0) +
                          number_before(section, " bytes spill loads").value_or(0);
  resources.static_shared = number_before(section, " bytes smem").value_or(0);
  return resources;
}

}  // namespace stencil_tune
