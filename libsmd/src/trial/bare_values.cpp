// SPDX-License-Identifier: Apache-2.0
// Reads values that are not in records.
#include "trial/record_reader.hpp"

#include "text/escape.hpp"
#include "wire/little_endian.hpp"

#include <smd/shape.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace smd::detail::trial {

namespace {

constexpr std::size_t bare_block_bytes = 256 * 1024;

/// Returns a number that the catalog holds.
ReadRecord held_number(const BareValue& bare) {
  const std::size_t size = std::min(item_size(bare.dtype), sizeof *bare.number);
  const std::shared_ptr<std::byte[]> bytes = std::make_shared_for_overwrite<std::byte[]>(sizeof *bare.number);
  wire::store_little(bytes.get(), *bare.number);
  if (bare.dtype == Dtype::boolean) {
    wire::normalise_boolean({bytes.get(), size});
  }
  return {TensorValue(bare.dtype, {}, bytes, size), bare.wall_time, true};
}

Problem out_of_memory(const TensorLocation& location) {
  return {ProblemKind::io, location.file, location.offset, "memory ran out"};
}

}  // namespace

Status RecordReader::open_bare(const TensorLocation& location) {
  if (!location.bare->unread_type.empty()) {
    return Problem{ProblemKind::warning, location.file, location.offset,
                   "elements of type " + printable(location.bare->unread_type) + " are listed, and not read"};
  }
  const std::optional<std::uint64_t> count = element_count(location.bare->shape);
  const std::size_t size = item_size(location.bare->dtype);
  if (!count || size == 0 || *count > UINT64_MAX / size || *count * size != location.length) {
    return Problem{ProblemKind::damaged, location.file, location.offset,
                   std::to_string(location.length) + " bytes are not what type and shape say"};
  }
  if (auto opened = open(location); !opened) {
    return opened;
  }
  if (location.offset > file_->size() || location.length > file_->size() - location.offset) {
    return Problem{ProblemKind::not_yet, location.file, location.offset,
                   "the file has " + std::to_string(file_->size()) + " bytes and ends before the value's " +
                       std::to_string(location.length) + " bytes do"};
  }
  return ok();
}

Outcome<ReadRecord> RecordReader::read_bare(const TensorLocation& location, bool type_only) {
  const BareValue& bare = *location.bare;
  if (bare.number) {
    return held_number(bare);
  }
  if (auto opened = open_bare(location); !opened) {
    return std::move(opened.problem());
  }
  if (type_only) {
    return ReadRecord{TensorValue(bare.dtype, bare.shape, nullptr, 0), bare.wall_time, false};
  }
  const auto size = static_cast<std::size_t>(location.length);
  const std::shared_ptr<std::byte[]> bytes(new (std::nothrow) std::byte[std::max<std::size_t>(size, 1)]);
  if (!bytes) {
    return out_of_memory(location);
  }
  const std::span<std::byte> elements(bytes.get(), size);
  if (auto got = read_exactly(location, location.offset, elements); !got) {
    return placed(std::move(got.problem()), location, location.offset);
  }
  if (bare.dtype == Dtype::boolean) {
    wire::normalise_boolean(elements);
  }
  return ReadRecord{TensorValue(bare.dtype, bare.shape, bytes, size), bare.wall_time, false};
}

Status RecordReader::stream_bare(const TensorLocation& location, BlockSink& sink) {
  const BareValue& bare = *location.bare;
  if (bare.number) {
    const ReadRecord held = held_number(bare);
    sink.written(held.wall_time);
    if (sink.begin(held.value.dtype(), held.value.shape())) {
      sink.block(held.value.bytes());
    }
    return ok();
  }
  if (auto opened = open_bare(location); !opened) {
    return opened;
  }
  sink.written(bare.wall_time);
  if (!sink.begin(bare.dtype, bare.shape)) {
    return ok();
  }
  std::byte* const block = buffer_.reserve(bare_block_bytes);
  if (block == nullptr) {
    return out_of_memory(location);
  }
  for (std::uint64_t done = 0; done < location.length;) {
    const std::size_t size = std::min<std::uint64_t>(bare_block_bytes, location.length - done);
    if (auto got = read_exactly(location, location.offset + done, {block, size}); !got) {
      return placed(std::move(got.problem()), location, location.offset);
    }
    if (bare.dtype == Dtype::boolean) {
      wire::normalise_boolean({block, size});
    }
    if (!sink.block({block, size})) {
      return ok();
    }
    done += size;
  }
  return ok();
}

}  // namespace smd::detail::trial
