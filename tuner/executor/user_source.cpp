#include "tuner/executor/user_source.hpp"

#include <algorithm>
#include <regex>

namespace stencil_tune {

std::string with_dynamic_shared_memory(const std::string& source) {
  static const std::regex kDeclaration(
      R"(extern\s+(?:__align__\s*\(\s*\w+\s*\)\s*)?__shared__\s+(?:__align__\s*\(\s*\w+\s*\)\s*)?)"
      R"(((?:\w+\s+)*\w+)\s+(\w+)\s*\[\s*\]\s*;)");
  std::string result;
  auto rest = source.cbegin();
  int depth = 0;
  for (std::sregex_iterator each(source.begin(), source.end(), kDeclaration), end; each != end; ++each) {
    const auto& match = *each;
    depth += static_cast<int>(std::count(rest, match[0].first, '{') - std::count(rest, match[0].first, '}'));
    result.append(rest, match[0].first);
    result += depth > 0 ? match.format("$1* const $2 = reinterpret_cast<$1*>(stencil_tune::host::self().shared);")
                        : match.str();
    rest = match[0].second;
  }
  return result.append(rest, source.cend());
}

}  // namespace stencil_tune
