// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "wire/event.hpp"
#include "wire/framing.hpp"
#include "wire/inflate.hpp"
#include "wire/outline.hpp"

#include <smd/block_reader.hpp>
#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::trial {

/// A record that was read.
struct ReadRecord {
  TensorValue value;  ///< Without the elements that `repeats` counts.
  double wall_time = 0;
  bool has_checksum = false;  ///< The payload has a checksum, which is correct if it was verified.
  /// Number of further elements, each equal to the last one in `value`.
  std::uint64_t repeats = 0;

  /// Returns the value with all its elements. Nullopt if memory runs out.
  [[nodiscard]] std::optional<TensorValue> whole() &&;
};

/// Reads values: records by range, checking framing, tag, type, shape and length; bare elements; and numbers, which
/// their location holds. Keeps the last file open. Each thread needs its own reader.
///
/// Problems: `not_found` if the event file does not exist; `not_yet` if it ends before the record does, which is damage
/// unless it is still being written; others unchanged. All name the file, and offsets count from its start.
class RecordReader {
 public:
  /// `layout` determines the name of a record and the kinds of its values; null: the requested name, and a tensor.
  RecordReader(storage::Storage& storage, bool verify, const layout::Layout* layout = nullptr)
      : storage_(storage), verify_(verify), layout_(layout) {}

  Outcome<ReadRecord> read(const TensorLocation& location, std::string_view tag);
  /// As `read`, if the next record is in another file: a small record takes the fewest calls.
  Outcome<ReadRecord> read_once(const TensorLocation& location, std::string_view tag);
  /// As `read`, in blocks, with bounded memory for plain tensors of any size. Verifies a checksum before it passes the
  /// first block.
  Status stream(const TensorLocation& location, std::string_view tag, BlockSink& sink);
  /// Reads only type and shape; of a large record only its first and last bytes.
  Outcome<ReadRecord> peek(const TensorLocation& location, std::string_view tag);
  /// Announces which records will be read next, so that small adjacent ones are read together. Borrows `next` until the
  /// next call.
  void expect(std::span<const TensorLocation> next) noexcept;
  void close() noexcept { file_.reset(); }

 private:
  /// A large record whose elements are still on disk.
  struct Outlined {
    wire::Value value;
    std::uint64_t content_offset = 0;  ///< In the file.
    std::uint64_t content_bytes = 0;
    std::vector<std::byte> head;  ///< Payload before the elements.
    std::vector<std::byte> tail;  ///< Payload after them, and the footer.
    bool has_checksum = false;
  };

  /// Returns the name in the record.
  [[nodiscard]] std::string_view name_in(const TensorLocation& location, std::string_view tag) const noexcept {
    return layout_ == nullptr ? tag : layout_->record_name(location.file, tag);
  }
  [[nodiscard]] wire::ValueKinds kinds() const noexcept {
    return layout_ == nullptr ? wire::ValueKinds::tensors : layout_->value_kinds();
  }
  Outcome<wire::Value> parse(std::span<const std::byte> payload, const TensorLocation& location,
                             std::string_view tag) const {
    return wire::parse_value(payload, name_in(location, tag), kinds(), location.part);
  }
  Outcome<ReadRecord> read_bare(const TensorLocation& location, bool type_only);
  Status stream_bare(const TensorLocation& location, BlockSink& sink);
  /// Opens the file of bare elements. Checks that it holds them all, and that their size fits type and shape.
  Status open_bare(const TensorLocation& location);
  Status open(const TensorLocation& location);
  [[nodiscard]] std::uint64_t reach_of(const TensorLocation& location) const noexcept;
  Outcome<bool> is_compressed();
  /// Returns the whole payload, in `ahead_`, `buffer_` or `inflated_`.
  Outcome<std::span<const std::byte>> load_payload(const TensorLocation& location, bool& has_checksum);
  Outcome<std::span<const std::byte>> take_frame(std::span<const std::byte> record, bool& has_checksum) const;
  /// Nullopt if the record must be loaded whole, as are records of up to `whole_bytes`.
  Outcome<std::optional<Outlined>> outline(const TensorLocation& location, std::string_view tag,
                                           std::size_t whole_bytes);
  Outcome<std::optional<Outlined>> outline_compressed(const TensorLocation& location, std::string_view tag,
                                                      std::size_t whole_bytes);
  Status check_header(const TensorLocation& location);
  Status check_content(const TensorLocation& location, const Outlined& outlined);
  /// Returns an expected record from those that were read together. Empty if it must be read separately.
  std::span<const std::byte> from_ahead(const TensorLocation& location);
  Outcome<std::size_t> read_exactly(const TensorLocation& location, std::uint64_t offset, std::span<std::byte> into);
  Problem placed(Problem problem, const TensorLocation& location, std::uint64_t base) const;

  storage::Storage& storage_;
  bool verify_;
  const layout::Layout* layout_;
  std::unique_ptr<storage::File> file_;
  std::string file_name_;
  std::optional<wire::InflatedFile> inflater_;
  bool compressed_ = false;
  Buffer buffer_;
  std::span<const TensorLocation> expected_;
  Buffer ahead_;
  const std::byte* ahead_data_ = nullptr;
  const TensorLocation* ahead_first_ = nullptr;  ///< The first expected record in `ahead_`, all of the open file.
  const TensorLocation* ahead_end_ = nullptr;    ///< After the last one.
  std::vector<std::byte> inflated_;
};

}  // namespace smd::detail::trial
