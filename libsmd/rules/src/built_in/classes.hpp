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

/// Labels and predictions as class numbers. Whole numbers held as double; NaN is no class.
namespace smd::detail::rules {

/// floor(v + 1/2); NaN and infinities are of no class.
[[nodiscard]] inline double class_of(double value) noexcept {
  return std::isfinite(value) ? std::floor(value + 0.5) : std::numeric_limits<double>::quiet_NaN();
}

/// The classes of one tensor value, element by element or row by row. Borrows the view, of real numbers and bytes
/// aligned to their type, and makes the classes as they are read.
class Classes {
 public:
  /// Rows if all of them are one-hot, else elements.
  [[nodiscard]] static Classes of_labels(const TensorView& view);
  [[nodiscard]] static Classes of_elements(const TensorView& view);
  /// Of each row along the last axis, the first of equals, NaN smallest.
  [[nodiscard]] static Classes of_arg_max(const TensorView& view);

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  static constexpr std::size_t block = 1024;
  /// Precondition: `first` is a multiple of `block`, `n` at most that, and there are so many.
  void read(std::size_t first, std::size_t n, double* classes) const;

 private:
  Classes(const TensorView& view, std::uint64_t size) : view_(view), size_(size) {}

  TensorView view_;
  std::uint64_t size_;
  bool by_row_ = false;
  std::vector<std::uint32_t> rows_;
};

/// Calls use(a, b) for the classes of both, one after the other. Precondition: they are as many.
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

/// Something for each class that was seen; quick for the usual small numbers.
template <class T>
class PerClass {
 public:
  [[nodiscard]] T& operator[](double number) {
    if (number >= 0 && number < most_small) {
      const auto at = static_cast<std::size_t>(number);
      if (at >= small_.size()) {
        small_.resize(at + 1);
      }
      return small_[at];
    }
    return others_[number];
  }
  /// Also of small classes that were not seen: these have T().
  template <class Use>
  void for_each(const Use& use) const {
    for (const T& one : small_) {
      use(one);
    }
    for (const auto& [number, one] : others_) {
      use(one);
    }
  }

 private:
  static constexpr double most_small = 4096;
  std::vector<T> small_;
  std::map<double, T> others_;
};

}  // namespace smd::detail::rules
