#include "picture.hpp"

#include "stencil_tune/error.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace examples {

namespace st = stencil_tune;

namespace {

constexpr std::size_t kChannels = 3;
constexpr double kFullScale = 65535;  // the largest of libpng's linear samples
constexpr std::size_t kLargestSide = 1024;

/// libpng's description of an image, freed whatever happens.
class Image {
 public:
  Image() { image_.version = PNG_IMAGE_VERSION; }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() { png_image_free(&image_); }

  png_image* operator->() { return &image_; }
  png_image* get() { return &image_; }

  void require(int succeeded, const std::string& what, const std::string& path) const {
    if (succeeded != 0) return;
    throw st::Error(st::ErrorCode::file_io, "cannot " + what + " '" + path + "': " + image_.message);
  }

 private:
  png_image image_{};
};

/// The light that an 8-bit sample stands for (IEC 61966-2-1). libpng's own conversion to linear samples keeps 8 bits.
std::array<double, 256> light_of_samples() {
  std::array<double, 256> light{};
  for (std::size_t i = 0; i < light.size(); ++i) {
    const double sample = static_cast<double>(i) / 255;
    light[i] = sample <= 0.04045 ? sample / 12.92 : std::pow((sample + 0.055) / 1.055, 2.4);
  }
  return light;
}

}  // namespace

Picture read_png(const std::string& path) {
  Image image;
  image.require(png_image_begin_read_from_file(image.get(), path.c_str()), "read", path);
  image->format = PNG_FORMAT_RGB;
  Picture picture{.width = image->width, .height = image->height, .planes = {}};
  std::vector<std::uint8_t> samples(picture.width * picture.height * kChannels);  // black: what shows through
  image.require(png_image_finish_read(image.get(), nullptr, samples.data(), 0, nullptr), "read", path);
  const std::array<double, 256> light = light_of_samples();
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    std::vector<double>& plane = picture.planes[channel];
    plane.resize(picture.width * picture.height);
    for (std::size_t i = 0; i < plane.size(); ++i) plane[i] = light[samples[i * kChannels + channel]];
  }
  return picture;
}

void write_png(const std::string& path, const Picture& picture) {
  std::vector<std::uint16_t> samples(picture.width * picture.height * kChannels);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double value = std::clamp(picture.planes[i % kChannels][i / kChannels], 0.0, 1.0);
    samples[i] = static_cast<std::uint16_t>(std::lround(value * kFullScale));
  }
  Image image;
  image->width = static_cast<png_uint_32>(picture.width);
  image->height = static_cast<png_uint_32>(picture.height);
  image->format = PNG_FORMAT_LINEAR_RGB;
  const int to_8_bits = 1;
  image.require(png_image_write_to_file(image.get(), path.c_str(), to_8_bits, samples.data(), 0, nullptr), "write",
                path);
}

void write_field(const std::string& path, std::size_t width, std::size_t height, std::span<const double> plane) {
  const std::size_t stride = (std::max(width, height) + kLargestSide - 1) / kLargestSide;
  Picture picture{.width = (width + stride - 1) / stride, .height = (height + stride - 1) / stride, .planes = {}};
  double largest = 0;
  for (const double value : plane) largest = std::max(largest, std::fabs(value));
  for (std::size_t y = 0; y < height; y += stride) {
    for (std::size_t x = 0; x < width; x += stride) {
      const double value = largest > 0 ? plane[y * width + x] / largest : 0;
      const double rest = 1 - std::fabs(value);
      picture.planes[0].push_back(value > 0 ? 1 : rest);
      picture.planes[1].push_back(rest);
      picture.planes[2].push_back(value < 0 ? 1 : rest);
    }
  }
  write_png(path, picture);
}

}  // namespace examples
