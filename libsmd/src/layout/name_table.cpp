// SPDX-License-Identifier: Apache-2.0
#include "layout/name_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

namespace smd::detail::layout {

namespace {
constexpr std::size_t first_slots = 64;
constexpr std::size_t longest_chunk_bytes = 16 * 1024;

std::uint32_t upper_half(std::size_t hash) noexcept { return static_cast<std::uint32_t>(std::uint64_t{hash} >> 32); }
}  // namespace

NameTable::NameTable(const NameTable& other)
    : texts_(other.texts_), slots_(other.slots_), chunks_(other.chunks_) {}  // new texts go to separate chunks

std::uint32_t NameTable::add(std::string_view text, bool shared) {
  if ((texts_.size() + 1) * 2 > slots_.size()) {
    grow(std::max(first_slots, slots_.size() * 4));
  }
  const std::size_t hash = std::hash<std::string_view>{}(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.id == none) {
    slot = {size(), upper_half(hash)};
    texts_.push_back(shared ? text : keep(text));
  }
  return slot.id;
}

std::uint32_t NameTable::find(std::string_view text) const noexcept {
  return slots_.empty() ? none : slots_[slot_of(text, std::hash<std::string_view>{}(text))].id;
}

std::size_t NameTable::slot_of(std::string_view text, std::size_t hash) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].id != none && (slots_[slot].hash != upper_half(hash) || texts_[slots_[slot].id] != text)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void NameTable::reserve(std::size_t texts) {
  texts_.reserve(texts);
  if (texts * 2 > slots_.size()) {
    grow(std::bit_ceil(texts * 2));
  }
}

NameTable::Texts NameTable::texts() const {
  Texts texts{{}, chunks_};
  texts.by_number.reserve(texts_.size());
  texts.by_number.assign(texts_.begin(), texts_.end());
  return texts;
}

void NameTable::grow(std::size_t slots) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : before) {
    if (slot.id != none) {
      slots_[slot_of(texts_[slot.id], std::hash<std::string_view>{}(texts_[slot.id]))] = slot;
    }
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

StoredName parse_stored_name(std::string_view name) noexcept {
  constexpr std::string_view reduction_prefix = "smdebug/reductions/";
  if (name.starts_with(reduction_prefix)) {
    const std::string_view rest = name.substr(reduction_prefix.size());
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos && slash > 0) {
      return {rest.substr(slash + 1), rest.substr(0, slash)};
    }
  }
  return {name, std::nullopt};
}

}  // namespace smd::detail::layout
