// SPDX-License-Identifier: Apache-2.0
#include "reduce/select.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace smd::detail::reduce {
namespace {

template <class T>
T load(const std::byte* source, std::size_t i, bool magnitude) {
  T value;
  std::memcpy(&value, source + i * sizeof(T), sizeof(T));
  return magnitude ? std::fabs(value) : value;
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
  return neighbours(values.data(), values.size(), rank);
}

}  // namespace

template <class T>
RankSearch<T>::RankSearch(const std::byte* source, std::size_t n, const Sample<T>& sample, bool magnitude,
                          double percent)
    : source_(source),
      n_(n),
      magnitude_(magnitude),
      percent_(percent),
      bounds_(sample.bounds(magnitude, percent / 100)) {}

template <class T>
void RankSearch<T>::add(std::size_t n) {
  constexpr std::size_t part = 16384;
  for (const std::size_t end = seen_ + n; bounds_ && seen_ < end;) {
    const std::size_t size = std::min(part, end - seen_);
    // Equal elements need not be kept.
    const std::size_t place = bounds_->from == bounds_->to ? 0 : found_;
    const std::size_t needed = (place + size + rank_padding) * sizeof(T);
    if (needed > kept_.size()) {
      // An eighth of many is to be expected, and each part wants room for all of it.
      Scratch larger(std::max({needed, kept_.size() + kept_.size() / 2, (n_ / 8 + part + rank_padding) * sizeof(T)}));
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

template <class T>
RankSearch<T>* Percentiles::Searches<T>::find(bool magnitude, double percent) {
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const RankSearch<T>& search) { return search.is_of(magnitude, percent); });
  return at == all.end() ? nullptr : &*at;
}

template <class T>
RankSearch<T> Percentiles::Searches<T>::start(const std::byte* source, std::size_t n, bool magnitude, double percent) {
  if (!sample) {
    sample.emplace(source, n);
  }
  return RankSearch<T>(source, n, *sample, magnitude, percent);
}

Percentiles::Percentiles(Dtype type, const std::byte* source, std::size_t n) : source_(source), n_(n) {
  if (type == Dtype::float64) {
    searches_.emplace<Searches<double>>();
  }
}

void Percentiles::expect(bool magnitude, double percent) {
  constexpr std::size_t most = 4;
  std::visit(
      [&](auto& searches) {
        if (searches.all.size() < most && searches.find(magnitude, percent) == nullptr) {
          searches.all.push_back(searches.start(source_, n_, magnitude, percent));
        }
      },
      searches_);
}

bool Percentiles::expects() const {
  return std::visit([](const auto& searches) { return !searches.all.empty(); }, searches_);
}

void Percentiles::add(std::size_t n) {
  std::visit(
      [n](auto& searches) {
        for (auto& search : searches.all) {
          search.add(n);
        }
      },
      searches_);
}

double Percentiles::of(bool magnitude, double percent, std::size_t others) {
  return std::visit(
      [&](auto& searches) {
        auto* const search = searches.find(magnitude, percent);
        return search != nullptr ? search->result(others)
                                 : searches.start(source_, n_, magnitude, percent).result(others);
      },
      searches_);
}

}  // namespace smd::detail::reduce
