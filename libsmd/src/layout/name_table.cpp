// SPDX-License-Identifier: Apache-2.0
#include "layout/name_table.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace smd::detail::layout {

namespace {
constexpr std::size_t first_slots = 64;
constexpr std::size_t longest_chunk_bytes = 16 * 1024;
}  // namespace

NameTable::NameTable(const NameTable& other)
    : texts_(other.texts_), slots_(other.slots_), chunks_(other.chunks_) {}  // both go on in chunks of their own

std::uint32_t NameTable::add(std::string_view text) {
  if ((texts_.size() + 1) * 2 > slots_.size()) {
    grow();
  }
  const std::size_t slot = slot_of(text);
  if (slots_[slot] == none) {
    slots_[slot] = size();
    texts_.push_back(keep(text));
  }
  return slots_[slot];
}

std::uint32_t NameTable::find(std::string_view text) const noexcept {
  return slots_.empty() ? none : slots_[slot_of(text)];
}

std::size_t NameTable::slot_of(std::string_view text) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(text)&mask;
  while (slots_[slot] != none && texts_[slots_[slot]] != text) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void NameTable::grow() {
  slots_.assign(std::max(first_slots, slots_.size() * 2), none);
  for (std::uint32_t id = 0; id < size(); ++id) {
    slots_[slot_of(texts_[id])] = id;
  }
}

std::string_view NameTable::keep(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  if (text.size() > chunk_left_) {
    chunk_left_ = std::max(chunk_bytes_, text.size());
    chunk_bytes_ = std::min(chunk_bytes_ * 2, longest_chunk_bytes);
    chunk_next_ = chunks_.emplace_back(new char[chunk_left_]).get();
  }
  char* const kept = chunk_next_;
  std::memcpy(kept, text.data(), text.size());
  chunk_next_ += text.size();
  chunk_left_ -= text.size();
  return {kept, text.size()};
}

}  // namespace smd::detail::layout
