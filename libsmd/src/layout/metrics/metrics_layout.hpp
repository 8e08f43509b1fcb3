// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout_kind.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd::detail::layout {

/// Returns the layout of metric logs: tables of numbers in CSV or JSON lines.
[[nodiscard]] std::unique_ptr<Layout> metrics_layout(const Opening& what = {});

/// `LayoutKind::holds`: a file with one of the names that loggers give.
[[nodiscard]] std::optional<Held> holds_metric_log(FolderWalk& folder);
/// `LayoutKind::reads_file`
[[nodiscard]] bool is_metric_log_name(std::string_view name) noexcept;
/// `LayoutKind::holds_file`, and `LayoutKind::why_not`.
[[nodiscard]] bool is_metric_log(const Opening& what, std::span<const std::byte> first);
[[nodiscard]] std::string why_no_metric_log(const Opening& what, std::span<const std::byte> first);

}  // namespace smd::detail::layout
