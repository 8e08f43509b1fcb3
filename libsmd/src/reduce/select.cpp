// SPDX-License-Identifier: Apache-2.0
#include "reduce/select.hpp"

#include "reduce/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace smd::detail::reduce {
namespace {

constexpr std::size_t small = 600;  // below this, std::nth_element at once

template <class T>
T load(const std::byte* source, std::size_t i, bool magnitude) {
  T value;
  std::memcpy(&value, source + i * sizeof(T), sizeof(T));
  return magnitude ? std::fabs(value) : value;
}

template <class T>
struct Neighbours {
  T at;
  T next;  // the same as `at` if there is none after it
};

template <class T>
Neighbours<T> by_sorting(T* first, std::size_t n, std::size_t rank) {
  std::nth_element(first, first + rank, first + n);
  const T at = first[rank];
  return {at, rank + 1 < n ? *std::min_element(first + rank + 1, first + n) : at};
}

template <class T>
Neighbours<T> by_copying(const std::byte* source, std::size_t n, bool magnitude, std::size_t rank) {
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const T value = load<T>(source, i, magnitude);
    if (!std::isnan(value)) {
      values.push_back(value);
    }
  }
  return by_sorting(values.data(), values.size(), rank);
}

// After Floyd and Rivest: a sorted sample gives two bounds that almost surely enclose the wanted elements; one fast
// pass keeps what lies between, and the same is done with that. A wrong guess is noticed, and costs time only.
template <class T>
Neighbours<T> neighbours(const std::byte* source, std::size_t n, std::size_t others, bool magnitude, std::size_t rank) {
  const std::byte* const whole = source;
  const std::size_t whole_size = n;
  const std::size_t whole_rank = rank;
  const bool whole_magnitude = magnitude;
  const auto give_up = [&] { return by_copying<T>(whole, whole_size, whole_magnitude, whole_rank); };
  if (n <= small || others < n / 2) {
    return give_up();
  }
  std::unique_ptr<T[]> current;
  std::unique_ptr<T[]> kept;
  std::uint64_t random = 0x9E3779B97F4A7C15U;
  std::size_t left = others;
  while (n > small) {
    std::array<T, 256> sample;
    const std::size_t wanted = n > 20000 ? sample.size() : 64;
    std::size_t size = 0;
    for (std::size_t tries = 0; size < wanted && tries < 4 * wanted; ++tries) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      const T value = load<T>(source, static_cast<std::size_t>((random >> 32) % n), magnitude);
      if (!std::isnan(value)) {
        sample[size++] = value;
      }
    }
    if (size < wanted) {
      return give_up();
    }
    std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(size));
    const double place = static_cast<double>(rank) / static_cast<double>(left) * static_cast<double>(size);
    const double spread = 1.6 * std::sqrt(static_cast<double>(size)) + 1;  // over three standard deviations
    const auto from_at = static_cast<std::ptrdiff_t>(std::floor(place - spread));
    const auto to_at = static_cast<std::ptrdiff_t>(std::ceil(place + spread));
    const T infinity = std::numeric_limits<T>::infinity();
    const T from = from_at < 0 ? -infinity : sample[static_cast<std::size_t>(from_at)];
    const T to = to_at >= static_cast<std::ptrdiff_t>(size) ? infinity : sample[static_cast<std::size_t>(to_at)];
    if (kept == nullptr) {
      kept.reset(new T[n + 64]);
    }
    std::size_t found = 0;
    std::size_t below;
    if constexpr (std::is_same_v<T, float>) {
      below = kernels().between_float(source, n, magnitude, from, to, kept.get(), found);
    } else {
      below = kernels().between_double(source, n, magnitude, from, to, kept.get(), found);
    }
    const std::size_t last_wanted = std::min(rank + 1, left - 1);
    if (rank < below || last_wanted >= below + found) {
      return give_up();
    }
    if (from == to) {
      return {from, from};
    }
    if (found > n - n / 8) {
      // Many equal elements, or a poor sample.
      return by_sorting(kept.get(), found, rank - below);
    }
    rank -= below;
    std::swap(current, kept);
    source = reinterpret_cast<const std::byte*>(current.get());
    magnitude = false;
    n = found;
    left = found;
  }
  return by_sorting(current.get(), n, rank);
}

}  // namespace

template <class T>
double percentile(const std::byte* source, std::size_t n, std::size_t others, bool magnitude, double percent) {
  if (others == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double place = percent / 100 * static_cast<double>(others - 1);
  const double floor = std::floor(place);
  const auto rank = std::min(static_cast<std::size_t>(floor), others - 1);
  const Neighbours<T> around = neighbours<T>(source, n, others, magnitude, rank);
  // numpy's _lerp, its NaN from infinite distances included.
  const double weight = place - floor;
  const auto a = static_cast<double>(around.at);
  const auto b = static_cast<double>(around.next);
  const double distance = b - a;
  return weight < 0.5 ? a + distance * weight : b - distance * (1 - weight);
}

template double percentile<float>(const std::byte*, std::size_t, std::size_t, bool, double);
template double percentile<double>(const std::byte*, std::size_t, std::size_t, bool, double);

}  // namespace smd::detail::reduce
