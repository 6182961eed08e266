// One stage as members of a generated type: what templates ask of a stencil.
#pragma once

#include "generator/candidates/shape.hpp"
#include "generator/kernel_source/update_text.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// What templates call the type of a cell in memory.
std::string_view storage_type(ElementType type);

AxisMap axis_map_of(const KernelAxes& axes);

/// "using namespace stencil_tune;" where the statements call functions of the templates.
std::string using_directive(std::string_view statements);

/// Storage, Value, Index.
std::string type_members(const Candidate& candidate);
/// input_type(i), output_type(i) and profile_type(i), where fields are not all stored in the problem's type.
std::string storage_members(const Problem& problem, const std::vector<int>& inputs, const std::vector<int>& outputs);
/// kCoefficients. Behind the coefficients comes the place, where an update asks for it: templates/window.cuh.
std::string coefficient_constants(const Problem& problem);
/// kAxisReads, kAxisReadCount, kBeforeLayers (placed_cells.cuh), where updates ask for their cell's place.
std::string axis_read_members(const Problem& problem, const AxisMap& axis_map);
/// kInputLayers, kOutputLayers (layer_arrays.cuh), where arrays hold layers alone. inputs: those that are no profiles.
std::string layer_array_members(const Problem& problem, const std::vector<int>& inputs, const std::vector<int>& outputs,
                                const AxisMap& axis_map);
/// kLowX ... kHighZ, with a comment.
std::string reach_members(const std::array<Reach, kMaxRank>& reach);
/// kBoundaryX ... kBoundaryZ.
std::string boundary_members(const KernelAxes& axes);
/// update(u, c, out) of a stage.
std::string update_member(const Stencil& stencil, int stage, const StageFacts& facts, const AxisMap& axis_map);

}  // namespace stencil_tune
