// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace smd::detail {

/// The last element of a chunk, for comparisons.
template <class T>
[[nodiscard]] const T& last_of(const std::vector<T>& chunk) noexcept {
  return chunk.back();
}

/// A sorted sequence with value semantics. Copies share chunks, so the cost of copying a sequence and inserting a few
/// elements does not depend on its length (except for one pointer for every few hundred elements).
/// `Chunk`: a vector of elements, or a type that is constructed from one and has the same accessors.
template <class T, class Chunk = std::vector<T>>
class SortedChunks {
 public:
  class iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    iterator() = default;
    reference operator*() const noexcept { return (*(*chunks_)[chunk_])[at_]; }
    pointer operator->() const noexcept { return &**this; }
    iterator& operator++() noexcept {
      if (++at_ == (*chunks_)[chunk_]->size()) {
        ++chunk_;
        at_ = 0;
      }
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator old = *this;
      ++*this;
      return old;
    }
    iterator& operator--() noexcept {
      if (at_ == 0) {
        at_ = (*chunks_)[--chunk_]->size();
      }
      --at_;
      return *this;
    }
    iterator operator--(int) noexcept {
      iterator old = *this;
      --*this;
      return old;
    }
    bool operator==(const iterator& other) const noexcept { return chunk_ == other.chunk_ && at_ == other.at_; }

   private:
    friend class SortedChunks;
    using Chunks = std::vector<std::shared_ptr<const Chunk>>;
    iterator(const Chunks& chunks, std::size_t chunk, std::size_t at) noexcept
        : chunks_(&chunks), chunk_(chunk), at_(at) {}

