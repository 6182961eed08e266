// PNG pictures, read and written by libpng, and a colour map for fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

/// Red, green and blue from 0 to 1 in linear light, one plane each, x fastest.
struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<double> planes[3];
};

/// Any PNG, at 8 bits a channel; transparent cells lie on black. Throws Error(file_io).
Picture read_png(const std::string& path);

/// 8 bits a channel, sRGB; values outside 0..1 are clamped. Throws Error(file_io).
void write_png(const std::string& path, const Picture& picture);

/// A plane of a field in colour: blue below zero, white at zero, red above, full colour at the largest magnitude.
/// Planes above 1024 cells on a side are thinned out. Throws Error(file_io).
void write_field(const std::string& path, std::size_t width, std::size_t height, std::span<const double> plane);

}  // namespace examples
