// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smd::fuzz {

/// Splits an input from front to back. Past its end everything is 0 and empty.
class Source {
 public:
  Source(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  explicit Source(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

  template <class Number = std::uint8_t>
  Number number() {
    Number result = 0;
    const std::size_t size = std::min(sizeof result, rest_.size());
    std::copy_n(rest_.data(), size, reinterpret_cast<char*>(&result));
    rest_.remove_prefix(size);
    return result;
  }

  std::string_view text(std::size_t size) {
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(result.size());
    return result;
  }

  /// Returns the text up to the next separator, which is dropped.
  std::string_view piece(std::string_view separator) {
    const std::size_t end = rest_.find(separator);
    const std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + separator.size());
    return result;
  }

  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace smd::fuzz
