// SPDX-License-Identifier: Apache-2.0
#include "wire/file_tensors.hpp"

#include <algorithm>

namespace smd::detail::wire {

void FileTensorsMaker::reserve(std::size_t tensors, std::size_t name_bytes) {
  columns_.places.reserve(tensors);
  texts_.reserve(texts_.size() + name_bytes);
}

std::uint32_t FileTensorsMaker::type_of(const ValueType& type) {
  std::uint64_t hash = static_cast<std::uint64_t>(type.dtype);
  for (const std::vector<std::int64_t>* const sizes : {&type.shape, &type.strides}) {
    for (const std::int64_t size : *sizes) {
      hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9E3779B97F4A7C15;
    }
  }
  std::uint32_t& recent = recent_[(hash ^ hash >> 32) % recent_.size()];
  if (recent < columns_.types.size() && is(columns_.types[recent], type)) {
    return recent;
  }
  recent = static_cast<std::uint32_t>(columns_.types.size());
  FileTensors::Type& kept = columns_.types.emplace_back();
  kept.first_size = static_cast<std::uint32_t>(columns_.sizes.size());
  kept.dimensions = static_cast<std::uint32_t>(type.shape.size());
  kept.strided = !type.strides.empty();
  columns_.sizes.insert(columns_.sizes.end(), type.shape.begin(), type.shape.end());
  columns_.sizes.insert(columns_.sizes.end(), type.strides.begin(), type.strides.end());
  kept.dtype = type.dtype;
  kept.unread = keep_text(type.unread_type);
  kept.unread_bytes = static_cast<std::uint32_t>(type.unread_type.size());
  kept.meaning = keep_text(type.meaning);
  kept.meaning_bytes = static_cast<std::uint32_t>(type.meaning.size());
  if (type.source) {
    kept.source = static_cast<std::uint32_t>(columns_.sources.size());
    columns_.sources.push_back(type.source);
  }
  return recent;
}

bool FileTensorsMaker::is(const FileTensors::Type& kept, const ValueType& type) const noexcept {
  const std::span<const std::int64_t> sizes = std::span(columns_.sizes).subspan(kept.first_size);
  return kept.dtype == type.dtype && std::ranges::equal(sizes.first(kept.dimensions), type.shape) &&
         kept.strided != type.strides.empty() &&
         (!kept.strided || std::ranges::equal(sizes.subspan(kept.dimensions, kept.dimensions), type.strides)) &&
         std::string_view(texts_.data() + kept.unread, kept.unread_bytes) == type.unread_type &&
         std::string_view(texts_.data() + kept.meaning, kept.meaning_bytes) == type.meaning &&
         (kept.source == 0 ? nullptr : columns_.sources[kept.source]) == type.source;
}

std::uint32_t FileTensorsMaker::keep_text(std::string_view text) {
  const auto at = static_cast<std::uint32_t>(texts_.size());
  texts_.insert(texts_.end(), text.begin(), text.end());
  return at;
}

void FileTensorsMaker::add(std::string_view name, FileTensors::Position where) {
  where.name = keep_text(name);
  where.name_bytes = static_cast<std::uint32_t>(name.size());
  columns_.places.push_back(where);
}

FileTensors FileTensorsMaker::make(std::shared_ptr<const storage::ElementSource> source) && {
  columns_.sources.front() = std::move(source);
  texts_.shrink_to_fit();
  const auto kept = std::make_shared<std::vector<char>>(std::move(texts_));
  columns_.texts = {kept, kept->data()};
  return FileTensors(std::move(columns_));
}

}  // namespace smd::detail::wire
