// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <smd/trial.hpp>
#include <string>
#include <string_view>

namespace smd::tool {

/// The saved reduction that is no number: buckets as a float64 of shape [k,3], left and right edge and count of each.
inline constexpr std::string_view buckets_name = "histogram";

/// Whether an entry's value was saved, and not only the type and shape of one.
[[nodiscard]] bool has_value(const TensorEntry& entry) noexcept;

/// The buckets that an entry has in place of a value; null if there are none.
[[nodiscard]] const SavedReduction* saved_buckets(const TensorEntry& entry) noexcept;

/// The forms in which something was saved, and by whom.
struct SavedForms {
  bool value = false;
  bool shape = false;
  std::set<std::string, std::less<>> reductions;
  std::set<std::string, std::less<>> workers;

  void add(const TensorEntry& entry);
  /// Whether the only reduction is the buckets. An empty histogram has no others.
  [[nodiscard]] bool only_buckets() const { return reductions.size() == 1 && reductions.contains(buckets_name); }
};

/// The forms of a tensor at a step, or at any; incomplete steps included.
[[nodiscard]] SavedForms forms_of(const Trial& trial, const std::string& tensor,
                                  const std::optional<GlobalStep>& step = {});

}  // namespace smd::tool
