// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include "reduce/elements.hpp"
#include "reduce/rank.hpp"
#include "reduce/scratch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace smd::detail::reduce {

/// The search for one percentile of elements that are looked at once, part by part, and afterwards only where it may
/// lie: between two bounds that a sample gives. Wrong ones are noticed, and cost time only.
template <class T>
class RankSearch {
 public:
  /// @param sample of the `n` elements.
  RankSearch(const Sample<T>& sample, std::size_t n, bool magnitude, double percent);

  /// Looks at the next `n` elements, of T, not necessarily aligned.
  void add(const std::byte* part, std::size_t n);
  /// All have been looked at.
  /// @param others number of elements that are not NaN; 0 gives NaN.
  [[nodiscard]] double result(const Elements<T>& elements, std::size_t others);

  [[nodiscard]] bool is_of(bool magnitude, double percent) const noexcept {
    return magnitude == magnitude_ && percent == percent_;
  }

 private:
  [[nodiscard]] T* kept() noexcept { return reinterpret_cast<T*>(kept_.data()); }

  bool magnitude_;
  double percent_;
  std::optional<Bounds<T>> bounds_;  ///< None if too few elements are numbers.
  std::size_t expected_;             ///< How many will be kept.
  std::size_t below_ = 0;
  std::size_t found_ = 0;
  Scratch kept_;  ///< What lies strictly between the bounds.
};

extern template class RankSearch<float>;
extern template class RankSearch<double>;

/// Percentiles of elements in place: linear interpolation between the two elements (of `magnitude`: of their |x|)
/// around each, as numpy.percentile in float64. NaN are passed over. Memory, of elements as float where
/// that holds them, else as double: for each percentile looked for in passing an eighth of a million, a hundredth of
/// a thousand million, half of few elements; as much again, once; up to one and a half times all of them if a sample
/// misleads.
class Percentiles {
 public:
  /// @param source `n` elements of a real storage type, not necessarily aligned, which outlive this.
  Percentiles(Dtype type, const std::byte* source, std::size_t n);
  template <class T>
  explicit Percentiles(const Elements<T>& elements) : searches_(Searches<T>(elements)) {}

  /// This one will be asked for: it is looked for in what add() passes over, unless four are already. Not after
  /// add().
  void expect(bool magnitude, double percent);
  /// Whether add() is of any use.
  [[nodiscard]] bool expects() const;
  /// Looks at the next `n` elements, best while they are in the cache.
  void add(std::size_t n);
  /// @param others number of elements that are not NaN; 0 gives NaN.
  [[nodiscard]] double of(bool magnitude, double percent, std::size_t others);

 private:
  template <class T>
  struct Searches {
    explicit Searches(const Elements<T>& all) : elements(all) {}

    [[nodiscard]] RankSearch<T> start(bool magnitude, double percent);
    [[nodiscard]] RankSearch<T>* find(bool magnitude, double percent);
    void add(std::size_t n);
    [[nodiscard]] double of(bool magnitude, double percent, std::size_t others);

    Elements<T> elements;
    std::optional<Sample<T>> sample;  ///< For all searches.
    std::vector<RankSearch<T>> expected;
    std::size_t seen = 0;
  };

  std::variant<Searches<float>, Searches<double>> searches_;
};

}  // namespace smd::detail::reduce
