// Kernels that misbehave in a known way, in place of a generated one.
#pragma once

#include "generator/kernel_source/source.hpp"
#include "generator/stencil/problem.hpp"

#include <string>

namespace stencil_tune {

/// out[x] = a in[x - 1] + b in[x] + c in[x + 1]
inline Stencil three_points() {
  StencilBuilder builder("three points", 1);
  const int in = builder.field("in");
  NodeId sum = -1;
  for (int i = 0; i < 3; ++i) {
    const int coefficient = builder.coefficient(std::string(1, static_cast<char>('a' + i)), 0.25 + 0.1 * i);
    const NodeId term =
        builder.apply(Operation::multiply, builder.coefficient_value(coefficient), builder.read(in, {i - 1, 0, 0}));
    sum = i == 0 ? term : builder.apply(Operation::add, sum, term);
  }
  const int out = builder.field("out");
  builder.update(out, sum);
  builder.rotate(out, in);
  return std::move(builder).build();
}

/// Statements that take so long.
inline std::string waiting(int microseconds) {
  return "unsigned long long start, now;\n"
         "asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(start));\n"
         "do asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now)); while (now - start < " +
         std::to_string(microseconds) + "000ull);\n";
}

/// A generated kernel each thread of which waits before all else.
inline KernelSource delayed(KernelSource source, int microseconds) {
  const std::string entry = "arguments) {\n";
  source.text.insert(source.text.rfind(entry) + entry.size(), "{\n" + waiting(microseconds) + "}\n");
  return source;
}

/// A kernel for three_points in f32, whatever its launch geometry: `body` sees a (the arguments, laid out as
/// templates/arguments.cuh says), i (a cell to update) and right (its value).
inline KernelSource planted(const std::string& body, const std::string& attributes = "") {
  return {
      "struct Arguments { const float* in; float* out; long long low[3], high[3], origin[3], n[3], stride_y,"
      " stride_z; unsigned tiles[3], reserved; float c[3]; };\n"
      "extern \"C\" __global__ " +
          attributes +
          " void planted(Arguments a) {\n"
          "  const long long threads = (long long)gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * "
          "blockDim.z;\n"
          "  const long long block = blockIdx.x + gridDim.x * (blockIdx.y + (long long)gridDim.y * blockIdx.z);\n"
          "  const long long thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
          "  const long long size = blockDim.x * blockDim.y * blockDim.z;\n"
          "  for (long long i = a.low[0] + block * size + thread; i < a.high[0]; i += threads) {\n"
          "    const float right = a.c[0] * a.in[i - 1] + a.c[1] * a.in[i] + a.c[2] * a.in[i + 1];\n" +
          body + "\n  }\n}\n",
      "planted"};
}

}  // namespace stencil_tune
