// SPDX-License-Identifier: Apache-2.0
#include "layout/payload.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace smd::detail::layout {

namespace {

constexpr std::size_t few_chunks = 24;  // a megabyte
constexpr std::size_t large_chunk_bytes = std::size_t{8} << 20;
constexpr std::uintptr_t large_page_bytes = std::uintptr_t{2} << 20;

/// Requests large pages: their first use costs less than that of the small pages that they replace, which is most of
/// the cost of filling a column of a million numbers.
void ask_for_large_pages([[maybe_unused]] std::byte* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t skipped = (large_page_bytes - begin % large_page_bytes) % large_page_bytes;
  if (skipped < bytes) {
    (void)::madvise(memory + skipped, (bytes - skipped) / large_page_bytes * large_page_bytes, MADV_HUGEPAGE);
  }
#endif
}

}  // namespace

std::uint32_t TypeList::add_kind(EntryType type) {
  constexpr std::size_t compared = 4;  // only with the last kinds
  for (std::size_t back = 1; back <= std::min(compared, kinds_.size()); ++back) {
    if (kinds_[kinds_.size() - back] == type) {
      return static_cast<std::uint32_t>(kinds_.size() - back);
    }
  }
  kinds_.push_back(std::move(type));
  return static_cast<std::uint32_t>(kinds_.size() - 1);
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
    const std::size_t doubled = first_chunk_words << std::min<std::size_t>(chunks_.size(), 20);
    const bool large = chunks_.size() >= few_chunks;
    const std::size_t usual = large ? large_chunk_bytes / sizeof(std::uint32_t) : chunk_words;
    left_ = std::max(std::min(usual, doubled), words);
    std::byte* const chunk =
        chunks_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(left_ * sizeof(std::uint32_t))).get();
    if (large) {
      ask_for_large_pages(chunk, left_ * sizeof(std::uint32_t));
    }
    next_ = reinterpret_cast<std::uint32_t*>(chunk);
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
