// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace smd::detail::reduce {

/// Memory that is taken and given back for every tensor. Each thread keeps some for the next time: malloc returns large
/// pieces to the system, and paging them in anew costs more than what is done with them.
class Scratch {
 public:
  Scratch() noexcept = default;
  /// At least `bytes`, aligned for every type, not initialised.
  explicit Scratch(std::size_t bytes);
  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(Scratch&& other) noexcept;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return data_ == nullptr ? 0 : size_; }

 private:
  void give_back() noexcept;

  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace smd::detail::reduce
