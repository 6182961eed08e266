#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace examples {

namespace st = stencil_tune;

namespace {

st::Request request_of(const st::Stencil& stencil, const st::Extents& extents, int steps) {
  st::Request request;
  request.stencil = stencil;
  request.extents = extents;
  request.steps = steps;
  return request;
}

}  // namespace

PointRun::PointRun(const st::Stencil& stencil, const st::Extents& extents, int fused_for)
    : stencil_(stencil), extents_(extents), kernel_(library_.lookup(request_of(stencil, extents, fused_for))) {
  for (std::size_t i = 0; i < stencil.fields.size(); ++i) {
    storage_.emplace_back(extents, st::ElementType::f32, extents.n[0]);
    fields_.push_back(storage_.back().data());
  }
}

int PointRun::field(const std::string& name) const {
  const auto found = std::find(stencil_.fields.begin(), stencil_.fields.end(), name);
  return static_cast<int>(found - stencil_.fields.begin());
}

void PointRun::set(int field, const std::vector<float>& cells) {
  storage_[static_cast<std::size_t>(field)].copy_from(st::as_bytes(cells));  // before any step: none has rotated
}

std::vector<float> PointRun::get(int field) const {
  std::vector<float> cells(static_cast<std::size_t>(extents_.cells()));
  for (const st::DeviceField& each : storage_) {
    if (each.data() == fields_[static_cast<std::size_t>(field)]) each.copy_to(st::as_writable_bytes(cells));
  }
  return cells;
}

void PointRun::place(const st::PointList& points) { points_.assign(1, kernel_.place_points(points)); }

st::DeviceField PointRun::array(std::int64_t values) const {
  const std::int64_t length = std::max<std::int64_t>(values, 1);
  return {st::Extents{1, {length, 1, 1}}, st::ElementType::f32, length};
}

void PointRun::run(std::int64_t steps, bool with_points, const st::PointData& data) {
  if (with_points) {
    kernel_.advance_with_points(points_.front(), data, nullptr, fields_, steps);
  } else {
    kernel_.advance(nullptr, fields_, steps);
  }
}

std::vector<float> PointRun::advance(std::int64_t steps, const std::vector<float>& series) {
  st::DeviceField series_there = array(static_cast<std::int64_t>(series.size()));
  series_there.copy_from(st::as_bytes(series));
  std::vector<float> records(static_cast<std::size_t>(points_.front().records(steps) * points_.front().receivers()));
  const st::DeviceField records_there = array(static_cast<std::int64_t>(records.size()));
  run(steps, true, {series_there.data(), records_there.data()});
  context_.synchronize();
  if (!records.empty()) records_there.copy_to(st::as_writable_bytes(records));
  return records;
}

double PointRun::seconds(std::int64_t steps, bool with_points) {
  const st::DeviceField series = array(steps * points_.front().sources());
  const st::DeviceField records = array(points_.front().records(steps) * points_.front().receivers());
  context_.synchronize();
  const auto start = std::chrono::steady_clock::now();
  run(steps, with_points, {series.data(), records.data()});
  context_.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string PointRun::evidence() const {
  std::string text = kernel_.run_evidence().sentence();
  for (const std::string& note : points_.front().notes()) text += "\n  " + note;
  return text;
}

void write_pgm(const std::string& file, std::int64_t width, std::int64_t height, const std::vector<float>& cells) {
  float most = 0;
  for (const float cell : cells) most = std::max(most, std::fabs(cell));
  std::string grey;
  for (const float cell : cells) grey += static_cast<char>(std::lround(127.5F + 127.5F * (most > 0 ? cell / most : 0)));
  std::ofstream(file, std::ios::binary) << "P5\n" << width << " " << height << "\n255\n" << grey;
  std::printf("%s: a plane of the field\n", file.c_str());
}

bool agree(const std::vector<float>& records, const std::vector<float>& other) {
  double worst = 0;
  double largest = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(records[i]) - other[i]);
    if (!(difference <= worst)) worst = difference;  // a NaN stays
    largest = std::max(largest, std::fabs(static_cast<double>(other[i])));
  }
  const bool right = records.size() == other.size() && largest > 0 && worst <= 2e-5 * largest;
  std::printf("records of fused and of single steps: at most %.2g apart, of %.2g: %s\n", worst, largest,
              right ? "right" : "WRONG");
  return right;
}

int run_on_gpu(bool (*example)(int argc, char** argv), int argc, char** argv) {
  try {
    return example(argc, argv) ? 0 : 1;
  } catch (const st::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    const bool no_gpu = error.code() == st::ErrorCode::no_device || error.code() == st::ErrorCode::missing_library;
    return no_gpu ? 77 : 1;
  }
}

}  // namespace examples
