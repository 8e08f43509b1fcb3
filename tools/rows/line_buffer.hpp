// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/number_format.hpp"

namespace smd::tool {

/// Builds a line: numbers are written in place, and memory is reused.
class LineBuffer {
 public:
  void clear() noexcept { size_ = 0; }
  void put(char byte) {
    *room_for(1) = byte;
    ++size_;
  }
  void put(std::string_view text) { size_ += text.copy(room_for(text.size()), text.size()); }
  template <class Number>
  void put_number(Number number, int precision) {
    char* const end = write_number(room_for(number_chars), number, precision);
    size_ = static_cast<std::size_t>(end - memory_.data());
  }
  /// Valid until something is put.
  [[nodiscard]] std::string_view text() const noexcept { return {memory_.data(), size_}; }

 private:
  char* room_for(std::size_t more) {
    if (memory_.size() - size_ < more) {
      grow(more);
    }
    return memory_.data() + size_;
  }
  [[gnu::noinline]] void grow(std::size_t more) { memory_.resize(std::max(size_ + more, 2 * memory_.size())); }

  std::string memory_;
  std::size_t size_ = 0;
};

}  // namespace smd::tool
