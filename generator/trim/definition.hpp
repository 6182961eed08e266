// The definitions that a template file consists of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A part of a file, a namespace or a type. Its text is lead + head + (members or body) + tail.
struct Definition {
  enum class Kind {
    other,     ///< has no name to go by, as data members and labels, or is a namespace: stays where what surrounds it
               ///< stays
    type,      ///< struct, union, enum
    function,  ///< constructors too
    name       ///< constants, an alias or macros
  };

  Kind kind = Kind::other;
  std::vector<std::string> names;  ///< that it defines
  std::string lead;                ///< comments and blank space before it
  std::string head;                ///< up to its opening brace where it has members or a body; else all of it
  std::vector<Definition> members;
  std::string body;   ///< of a function
  bool used = false;  ///< is set by who trims
  std::string tail;   ///< from the closing brace on; with a comment behind it, and the end of its line
};

/// Text of a file, or between the braces of a namespace or a type. What it does not recognise is `other`.
std::vector<Definition> parse_definitions(std::string_view text);

}  // namespace stencil_tune
