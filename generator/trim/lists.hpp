// Declarations of several constants, as what each of them declares.
#pragma once

#include "generator/trim/definition.hpp"

#include <vector>

namespace stencil_tune {

/// Makes lists of all `constexpr int kA = 1, kB = 2;`, at every depth, whose members are "kA = 1" and "kB = 2".
void take_apart(std::vector<Definition>& definitions);

/// The text of a list: head, as many members a line as there is room for, tail.
std::string text_of_list(const Definition& list);

/// Lists of one type that follow each other without a word between them become one.
void join_lists(std::vector<Definition>& definitions);

}  // namespace stencil_tune
