// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "storage/element_source.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "wire/event.hpp"

#include <smd/place.hpp>
#include <smd/value_reader.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::values {

/// What will be read of a file after a value.
struct NextReads {
  bool more = false;           ///< Anything at all.
  std::uint64_t together = 0;  ///< Values up to this offset are short and close enough for one read; 0: none is.
  std::uint64_t reach = 0;     ///< One request to a remote store can have what ends before this offset; 0: nothing.
};

/// An axis of a part: how many elements, how far apart in the value, and how far apart in the part.
struct Axis {
  std::int64_t size;
  std::int64_t from;
  std::int64_t to;
};

/// Opens values at their places: records, of which it checks framing, tag, type, shape and length; bare elements; and
/// numbers. Keeps the last file open. Each thread needs its own.
///
/// Problems: `not_found` if the file does not exist or was replaced; `not_yet` if it ends before the value does, which
/// is damage unless it is still being written; `stopped`; others unchanged. All name the file, and offsets count from
/// its start.
class Reader final : public Extent {
 public:
  /// `options`: what may read at once, of one value, and when to stop.
  Reader(storage::Storage& storage, bool verify, wire::ValueKinds kinds, ReadOptions options = {})
      : storage_(storage), verify_(verify), kinds_(kinds), options_(std::move(options)) {}

  /// Opens a value, which this object then is. `tag` is the name in its record; it and `place` must stay valid while
  /// the value is open. Of a large record, reads only the first and last bytes.
  Status open(const Place& place, std::string_view tag, NextReads next = {});
  void close() noexcept { file_.reset(); }
  /// Why the value could not be opened or read; nullopt if it could.
  [[nodiscard]] const std::optional<Problem>& problem() const noexcept { return problem_; }

  [[nodiscard]] std::span<const std::byte> view(std::uint64_t first, std::uint64_t at_most) override;
  [[nodiscard]] bool read(std::uint64_t first, std::span<std::byte> into) override;
  [[nodiscard]] std::optional<TensorValue> value() override;
  void narrow(const StridedPart& part) override;
  void in_any_order() noexcept override;
  void trust() noexcept override { verified_ = true; }
  void verify_while_reading(std::uint64_t first, std::uint64_t count) noexcept override;

 private:
  using Bytes = Outcome<std::span<const std::byte>>;

  Status open_here(NextReads next);
  Status open_file(std::uint64_t reach);
  bool open_once(NextReads next);
  Status check_type() const;
  Status open_elements(std::uint64_t together);
  void set_elements();
  Status hold_source();
  Status read_chunk(std::size_t i, std::uint64_t first, std::span<std::byte> into);
  void to_native(std::span<std::byte> elements, bool swapped) const;
  [[nodiscard]] Problem of_source(Problem problem) const;
  Status open_record(std::uint64_t together);
  Status load_record(std::uint64_t together);
  Status take_record(std::span<const std::byte> record);
  Status take_value(wire::Value value);
  Outcome<bool> outline_record();
  std::span<const std::byte> from_ahead(std::uint64_t together);
  void hold(std::span<const std::byte> elements) noexcept;
  [[nodiscard]] Status unchanged() const;
  [[nodiscard]] Problem reason(Problem problem) const;

  // Elements of the value before any part is taken of it.
  Bytes flat_view(std::uint64_t first, std::uint64_t at_most);
  Status flat_read(std::uint64_t first, std::span<std::byte> into);
  Status verify();
  Status check_crc(std::uint32_t crc) const;
  Status verified_by_source(const storage::ReadRun& run);
  Status add_to_run(std::uint64_t begin, std::span<const std::byte> bytes);
  Status fill(std::uint64_t offset, std::span<std::byte> into);

  Bytes part_view(std::uint64_t first);
  Status gather(const StridedPart& part, std::span<std::byte> into);
  Status transpose(std::span<const Axis> axes, const Axis& outer, const Axis& inner, std::int64_t from, std::int64_t to,
                   std::span<std::byte> into);
  void narrow_text(const StridedPart& part);

  /// Returns whether only reading shows where the file ends: it is inflated.
  [[nodiscard]] bool inflated() const noexcept { return file_ && file_->size() == storage::File::unknown_size; }
  [[nodiscard]] Problem placed(Problem problem) const;
  void fail(Problem problem) { problem_ = reason(std::move(problem)); }

  storage::Storage& storage_;
  bool verify_;
  wire::ValueKinds kinds_;
  ReadOptions options_;

  std::unique_ptr<storage::File> file_;
  std::string file_name_;
  std::optional<storage::FileStamp> stamp_;  ///< Which the source of the value says it has.
  bool may_be_compressed_ = false;  ///< Whether the file is, is checked only if it does not look like a plain one.
  Buffer record_;
  Buffer block_;
  Buffer ahead_;
  std::uint64_t ahead_begin_ = 0;  ///< The bytes of the file in `ahead_`.
  std::uint64_t ahead_end_ = 0;

  // The open value:
  const Place* place_ = nullptr;
  std::string_view tag_;
  std::optional<Problem> problem_;
  std::uint64_t flat_size_ = 0;         ///< Elements, before any part is taken.
  std::uint64_t stored_bytes_ = 0;      ///< Without the elements that only repeat the last one.
  const std::byte* held_ = nullptr;     ///< The stored elements, if they are in memory;
  std::uint64_t content_ = 0;           ///< otherwise their offset in the file.
  std::shared_ptr<std::byte[]> owned_;  ///< The memory, if they had to be decoded.
  std::array<std::byte, 8> number_{};
  bool verified_ = true;
  bool verifies_while_reading_ = false;
  storage::ReadRun run_;             ///< What was read last, if so.
  std::vector<std::byte> head_;      ///< Of a large record: the payload before the elements,
  std::vector<std::byte> tail_;      ///< the payload after them, and the footer.
  std::optional<StridedPart> part_;  ///< The part that was taken.
  Buffer part_block_;                ///< Elements of it, from `part_first_` on.
  std::uint64_t part_first_ = 0;
  std::uint64_t part_count_ = 0;
  const storage::ElementSource* source_ = nullptr;         ///< Of the elements; may be null.
  std::map<std::size_t, std::unique_ptr<Reader>> chunks_;  ///< By their numbers.
};

}  // namespace smd::detail::values
