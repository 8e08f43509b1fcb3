// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/diagnostics.hpp"

namespace smd::tool {

/// A file of lines of text that --merge takes, read from front to back. Not thread-safe.
class LineFile {
 public:
  /// Nullopt if it cannot be opened, which is reported. `what`: what the lines should be, for a folder.
  static std::optional<LineFile> open(const std::string& path, std::string_view what, Diagnostics& messages);

  /// The next line, without its end; false at the end of the file. Of a line longer than `longest`, which no --merge
  /// takes, only the beginning.
  bool next(std::string& line);
  /// Of the line read last: counted from 1, and from byte 0.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// Where the next line begins.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// Whether it can be read again from the start: a pipe cannot. Asked before the first line.
  [[nodiscard]] bool can_seek() { return file_.tellg() != std::ifstream::pos_type(-1); }
  /// Goes on there: where a line begins.
  void seek(std::uint64_t offset);
  /// Whether reading failed, rather than that the file came to its end.
  [[nodiscard]] bool failed() const { return file_.bad(); }

  static constexpr std::size_t longest = std::size_t{64} << 20;

 private:
  explicit LineFile(std::ifstream&& file) : file_(std::move(file)) {}

  std::ifstream file_;
  std::string block_;   // read ahead
  std::size_t at_ = 0;  // what of it was taken
  std::size_t number_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace smd::tool
