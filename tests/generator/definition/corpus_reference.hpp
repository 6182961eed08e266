// The corpus written down a second time, as plain C++ on plain numbers: what definitions are checked against.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace stencil_tune {

/// A field's value at an offset from the cell being updated, as it stands in memory; of "x_in_layer" whether the cell
/// there lies in a layer of the axis.
using CellReader = std::function<double(const std::string& field, int x, int y, int z)>;
using CoefficientReader = std::function<double(const std::string& name)>;

/// The outputs of one stage at one cell.
using CellUpdate = std::function<std::map<std::string, double>(const CellReader& at, const CoefficientReader& c)>;

// The other files of this folder define these.
void add_flows(std::map<std::string, std::vector<CellUpdate>>& corpus);
void add_media(std::map<std::string, std::vector<CellUpdate>>& corpus);

/// One entry a stage, for every file of corpus/, by its name.
const std::map<std::string, std::vector<CellUpdate>>& corpus_reference();

}  // namespace stencil_tune
