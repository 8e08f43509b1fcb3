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

constexpr std::size_t small = 400;  // below this, std::nth_element at once

// As many as pay for themselves: what lies between the bounds shrinks with the square root only, so eight times as many
// elements want four times the sample.
constexpr std::size_t sample_size(std::size_t n) {
  std::size_t size = n > 100000 ? 1024 : n > 10000 ? 256 : 64;
  for (std::size_t few = std::size_t{1} << 20; n >= few; few *= 8) {
    size *= 4;
  }
  return size;
}

// Three standard deviations at least, in elements of the sample.
double spread_of(std::size_t sample) { return 1.6 * std::sqrt(static_cast<double>(sample)) + 1; }

template <class T>
Neighbours<T> by_sorting(T* first, std::size_t n, std::size_t rank) {
  std::nth_element(first, first + rank, first + n);
  const T at = first[rank];
  return {at, rank + 1 < n ? *std::min_element(first + rank + 1, first + n) : at};
}

}  // namespace

template <class T>
Sample<T>::Sample(const Elements<T>& elements) {
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
  // One fifth more than the share of the sample that lies between the bounds.
  const double share = 2.4 * spread_of(picked_.size()) / static_cast<double>(picked_.size());
  return static_cast<std::size_t>(share * static_cast<double>(n));
}

template <class T>
std::size_t between(const std::byte* source, std::size_t n, bool magnitude, Bounds<T> bounds, T* out,
                    std::size_t& found) {
  if constexpr (std::is_same_v<T, float>) {
    return kernels().between_float(source, n, magnitude, bounds.from, bounds.to, out, found);
  } else {
    return kernels().between_double(source, n, magnitude, bounds.from, bounds.to, out, found);
  }
}

template <class T>
Neighbours<T> neighbours(T* values, std::size_t n, std::size_t rank) {
  std::array<Scratch, 2> buffers;
  for (int next = 0; n > small; next ^= 1) {
    const auto* const source = reinterpret_cast<const std::byte*>(values);
    constexpr Dtype type = std::is_same_v<T, float> ? Dtype::float32 : Dtype::float64;
    // Nothing is NaN, so there is always a sample.
    const Sample<T> sample(Elements<T>(type, source, n));
    const Bounds<T> bounds = *sample.bounds(false, static_cast<double>(rank) / static_cast<double>(n));
    if (buffers[next].size() == 0) {
      buffers[next] = Scratch((n + rank_padding) * sizeof(T));
    }
    auto* const inner = reinterpret_cast<T*>(buffers[next].data());
    std::size_t found = 0;
    const std::size_t below = between(source, n, false, bounds, inner, found);
    if (rank < below || std::min(rank + 1, n - 1) >= below + found) {
      break;
    }
    if (bounds.from == bounds.to) {
      return {bounds.from, bounds.from};
    }
    if (found > n - n / 8) {
      break;  // a poor sample, or many equal elements
    }
    rank -= below;
    values = inner;
    n = found;
  }
  return by_sorting(values, n, rank);
}

template class Sample<float>;
template class Sample<double>;
template std::size_t between(const std::byte*, std::size_t, bool, Bounds<float>, float*, std::size_t&);
template std::size_t between(const std::byte*, std::size_t, bool, Bounds<double>, double*, std::size_t&);
template Neighbours<float> neighbours(float*, std::size_t, std::size_t);
template Neighbours<double> neighbours(double*, std::size_t, std::size_t);

}  // namespace smd::detail::reduce
