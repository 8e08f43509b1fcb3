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

}  // namespace

template <class T>
RankSearch<T>::RankSearch(const Sample<T>& sample, std::size_t n, bool magnitude, double percent)
    : magnitude_(magnitude),
      percent_(percent),
      bounds_(sample.bounds(magnitude, percent / 100)),
      expected_(sample.expected(n)) {}

template <class T>
void RankSearch<T>::add(const std::byte* part, std::size_t n) {
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

template <class T>
double RankSearch<T>::result(const RealElements<T>& elements, std::size_t others) {
  if (others == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double place = percent_ / 100 * static_cast<double>(others - 1);
  const double floor = std::floor(place);
  const auto rank = std::min(static_cast<std::size_t>(floor), others - 1);
  std::optional<Neighbours<T>> around;
  if (bounds_) {
    around = neighbours(elements, magnitude_, {*bounds_, below_, kept(), found_}, others, rank);
  }
  if (!around) {
    around = by_copying(elements, magnitude_, rank);
  }
  // numpy's _lerp, including its NaN for infinite distances.
  const double weight = place - floor;
  const auto a = static_cast<double>(around->at);
  const auto b = static_cast<double>(around->next);
  const double distance = b - a;
  return weight < 0.5 ? a + distance * weight : b - distance * (1 - weight);
}

template class RankSearch<float>;
template class RankSearch<double>;

template <class T>
RankSearch<T> Percentiles::Searches<T>::start(bool magnitude, double percent) {
  if (!sample) {
    sample.emplace(elements);
  }
  return RankSearch<T>(*sample, elements.size(), magnitude, percent);
}

template <class T>
RankSearch<T>* Percentiles::Searches<T>::find(bool magnitude, double percent) {
  const auto at = std::find_if(expected.begin(), expected.end(),
                               [&](const RankSearch<T>& search) { return search.is_of(magnitude, percent); });
  return at == expected.end() ? nullptr : &*at;
}

template <class T>
void Percentiles::Searches<T>::add(std::size_t n) {
  if (expected.empty()) {
    return;
  }
  elements.each_part(seen, n, [this](const std::byte* part, std::size_t size) {
    for (RankSearch<T>& search : expected) {
      search.add(part, size);
    }
  });
  seen += n;
}

template <class T>
double Percentiles::Searches<T>::of(bool magnitude, double percent, std::size_t others) {
  if (RankSearch<T>* const search = find(magnitude, percent)) {
    add(elements.size() - seen);
    return search->result(elements, others);
  }
  RankSearch<T> search = start(magnitude, percent);
  elements.each_part(0, elements.size(), [&](const std::byte* part, std::size_t n) { search.add(part, n); });
  return search.result(elements, others);
}

Percentiles::Percentiles(Dtype type, const std::byte* source, std::size_t n)
    : searches_(Searches<float>(RealElements<float>(type, source, n))) {
  if (!fits_float(type)) {
    searches_.emplace<Searches<double>>(RealElements<double>(type, source, n));
  }
}

void Percentiles::expect(bool magnitude, double percent) {
  constexpr std::size_t most = 4;
  std::visit(
      [&](auto& searches) {
        if (searches.expected.size() < most && searches.find(magnitude, percent) == nullptr) {
          searches.expected.push_back(searches.start(magnitude, percent));
        }
      },
      searches_);
}

bool Percentiles::expects() const {
  return std::visit([](const auto& searches) { return !searches.expected.empty(); }, searches_);
}

void Percentiles::add(std::size_t n) {
  std::visit([n](auto& searches) { searches.add(n); }, searches_);
}

double Percentiles::of(bool magnitude, double percent, std::size_t others) {
  return std::visit([&](auto& searches) { return searches.of(magnitude, percent, others); }, searches_);
}

}  // namespace smd::detail::reduce
