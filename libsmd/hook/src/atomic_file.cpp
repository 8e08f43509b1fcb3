// SPDX-License-Identifier: Apache-2.0
#include "atomic_file.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace smd::detail::hook {
namespace {

constexpr std::size_t gathered_bytes = std::size_t{64} << 10;
constexpr std::size_t block_bytes = std::size_t{1} << 20;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

Status AtomicFile::open() {
  auto made = output_.create(name_);
  if (!made) {
    return std::move(made.problem());
  }
  file_ = std::move(*made);
  return ok();
}

Status AtomicFile::write(std::string_view bytes) {
  size_ += bytes.size();
  const bool large = bytes.size() > gathered_bytes / 2;
  if (large || gathered_.size() + bytes.size() > gathered_bytes) {
    if (Status flushed = flush(); !flushed) {
      return flushed;
    }
  }
  if (large) {
    return file_->write(bytes_of(bytes));
  }
  gathered_.append(bytes);
  return ok();
}

Status AtomicFile::flush() {
  if (gathered_.empty()) {
    return ok();
  }
  Status written = file_->write(bytes_of(gathered_));
  gathered_.clear();
  return written;
}

Status AtomicFile::copy_to(AtomicFile& to) {
  if (Status flushed = flush(); !flushed) {
    return flushed;
  }
  return append_blocks(to, size_,
                       [this](std::uint64_t at, std::span<std::byte> into) { return file_->read_back(at, into); });
}

Status AtomicFile::finish(bool sync) {
  if (Status flushed = flush(); !flushed) {
    return flushed;
  }
  if (sync) {
    if (Status synced = file_->sync(); !synced) {
      return synced;
    }
  }
  return file_->close();
}

Status AtomicFile::publish(bool sync) {
  Status published = file_->publish();
  return published && sync ? file_->sync_name() : published;
}

Status AtomicFile::commit(bool sync) {
  Status finished = finish(sync);
  return finished ? publish(sync) : finished;
}

Status append_blocks(AtomicFile& to, std::uint64_t size,
                     const std::function<Outcome<std::size_t>(std::uint64_t, std::span<std::byte>)>& read) {
  std::vector<char> block(static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, size)));
  for (std::uint64_t at = 0; at < size;) {
    const std::size_t most = std::min<std::uint64_t>(block.size(), size - at);
    auto got = read(at, std::as_writable_bytes(std::span(block).first(most)));
    if (!got) {
      return std::move(got.problem());
    }
    if (*got == 0) {
      break;
    }
    if (Status written = to.write({block.data(), *got}); !written) {
      return written;
    }
    at += *got;
  }
  return ok();
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
