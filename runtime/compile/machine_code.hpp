// What a GPU executes of a compiled kernel, as a hash.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stencil_tune {

/// Whether tables in memory count: left out, a table that no kernel reads any more may go, which the compiler keeps.
enum class Tables { counted, left_out };

/// Hash of what a cubin's kernels execute: machine code, constant banks, tables in memory, and attributes (registers,
/// barriers, launch bounds, parameters). Left out is what only tools read (names, notes, the symbol table), and the
/// constants of one word that the templates define: the compiler puts their values into the code, and keeps all of
/// them in memory besides. 16 hexadecimal digits; empty for bytes that are no cubin.
std::string machine_code(std::span<const std::byte> cubin, Tables tables = Tables::counted);

}  // namespace stencil_tune
