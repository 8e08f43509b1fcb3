// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/archive.hpp"
#include "pytorch/pickle.hpp"
#include "pytorch/torch_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace smd::detail::pytorch {

/// The storages of a file.
struct Storages {
  std::vector<Member> members = {};  ///< By offset: storages, and whatever else an archive contains.
  /// Returns the index in `members` of the storage with a key. Null if nothing is known of storages.
  std::function<std::optional<std::uint32_t>(std::string_view key)> find = {};
  std::string_view folder = {};                  ///< What stands before a key in messages.
  bool swapped = false;                          ///< Elements are big-endian.
  std::uint64_t pickle_begin = 0;                ///< Where the pickle begins in the file, for messages.
  bool pickle_is_stored = false;                 ///< In one of the members, whose bytes can be read as elements.
  bool has_checksums = false;                    ///< The members have checksums.
  std::optional<storage::FileStamp> stamp = {};  ///< `storage::ElementSource::stamp`.
  /// What a TorchScript archive has beside its object, or null: a tuple of tensors, with a folder of its own.
  const Pickle* constants = nullptr;
  std::uint64_t constants_begin = 0;  ///< As `pickle_begin`.
};

/// What a pickle tells of a storage.
struct StorageFacts {
  std::string_view key;
  std::string_view dtype;   ///< Name; empty if the storage has no type.
  std::uint64_t count = 0;  ///< Elements; bytes if there is no type.
  std::uint64_t bytes = 0;
  std::uint64_t view_begin = 0;  ///< The part of it in which the tensor's offset counts, in bytes.
  std::uint64_t view_bytes = 0;
};

/// Returns nullopt if a value is no storage, or one that cannot be understood.
[[nodiscard]] std::optional<StorageFacts> storage_facts(const Pickle& pickle, Ref value);

/// Returns the element type that PyTorch names so (`float32`); nullopt if elements of the type are not read.
[[nodiscard]] std::optional<Dtype> torch_dtype(std::string_view name) noexcept;

/// Of several values with one key keeps only the last, as in Python: it takes the place of the first, and each of the
/// others is `nothing`. What is appended comes first.
void drop_replaced(const Pickle& pickle, std::vector<Pickle::Pair>& pairs);

/// Adds tensors and facts of a pickle to `file`. Without `Storages::find` no tensor can be read, and none is a problem;
/// in a file that is cut, none is a problem whose storage is missing.
/// The offsets of tensors are those that the members' `begin` tells. Moves the members.
void describe(const Pickle& pickle, Storages& storages, TorchFile& file, const Stop& stop);

}  // namespace smd::detail::pytorch
