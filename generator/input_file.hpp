// Files that somebody names to be read: definitions, sources, captured arrays, winners, trials, checkpoints.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace stencil_tune {

/// Refuses what is there but no regular file, links followed: a pipe, which may never say anything, a device, a folder.
/// Whoever opens a file for reading asks this first. Throws Error(file_io).
void require_regular_file(const std::filesystem::path& path);

/// The file's text, but no more than `most` bytes and one, which tells that it is longer. Throws Error(file_io).
std::string read_input_file(const std::filesystem::path& path, std::size_t most);

}  // namespace stencil_tune
