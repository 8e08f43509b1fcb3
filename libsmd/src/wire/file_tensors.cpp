// SPDX-License-Identifier: Apache-2.0
#include "wire/file_tensors.hpp"

#include <algorithm>

namespace smd::detail::wire {

std::uint32_t FileTensorsMaker::type_of(const ValueType& type) {
  constexpr std::size_t compared = 64;
  recent_.resize(compared);
  std::uint64_t hash = static_cast<std::uint64_t>(type.dtype);
  for (const std::vector<std::int64_t>* const sizes : {&type.shape, &type.strides}) {
    for (const std::int64_t size : *sizes) {
      hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9E3779B97F4A7C15;
    }
  }
  std::uint32_t& recent = recent_[(hash ^ hash >> 32) % compared];
  if (recent >= types_.size() || types_[recent] != type) {
    recent = static_cast<std::uint32_t>(types_.size());
    types_.push_back(type);
  }
  return recent;
}

void FileTensorsMaker::add(std::string_view name, const ValueType& type, FileTensors::Position where) {
  where.type = type_of(type);
  where.name = static_cast<std::uint32_t>(texts_.size());
  where.name_bytes = static_cast<std::uint32_t>(name.size());
  texts_.insert(texts_.end(), name.begin(), name.end());
  columns_.places.push_back(where);
}

FileTensors FileTensorsMaker::make(std::shared_ptr<const storage::ElementSource> source) && {
  columns_.sources.push_back(std::move(source));
  for (ValueType& type : types_) {
    FileTensors::Type& kept = columns_.types.emplace_back();
    kept.first_size = static_cast<std::uint32_t>(columns_.sizes.size());
    kept.dimensions = static_cast<std::uint32_t>(type.shape.size());
    kept.dtype = type.dtype;
    kept.unread = static_cast<std::uint32_t>(texts_.size());
    kept.unread_bytes = static_cast<std::uint32_t>(type.unread_type.size());
    texts_.insert(texts_.end(), type.unread_type.begin(), type.unread_type.end());
    columns_.sizes.insert(columns_.sizes.end(), type.shape.begin(), type.shape.end());
    kept.strided = !type.strides.empty();
    columns_.sizes.insert(columns_.sizes.end(), type.strides.begin(), type.strides.end());
    kept.source = 1;
    if (type.source) {
      columns_.sources.push_back(std::move(type.source));
      kept.source = static_cast<std::uint32_t>(columns_.sources.size());
    }
  }
  columns_.texts = std::make_shared_for_overwrite<char[]>(texts_.size());
  std::copy(texts_.begin(), texts_.end(), columns_.texts.get());
  return FileTensors(std::move(columns_));
}

}  // namespace smd::detail::wire
