// The runtime library of stencil-tune: everything an application includes.
//
//     stencil_tune::Library library;
//     stencil_tune::Kernel kernel = library.lookup({.stencil = stencil_tune::find_builtin("heat3d"),
//                                                   .extents = stencil_tune::parse_extents("512", 3)});
//     kernel.prepare();                       // compiled on first use, then taken from the binary cache
//     kernel.launch(stream, u, u_next);       // asynchronous
//     puts(kernel.evidence().sentence().c_str());
#pragma once

/// @namespace stencil_tune
/// All of the library.

#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/grid.hpp"
#include "stencil_tune/kernel.hpp"
#include "stencil_tune/library.hpp"
#include "stencil_tune/stencil.hpp"
