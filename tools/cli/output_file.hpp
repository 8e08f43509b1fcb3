// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace smd::tool {

class Diagnostics;

/// Writes to a descriptor. If that does not block and takes no more, waits for its reader, or returns EAGAIN. Returns
/// 0, or the error.
[[nodiscard]] int write_all(int descriptor, std::string_view bytes, bool waits = true) noexcept;

/// Where results go: standard output, or a file that appears under its name only once it is whole (a temporary in the
/// same folder, renamed by `close`, removed on failure and on signals that end the process). Buffered; not thread-safe.
class OutputFile {
 public:
  /// Standard output.
  static OutputFile standard();
  /// A file. An existing file keeps its mode and, where the system permits, its owner and group. A symbolic link is
  /// followed, but in a folder that others can write to only one's own. Removes temporary files that killed processes
  /// left in the folder.
  /// @throws OutputError if a set-user-ID or set-group-ID file would not keep them, for a link of others, or if the
  /// temporary cannot be made; UsageError as `add_input`, unless its name says that it is none.
  static OutputFile file(const std::string& path, bool may_be_input = true);
  /// Accepts and drops everything: standard output with `--quiet`.
  static OutputFile discard();
  /// Keeps everything until `take_text`.
  static OutputFile memory();
  /// As `memory`, for a text that standard output will show: `is_terminal` is true if that is one.
  static OutputFile screen();

  OutputFile(OutputFile&& other) noexcept = default;
  /// Removes a file that was not closed.
  ~OutputFile();

  /// Each text must hold whole characters: on a terminal it passes through `append_json_shown`.
  /// @throws OutputError, here and below, if the system refuses the bytes.
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  void put(char byte) {
    if (used_ == capacity) {
      flush();
    }
    buffer_[used_++] = byte;
  }

  /// Writes text around rows, such as `[]`. Alone, it does not count as output.
  void write_frame(std::string_view text) {
    frame_ += text.size();
    write(text);
  }

  void flush();
  /// Moves what was written to memory into `text`, and reuses the capacity of `text`.
  void take_text(std::string& text);
  /// As above, and returns the text.
  [[nodiscard]] std::string take_text() {
    std::string text;
    take_text(text);
    return text;
  }
  /// Flushes, and renames a temporary file into place. Standard output is closed by `run_command`, which reports
  /// failure.
  void close();
  /// As `close()`, but keeps an existing file if the command line was wrong (status 2: what was written is an unwanted
  /// part), or if nothing was written because of a failure (3 or 4).
  void close(const Diagnostics& messages);

  [[nodiscard]] bool is_terminal() const noexcept;
  /// True if both would replace one file, whatever name each was given.
  [[nodiscard]] bool replaces_same(const OutputFile& other) const;
  /// True if what is written is dropped.
  [[nodiscard]] bool discards() const noexcept { return kind_ == Kind::discard; }

  static constexpr std::size_t capacity = std::size_t{128} << 10;

 private:
  enum class Kind : unsigned char { standard, file, discard, memory };
  OutputFile(Kind kind, int descriptor);
  void write_out(const char* bytes, std::size_t size);

  Kind kind_;
  int descriptor_ = -1;
  std::size_t used_ = 0;
  std::uint64_t flushed_ = 0;
  std::uint64_t frame_ = 0;
  std::unique_ptr<char[]> buffer_;
  mode_t mode_ = 0;  // of the file, once it is whole
  std::string path_;
  std::string temporary_;
  std::string text_;  // of kind memory
};

/// Notes that a trial is read: none of its files must be replaced. `trial`: its `Trial::path`. Thread-safe.
/// @throws UsageError if an OutputFile is to replace one.
void add_input(const std::string& trial);

}  // namespace smd::tool
