// SPDX-License-Identifier: Apache-2.0
#include "layout/payload.hpp"

#include <sys/mman.h>

#include <new>

namespace smd::detail::layout {

namespace {

constexpr std::size_t few_chunks = 12;  // a quarter of a megabyte
constexpr std::size_t large_page_bytes = std::size_t{2} << 20;

/// Returns memory on its own large pages, if there are any: the first use of one costs less than that of the small
/// pages that it replaces, which is most of the cost of filling a column of a million numbers. Benchmark:
/// measurements.py, `smd-ls, 1 tag x 1,000,000 steps`.
void* take_large_pages(std::size_t bytes) {
  void* const memory = ::operator new(bytes, std::align_val_t(large_page_bytes));
#ifdef MADV_HUGEPAGE
  (void)::madvise(memory, bytes / large_page_bytes * large_page_bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace

std::uint32_t TypeList::add_kind(ValueType type) {
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
  const auto same = [&](std::uint32_t a, std::uint32_t b) { return kinds_[a] == other.kinds_[b]; };
  return (which_ == other.which_ && kinds_ == other.kinds_) || std::ranges::equal(which_, other.which_, same);
}

void PayloadArena::Delete::operator()(void* memory) const noexcept {
  if (large) {
    ::operator delete(memory, std::align_val_t(large_page_bytes));
  } else {
    ::operator delete(memory);
  }
}

std::uint32_t* PayloadArena::take(std::size_t count, bool wide) {
  // Rounded to 8 bytes, so that every piece may hold wide numbers.
  const std::size_t words = ((wide ? count * 2 : count) + 1) & ~std::size_t{1};
  if (words > left_) {
    const std::size_t doubled = first_chunk_words << std::min<std::size_t>(chunks_.size(), 20);
    const bool large = chunks_.size() >= few_chunks;
    left_ = std::max(large ? large_page_bytes / sizeof(std::uint32_t) : std::min(chunk_words, doubled), words);
    const std::size_t bytes = left_ * sizeof(std::uint32_t);
    std::unique_ptr<void, Delete> chunk(large ? take_large_pages(bytes) : ::operator new(bytes), Delete{large});
    next_ = static_cast<std::uint32_t*>(chunk.get());
    chunks_.push_back(std::move(chunk));
  }
  std::uint32_t* const taken = next_;
  next_ += words;
  left_ -= words;
  return taken;
}

const void* PayloadArena::keep(const std::vector<std::uint64_t>& numbers, bool wide) {
  std::uint32_t* const column = take(numbers.size(), wide);
  if (wide) {
    std::ranges::copy(numbers, reinterpret_cast<std::uint64_t*>(column));
  } else {
    std::ranges::transform(numbers, column, [](std::uint64_t number) { return static_cast<std::uint32_t>(number); });
  }
  return column;
}

Payload PayloadArena::columns(const std::vector<std::uint64_t>& starts, const std::vector<std::uint64_t>& lengths) {
  const auto too_wide = [](std::uint64_t number) { return number > UINT32_MAX; };
  const bool wide_lengths = std::ranges::any_of(lengths, too_wide);
  Payload payload;
  payload.count = static_cast<std::uint32_t>(starts.size());
  payload.wide = std::ranges::any_of(starts, too_wide);
  payload.length_form = wide_lengths ? LengthForm::wide : LengthForm::narrow;
  payload.starts = keep(starts, payload.wide);
  payload.lengths = keep(lengths, wide_lengths);
  return payload;
}

}  // namespace smd::detail::layout
