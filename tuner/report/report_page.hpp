// A report as one page of HTML that needs nothing else.
#pragma once

#include "tuner/report/report_data.hpp"

#include <string>

namespace stencil_tune {

/// Well-formed as XML too. No script, nothing from the network; light, dark and printed. All stored text is escaped.
std::string report_page(const ReportData& data);

}  // namespace stencil_tune
