// SPDX-License-Identifier: Apache-2.0
#include "atomic_file.hpp"

#include "text/limits.hpp"

#include <algorithm>
#include <vector>

namespace smd::detail::hook {
namespace {

constexpr std::size_t gathered_bytes = std::size_t{64} << 10;
constexpr std::size_t block_bytes = std::size_t{1} << 20;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

void AtomicFile::write(std::string_view bytes) {
  if (!file_) {
    file_ = or_throw(output_.create(name_));
  }
  size_ += bytes.size();
  const bool large = bytes.size() > gathered_bytes / 2;
  if (large || gathered_.size() + bytes.size() > gathered_bytes) {
    flush();
  }
  if (large) {
    or_throw(file_->write(bytes_of(bytes)));
  } else {
    gathered_.append(bytes);
  }
}

void AtomicFile::flush() {
  if (!gathered_.empty()) {
    or_throw(file_->write(bytes_of(gathered_)));
    gathered_.clear();
  }
}

void AtomicFile::copy_to(AtomicFile& to) {
  flush();
  append_blocks(to, size_, [this](std::uint64_t at, std::span<std::byte> into) { return file_->read_back(at, into); });
}

void AtomicFile::finish(bool sync) {
  flush();
  if (sync) {
    or_throw(file_->sync());
  }
  or_throw(file_->close());
}

void AtomicFile::publish(bool sync) {
  or_throw(file_->publish());
  if (sync) {
    or_throw(file_->sync_name());
  }
}

void AtomicFile::commit(bool sync) {
  finish(sync);
  publish(sync);
}

void append_blocks(AtomicFile& to, std::uint64_t size,
                   const std::function<Outcome<std::size_t>(std::uint64_t, std::span<std::byte>)>& read) {
  std::vector<char> block(static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, size)));
  for (std::uint64_t at = 0; at < size;) {
    const std::size_t most = std::min<std::uint64_t>(block.size(), size - at);
    const std::size_t got = or_throw(read(at, std::as_writable_bytes(std::span(block).first(most))));
    if (got == 0) {
      break;
    }
    to.write({block.data(), got});
    at += got;
  }
}

void write_atomically(Output& output, const std::string& name, std::string_view content, bool sync) {
  AtomicFile file(output, name);
  file.write(content);
  file.commit(sync);
}

std::string read_text(Output& output, const std::string& name) try {
  const auto file = or_throw(output.open(name));
  if (file->size() > limits::json_bytes) {
    throw ReadError(damaged("longer than the limit (json_bytes)"));
  }
  std::string text(file->size(), '\0');
  text.resize(or_throw(file->read_at(0, std::as_writable_bytes(std::span(text)))));
  return text;
} catch (const ReadError& error) {
  throw ReadError(located(output, name, error.problem));
}

}  // namespace smd::detail::hook