    const Chunks* chunks_ = nullptr;
    std::size_t chunk_ = 0;
    std::size_t at_ = 0;
  };
  using const_iterator = iterator;
  using value_type = T;

  [[nodiscard]] iterator begin() const noexcept { return {chunks_, 0, 0}; }
  [[nodiscard]] iterator end() const noexcept { return {chunks_, chunks_.size(), 0}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const T& front() const noexcept { return chunks_.front()->front(); }
  [[nodiscard]] const T& back() const noexcept { return chunks_.back()->back(); }
  /// Returns a value equal to `back()`. A chunk that makes its elements on demand returns it without making them.
  [[nodiscard]] const T& last() const noexcept { return last_of(*chunks_.back()); }
  /// Calls `visit(chunk)` for all chunks, in order.
  template <class Visit>
  void for_each_chunk(const Visit& visit) const {
    std::for_each(chunks_.begin(), chunks_.end(), [&](const auto& chunk) { visit(*chunk); });
  }
  /// Appends a chunk. Precondition: its elements come after all others.
  void push_back(std::shared_ptr<const Chunk> chunk) {
    size_ += chunk->size();
    chunks_.push_back(std::move(chunk));
  }

  /// Removes the chunk of `place` and all later ones. Returns their elements.
  [[nodiscard]] std::vector<T> take_from(iterator place) {
    place.at_ = 0;
    std::vector<T> taken(place, end());
    size_ -= taken.size();
    chunks_.resize(place.chunk_);
    return taken;
  }
  /// Returns the last element of the chunks that both have in common at their beginning; null if there are none.
  [[nodiscard]] const T* last_shared(const SortedChunks& other) const noexcept {
    const auto differ = std::mismatch(chunks_.begin(), chunks_.end(), other.chunks_.begin(), other.chunks_.end()).first;
    return differ == chunks_.begin() ? nullptr : &last_of(**std::prev(differ));
  }

  /// Returns the first element for which `is_before(element)` is false. Precondition: it is true for all elements
  /// before that one.
  template <class IsBefore>
  [[nodiscard]] iterator partition_point(IsBefore&& is_before) const {
    const auto chunk =
        std::partition_point(chunks_.begin(), chunks_.end(), [&](const auto& one) { return is_before(last_of(*one)); });
    if (chunk == chunks_.end()) {
      return end();
    }
    const auto at = std::partition_point((*chunk)->begin(), (*chunk)->end(), is_before);
    return {chunks_, static_cast<std::size_t>(chunk - chunks_.begin()),
            static_cast<std::size_t>(at - (*chunk)->begin())};
  }
  /// Returns the number of elements before `place`.
  [[nodiscard]] std::size_t rank(iterator place) const noexcept {
    std::size_t before = place.at_;
    for (std::size_t i = 0; i < place.chunk_; ++i) {
      before += chunks_[i]->size();
    }
    return before;
  }

  /// Returns the element that has `place` elements before it.
  [[nodiscard]] const T& nth(std::size_t place) const noexcept {
    std::size_t chunk = 0;
    for (; place >= chunks_[chunk]->size(); ++chunk) {
      place -= chunks_[chunk]->size();
    }
    return (*chunks_[chunk])[place];
  }

  /// Adds elements, sorted by `less`. `combine(there, added)` merges two that are equal.
  template <class Less, class Combine>
  void merge(std::vector<T> batch, Less&& less, Combine&& combine) {
    for (std::size_t next = 0; next < batch.size();) {
      if (chunks_.empty() || less(last_of(*chunks_.back()), batch[next])) {
        append(batch, next);
        return;
      }
      // Find the chunk for the next element, and all elements of the batch that go into the same chunk.
      const auto chunk = std::partition_point(chunks_.begin(), chunks_.end(),
                                              [&](const auto& one) { return less(last_of(*one), batch[next]); });
      std::size_t last = next;
      while (last < batch.size() && !less(last_of(**chunk), batch[last])) {
        ++last;
      }
      merge_into(static_cast<std::size_t>(chunk - chunks_.begin()), {batch.data() + next, last - next}, less, combine);
      next = last;
    }
  }
  template <class Less>
  void merge(std::vector<T> batch, Less&& less) {
    merge(std::move(batch), less, [](const T&, const T& added) { return added; });
  }

 private:
  using Chunks = std::vector<std::shared_ptr<const Chunk>>;
  static constexpr std::size_t chunk_elements = 256;

  // Appends the batch from `next` on after the last element.
  void append(std::vector<T>& batch, std::size_t next) {
    size_ += batch.size() - next;
    if (!chunks_.empty() && chunks_.back()->size() < chunk_elements) {
      std::vector<T> grown;
      grown.reserve(chunk_elements);
      grown.assign(chunks_.back()->begin(), chunks_.back()->end());
      while (next < batch.size() && grown.size() < chunk_elements) {
        grown.push_back(std::move(batch[next++]));
      }
      chunks_.back() = std::make_shared<const Chunk>(std::move(grown));
    }
    const Chunks more = split(std::span(batch).subspan(next));
    chunks_.insert(chunks_.end(), more.begin(), more.end());
  }

  // Moves elements into chunks.
  static Chunks split(std::span<T> elements) {
    Chunks parts;
    for (std::size_t at = 0; at < elements.size(); at += chunk_elements) {
      const std::span<T> part = elements.subspan(at, std::min(chunk_elements, elements.size() - at));
      parts.push_back(std::make_shared<const Chunk>(
          std::vector<T>(std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()))));
    }
    return parts;
  }

  template <class Less, class Combine>
  void merge_into(std::size_t chunk, std::span<T> added, Less& less, Combine& combine) {
    const Chunk& old = *chunks_[chunk];
    std::vector<T> merged;
    merged.reserve(old.size() + added.size());
    auto there = old.begin();
    for (T& element : added) {
      while (there != old.end() && less(*there, element)) {
        merged.push_back(*there++);
      }
      if (there != old.end() && !less(element, *there)) {
        merged.push_back(combine(*there++, element));
      } else {
        merged.push_back(std::move(element));
      }
    }
    merged.insert(merged.end(), there, old.end());
    size_ += merged.size() - old.size();
    if (merged.size() <= 2 * chunk_elements) {
      chunks_[chunk] = std::make_shared<const Chunk>(std::move(merged));
      return;
    }
    const Chunks parts = split(merged);
    const auto place = chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk));
    chunks_.insert(place, parts.begin(), parts.end());
  }

  Chunks chunks_;  // none is empty
  std::size_t size_ = 0;
};

/// A sequence that only grows, with value semantics. Copies share one buffer; the newest copy adds to it in place,
/// others copy it first. Elements that a copy can see never change. Copies may be read by many threads; threads that
/// add must share a lock.
template <class T>
class GrowingColumn {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }

  void push_back(T element) {
    if (!buffer_ || buffer_->size() != size_ || buffer_->size() == buffer_->capacity()) {
      auto grown = std::make_shared<std::vector<T>>();
      grown->reserve(std::max<std::size_t>(16, size_ * 2));
      grown->assign(data_, data_ + size_);
      buffer_ = std::move(grown);
      data_ = buffer_->data();
    }
    buffer_->push_back(std::move(element));
    ++size_;
  }

 private:
  std::shared_ptr<std::vector<T>> buffer_;
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace smd::detail
