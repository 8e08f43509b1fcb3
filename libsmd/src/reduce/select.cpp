// SPDX-License-Identifier: Apache-2.0
#include "reduce/select.hpp"

#include "reduce/kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace smd::detail::reduce {
namespace {

constexpr std::size_t small = 600;   // below this, std::nth_element at once
constexpr std::size_t padding = 64;  // kernels may write so many elements past the end

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

// Two elements that almost surely enclose the one at this fraction of those that are not NaN. None if too few are not.
template <class T>
std::optional<Bounds<T>> guess(const std::byte* source, std::size_t n, bool magnitude, double fraction) {
  std::array<T, 256> sample;
  const std::size_t wanted = n > 20000 ? sample.size() : 64;
  std::uint64_t random = 0x9E3779B97F4A7C15U + n;
  std::size_t size = 0;
  for (std::size_t tries = 0; size < wanted && tries < 4 * wanted; ++tries) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const T value = load<T>(source, static_cast<std::size_t>((random >> 32) % n), magnitude);
    if (!std::isnan(value)) {
      sample[size++] = value;
    }
  }
  if (size < wanted) {
    return std::nullopt;
  }
  std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(size));
  const double place = fraction * static_cast<double>(size);
  const double spread = 1.6 * std::sqrt(static_cast<double>(size)) + 1;  // over three standard deviations
  const auto from = static_cast<std::ptrdiff_t>(std::floor(place - spread));
  const auto to = static_cast<std::ptrdiff_t>(std::ceil(place + spread));
  const T infinity = std::numeric_limits<T>::infinity();
  return Bounds<T>{from < 0 ? -infinity : sample[static_cast<std::size_t>(from)],
                   to >= static_cast<std::ptrdiff_t>(size) ? infinity : sample[static_cast<std::size_t>(to)]};
}

// How many elements lie below the bounds; those within go to `out`.
template <class T>
std::size_t between(const std::byte* source, std::size_t n, bool magnitude, Bounds<T> bounds, T* out,
                    std::size_t& found) {
  if constexpr (std::is_same_v<T, float>) {
    return kernels().between_float(source, n, magnitude, bounds.from, bounds.to, out, found);
  } else {
    return kernels().between_double(source, n, magnitude, bounds.from, bounds.to, out, found);
  }
}

// Of elements none of which is NaN. They are put in another order.
template <class T>
Neighbours<T> neighbours(T* values, std::size_t n, std::size_t rank) {
  std::array<Scratch, 2> buffers;
  for (int next = 0; n > small; next ^= 1) {
    const auto* const source = reinterpret_cast<const std::byte*>(values);
    // Infinite bounds take in everything, so there is always a guess.
    const Bounds<T> bounds = *guess<T>(source, n, false, static_cast<double>(rank) / static_cast<double>(n));
    if (buffers[next].size() == 0) {
      buffers[next] = Scratch((n + padding) * sizeof(T));
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

}  // namespace

template <class T>
RankSearch<T>::RankSearch(const std::byte* source, std::size_t n, bool magnitude, double percent)
    : source_(source), n_(n), magnitude_(magnitude), percent_(percent) {
  if (n > small) {
    bounds_ = guess<T>(source, n, magnitude, percent / 100);
  }
}

template <class T>
void RankSearch<T>::add(std::size_t n) {
  constexpr std::size_t part = 16384;
  for (const std::size_t end = seen_ + n; bounds_ && seen_ < end;) {
    const std::size_t size = std::min(part, end - seen_);
    // Equal elements need not be kept.
    const std::size_t place = bounds_->from == bounds_->to ? 0 : found_;
    const std::size_t needed = (place + size + padding) * sizeof(T);
    if (needed > kept_.size()) {
      // A fifth of all is to be expected, and each part wants room for all of it.
      Scratch larger(std::max({needed, kept_.size() + kept_.size() / 2, (n_ / 4 + part + padding) * sizeof(T)}));
      std::copy_n(kept_.data(), place * sizeof(T), larger.data());
      kept_ = std::move(larger);
    }
    std::size_t found = 0;
    below_ += between(source_ + seen_ * sizeof(T), size, magnitude_, *bounds_, kept() + place, found);
    found_ += found;
    seen_ += size;
  }
}

template <class T>
double RankSearch<T>::result(std::size_t others) {
  if (others == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  add(n_ - seen_);
  const double place = percent_ / 100 * static_cast<double>(others - 1);
  const double floor = std::floor(place);
  const auto rank = std::min(static_cast<std::size_t>(floor), others - 1);
  Neighbours<T> around;
  if (!bounds_ || rank < below_ || std::min(rank + 1, others - 1) >= below_ + found_) {
    around = by_copying<T>(source_, n_, magnitude_, rank);
  } else if (bounds_->from == bounds_->to) {
    around = {bounds_->from, bounds_->from};
  } else {
    around = neighbours(kept(), found_, rank - below_);
  }
  // numpy's _lerp, its NaN from infinite distances included.
  const double weight = place - floor;
  const auto a = static_cast<double>(around.at);
  const auto b = static_cast<double>(around.next);
  const double distance = b - a;
  return weight < 0.5 ? a + distance * weight : b - distance * (1 - weight);
}

template class RankSearch<float>;
template class RankSearch<double>;

namespace {

constexpr std::size_t most_in_passing = 4;

template <class T>
RankSearch<T>* find(std::vector<RankSearch<T>>& searches, bool magnitude, double percent) {
  const auto at = std::find_if(searches.begin(), searches.end(),
                               [&](const RankSearch<T>& search) { return search.is_of(magnitude, percent); });
  return at == searches.end() ? nullptr : &*at;
}

}  // namespace

Percentiles::Percentiles(Dtype type, const std::byte* source, std::size_t n) : source_(source), n_(n) {
  if (type == Dtype::float64) {
    searches_.emplace<std::vector<RankSearch<double>>>();
  }
}

void Percentiles::expect(bool magnitude, double percent) {
  std::visit(
      [&](auto& searches) {
        if (searches.size() < most_in_passing && find(searches, magnitude, percent) == nullptr) {
          searches.emplace_back(source_, n_, magnitude, percent);
        }
      },
      searches_);
}

bool Percentiles::expects() const {
  return std::visit([](const auto& searches) { return !searches.empty(); }, searches_);
}

void Percentiles::add(std::size_t n) {
  std::visit(
      [n](auto& searches) {
        for (auto& search : searches) {
          search.add(n);
        }
      },
      searches_);
}

double Percentiles::of(bool magnitude, double percent, std::size_t others) {
  return std::visit(
      [&]<class T>(std::vector<RankSearch<T>>& searches) {
        RankSearch<T>* const search = find(searches, magnitude, percent);
        return search != nullptr ? search->result(others)
                                 : RankSearch<T>(source_, n_, magnitude, percent).result(others);
      },
      searches_);
}

}  // namespace smd::detail::reduce
