// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace smd::tool::diff {

/// By which names the tensors of a trial are compared: --strip and --rename change them.
class NameMapping {
 public:
  /// Of a trial with these tensors; `of_a`: --rename applies.
  /// @throws UsageError if two get one name, or a replacement is not possible.
  NameMapping(const DiffCommandOptions& options, bool of_a, std::span<const std::string> tensors);
  NameMapping() = default;

  /// The name by which a tensor is compared. Borrows from this, or is `own`.
  [[nodiscard]] std::string_view shown(std::string_view own) const;
  /// `shown` of all these, sorted.
  [[nodiscard]] std::vector<std::string> shown_names(std::span<const std::string> own) const;
  /// The trial's own name of a tensor that is compared as `shown`.
  [[nodiscard]] const std::string& own(const std::string& shown) const;
  /// `own` of all these that the trial has.
  [[nodiscard]] std::vector<std::string> own_names(std::span<const std::string> shown) const;
  [[nodiscard]] bool changes() const noexcept { return !shown_.empty(); }

 private:
  std::map<std::string, std::string, std::less<>> shown_;  // by own name; empty: names stay as they are
  std::map<std::string, std::string, std::less<>> own_;    // by shown name
};

/// A prefix that, taken off names of one trial, makes most of those that only one of the trials has names of both: what
/// to say about it. Empty if there is none.
[[nodiscard]] std::string joining_prefix(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace smd::tool::diff
