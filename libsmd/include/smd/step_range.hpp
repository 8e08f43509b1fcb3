// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>

#include <cstddef>
#include <optional>

namespace smd {

/// Which global steps a `Trial` object loads. It bounds what is *read*: index files outside the range are listed, but
/// not opened (except the newest of them, if the last complete step cannot be determined otherwise).
class StepRange {
 public:
  /// Every step.
  StepRange() = default;
  /// The half-open range [first, end); `end` nullopt: no upper bound.
  static StepRange between(GlobalStep first, std::optional<GlobalStep> end) noexcept {
    StepRange range;
    range.first_ = first;
    range.end_ = end;
    return range;
  }
  /// The newest `count` steps for which there are index files, by their file names, and all later ones.
  static StepRange newest(std::size_t count) noexcept {
    StepRange range;
    range.newest_ = count;
    return range;
  }
  /// The oldest `count` steps for which there are index files, by their file names.
  static StepRange oldest(std::size_t count) noexcept {
    StepRange range;
    range.oldest_ = count;
    return range;
  }

  [[nodiscard]] std::optional<GlobalStep> first() const noexcept { return first_; }
  [[nodiscard]] std::optional<GlobalStep> end() const noexcept { return end_; }
  [[nodiscard]] std::optional<std::size_t> newest() const noexcept { return newest_; }
  [[nodiscard]] std::optional<std::size_t> oldest() const noexcept { return oldest_; }

 private:
  std::optional<GlobalStep> first_;
  std::optional<GlobalStep> end_;
  std::optional<std::size_t> newest_;
  std::optional<std::size_t> oldest_;
};

}  // namespace smd
