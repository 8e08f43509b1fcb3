// SPDX-License-Identifier: Apache-2.0
#include "trial/record_reader.hpp"

#include "base/crc32c.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

namespace smd::detail::trial {

namespace {

/// Records up to this size are read whole; of larger ones, the first and last bytes are read first.
constexpr std::size_t whole_record_bytes = 256 * 1024;
/// Limit for streaming, if the sink prefers to get all elements in one block.
constexpr std::size_t whole_stream_bytes = 2048 * 1024;
/// Limit for compressed files: reading both ends of a record first would inflate it twice.
constexpr std::size_t whole_inflated_bytes = 8192 * 1024;
constexpr std::size_t block_bytes = 256 * 1024;
/// The bytes before the elements of a plain tensor are mostly fewer than this.
constexpr std::size_t small_head_bytes = 1024;
/// Records up to this size are worth reading before the file's length is known.
constexpr std::size_t small_record_bytes = 16 * 1024;
/// Small adjacent records are read together: the most bytes, and the largest gap between two records.
constexpr std::size_t ahead_bytes = 1024 * 1024;
constexpr std::size_t ahead_gap_bytes = 8192;
static_assert(block_bytes % 16 == 0, "blocks hold whole elements of every type");

Problem out_of_memory() { return {ProblemKind::io, {}, {}, "memory ran out"}; }

std::shared_ptr<std::byte[]> allocate(std::size_t bytes) noexcept {
  try {
    return std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Problem does_not_fill(std::uint64_t payload_bytes, std::uint64_t range) {
  return damaged("record of " + std::to_string(payload_bytes + wire::frame_bytes) +
                     " bytes does not fill its range of " + std::to_string(range),
                 0);
}

/// Makes an owning value of a parsed one that may borrow.
Outcome<ReadRecord> own(wire::Value&& value, bool has_checksum) {
  std::shared_ptr<const std::byte[]> bytes = value.owned;
  if (!bytes) {
    const std::shared_ptr<std::byte[]> copy = allocate(value.bytes.size());
    if (!copy) {
      return out_of_memory();
    }
    if (!value.bytes.empty()) {
      std::memcpy(copy.get(), value.bytes.data(), value.bytes.size());
    }
    bytes = copy;
  }
  return ReadRecord{TensorValue(value.dtype, std::move(value.shape), std::move(bytes), value.bytes.size()),
                    value.wall_time, has_checksum, value.repeats};
}

}  // namespace

std::optional<TensorValue> ReadRecord::whole() && {
  if (repeats == 0) {
    return std::move(value);
  }
  const std::size_t item = item_size(value.dtype());
  const std::span<const std::byte> stored = value.bytes();
  const std::size_t size = stored.size() + static_cast<std::size_t>(repeats) * item;
  const std::shared_ptr<std::byte[]> bytes = allocate(size);
  if (!bytes) {
    return std::nullopt;
  }
  std::memcpy(bytes.get(), stored.data(), stored.size());
  wire::fill_repeated({bytes.get() + stored.size(), size - stored.size()}, stored.last(item));
  return TensorValue(value.dtype(), value.shape(), bytes, size);
}

Problem RecordReader::placed(Problem problem, const TensorLocation& location, std::uint64_t base) const {
  problem.file = location.file;
  if (compressed_) {
    problem.text += wire::in_inflated_stream;
  }
  problem.offset = base + problem.offset.value_or(0);
  return problem;
}

/// Returns where the last of the expected records that closely follow this one in its file ends.
std::uint64_t RecordReader::reach_of(const TensorLocation& location) const noexcept {
  std::uint64_t reach = location.offset + std::min(location.length, UINT64_MAX - location.offset);
  const TensorLocation* const end = expected_.data() + expected_.size();
  const std::less<> before;  // total over all pointers
  if (expected_.empty() || before(&location, expected_.data()) || !before(&location, end)) {
    return reach;
  }
  for (const TensorLocation* next = &location + 1; next != end; ++next) {
    if (next->file != location.file || next->offset < reach || next->offset - reach > ahead_gap_bytes ||
        next->length > ahead_bytes) {
      break;
    }
    reach = next->offset + std::min(next->length, UINT64_MAX - next->offset);
  }
  return reach;
}

Status RecordReader::open(const TensorLocation& location) {
  if (file_ && file_name_ == location.file) {
    return ok();
  }
  file_.reset();
  inflater_.reset();
  compressed_ = false;
  auto file = storage_.open_at(location.file, location.offset, reach_of(location) - location.offset);
  if (!file) {
    Problem problem = std::move(file.problem());
    problem.file = location.file;
    return problem;
  }
  file_ = std::move(*file);
  file_name_ = location.file;
  return ok();
}

/// Called only when the file does not look like a plain one, so that plain files pay nothing for it.
Outcome<bool> RecordReader::is_compressed() {
  if (compressed_) {
    return true;
  }
  std::array<std::byte, wire::header_bytes> first{};
  auto got = file_->read_at(0, first);
  if (!got) {
    return std::move(got.problem());
  }
  compressed_ = wire::looks_compressed(std::span(first).first(*got));
  if (compressed_) {
    inflater_.emplace(
        [file = file_.get()](std::uint64_t offset, std::span<std::byte> into) { return file->read_at(offset, into); });
  }
  return compressed_;
}

Outcome<std::size_t> RecordReader::read_exactly(const TensorLocation& location, std::uint64_t offset,
                                                std::span<std::byte> into) {
  if (compressed_) {
    auto got = inflater_->read_at(offset, into);
    if (!got) {
      return wire::inflated_problem(std::move(got.problem()));
    }
    if (*got < into.size()) {
      return wire::past_the_end(location.offset, location.length);
    }
    return got;
  }
  auto got = file_->read_at(offset, into);
  if (got && *got < into.size()) {
    return Problem{ProblemKind::not_yet, {}, offset + *got - location.offset, "the file ends inside the record"};
  }
  return got;
}

/// Checks that a record's header has the length in the index, before anything is allocated or inflated for it.
Status RecordReader::check_header(const TensorLocation& location) {
  std::array<std::byte, wire::header_bytes> header{};
  if (auto got = read_exactly(location, location.offset, header); !got) {
    return std::move(got.problem());
  }
  const auto length = wire::parse_header(header);
  if (!length) {
    return length.problem();
  }
  return *length + wire::frame_bytes == location.length ? ok() : Status(does_not_fill(*length, location.length));
}

Outcome<std::span<const std::byte>> RecordReader::take_frame(std::span<const std::byte> record,
                                                             bool& has_checksum) const {
  if (!verify_) {
    auto length = wire::parse_header(record);
    if (!length) {
      return std::move(length.problem());
    }
    if (*length + wire::frame_bytes != record.size()) {
      return does_not_fill(*length, record.size());
    }
    has_checksum = !wire::is_magic_footer(record.last<wire::footer_bytes>());
    return record.subspan(wire::header_bytes, *length);
  }
  auto parsed = wire::parse_record(record);
  if (!parsed) {
    return std::move(parsed.problem());
  }
  has_checksum = parsed->protection == wire::Protection::checksum;
  return parsed->payload;
}

void RecordReader::expect(std::span<const TensorLocation> next) noexcept {
  expected_ = next;
  ahead_first_ = ahead_end_ = nullptr;
}

std::span<const std::byte> RecordReader::from_ahead(const TensorLocation& location) {
  const TensorLocation* const first = expected_.data();
  const TensorLocation* const end = first + expected_.size();
  const std::less<> before;  // total over all pointers
  if (expected_.empty() || before(&location, first) || !before(&location, end) || compressed_) {
    return {};
  }
  if (ahead_first_ == nullptr || before(&location, ahead_first_) || !before(&location, ahead_end_)) {
    // Records that closely follow each other, as hooks write them.
    const TensorLocation* last = &location;
    std::uint64_t reach = location.offset + location.length;  // inside the file, so no overflow
    const auto follows = [&](const TensorLocation& next) {
      return next.file == location.file && next.offset >= reach && next.offset - reach <= ahead_gap_bytes &&
             next.length <= small_record_bytes && next.offset <= file_->size() &&
             next.length <= file_->size() - next.offset && next.offset + next.length - location.offset <= ahead_bytes;
    };
    while (last + 1 != end && follows(last[1])) {
      ++last;
      reach = last->offset + last->length;
    }
    ahead_first_ = ahead_end_ = nullptr;
    if (last == &location) {
      return {};
    }
    const std::size_t size = reach - location.offset;
    std::byte* const data = ahead_.reserve(size);
    if (data == nullptr) {
      return {};
    }
    auto got = file_->read_at(location.offset, {data, size});
    if (!got || *got != size) {
      return {};  // reading the record separately reports the problem
    }
    ahead_first_ = &location;
    ahead_end_ = last + 1;
    ahead_data_ = data;
  }
  return {ahead_data_ + (location.offset - ahead_first_->offset), static_cast<std::size_t>(location.length)};
}

Outcome<std::span<const std::byte>> RecordReader::load_payload(const TensorLocation& location, bool& has_checksum) {
  std::optional<Problem> trouble;
  const bool inside = location.offset <= file_->size() && location.length <= file_->size() - location.offset;
  if (!inside) {
    trouble = Problem{ProblemKind::not_yet,
                      {},
                      {},
                      "the file has " + std::to_string(file_->size()) + " bytes, but the index names a record of " +
                          std::to_string(location.length) + " bytes here"};
  } else if (location.length < wire::frame_bytes) {
    trouble = damaged(std::to_string(location.length) + " bytes are too few for a record");
  } else if (!compressed_) {
    if (const std::span<const std::byte> ready = from_ahead(location); !ready.empty()) {
      if (auto payload = take_frame(ready, has_checksum)) {
        return payload;
      }
    }
    std::byte* const data = buffer_.reserve(location.length);
    if (data == nullptr) {
      return out_of_memory();
    }
    const std::span<std::byte> record(data, location.length);
    auto got = read_exactly(location, location.offset, record);
    if (!got) {
      return std::move(got.problem());
    }
    auto payload = take_frame(record, has_checksum);
    if (payload) {
      return payload;
    }
    trouble = std::move(payload.problem());
  }
  auto compressed = is_compressed();
  if (!compressed) {
    return std::move(compressed.problem());
  }
  if (!*compressed) {
    return std::move(*trouble);
  }
  if (location.length < wire::frame_bytes) {
    return damaged(std::to_string(location.length) + " bytes are too few for a record");
  }
  if (auto header = check_header(location); !header) {
    return std::move(header.problem());
  }
  inflated_ = {};
  auto range = inflater_->read_range(location.offset, location.length);
  if (!range) {
    return wire::inflated_problem(std::move(range.problem()));
  }
  inflated_ = std::move(*range);
  return take_frame(inflated_, has_checksum);
}

Outcome<std::optional<RecordReader::Outlined>> RecordReader::outline(const TensorLocation& location,
                                                                     std::string_view tag, std::size_t whole_bytes) {
  using Result = std::optional<Outlined>;
  if (location.length <= std::max(whole_bytes, compressed_ ? whole_inflated_bytes : 0)) {
    return Result{};
  }
  const bool inside = location.offset <= file_->size() && location.length <= file_->size() - location.offset;
  if (!compressed_ && !inside) {
    return outline_compressed(location, tag, whole_bytes);
  }
  const std::uint64_t payload_bytes = location.length - wire::frame_bytes;
  Outlined outlined;
  std::optional<wire::ContentPlace> place;
  for (const std::size_t size : {small_head_bytes, wire::outline_head_bytes}) {
    outlined.head.resize(wire::header_bytes + size);
    if (auto got = read_exactly(location, location.offset, outlined.head); !got) {
      return std::move(got.problem());
    }
    const auto length = wire::parse_header(outlined.head);
    if (!length || *length != payload_bytes) {
      return outline_compressed(location, tag, whole_bytes);
    }
    outlined.head.erase(outlined.head.begin(), outlined.head.begin() + wire::header_bytes);
    if (place = wire::find_content(outlined.head, payload_bytes); place) {
      break;
    }
  }
  if (!place) {
    return Result{};
  }
  const std::uint64_t content_end = place->offset + place->bytes;
  outlined.content_offset = location.offset + wire::header_bytes + place->offset;
  outlined.content_bytes = place->bytes;
  outlined.tail.resize(payload_bytes - content_end + wire::footer_bytes);
  if (auto got = read_exactly(location, location.offset + wire::header_bytes + content_end, outlined.tail); !got) {
    return std::move(got.problem());
  }
  outlined.head.resize(place->offset);
  const std::span<const std::byte> tail(outlined.tail);
  auto value = wire::parse_outline(*place, outlined.head, tail.first(tail.size() - wire::footer_bytes),
                                   name_in(location, tag), kinds(), location.part);
  if (!value) {
    return std::move(value.problem());
  }
  if (!*value) {
    return Result{};
  }
  outlined.value = std::move(**value);
  outlined.has_checksum = !wire::is_magic_footer(tail.last<wire::footer_bytes>());
  return Result{std::move(outlined)};
}

/// For a record that does not fit: it may be compressed. Nullopt if the file is not, or was known to be; reading the
/// whole record then reports the problem.
Outcome<std::optional<RecordReader::Outlined>> RecordReader::outline_compressed(const TensorLocation& location,
                                                                                std::string_view tag,
                                                                                std::size_t whole_bytes) {
  if (compressed_) {
    return std::optional<Outlined>();
  }
  auto compressed = is_compressed();
  if (!compressed) {
    return std::move(compressed.problem());
  }
  return *compressed ? outline(location, tag, whole_bytes) : std::optional<Outlined>();
}

/// Reads the elements once to verify the payload's checksum.
Status RecordReader::check_content(const TensorLocation& location, const Outlined& outlined) {
  std::uint32_t crc = crc32c(outlined.head);
  std::byte* const block = buffer_.reserve(block_bytes);
  if (block == nullptr) {
    return out_of_memory();
  }
  for (std::uint64_t done = 0; done < outlined.content_bytes;) {
    const std::size_t size = std::min<std::uint64_t>(block_bytes, outlined.content_bytes - done);
    if (auto got = read_exactly(location, outlined.content_offset + done, {block, size}); !got) {
      return std::move(got.problem());
    }
    crc = crc32c({block, size}, crc);
    done += size;
  }
  const std::span<const std::byte> tail(outlined.tail);
  crc = crc32c(tail.first(tail.size() - wire::footer_bytes), crc);
  auto checked = wire::check_footer_crc(tail.last<wire::footer_bytes>(), crc, location.length - wire::frame_bytes);
  if (!checked) {
    return std::move(checked.problem());
  }
  return ok();
}

Outcome<ReadRecord> RecordReader::read(const TensorLocation& location, std::string_view tag) try {
  if (location.bare) {
    return read_bare(location, false);
  }
  if (auto opened = open(location); !opened) {
    return std::move(opened.problem());
  }
  auto outlined = outline(location, tag, whole_record_bytes);
  if (!outlined) {
    return placed(std::move(outlined.problem()), location, location.offset);
  }
  if (!*outlined) {
    bool has_checksum = false;
    auto payload = load_payload(location, has_checksum);
    if (!payload) {
      return placed(std::move(payload.problem()), location, location.offset);
    }
    auto value = parse(*payload, location, tag);
    if (!value) {
      return placed(std::move(value.problem()), location, location.offset);
    }
    return own(std::move(*value), has_checksum);
  }
  Outlined& large = **outlined;
  const std::shared_ptr<std::byte[]> bytes = allocate(large.content_bytes);
  if (!bytes) {
    return placed(out_of_memory(), location, location.offset);
  }
  const std::span<std::byte> content(bytes.get(), large.content_bytes);
  if (auto got = read_exactly(location, large.content_offset, content); !got) {
    return placed(std::move(got.problem()), location, location.offset);
  }
  if (large.has_checksum && verify_) {
    const std::span<const std::byte> tail(large.tail);
    std::uint32_t crc = crc32c(content, crc32c(large.head));
    crc = crc32c(tail.first(tail.size() - wire::footer_bytes), crc);
    auto checked = wire::check_footer_crc(tail.last<wire::footer_bytes>(), crc, location.length - wire::frame_bytes);
    if (!checked) {
      return placed(std::move(checked.problem()), location, location.offset);
    }
  }
  if (large.value.dtype == Dtype::boolean) {
    wire::normalise_boolean(content);
  }
  return ReadRecord{TensorValue(large.value.dtype, std::move(large.value.shape), bytes, content.size()),
                    large.value.wall_time, large.has_checksum};
} catch (const std::bad_alloc&) {
  return placed(out_of_memory(), location, location.offset);
}

Outcome<ReadRecord> RecordReader::read_once(const TensorLocation& location, std::string_view tag) {
  const bool open_already = file_ && file_name_ == location.file;
  if (!location.bare && !open_already && location.length >= wire::frame_bytes &&
      location.length <= small_record_bytes) {
    std::byte* const data = buffer_.reserve(location.length);
    const std::span<std::byte> record(data, data == nullptr ? 0 : location.length);
    if (data != nullptr && storage_.read_once(location.file, location.offset, record)) {
      bool has_checksum = false;
      if (const auto payload = take_frame(record, has_checksum)) {
        if (auto value = parse(*payload, location, tag)) {
          return own(std::move(*value), has_checksum);
        }
      }
    }
  }
  return read(location, tag);  // also reports the problem
}

Outcome<ReadRecord> RecordReader::peek(const TensorLocation& location, std::string_view tag) try {
  if (location.bare) {
    return read_bare(location, true);
  }
  if (auto opened = open(location); !opened) {
    return std::move(opened.problem());
  }
  auto outlined = outline(location, tag, whole_record_bytes);
  if (!outlined) {
    return placed(std::move(outlined.problem()), location, location.offset);
  }
  if (!*outlined) {
    return read(location, tag);
  }
  Outlined& large = **outlined;
  return ReadRecord{TensorValue(large.value.dtype, std::move(large.value.shape), nullptr, 0), large.value.wall_time,
                    large.has_checksum};
} catch (const std::bad_alloc&) {
  return placed(out_of_memory(), location, location.offset);
}

Status RecordReader::stream(const TensorLocation& location, std::string_view tag, BlockSink& sink) try {
  if (location.bare) {
    return stream_bare(location, sink);
  }
  if (auto opened = open(location); !opened) {
    return opened;
  }
  auto outlined = outline(location, tag, sink.prefers_whole() ? whole_stream_bytes : block_bytes);
  if (!outlined) {
    return placed(std::move(outlined.problem()), location, location.offset);
  }
  if (!*outlined) {
    bool has_checksum = false;
    auto payload = load_payload(location, has_checksum);
    if (!payload) {
      return placed(std::move(payload.problem()), location, location.offset);
    }
    auto value = parse(*payload, location, tag);
    if (!value) {
      return placed(std::move(value.problem()), location, location.offset);
    }
    sink.written(value->wall_time);
    if (sink.begin(value->dtype, value->shape) && !value->bytes.empty()) {
      const bool more = sink.block(value->bytes);
      if (more && value->repeats > 0) {
        sink.repeat(value->bytes.last(item_size(value->dtype)), value->repeats);
      }
    }
    return ok();
  }
  const Outlined& large = **outlined;
  if (large.has_checksum && verify_) {
    if (auto checked = check_content(location, large); !checked) {
      return placed(std::move(checked.problem()), location, location.offset);
    }
  }
  sink.written(large.value.wall_time);
  if (!sink.begin(large.value.dtype, large.value.shape)) {
    return ok();
  }
  std::byte* const block = buffer_.reserve(block_bytes);
  if (block == nullptr) {
    return placed(out_of_memory(), location, location.offset);
  }
  for (std::uint64_t done = 0; done < large.content_bytes;) {
    const std::size_t size = std::min<std::uint64_t>(block_bytes, large.content_bytes - done);
    if (auto got = read_exactly(location, large.content_offset + done, {block, size}); !got) {
      return placed(std::move(got.problem()), location, location.offset);
    }
    if (large.value.dtype == Dtype::boolean) {
      wire::normalise_boolean({block, size});
    }
    if (!sink.block({block, size})) {
      return ok();
    }
    done += size;
  }
  return ok();
} catch (const std::bad_alloc&) {
  return placed(out_of_memory(), location, location.offset);
}

}  // namespace smd::detail::trial
