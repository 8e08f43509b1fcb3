// SPDX-License-Identifier: Apache-2.0
#include "layout/payload.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::layout {

std::uint32_t TypeList::push_back(EntryType type) {
  constexpr std::size_t compared = 4;  // the last ones
  for (std::size_t back = 1; back <= std::min(compared, kinds_.size()); ++back) {
    if (kinds_[kinds_.size() - back] == type) {
      return which_.emplace_back(static_cast<std::uint32_t>(kinds_.size() - back));
    }
  }
  kinds_.push_back(std::move(type));
  return which_.emplace_back(static_cast<std::uint32_t>(kinds_.size() - 1));
}

bool TypeList::operator==(const TypeList& other) const {
  if (which_ == other.which_ && kinds_ == other.kinds_) {
    return true;
  }
  bool same = size() == other.size();
  for (std::size_t i = 0; same && i < size(); ++i) {
    same = (*this)[i] == other[i];
  }
  return same;
}

std::uint32_t* PayloadArena::take(std::size_t count, bool wide) {
  // Rounded to 8 bytes, so that every piece may hold wide numbers.
  const std::size_t words = ((wide ? count * 2 : count) + 1) & ~std::size_t{1};
  if (words > left_) {
    const std::size_t doubled = first_chunk_words << std::min<std::size_t>(chunks_.size(), 16);
    left_ = std::max(std::min(chunk_words, doubled), words);
    next_ = reinterpret_cast<std::uint32_t*>(
        chunks_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(left_ * sizeof(std::uint32_t))).get());
  }
  std::uint32_t* const taken = next_;
  next_ += words;
  left_ -= words;
  return taken;
}

const void* PayloadArena::keep(const std::vector<std::uint64_t>& numbers, bool wide) {
  std::uint32_t* const column = take(numbers.size(), wide);
  if (wide) {
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<std::uint64_t*>(column));
  } else {
    std::transform(numbers.begin(), numbers.end(), column,
                   [](std::uint64_t number) { return static_cast<std::uint32_t>(number); });
  }
  return column;
}

}  // namespace smd::detail::layout
