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
/// line (or NUL, with -0), which are handed on as they come. Empty lines are skipped. Not thread-safe.
class OperandSource {
 public:
  /// The operands must outlive this. @throws UsageError for a `-` elsewhere.
  OperandSource(std::span<const std::string> operands, bool null_separated);

  /// These, whatever they are called.
  static OperandSource of(std::vector<std::string> operands);

  /// The next operand; nullopt if there is none, or if a stop was asked for while standard input had none ready.
  /// @throws ReadError (io) if standard input cannot be read.
  [[nodiscard]] std::optional<std::string> next(const std::stop_token& stop = {});
  /// What `next` will return. Valid until then.
  [[nodiscard]] const std::string* peek(const std::stop_token& stop = {});
  /// How many there are in all, those that were taken among them; nullopt if standard input may list more.
  [[nodiscard]] std::optional<std::size_t> total() const noexcept;

 private:
  void read_list();

  std::span<const std::string> given_;
  std::size_t at_ = 0;  // of given_
  char separator_;
  std::deque<std::string> listed_;
  std::size_t listed_count_ = 0;  // those that were taken among them
  std::string unfinished_;        // what of an item was read
  bool ended_;                    // standard input lists no more
};

}  // namespace smd::tool
