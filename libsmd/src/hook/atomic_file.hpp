// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hook/output.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// A file that stands under its name only once it is whole: written as `NAME.tmp` beside it and renamed by `commit`.
/// What was not committed is removed. Small pieces are gathered.
class AtomicFile {
 public:
  AtomicFile(Output& output, std::string name) : output_(output), name_(std::move(name)), temporary_(name_ + ".tmp") {}
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Makes the temporary file; one that an earlier process left there is emptied.
  Status open();
  Status write(std::string_view bytes);
  /// With `sync`, the bytes are on disk before the name is, and the name before this returns.
  Status commit(bool sync);

  [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }
  /// Bytes given so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  Status flush();

  Output& output_;
  std::string name_;
  std::string temporary_;
  std::string gathered_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool there_ = false;  // the temporary file
};

/// A whole small file.
Status write_atomically(Output& output, const std::string& name, std::string_view content, bool sync);

}  // namespace smd::detail::hook
