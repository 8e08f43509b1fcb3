// SPDX-License-Identifier: Apache-2.0
#include "reduce/rank.hpp"

#include "reduce/int128.hpp"
#include "reduce/kernels.hpp"
#include "reduce/scratch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace smd::detail::reduce {
namespace {

constexpr std::size_t small = 400;  // below this size std::nth_element is fastest

// As many as are worth their cost: the number of elements between the bounds shrinks only with the square root of the
// sample size, so eight times as many elements need four times the sample.
constexpr std::size_t sample_size(std::size_t n) {
  std::size_t size = n > 100000 ? 1024 : n > 10000 ? 256 : 64;
  for (std::size_t few = std::size_t{1} << 20; n >= few; few *= 8) {
    size *= 4;
  }
  return size;
}

// At least three standard deviations, in elements of the sample.
double spread_of(std::size_t sample) { return 1.6 * std::sqrt(static_cast<double>(sample)) + 1; }

template <class T>
Neighbours<T> by_sorting(T* first, std::size_t n, std::size_t rank) {
  std::nth_element(first, first + rank, first + n);
  const T at = first[rank];
  return {at, rank + 1 < n ? *std::min_element(first + rank + 1, first + n) : at};
}

// Number of elements below a value, and number equal to it.
struct Ties {
  std::size_t below = 0;
  std::size_t equal = 0;
};

template <class T>
Ties ties_of(const RealElements<T>& elements, bool magnitude, T value) {
  Ties ties;
  Scratch out((std::min(RealElements<T>::longest_part, elements.size()) + rank_padding) * sizeof(T));
  elements.each_part(0, elements.size(), [&](const std::byte* part, std::size_t n) {
    std::size_t equal = 0;
    ties.below += between(part, n, magnitude, Bounds<T>{value, value}, reinterpret_cast<T*>(out.data()), equal);
    ties.equal += equal;
  });
  return ties;
}

}  // namespace

template <class T>
Sample<T>::Sample(const RealElements<T>& elements) {
  const std::size_t n = elements.size();
  if (n <= small) {
    return;
  }
  const std::size_t wanted = sample_size(n);
  picked_.resize(wanted);
  std::uint64_t random = 0x9E3779B97F4A7C15U + n;
  std::size_t size = 0;
  for (std::size_t left = 4 * wanted; left > 0 && size < wanted;) {
    std::array<std::size_t, 1024> places;
    static_assert(std::size(places) <= block_size);
    const std::span<std::size_t> missing = std::span(places).first(std::min({wanted - size, left, places.size()}));
    left -= missing.size();
    for (std::size_t& place : missing) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      const Uint128 scaled = static_cast<Uint128>(random) * n;
      place = static_cast<std::size_t>(scaled >> 64);
    }
    T* const first = picked_.data() + size;
    elements.gather(missing, first);
    const T* const last = std::remove_if(first, first + missing.size(), [](T value) { return std::isnan(value); });
    size += static_cast<std::size_t>(last - first);
  }
  if (size < wanted) {
    picked_.clear();
  }
}

template <class T>
std::optional<Bounds<T>> Sample<T>::bounds(bool magnitude, double fraction) const {
  if (picked_.empty()) {
    return std::nullopt;
  }
  std::vector<T> values(picked_);
  if (magnitude) {
    std::transform(values.begin(), values.end(), values.begin(), [](T value) { return std::fabs(value); });
  }
  const auto size = static_cast<double>(values.size());
  const double place = fraction * size;
  const double spread = spread_of(values.size());
  const double from = std::floor(place - spread);
  const double to = std::ceil(place + spread);
  const T infinity = std::numeric_limits<T>::infinity();
  const auto at = [&values](double rank) {
    return neighbours(values.data(), values.size(), static_cast<std::size_t>(rank)).at;
  };
  return Bounds<T>{from < 0 ? -infinity : at(from), to >= size ? infinity : at(to)};
}

