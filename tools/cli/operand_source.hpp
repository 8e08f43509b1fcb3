// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace smd::tool {

/// The operands of a command, one after another; a `-` at the end stands for those that standard input lists, one per
/// line (or NUL, with -0), each available as soon as it is read. Empty lines are skipped. Not thread-safe.
class OperandSource {
 public:
  OperandSource(OperandSource&&) noexcept = default;
  OperandSource& operator=(OperandSource&&) noexcept = default;
  OperandSource(const OperandSource&) = delete;
  OperandSource& operator=(const OperandSource&) = delete;
  ~OperandSource() = default;

  /// The operands must outlive this. @throws UsageError for a `-` elsewhere.
  OperandSource(std::span<const std::string> operands, bool null_separated);

  /// Exactly these operands: `-` has no special meaning.
  static OperandSource of(std::vector<std::string> operands);

  /// The next operand; nullopt if there is none, or if a stop was requested while standard input had none ready.
  /// @throws ReadError (io) if standard input cannot be read.
  [[nodiscard]] std::optional<std::string> next(const std::stop_token& stop = {});
  /// What `next` will return; null if there is none. Valid until the call of `next`.
  [[nodiscard]] const std::string* peek(const std::stop_token& stop = {});
  /// How many operands there are in all, taken ones included; nullopt if standard input may list more.
  [[nodiscard]] std::optional<std::size_t> total() const noexcept;

 private:
  void read_list();

  std::vector<std::string> own_;
  std::span<const std::string> given_;
  std::size_t at_ = 0;  // of given_
  char separator_;
  std::optional<std::string> first_;  // of those that were read but not taken
  std::deque<char> ahead_;            // the text of the others, with a separator after each: ten thousand take little
  std::size_t waiting_ = 0;           // how many are in `first_` and `ahead_`
  std::size_t listed_count_ = 0;      // taken ones included
  std::size_t unfinished_ = 0;        // bytes of a part of an item at the end of `ahead_`
  bool ended_;                        // standard input lists no more
};

}  // namespace smd::tool
