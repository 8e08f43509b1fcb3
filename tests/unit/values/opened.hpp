// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "support/temp_dir.hpp"
#include "types/outcome.hpp"
#include "values/reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::test {

inline Place place_of(std::string file, std::uint64_t offset, std::uint64_t length,
                      std::optional<ValueType> type = {}) {
  Place place;
  place.file = std::make_shared<const std::string>(std::move(file));
  place.offset = offset;
  place.length = length;
  place.type = type ? std::make_shared<const ValueType>(*std::move(type)) : nullptr;
  return place;
}

/// A storage of one folder.
struct Store {
  Store(const std::string& name, std::string_view bytes) {
    dir.write(name, std::string(bytes));
    auto opened = detail::storage::open_local(dir.path());
    REQUIRE(opened);
    storage = *std::move(opened);
  }
  [[nodiscard]] detail::values::Reader reader(bool verify = true, unsigned jobs = 1) const {
    return {*storage, verify, detail::wire::ValueKinds::tensors, {.jobs = jobs}};
  }

  TempDir dir;
  std::unique_ptr<detail::storage::Storage> storage;
};

/// The value as a whole.
inline detail::Outcome<TensorValue> whole(detail::values::Reader& reader, const Place& place, std::string_view tag) {
  if (const detail::Status opened = reader.open(place, tag); !opened) {
    return opened.problem();
  }
  if (const std::optional<TensorValue> value = reader.value()) {
    return *value;
  }
  return *reader.problem();
}

/// The value block by block.
struct Blocks {
  Dtype dtype = Dtype::float32;
  Shape shape;
  std::vector<std::byte> bytes;
  int blocks = 0;
  std::size_t largest = 0;
};
inline detail::Outcome<Blocks> in_blocks(detail::values::Reader& reader, const Place& place, std::string_view tag) {
  if (const detail::Status opened = reader.open(place, tag); !opened) {
    return opened.problem();
  }
  Blocks all = {.dtype = reader.dtype(), .shape = reader.shape(), .bytes = {}};
  const bool done = reader.for_each_block([&](std::span<const std::byte> block) {
    ++all.blocks;
    all.largest = std::max(all.largest, block.size());
    all.bytes.insert(all.bytes.end(), block.begin(), block.end());
  });
  if (!done) {
    return *reader.problem();
  }
  return all;
}

inline std::vector<std::byte> noise(std::size_t bytes, unsigned most = 255) {
  std::mt19937 random(7);
  std::vector<std::byte> result(bytes);
  for (std::byte& byte : result) {
    byte = static_cast<std::byte>(random() % (most + 1));
  }
  return result;
}

inline bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace smd::test
