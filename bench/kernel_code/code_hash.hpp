// What a GPU executes of a compiled kernel, as one number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/// Hash of what a cubin's kernels execute: machine code, constant banks, tables in memory, and attributes (registers,
/// barriers, launch bounds, parameters). Left out is what only tools read (names, notes, the symbol table), and the
/// constants of one word that the templates define: the compiler puts their values into the code, and keeps all of
/// them in memory besides. Without tables: for a change that drops one that no kernel reads any more, which the
/// compiler keeps as well. Throws std::runtime_error for bytes that are no cubin.
enum class Tables { counted, left_out };
std::uint64_t code_hash(std::span<const std::byte> cubin, Tables tables);

}  // namespace bench
