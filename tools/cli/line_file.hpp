// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/diagnostics.hpp"

namespace smd::tool {

/// A file of lines of text that --merge takes, read from front to back. Not thread-safe.
class LineFile {
 public:
  /// Nullopt, after a message, if the file cannot be opened. `what`: what the lines should be, for the message about a
  /// folder.
  static std::optional<LineFile> open(const std::string& path, std::string_view what, Diagnostics& messages);

  /// Reads the next line, without its end; false at the end of the file. @throws UsageError for a line longer than
  /// `limits::json_bytes`.
  bool next(std::string& line);
  /// Number (from 1) and byte offset (from 0) of the line read last.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// Where the next line begins.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// Whether the file can be read again from the start: a pipe cannot. Call it before reading the first line.
  [[nodiscard]] bool can_seek() { return file_.tellg() != std::ifstream::pos_type(-1); }
  /// Continues at `offset`, where a line must begin.
  void seek(std::uint64_t offset);
  /// Visits the lines from here to the end of the file that are not empty. Reports it if reading fails.
  void for_each(Diagnostics& messages, const std::function<void(const std::string& line)>& visit);

 private:
  LineFile(std::ifstream&& file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  std::ifstream file_;
  std::string path_;
  std::string block_;   // read ahead
  std::size_t at_ = 0;  // how much of it was taken
  std::size_t number_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace smd::tool
