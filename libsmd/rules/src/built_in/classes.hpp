// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

/// Labels and predictions as class numbers: whole numbers, held as double. NaN means no class.
namespace smd::detail::rules {

/// Returns floor(value + 1/2); NaN, which means no class, for NaN and infinities.
[[nodiscard]] inline double class_of(double value) noexcept {
  return std::isfinite(value) ? std::floor(value + 0.5) : std::numeric_limits<double>::quiet_NaN();
}

/// The classes of one tensor value, element by element or row by row. Borrows the view, and computes the classes as
/// they are read. Precondition: real numbers, with bytes aligned to their type.
class Classes {
 public:
  /// Makes one class for each row if all rows are one-hot, else one for each element.
  [[nodiscard]] static Classes of_labels(const TensorView& view);
  [[nodiscard]] static Classes of_elements(const TensorView& view);
  /// Makes one class for each row along the last axis: the position of its largest element, the first of equals; NaN
  /// counts as the smallest.
  [[nodiscard]] static Classes of_arg_max(const TensorView& view);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  static constexpr std::size_t block = 1024;
  /// Reads `n` classes from `first` on. Precondition: `first` is a multiple of `block`, `n` is at most `block`, and
  /// `first + n` at most `size()`.
  void read(std::size_t first, std::size_t n, double* classes) const;

 private:
  Classes(const TensorView& view, std::uint64_t size) : view_(view), size_(size) {}

  TensorView view_;
  std::uint64_t size_;
  bool by_row_ = false;
  std::vector<std::uint32_t> rows_;
};

/// Calls use(a, b) for each pair of classes. Precondition: both have the same size.
template <class Use>
void for_class_pairs(const Classes& a, const Classes& b, const Use& use) {
  std::array<double, Classes::block> of_a;
  std::array<double, Classes::block> of_b;
  for (std::size_t first = 0; first < a.size(); first += Classes::block) {
    const std::size_t n = std::min<std::size_t>(Classes::block, a.size() - first);
    a.read(first, n, of_a.data());
    b.read(first, n, of_b.data());
    for (std::size_t i = 0; i < n; ++i) {
      use(of_a[i], of_b[i]);
    }
  }
}

/// A T for each class that was seen; fast for the usual small numbers, those below `most_small`.
template <class T, std::size_t most_small = 4096>
class PerClass {
 public:
  [[nodiscard]] T& operator[](double number) {
    if (number >= 0 && number < static_cast<double>(most_small)) {
      const auto at = static_cast<std::size_t>(number);
      if (at >= small_.size()) {
        small_.resize(at + 1);
      }
      return small_[at];
    }
    return others_[number];
  }
  /// Calls use(number, one) for each class, also for small ones that were not seen: these have T().
  template <class Use>
  void for_each(const Use& use) const {
    for (std::size_t i = 0; i < small_.size(); ++i) {
      use(static_cast<double>(i), small_[i]);
    }
    for (const auto& [number, one] : others_) {
      use(number, one);
    }
  }

 private:
  std::vector<T> small_;
  std::map<double, T> others_;
};

}  // namespace smd::detail::rules
