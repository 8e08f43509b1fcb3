// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// Numbers distinct texts in the order in which they are added. Texts do not move, and live as long as the table or any
/// copy of it: copies share them.
class NameTable {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  NameTable() = default;
  NameTable(const NameTable& other);
  NameTable& operator=(const NameTable& other) = delete;
  NameTable(NameTable&&) noexcept = default;
  NameTable& operator=(NameTable&&) noexcept = default;
  ~NameTable() = default;

  /// Reserves memory for a number of texts.
  void reserve(std::size_t texts);
  /// Returns the number of `text`; adds it if it is new.
  std::uint32_t add(std::string_view text) { return add(text, false); }
  /// As above, without a copy. Precondition: the text is in memory that was passed to `share`.
  std::uint32_t add_shared(std::string_view text) { return add(text, true); }
  /// Keeps memory for texts as long as the table or any copy of it.
  void share(std::shared_ptr<char[]> memory) { chunks_.push_back(std::move(memory)); }
  /// Returns the number of `text`, or `none`.
  [[nodiscard]] std::uint32_t find(std::string_view text) const noexcept;
  [[nodiscard]] std::string_view operator[](std::uint32_t id) const noexcept { return texts_[id]; }
  /// The texts by number, without the hash table.
  struct Texts {
    std::vector<std::string_view> by_number;
    std::vector<std::shared_ptr<char[]>> kept;
  };
  [[nodiscard]] Texts texts() const;
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(texts_.size()); }

 private:
  struct Slot {
    std::uint32_t id = none;
    std::uint32_t hash = 0;  // the upper half; texts are compared only if it is equal
  };
  std::uint32_t add(std::string_view text, bool shared);
  /// Returns the slot of a text, or the one where it would be added.
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::size_t hash) const noexcept;
  void grow(std::size_t slots);
  std::string_view keep(std::string_view text);

  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;  // open addressing; a power of two, at most half full
  std::vector<std::shared_ptr<char[]>> chunks_;
  std::size_t chunk_bytes_ = 256;  // of the next chunk; grows. Not copied: a copy may get only a few texts
  std::size_t chunk_left_ = 0;
  char* chunk_next_ = nullptr;
};

/// The parts of a stored name (docs/format.md): `smdebug/reductions/abs_mean/NAME` is reduction `abs_mean` of NAME. Any
/// other name is a tensor's own.
struct StoredName {
  std::string_view tensor;
  std::optional<std::string_view> reduction;
};
[[nodiscard]] StoredName parse_stored_name(std::string_view name) noexcept;

}  // namespace smd::detail::layout
