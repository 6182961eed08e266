// The runtime library of stencil-tune: everything an application includes.
//
//     stencil_tune::Request request;
//     request.stencil = stencil_tune::parse_stencil("u_next = u + alpha * laplacian(u); alpha = 0.1");
//     request.extents = stencil_tune::parse_extents("512", 3);
//     request.steps = 100;                    // steps of a typical run: kernels may fuse some
//     stencil_tune::Library library;
//     stencil_tune::Kernel kernel = library.lookup(request);
//     kernel.prepare();                       // compiled on first use, then taken from the binary cache
//     kernel.advance(stream, fields, 100);    // asynchronous; fields: addresses of u_next, u
//     puts(kernel.evidence().sentence().c_str());
//
// C++17 or newer.
#pragma once

/// @namespace stencil_tune
/// All of the library.

#include "stencil_tune/definition.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/export.hpp"
#include "stencil_tune/grid.hpp"
#include "stencil_tune/kernel.hpp"
#include "stencil_tune/library.hpp"
#include "stencil_tune/placed_points.hpp"
#include "stencil_tune/points.hpp"
#include "stencil_tune/span.hpp"
#include "stencil_tune/stencil.hpp"
#include "stencil_tune/tuned_kernel.hpp"
