// Files that are written for the user.
#pragma once

#include <filesystem>
#include <string_view>

namespace stencil_tune {

/// Where output that was asked for under this name goes: the end of its links, of which each is this user's or root's.
/// Somebody else's link could make a user write over a file of their own. Throws Error(file_io).
std::filesystem::path output_target(const std::filesystem::path& path);

/// The whole text, or nothing: written to a file beside its target, which then takes its name. What stood there stays
/// until the new text is complete. What is no regular file (a device, a pipe) is written to directly. Throws
/// Error(file_io).
void write_output_file(const std::filesystem::path& path, std::string_view text);

}  // namespace stencil_tune
