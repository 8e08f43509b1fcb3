// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace smd::tool::report {

/// The style sheet of the page, without that of its charts.
[[nodiscard]] std::string_view page_style() noexcept;

/// The script of the page: what is under the pointer, hiding a curve, zoom, sorting of tables. Without it, the page
/// still shows everything.
[[nodiscard]] std::string_view page_script() noexcept;

}  // namespace smd::tool::report
