// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// A file that gets its name only when it is complete; the first `write` begins it. Buffers small writes. A file that
/// is not published is removed. All calls throw ReadError if the system refuses.
class AtomicFile {
 public:
  AtomicFile(Output& output, std::string name) : output_(output), name_(std::move(name)) {}

  void write(std::string_view bytes);
  /// Before `finish`: appends all bytes written so far to another file.
  void copy_to(AtomicFile& to);
  /// After the last `write`. With `sync`, the bytes are on disk when this returns.
  void finish(bool sync);
  /// After `finish`: gives the file its name. With `sync`, the name is on disk when this returns.
  void publish(bool sync);
  /// `finish` and `publish`.
  void commit(bool sync);

  /// The number of bytes written so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  void flush();

  Output& output_;
  std::string name_;
  std::string gathered_;
  std::unique_ptr<PendingFile> file_;
  std::uint64_t size_ = 0;
};

/// Appends `size` bytes, block by block: read(offset, block) returns how many it read, 0 at the end. @throws ReadError.
void append_blocks(AtomicFile& to, std::uint64_t size,
                   const std::function<Outcome<std::size_t>(std::uint64_t, std::span<std::byte>)>& read);

/// Writes and publishes a small file. @throws ReadError.
void write_atomically(Output& output, const std::string& name, std::string_view content, bool sync);

/// Returns the text of a file of JSON. @throws ReadError, also if it is longer than the limit.
std::string read_text(Output& output, const std::string& name);

}  // namespace smd::detail::hook
