// Functions that the host plans by and the kernel is built from: plain C++ that both compile.
#pragma once

#ifdef __CUDACC__
#define STENCIL_BOTH_SIDES __host__ __device__ constexpr
#else
#define STENCIL_BOTH_SIDES constexpr
#endif
