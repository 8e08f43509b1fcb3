// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/whole_file.hpp"

#include <algorithm>

namespace smd::detail::layout {

LongFiles::Share LongFiles::take(std::uint64_t bytes) {
  bytes = std::min(bytes, limits::json_bytes);
  std::unique_lock lock(mutex_);
  given_back_.wait(lock, [&] { return free_ >= bytes; });
  free_ -= bytes;
  lock.unlock();
  return {this, [bytes](LongFiles* of) {
            {
              const std::lock_guard give(of->mutex_);
              of->free_ += bytes;
            }
            of->given_back_.notify_all();
          }};
}

WholeFile read_whole(storage::Folder& folder, std::string_view leaf, Buffer& buffer, LongFiles& files) {
  constexpr std::uint64_t eighth = limits::json_bytes / 8;  // little is read twice, and several files fit at once
  WholeFile file{{}, folder.read_all(leaf, buffer, short_file_bytes)};
  std::uint64_t allowed = short_file_bytes;
  for (const std::uint64_t most : {eighth, limits::json_bytes}) {
    if (file.text || !storage::is_too_long(file.text.problem(), allowed)) {
      return file;
    }
    buffer = Buffer();
    file.share.reset();
    file.share = files.take(most);
    file.text = folder.read_all(leaf, buffer, most);
    allowed = most;
  }
  return file;
}

}  // namespace smd::detail::layout