template <class T>
std::size_t Sample<T>::expected(std::size_t n) const {
  if (picked_.empty()) {
    return 0;
  }
  // One fifth more than the share of the sample between the bounds.
  const double share = 2.4 * spread_of(picked_.size()) / static_cast<double>(picked_.size());
  return static_cast<std::size_t>(share * static_cast<double>(n));
}

template <class T>
std::size_t between(const std::byte* source, std::size_t n, bool magnitude, Bounds<T> bounds, T* out,
                    std::size_t& found) {
  if (bounds.from < bounds.to) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    bounds = {std::nextafter(bounds.from, infinity), std::nextafter(bounds.to, -infinity)};
  }
  if constexpr (std::is_same_v<T, float>) {
    return kernels().between_float(source, n, magnitude, bounds.from, bounds.to, out, found);
  } else {
    return kernels().between_double(source, n, magnitude, bounds.from, bounds.to, out, found);
  }
}

template <class T>
std::optional<Neighbours<T>> neighbours(const RealElements<T>& elements, bool magnitude, const Enclosed<T>& found,
                                        std::size_t others, std::size_t rank) {
  const auto& [bounds, below, values, size] = found;
  const bool last = rank + 1 == others;
  if (bounds.from < bounds.to && rank >= below && rank < below + size) {
    Neighbours<T> around = neighbours(values, size, rank - below);
    if (rank + 1 == below + size && !last) {
      around.next = bounds.to;
    }
    return around;
  }
  // Many elements may equal a bound: zeros of activations, for instance, often include the median.
  const bool lower = rank < below;
  const T bound = lower ? bounds.from : bounds.to;
  const Ties ties = bounds.from < bounds.to ? ties_of(elements, magnitude, bound) : Ties{below, size};
  if (rank < ties.below || rank >= ties.below + ties.equal) {
    return std::nullopt;
  }
  if (last || rank + 1 < ties.below + ties.equal) {
    return Neighbours<T>{bound, bound};
  }
  if (!lower) {
    return std::nullopt;  // the next element was not searched for
  }
  return Neighbours<T>{bound, size > 0 ? neighbours(values, size, 0).at : bounds.to};
}

template <class T>
Neighbours<T> neighbours(T* values, std::size_t n, std::size_t rank) {
  if (n <= small) {
    return by_sorting(values, n, rank);
  }
  constexpr Dtype type = std::is_same_v<T, float> ? Dtype::float32 : Dtype::float64;
  const auto* const source = reinterpret_cast<const std::byte*>(values);
  const RealElements<T> elements(type, source, n);
  // No element is NaN, so there is always a sample.
  const Bounds<T> bounds = *Sample<T>(elements).bounds(false, static_cast<double>(rank) / static_cast<double>(n));
  Scratch buffer((n + rank_padding) * sizeof(T));
  Enclosed<T> found{bounds, 0, reinterpret_cast<T*>(buffer.data()), 0};
  found.below = between(source, n, false, bounds, found.values, found.size);
  std::optional<Neighbours<T>> around;
  if (found.size <= n - n / 8 || bounds.from == bounds.to) {
    around = neighbours(elements, false, found, n, rank);
  }  // otherwise the sample was misleading
  return around ? *around : by_sorting(values, n, rank);
}

template class Sample<float>;
template class Sample<double>;
template std::size_t between(const std::byte*, std::size_t, bool, Bounds<float>, float*, std::size_t&);
template std::size_t between(const std::byte*, std::size_t, bool, Bounds<double>, double*, std::size_t&);
template std::optional<Neighbours<float>> neighbours(const RealElements<float>&, bool, const Enclosed<float>&,
                                                     std::size_t, std::size_t);
template std::optional<Neighbours<double>> neighbours(const RealElements<double>&, bool, const Enclosed<double>&,
                                                      std::size_t, std::size_t);
template Neighbours<float> neighbours(float*, std::size_t, std::size_t);
template Neighbours<double> neighbours(double*, std::size_t, std::size_t);

}  // namespace smd::detail::reduce
