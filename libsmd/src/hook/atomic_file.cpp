// SPDX-License-Identifier: Apache-2.0
#include "hook/atomic_file.hpp"

#include <utility>

namespace smd::detail::hook {
namespace {

constexpr std::size_t gathered_bytes = std::size_t{64} << 10;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

AtomicFile::~AtomicFile() {
  if (file_ >= 0) {
    (void)output_.close(file_, temporary_);
  }
  if (there_) {
    output_.remove(temporary_);
  }
}

Status AtomicFile::open() {
  auto made = output_.create(temporary_);
  if (!made) {
    return std::move(made.problem());
  }
  file_ = *made;
  there_ = true;
  return ok();
}

Status AtomicFile::write(std::string_view bytes) {
  size_ += bytes.size();
  if (gathered_.size() + bytes.size() > gathered_bytes) {
    if (Status flushed = flush(); !flushed) {
      return flushed;
    }
  }
  if (bytes.size() > gathered_bytes / 2) {
    return output_.write(file_, bytes_of(bytes), temporary_);
  }
  gathered_.append(bytes);
  return ok();
}

Status AtomicFile::flush() {
  if (gathered_.empty()) {
    return ok();
  }
  Status written = output_.write(file_, bytes_of(gathered_), temporary_);
  gathered_.clear();
  return written;
}

Status AtomicFile::commit(bool sync) {
  if (Status flushed = flush(); !flushed) {
    return flushed;
  }
  if (sync) {
    if (Status synced = output_.sync(file_, temporary_); !synced) {
      return synced;
    }
  }
  if (Status closed = output_.close(std::exchange(file_, -1), temporary_); !closed) {
    return closed;
  }
  if (Status renamed = output_.rename(temporary_, name_); !renamed) {
    return renamed;
  }
  there_ = false;
  return sync ? output_.sync_folder(name_) : ok();
}

Status write_atomically(Output& output, const std::string& name, std::string_view content, bool sync) {
  AtomicFile file(output, name);
  if (Status opened = file.open(); !opened) {
    return opened;
  }
  if (Status written = file.write(content); !written) {
    return written;
  }
  return file.commit(sync);
}

}  // namespace smd::detail::hook
