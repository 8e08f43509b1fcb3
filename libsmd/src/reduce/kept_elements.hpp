// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include "reduce/elements.hpp"

#include <cstddef>
#include <vector>

namespace smd::detail::reduce {

/// Elements that are kept until all have been added. They are stored in pieces: an array that grows needs memory for
/// itself and its copy.
template <class T>
class KeptElements {
 public:
  /// If memory runs out, functions that append change nothing.
  /// @param source `n` elements of a real storage type, not necessarily aligned.
  void append(Dtype type, const std::byte* source, std::size_t n) { append_all(RealElements<T>(type, source, n)); }
  void append(const KeptElements& other) { append_all(other.elements()); }
  /// As above, but moves most elements; changes their order.
  void append(KeptElements&& other);
  /// Keeps the first `size` elements.
  void cut(std::size_t size) noexcept;
  /// Keeps the memory of the first piece.
  void clear() noexcept { cut(0); }

  [[nodiscard]] bool empty() const noexcept { return pieces_.empty() || pieces_.front().empty(); }
  /// Valid until the next change.
  [[nodiscard]] RealElements<T> elements() const noexcept { return RealElements<T>(pieces_); }

  [[nodiscard]] std::size_t size() const noexcept { return elements().size(); }

 private:
  void append_all(const RealElements<T>& elements);
  void append(const std::byte* values, std::size_t n);

  std::vector<std::vector<T>> pieces_;
};

extern template class KeptElements<float>;
extern template class KeptElements<double>;

/// Elements for percentiles: narrow if float represents them exactly, otherwise rounded to double.
struct KeptForPercentiles {
  KeptElements<float> narrow;
  KeptElements<double> wide;

  void append(Dtype type, const std::byte* source, std::size_t n) {
    fits_float(type) ? narrow.append(type, source, n) : wide.append(type, source, n);
  }
  void append(const KeptForPercentiles& other);
  void append(KeptForPercentiles&& other);
  void clear() noexcept {
    narrow.clear();
    wide.clear();
  }
};

}  // namespace smd::detail::reduce
