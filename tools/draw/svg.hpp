// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "draw/chart.hpp"

namespace smd::tool {

/// The width of charts in SVG's units, of which text is 13 to 15 high: for a document of its own, and for an element of
/// a page, whose text can still be read at 340 pixels, on a phone, and is not too large at 500.
inline constexpr double chart_width = 600;
inline constexpr double element_width = 400;

/// A chart as an `<svg>` element for a page that holds `chart.css`: it fills the width that it is given. Names are
/// text, whatever they hold. No scripts, identifiers, style attributes or outside resources: images are data URLs. For
/// screen readers it has a `title` and a `desc`; `chart_table` has the rest.
[[nodiscard]] std::string svg_element(const Chart& chart);

/// Charts one above another as an SVG document of its own, with their style, below `title` if that is not empty.
/// @pre charts is not empty.
[[nodiscard]] std::string svg_document(std::span<const Chart> charts, std::string_view title);

}  // namespace smd::tool
