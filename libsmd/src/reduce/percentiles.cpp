// SPDX-License-Identifier: Apache-2.0
#include "reduce/percentiles.hpp"

#include "base/buffer.hpp"
#include "reduce/doubles.hpp"
#include "reduce/kernels.hpp"

#include <pthread.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace smd::detail::reduce {

namespace {

constexpr std::size_t small = 400;  // below this size std::nth_element is fastest

/// Kernels may write up to this many elements past the end.
constexpr std::size_t rank_padding = 64;

constexpr std::size_t largest_kept = std::size_t{1} << 20;

using Kept = std::array<Buffer, 4>;

// Returns buffers of this thread, at most 4 MiB together; null if there is no memory for them. A thread_local with a
// destructor would end the process then.
Kept* spare() noexcept {
  static const auto key = [] {
    pthread_key_t made{};
    const bool fails = pthread_key_create(&made, [](void* kept) { delete static_cast<Kept*>(kept); }) != 0;
    return fails ? std::nullopt : std::optional(made);
  }();
  if (!key) {
    return nullptr;
  }
  auto* kept = static_cast<Kept*>(pthread_getspecific(*key));
  if (kept == nullptr && (kept = new (std::nothrow) Kept) != nullptr && pthread_setspecific(*key, kept) != 0) {
    delete kept;
    kept = nullptr;
  }
  return kept;
}

/// Temporary memory for processing one tensor. Each thread keeps some of it for reuse: malloc returns large blocks to
/// the system, and paging them in again costs more than the work done in them.
class Scratch {
 public:
  Scratch() noexcept = default;

  /// Takes at least `bytes`, aligned for every type, uninitialised.
  explicit Scratch(std::size_t bytes) {
    Buffer* best = nullptr;
    if (Kept* const kept = spare(); kept != nullptr) {
      for (Buffer& one : *kept) {
        if (one.capacity() >= bytes && (best == nullptr || one.capacity() < best->capacity())) {
          best = &one;
        }
      }
    }
    if (best != nullptr) {
      std::swap(buffer_, *best);
    } else if (buffer_.reserve(bytes) == nullptr) {
      throw std::bad_alloc();
    }
  }

  Scratch(Scratch&& other) noexcept { std::swap(buffer_, other.buffer_); }
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }

  ~Scratch() {
    Kept* const kept = buffer_.capacity() == 0 || buffer_.capacity() > largest_kept ? nullptr : spare();
    if (kept == nullptr) {
      return;
    }
    const auto least = std::min_element(kept->begin(), kept->end(), [](const Buffer& left, const Buffer& right) {
      return left.capacity() < right.capacity();
    });
    if (least->capacity() < buffer_.capacity()) {
      std::swap(buffer_, *least);
    }
  }

  [[nodiscard]] std::byte* data() noexcept { return buffer_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.capacity(); }

 private:
  Buffer buffer_;
};

/// Two elements that enclose the one searched for, bounds included.
template <class T>
struct Bounds {
  T from;
  T to;
};

/// An element and the next one in order; both are the same if there is no next one.
template <class T>
struct Neighbours {
  T at;
  T next;
};

/// Number of elements below a value, and number equal to it.
struct Ties {
  std::size_t below = 0;
  std::size_t equal = 0;
};

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

/// Searches for the elements (with `magnitude`: |x|) strictly between the bounds, or equal to both, and returns how
/// many are less than these. They are written to `out`, which has room for all elements and `rank_padding` more.
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
Neighbours<T> by_sorting(T* first, std::size_t n, std::size_t rank) {
  std::nth_element(first, first + rank, first + n);
  const T at = first[rank];
  return {at, rank + 1 < n ? *std::min_element(first + rank + 1, first + n) : at};
}

template <class T>
Neighbours<T> neighbours(T* values, std::size_t n, std::size_t rank);

