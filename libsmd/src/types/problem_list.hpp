// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace smd::detail {

/// Problems of one origin (a file, a trial) in bounded memory: keeps the first ones of each kind and counts the rest.
/// Damaged input can contain millions of them; each must not cost more memory than the input that caused it.
class ProblemList {
 public:
  /// Keeps at most `most` problems of each kind.
  explicit ProblemList(std::size_t most) noexcept : most_(most) {}

  void add(Problem problem);
  /// Adds the problems that another list kept, and its counts.
  void add(ProblemList&& more);
  /// Counts a problem without keeping its text. Precondition: `full(kind)`.
  void count(ProblemKind kind) noexcept { ++left_out_[index(kind)]; }
  /// Returns whether `add` would only count, so that the caller need not compose the text.
  [[nodiscard]] bool full(ProblemKind kind) const noexcept { return kept_of_kind_[index(kind)] >= most_; }

  [[nodiscard]] const std::vector<Problem>& kept() const noexcept { return kept_; }
  /// Sets the file of the problems kept so far.
  void set_file(const std::string& file);
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
  /// Returns the kept problems, followed by one line for each kind of which some were only counted. `file` is the file
  /// of these lines.
  [[nodiscard]] std::vector<Problem> all(const std::string& file = {}) const;

 private:
  static constexpr std::size_t kinds = static_cast<std::size_t>(ProblemKind::other_trial) + 1;
  static constexpr std::size_t index(ProblemKind kind) noexcept { return static_cast<std::size_t>(kind); }

  std::size_t most_;
  std::vector<Problem> kept_;
  std::array<std::size_t, kinds> kept_of_kind_{};
  std::array<std::uint64_t, kinds> left_out_{};
};

}  // namespace smd::detail
