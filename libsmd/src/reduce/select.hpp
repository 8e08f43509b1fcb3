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

/// The search for one percentile. It reads the elements once, part by part, and afterwards only those between two
/// bounds that a sample gives. Wrong bounds are detected, and cost only time.
template <class T>
class RankSearch {
 public:
  /// @param sample a sample of the `n` elements.
  RankSearch(const Sample<T>& sample, std::size_t n, bool magnitude, double percent);

  /// Reads the next `n` elements, of T, not necessarily aligned.
  void add(const std::byte* part, std::size_t n);
  /// Returns the percentile once all elements have been added.
  /// @param others number of elements that are not NaN; 0 gives NaN.
  [[nodiscard]] double result(const RealElements<T>& elements, std::size_t others);

  [[nodiscard]] bool is_of(bool magnitude, double percent) const noexcept {
    return magnitude == magnitude_ && percent == percent_;
  }

 private:
  [[nodiscard]] T* kept() noexcept { return reinterpret_cast<T*>(kept_.data()); }

  bool magnitude_;
  double percent_;
  std::optional<Bounds<T>> bounds_;  ///< nullopt if too few elements are not NaN.
  std::size_t expected_;             ///< Number of elements expected between the bounds.
  std::size_t below_ = 0;
  std::size_t found_ = 0;
  Scratch kept_;  ///< The elements strictly between the bounds.
};

extern template class RankSearch<float>;
extern template class RankSearch<double>;

/// Percentiles of elements in place: linear interpolation between the two nearest elements (with `magnitude`: of |x|),
/// as numpy.percentile in float64. NaN are skipped.
///
/// Memory, for elements stored as float if it represents them, otherwise as double: for each expected percentile an
/// eighth of the elements if there are a million, a hundredth if there are a thousand million, half if there are few;
/// the same amount once more; and up to one and a half times all elements if a sample misleads.
class Percentiles {
 public:
  /// @param source `n` elements of a real storage type, not necessarily aligned; must outlive this object.
  Percentiles(Dtype type, const std::byte* source, std::size_t n);
  template <class T>
  explicit Percentiles(const RealElements<T>& elements) : searches_(Searches<T>(elements)) {}

  /// Announces a percentile, so that add() searches for it; at most four are searched for. Must be called before
  /// add().
  void expect(bool magnitude, double percent);
  /// Returns whether add() has anything to do.
  [[nodiscard]] bool expects() const;
  /// Reads the next `n` elements, best while they are in the cache.
  void add(std::size_t n);
  /// @param others number of elements that are not NaN; 0 gives NaN.
  [[nodiscard]] double of(bool magnitude, double percent, std::size_t others);

 private:
  template <class T>
  struct Searches {
    explicit Searches(const RealElements<T>& all) : elements(all) {}

    [[nodiscard]] RankSearch<T> start(bool magnitude, double percent);
    [[nodiscard]] RankSearch<T>* find(bool magnitude, double percent);
    void add(std::size_t n);
    [[nodiscard]] double of(bool magnitude, double percent, std::size_t others);

    RealElements<T> elements;
    std::optional<Sample<T>> sample;  ///< Shared by all searches.
    std::vector<RankSearch<T>> expected;
    std::size_t seen = 0;
  };

  std::variant<Searches<float>, Searches<double>> searches_;
};

}  // namespace smd::detail::reduce