/// A random sample of many elements, which makes statements about the others cheap.
template <class T>
class Sample {
 public:
  /// Reads the sample immediately. With few elements there is no sample.
  explicit Sample(const RealElements<T>& elements) {
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

  /// Returns two elements that almost surely enclose the one (with `magnitude`: of all |x|) below which this fraction
  /// of the elements lies, NaN excluded. Returns nullopt if too few are not NaN.
  [[nodiscard]] std::optional<Bounds<T>> bounds(bool magnitude, double fraction) const {
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

  /// Returns how many of `n` elements to expect between such bounds; the true number is hardly ever greater.
  [[nodiscard]] std::size_t expected(std::size_t n) const {
    if (picked_.empty()) {
      return 0;
    }
    // One fifth more than the share of the sample between the bounds.
    const double share = 2.4 * spread_of(picked_.size()) / static_cast<double>(picked_.size());
    return static_cast<std::size_t>(share * static_cast<double>(n));
  }

 private:
  std::vector<T> picked_;  // no NaN; empty if it would be too small
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

template <class T>
Neighbours<T> by_copying(const RealElements<T>& elements, bool magnitude, std::size_t rank) {
  std::vector<T> values;
  values.reserve(elements.size());
  elements.each_part(0, elements.size(), [&](const std::byte* part, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      T value;
      std::memcpy(&value, part + i * sizeof(T), sizeof(T));
      if (!std::isnan(value)) {
        values.push_back(magnitude ? std::fabs(value) : value);
      }
    }
  });
  return neighbours(values.data(), values.size(), rank);
}

/// The search for one percentile. It reads the elements once, part by part, and afterwards only those between two
/// bounds that a sample gives. Wrong bounds are detected, and cost only time.
template <class T>
class RankSearch {
 public:
  /// @param sample a sample of the `n` elements.
  RankSearch(const Sample<T>& sample, std::size_t n, bool magnitude, double percent)
      : magnitude_(magnitude),
        percent_(percent),
        bounds_(sample.bounds(magnitude, percent / 100)),
        expected_(sample.expected(n)) {}

  /// Reads the next `n` elements, of T, not necessarily aligned.
  void add(const std::byte* part, std::size_t n) {
    if (!bounds_) {
      return;
    }
    const std::size_t place = bounds_->from == bounds_->to ? 0 : found_;  // with equal bounds the elements are known
    const std::size_t needed = (place + n + rank_padding) * sizeof(T);
    if (needed > kept_.size()) {
      // Each part needs room for all of its elements.
      Scratch larger(std::max({needed, kept_.size() + kept_.size() / 2, (expected_ + n + rank_padding) * sizeof(T)}));
      std::copy_n(kept_.data(), place * sizeof(T), larger.data());
      kept_ = std::move(larger);
    }
    std::size_t found = 0;
    below_ += between(part, n, magnitude_, *bounds_, kept() + place, found);
    found_ += found;
  }

  /// Returns the percentile once all elements have been added.
  /// @param others number of elements that are not NaN; 0 gives NaN.
  [[nodiscard]] double result(const RealElements<T>& elements, std::size_t others) {
    if (others == 0) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const auto [rank, weight] = percentile_place(percent_, others);
    std::optional<Neighbours<T>> around = enclosed(elements, others, rank);
    if (!around) {
      around = by_copying(elements, magnitude_, rank);
    }
    // numpy's _lerp, including its NaN for infinite distances.
    const auto a = static_cast<double>(around->at);
    const auto b = static_cast<double>(around->next);
    const double distance = b - a;
    return weight < 0.5 ? a + distance * weight : b - distance * (1 - weight);
  }

  /// Returns the element of a rank and the next one, among `others` that are not NaN. Returns nullopt if they were not
  /// found and are not equal to a bound, or if more than `most` elements were found between the bounds.
  [[nodiscard]] std::optional<Neighbours<T>> enclosed(const RealElements<T>& elements, std::size_t others,
                                                      std::size_t rank,
                                                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if (!bounds_ || (found_ > most && bounds_->from < bounds_->to)) {
      return std::nullopt;
    }
    const bool apart = bounds_->from < bounds_->to;
    const bool last = rank + 1 == others;
    if (apart && rank >= below_ && rank < below_ + found_) {
      Neighbours<T> around = neighbours(kept(), found_, rank - below_);
      if (rank + 1 == below_ + found_ && !last) {
        around.next = bounds_->to;
      }
      return around;
    }
    // Many elements may equal a bound: zeros of activations, for instance, often include the median.
    const bool lower = rank < below_;
    const T bound = lower ? bounds_->from : bounds_->to;
    const Ties ties = apart ? ties_of(elements, magnitude_, bound) : Ties{below_, found_};
    if (rank < ties.below || rank >= ties.below + ties.equal) {
      return std::nullopt;
    }
    if (last || rank + 1 < ties.below + ties.equal) {
      return Neighbours<T>{bound, bound};
    }
    if (!lower) {
      return std::nullopt;  // the next element was not searched for
    }
    return Neighbours<T>{bound, found_ > 0 ? neighbours(kept(), found_, 0).at : bounds_->to};
  }

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

/// Returns the element of this rank and the next one, among `n` elements none of which is NaN. Reorders them.
/// After Floyd and Rivest, "Expected time bounds for selection", CACM 18 (1975).
template <class T>
Neighbours<T> neighbours(T* values, std::size_t n, std::size_t rank) {
  if (n <= small) {
    return by_sorting(values, n, rank);
  }
  constexpr Dtype type = std::is_same_v<T, float> ? Dtype::float32 : Dtype::float64;
  const RealElements<T> elements(type, reinterpret_cast<const std::byte*>(values), n);
  RankSearch<T> search(Sample<T>(elements), n, false, 100 * static_cast<double>(rank) / static_cast<double>(n));
  elements.each_part(0, n, [&](const std::byte* part, std::size_t size) { search.add(part, size); });
  // If hardly fewer elements are left, the sample was misleading.
  const std::optional<Neighbours<T>> around = search.enclosed(elements, n, rank, n - n / 8);
  return around ? *around : by_sorting(values, n, rank);
}

template <class T>
class PercentilesOf final : public Percentiles {
 public:
  explicit PercentilesOf(const RealElements<T>& elements) : elements_(elements) {}

  void expect(bool magnitude, double percent) override {
    constexpr std::size_t most = 4;
    if (expected_.size() < most && find(magnitude, percent) == nullptr) {
      expected_.push_back(start(magnitude, percent));
    }
  }

  void add(std::size_t n) override {
    if (expected_.empty()) {
      return;
    }
    elements_.each_part(seen_, n, [this](const std::byte* part, std::size_t size) {
      for (RankSearch<T>& search : expected_) {
        search.add(part, size);
      }
    });
    seen_ += n;
  }

  double of(bool magnitude, double percent, std::size_t others) override {
    if (RankSearch<T>* const search = find(magnitude, percent)) {
      add(elements_.size() - seen_);
      return search->result(elements_, others);
    }
    RankSearch<T> search = start(magnitude, percent);
    elements_.each_part(0, elements_.size(), [&](const std::byte* part, std::size_t n) { search.add(part, n); });
    return search.result(elements_, others);
  }

 private:
  [[nodiscard]] RankSearch<T> start(bool magnitude, double percent) {
    if (!sample_) {
      sample_.emplace(elements_);
    }
    return RankSearch<T>(*sample_, elements_.size(), magnitude, percent);
  }

  [[nodiscard]] RankSearch<T>* find(bool magnitude, double percent) {
    const auto at = std::find_if(expected_.begin(), expected_.end(),
                                 [&](const RankSearch<T>& search) { return search.is_of(magnitude, percent); });
    return at == expected_.end() ? nullptr : &*at;
  }

  RealElements<T> elements_;
  std::optional<Sample<T>> sample_;  ///< Shared by all searches.
  std::vector<RankSearch<T>> expected_;
  std::size_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Percentiles> percentiles_of(Dtype type, const std::byte* source, std::size_t n) {
  return fits_float(type) ? percentiles_of(RealElements<float>(type, source, n))
                          : percentiles_of(RealElements<double>(type, source, n));
}

std::unique_ptr<Percentiles> percentiles_of(const RealElements<float>& elements) {
  return std::make_unique<PercentilesOf<float>>(elements);
}

std::unique_ptr<Percentiles> percentiles_of(const RealElements<double>& elements) {
  return std::make_unique<PercentilesOf<double>>(elements);
}

}  // namespace smd::detail::reduce
