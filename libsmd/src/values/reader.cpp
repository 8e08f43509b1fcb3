// SPDX-License-Identifier: Apache-2.0
#include "values/reader.hpp"

#include "base/crc32.hpp"
#include "base/crc32c.hpp"
#include "storage/inflated_file.hpp"
#include "text/escape.hpp"
#include "wire/first_bytes.hpp"
#include "wire/framing.hpp"
#include "wire/little_endian.hpp"
#include "wire/outline.hpp"
#include "wire/wandb_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace smd::detail::values {

namespace {

/// Records up to this size are loaded whole; of larger ones, the first and last bytes are read first.
constexpr std::size_t whole_record_bytes = 256 * 1024;
/// The same for compressed files: reading both ends of a record first would inflate it twice.
constexpr std::size_t whole_inflated_bytes = 8192 * 1024;
/// The bytes before the elements of a plain tensor are mostly fewer than this.
constexpr std::size_t small_head_bytes = 1024;
/// Records up to this size are worth reading before the file's length is known.
constexpr std::size_t small_record_bytes = 16 * 1024;
/// The most bytes between two questions whether to stop.
constexpr std::size_t local_read_bytes = 8192 * 1024;
static_assert(Extent::block_bytes % 16 == 0, "blocks hold whole elements of every type");

Problem out_of_memory() { return make_problem(ProblemKind::io, "memory ran out"); }

Problem does_not_fill(std::uint64_t payload_bytes, std::uint64_t range) {
  return damaged(
      fmt::format("record of {} bytes does not fill its range of {}", payload_bytes + wire::frame_bytes, range), 0);
}

/// Returns how many elements lie from the first to the last one; nullopt if strides are negative or too large.
/// Precondition: there are elements.
std::optional<std::uint64_t> span_of(const ValueType& type) noexcept {
  if (type.strides.empty()) {
    return element_count(type.shape);
  }
  if (type.strides.size() != type.shape.size()) {
    return std::nullopt;
  }
  std::uint64_t last = 0;
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
    std::uint64_t distance = 0;
    if (type.strides[axis] < 0 || __builtin_mul_overflow(type.shape[axis] - 1, type.strides[axis], &distance) ||
        __builtin_add_overflow(last, distance, &last)) {
      return std::nullopt;
    }
  }
  return last == UINT64_MAX ? std::nullopt : std::optional(last + 1);
}

}  // namespace

Problem Reader::placed(Problem problem) const {
  if (!problem.file.empty()) {
    return problem;
  }
  problem.file = *place_->file;
  if (inflated()) {
    problem.text += wire::in_inflated_stream;
  }
  problem.offset = place_->offset + problem.offset.value_or(0);
  return problem;
}

Status Reader::open(const Place& place, std::string_view tag, NextReads next) {
  place_ = &place;
  tag_ = tag;
  problem_.reset();
  part_.reset();
  owned_.reset();
  held_ = nullptr;
  source_ = nullptr;
  chunks_.clear();
  repeats_ = 0;
  has_checksum_ = false;
  random_access_ = true;
  verified_ = true;
  verifies_while_reading_ = false;
  run_ = {};
  Status opened = out_of_memory();
  try {
    opened = open_here(next);
  } catch (const std::bad_alloc&) {
    opened = placed(out_of_memory());
  }
  if (!opened) {
    const Status same = unchanged();
    problem_ = (same ? opened : same).problem();
    return *problem_;
  }
  return ok();
}

/// Returns a problem if the open file is not the one whose header says where the elements are.
Status Reader::unchanged() const {
  const Status same = source_ == nullptr || file_ == nullptr ? ok() : source_->unchanged(*file_);
  return same ? ok() : Status(in_file(same.problem(), *place_->file));
}

/// Returns why the value cannot be read: what seems damaged may only be that another file was described.
Problem Reader::reason(Problem problem) const {
  Status same = unchanged();
  return placed(std::move(same ? problem : same.problem()));
}

Status Reader::open_here(NextReads next) {
  switch (place_->form()) {
    case ValueForm::number:
      wire::store_little(number_.data(), place_->number);
      dtype_ = place_->type->dtype;
      shape_.clear();
      flat_size_ = size_ = 1;
      wall_time_ = place_->wall_time;
      has_checksum_ = true;
      to_native(number_, false);
      hold(std::span(number_).first(std::min(item_size(dtype_), number_.size())));
      return ok();
    case ValueForm::elements:
      if (const Status known = check_type(); !known) {
        return placed(known.problem());
      }
      set_elements();
      if (source_ != nullptr && !source_->chunks.empty()) {
        return ok();
      }
      if (source_ != nullptr && !source_->held.empty()) {
        return hold_source();
      }
      break;
    case ValueForm::record:
    case ValueForm::images:
    case ValueForm::clips:
      if (open_once(next)) {
        return ok();
      }
  }
  if (Status opened = open_file(next.reach); !opened) {
    return opened;
  }
  Status opened = place_->has_record() ? open_record(next.together) : open_elements(next.together);
  return opened ? ok() : Status(placed(std::move(opened.problem())));
}

void Reader::hold(std::span<const std::byte> elements) noexcept {
  static constexpr std::byte none{};
  held_ = elements.empty() ? &none : elements.data();
  stored_bytes_ = elements.size();
}

Status Reader::open_file(std::uint64_t reach) {
  const std::optional<storage::FileStamp> stamp = source_ == nullptr ? std::nullopt : source_->stamp;
  if (file_ && file_name_ == *place_->file && stamp_ == stamp) {
    return ok();
  }
  file_.reset();
  ahead_end_ = 0;
  const std::uint64_t end = place_->offset + std::min(place_->length, UINT64_MAX - place_->offset);
  auto file = storage_.open_at(*place_->file, place_->offset, std::max(reach, end) - place_->offset);
  if (!file) {
    return in_file(std::move(file.problem()), *place_->file);
  }
  file_ = std::move(*file);
  file_name_ = *place_->file;
  stamp_ = stamp;
  may_be_compressed_ = true;
  return ok();
}

/// Reads a small record with as few calls as possible, if nothing else of its file will be read. Returns false if that
/// does not succeed; opening the file then shows the problem.
bool Reader::open_once(NextReads next) {
  const std::string& name = *place_->file;
  if (next.more || (file_ && file_name_ == name) || place_->length < wire::frame_bytes ||
      place_->length > small_record_bytes) {
    return false;
  }
  std::byte* const data = record_.reserve(place_->length);
  const std::span<std::byte> record(data, data == nullptr ? 0 : place_->length);
  return data != nullptr && storage_.read_once(name, place_->offset, record) && take_record(record);
}

Status Reader::check_type() const {
  const ValueType& type = *place_->type;
  if (!type.unread_type.empty()) {
    return make_problem(ProblemKind::warning,
                        place_->length == 0 && dtype_from_name(type.unread_type)
                            ? "only type and shape are in the file, no elements of type " + type.unread_type
                            : "elements of type " + printable(type.unread_type) + " are listed, and not read");
  }
  const std::optional<std::uint64_t> count = element_count(type.shape);
  const std::optional<std::uint64_t> stored = count && *count != 0 ? span_of(type) : count;
  const std::size_t item = item_size(type.dtype);
  const auto fits = [&](const std::optional<std::uint64_t>& elements) {
    return elements && item != 0 && *elements <= UINT64_MAX / item;
  };
  if (!fits(count) || !fits(stored) || *stored * item != place_->length) {
    return damaged(fmt::format("{} bytes are not what type and shape say", place_->length));
  }
  return ok();
}

void Reader::set_elements() {
  const ValueType& type = *place_->type;
  dtype_ = type.dtype;
  shape_ = type.shape;
  size_ = *element_count(shape_);
  wall_time_ = place_->wall_time;
  content_ = place_->offset;
  stored_bytes_ = place_->length;
  flat_size_ = stored_bytes_ / item_size(dtype_);
  if (!type.strides.empty()) {
    part_ = StridedPart{shape_, type.strides, 0};
    part_count_ = 0;
  }
  source_ = type.source.get();
  has_checksum_ = source_ != nullptr && source_->has_checksums;
}

/// Takes the elements that the source holds.
Status Reader::hold_source() {
  std::byte* const data = record_.reserve(source_->held.size());
  if (data == nullptr || source_->held.size() != stored_bytes_) {
    return data == nullptr ? out_of_memory() : damaged("its elements are not what type and shape say");
  }
  std::ranges::copy(source_->held, data);
  to_native({data, source_->held.size()}, source_->swapped);
  hold({data, source_->held.size()});
  return ok();
}

/// Makes elements as files have them what `view` returns.
void Reader::to_native(std::span<std::byte> elements, bool swapped) const {
  const std::size_t width = item_size(dtype_) / (is_complex(dtype_) ? 2 : 1);
  for (std::size_t at = 0; swapped && width > 1 && at < elements.size(); at += width) {
    std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(at),
                 elements.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
  if (dtype_ == Dtype::boolean) {
    wire::normalise_boolean(elements);
  }
}

/// Says of which tensor a problem with its source is; its offset is that in the file.
Problem Reader::of_source(Problem problem) const {
  problem.file = *place_->file;
  if (problem.kind != ProblemKind::stopped) {
    problem.text.insert(0, "tensor " + in_quotes(tag_) + ": ");
  }
  return problem;
}

Status Reader::open_elements(std::uint64_t together) {
  if (source_ != nullptr && size_ != 0) {
    auto begin = source_->find(*file_, place_->offset);
    if (!begin) {
      return of_source(std::move(begin.problem()));
    }
    content_ = *begin;
    verified_ = !(verify_ && has_checksum_);
  }
  if (content_ > file_->size() || place_->length > file_->size() - content_) {
    return make_problem(
        ProblemKind::not_yet,
        fmt::format("the file has {} bytes and ends before the value's {} bytes do", file_->size(), place_->length));
  }
  const bool as_stored = content_ == place_->offset && dtype_ != Dtype::boolean && !(source_ && source_->swapped);
  if (const auto ready = from_ahead(together); !ready.empty() && as_stored) {
    hold(ready);
  }
  return ok();
}

Status Reader::open_record(std::uint64_t together) {
  Status loaded = load_record(together);
  if (loaded || !may_be_compressed_ ||
      (loaded.problem().kind != ProblemKind::damaged && loaded.problem().kind != ProblemKind::not_yet)) {
    return loaded;
  }
  may_be_compressed_ = false;
  std::array<std::byte, wire::header_bytes> first{};
  const auto got = file_->read_at(0, first);
  if (!got) {
    return got.problem();
  }
  if (!wire::looks_compressed(std::span(first).first(*got))) {
    return loaded;
  }
  file_ = std::make_unique<storage::InflatedFile>(std::move(file_));
  ahead_end_ = 0;
  return load_record(0);
}

Status Reader::load_record(std::uint64_t together) {
  random_access_ = !inflated();
  const std::uint64_t length = place_->length;
  if (place_->offset > file_->size() || length > file_->size() - place_->offset) {
    return make_problem(
        ProblemKind::not_yet,
        fmt::format("the file has {} bytes, but the index names a record of {} bytes here", file_->size(), length));
  }
  if (length < wire::frame_bytes) {
    return damaged(fmt::format("{} bytes are too few for a record", length));
  }
  if (const std::span<const std::byte> ready = from_ahead(together); !ready.empty() && take_record(ready)) {
    return ok();
  }
  if (kinds_ != wire::ValueKinds::wandb && length > (inflated() ? whole_inflated_bytes : whole_record_bytes)) {
    if (const auto outlined = outline_record(); !outlined || *outlined) {
      return outlined ? ok() : Status(outlined.problem());
    }
    std::array<std::byte, 1> last;  // before so much memory is taken for it
    if (Status there = fill(place_->offset + length - 1, last); !there) {
      return there;
    }
  }
  std::byte* const data = record_.reserve(length);
  if (data == nullptr) {
    return out_of_memory();
  }
  const Status filled = fill(place_->offset, {data, length});
  return filled ? take_record({data, length}) : filled;
}

/// Returns the bytes of the place if they were read together with its neighbours, or can be now. Empty if they must be
/// read by themselves.
std::span<const std::byte> Reader::from_ahead(std::uint64_t together) {
  const std::uint64_t end = place_->offset + place_->length;
  if (place_->offset < ahead_begin_ || end > ahead_end_) {
    if (together <= end || together > file_->size() || inflated()) {
      return {};
    }
    ahead_end_ = 0;
    const std::size_t size = together - place_->offset;
    std::byte* const data = ahead_.reserve(size);
    if (data == nullptr || !fill(place_->offset, {data, size})) {
      return {};  // reading the record by itself shows the problem
    }
    ahead_begin_ = place_->offset;
    ahead_end_ = together;
  }
  return {ahead_.data() + (place_->offset - ahead_begin_), static_cast<std::size_t>(place_->length)};
}

Status Reader::take_record(std::span<const std::byte> record) {
  if (kinds_ == wire::ValueKinds::wandb) {
    auto value = wire::parse_wandb_value(record, place_->offset, tag_);
    has_checksum_ = true;
    return value ? take_value(*std::move(value)) : Status(std::move(value.problem()));
  }
  const auto length = wire::parse_header(record);
  if (!length) {
    return length.problem();
  }
  if (*length + wire::frame_bytes != record.size()) {
    return does_not_fill(*length, record.size());
  }
  const std::span<const std::byte> payload = record.subspan(wire::header_bytes, *length);
  const auto footer = record.last<wire::footer_bytes>();
  if (verify_) {
    if (const auto checked = wire::check_footer(footer, payload); !checked) {
      return checked.problem();
    }
  }
  auto value = wire::parse_value(payload, tag_, kinds_, place_->form());
  if (!value) {
    return std::move(value.problem());
  }
  has_checksum_ = !wire::is_magic_footer(footer);
  return take_value(*std::move(value));
}

Status Reader::take_value(wire::Value value) {
  dtype_ = value.dtype;
  shape_ = std::move(value.shape);
  repeats_ = value.repeats;
  wall_time_ = value.wall_time;
  owned_ = std::move(value.owned);
  flat_size_ = size_ = *element_count(shape_);
  hold(value.bytes);
  return ok();
}

/// Reads all of a large record but its elements. Returns false if the record must be loaded whole.
Outcome<bool> Reader::outline_record() {
  const std::uint64_t payload_bytes = place_->length - wire::frame_bytes;
  std::optional<wire::ContentPlace> content;
  for (const std::size_t size : {small_head_bytes, wire::outline_head_bytes}) {
    head_.resize(wire::header_bytes + size);
    if (Status got = fill(place_->offset, head_); !got) {
      return std::move(got.problem());
    }
    const auto length = wire::parse_header(head_);
    if (!length) {
      return length.problem();
    }
    if (*length != payload_bytes) {
      return does_not_fill(*length, place_->length);
    }
    head_.erase(head_.begin(), head_.begin() + wire::header_bytes);
    if (content = wire::find_content(head_, payload_bytes); content) {
      break;
    }
  }
  if (!content) {
    return false;
  }
  const std::uint64_t content_end = content->offset + content->bytes;
  content_ = place_->offset + wire::header_bytes + content->offset;
  tail_.resize(payload_bytes - content_end + wire::footer_bytes);
  if (Status got = fill(place_->offset + wire::header_bytes + content_end, tail_); !got) {
    return std::move(got.problem());
  }
  head_.resize(content->offset);
  const std::span<const std::byte> tail(tail_);
  const auto footer = tail.last<wire::footer_bytes>();
  auto value =
      wire::parse_outline(*content, head_, tail.first(tail.size() - wire::footer_bytes), tag_, kinds_, place_->form());
  if (!value) {
    return std::move(value.problem());
  }
  if (!*value) {
    return false;
  }
  has_checksum_ = !wire::is_magic_footer(footer);
  verified_ = !has_checksum_ || !verify_;
  (void)take_value(**std::move(value));
  held_ = nullptr;  // they are in the file
  stored_bytes_ = content->bytes;
  return true;
}

Status Reader::check_crc(std::uint32_t crc) const {
  const std::span<const std::byte> tail(tail_);
  crc = crc32c(tail.first(tail.size() - wire::footer_bytes), crc);
  const auto checked = wire::check_footer_crc(tail.last<wire::footer_bytes>(), crc, place_->length - wire::frame_bytes);
  return checked ? ok() : Status(checked.problem());
}

void Reader::verify_while_reading(std::uint64_t first, std::uint64_t count) noexcept {
  if (verified_ || part_) {
    return;
  }
  const bool whole = first == 0 && count >= flat_size_ - repeats_;
  verifies_while_reading_ =
      place_->has_record() ? whole : source_->chunks.empty() && source_->protects(place_->offset, stored_bytes_);
  verified_ = !verifies_while_reading_ && first != 0;  // who reads the first elements verifies the whole
}

/// Takes note of stored bytes that were read, and verifies the checksum if they are the last.
Status Reader::add_to_run(std::uint64_t begin, std::span<const std::byte> bytes) {
  const bool record = place_->has_record();
  if (begin == 0 || begin != run_.end) {
    run_ = {begin, begin, record ? crc32c(head_) : 0};
  }
  run_.crc = record ? crc32c(bytes, run_.crc) : crc32(bytes, run_.crc);
  run_.end += bytes.size();
  if (!record) {
    return verified_by_source(run_);
  }
  Status right = run_.end == stored_bytes_ ? check_crc(run_.crc) : ok();
  verified_ = run_.end == stored_bytes_ && right;
  return right;
}

Status Reader::verified_by_source(const storage::ReadRun& run) {
  auto verified = source_->verify_read(*file_, place_->offset, run, options_);
  verified_ = verified && *verified;
  return verified ? ok() : Status(of_source(std::move(verified.problem())));
}

/// Reads the elements once, and keeps them if they are few.
Status Reader::verify() {
  if (!place_->has_record()) {
    if (held_ != nullptr && source_->protects(place_->offset, stored_bytes_)) {
      return verified_by_source({0, stored_bytes_, crc32({held_, stored_bytes_})});
    }
    ReadOptions options = options_;
    options.jobs = storage_.remote() ? 1 : options.jobs;  // one request at a time
    Status right = source_->verify(*file_, place_->offset, options);
    verified_ = static_cast<bool>(right);
    return right ? ok() : Status(of_source(std::move(right.problem())));
  }
  const bool keeps = stored_bytes_ <= most_view_bytes;
  std::byte* const data = keeps ? record_.reserve(stored_bytes_) : block_.reserve(block_bytes);
  if (data == nullptr) {
    return out_of_memory();
  }
  std::uint32_t crc = crc32c(head_);
  for (std::uint64_t done = 0; done < stored_bytes_;) {
    const std::size_t size = std::min(stored_bytes_ - done, std::uint64_t{block_bytes});
    const std::span<std::byte> block(data + (keeps ? done : 0), size);
    if (Status got = fill(content_ + done, block); !got) {
      return got;
    }
    crc = crc32c(block, crc);
    done += size;
  }
  if (Status checked = check_crc(crc); !checked) {
    return checked;
  }
  verified_ = true;
  if (keeps) {
    to_native({data, stored_bytes_}, false);
    hold({data, stored_bytes_});
  }
  return ok();
}

Status Reader::fill(std::uint64_t offset, std::span<std::byte> into) {
  const std::size_t most = storage_.remote() ? into.size() : local_read_bytes;  // a remote store divides it itself
  do {
    if (options_.stop && options_.stop()) {
      return make_problem(ProblemKind::stopped, "reading was stopped");
    }
    const std::span<std::byte> piece = into.first(std::min(most, into.size()));
    auto got = file_->read_at(offset, piece);
    if (!got) {
      return std::move(got.problem());
    }
    if (*got < piece.size()) {
      return inflated()
                 ? damaged(fmt::format("range ends at byte {} of the inflated file, which has fewer",
                                       place_->offset + place_->length))
                 : Problem{ProblemKind::not_yet, {}, offset + *got - place_->offset, "the file ends inside the record"};
    }
    offset += piece.size();
    into = into.subspan(piece.size());
  } while (!into.empty());
  return unchanged();
}

/// Precondition: the element exists.
Reader::Bytes Reader::flat_view(std::uint64_t first, std::uint64_t at_most) {
  const bool verify_now = !verified_ && (!verifies_while_reading_ || held_ != nullptr);
  if (Status checked = verify_now ? verify() : ok(); !checked) {
    return std::move(checked.problem());
  }
  const std::size_t item = item_size(dtype_);
  if (held_ != nullptr) {
    if (item == 0) {
      return std::span(held_, stored_bytes_);
    }
    if (const std::uint64_t stored = stored_bytes_ / item; first < stored) {
      return std::span(held_ + first * item, std::min(at_most, stored - first) * item);
    }
  }
  const std::size_t most = held_ != nullptr ? block_bytes : most_view_bytes;
  const std::size_t size = std::min({at_most, flat_size_ - first, std::uint64_t{most / item}}) * item;
  std::byte* const data = block_.reserve(size);
  if (data == nullptr) {
    return out_of_memory();
  }
  if (Status got = flat_read(first, {data, size}); !got) {
    return std::move(got.problem());
  }
  return std::span<const std::byte>(data, size);
}

Status Reader::flat_read(std::uint64_t first, std::span<std::byte> into) {
  if (held_ != nullptr) {
    if (Status checked = verified_ ? ok() : verify(); !checked) {
      return checked;
    }
    const std::size_t item = item_size(dtype_);
    const std::uint64_t begin = first * item;
    const std::size_t stored = std::min<std::uint64_t>(into.size(), stored_bytes_ - std::min(begin, stored_bytes_));
    if (stored != 0) {
      std::memcpy(into.data(), held_ + begin, stored);
    }
    if (item != 0 && stored < into.size()) {
      wire::fill_repeated(into.subspan(stored), {held_ + stored_bytes_ - item, item});
    }
    return ok();
  }
  if (source_ != nullptr && !source_->chunks.empty()) {
    Status read = ok();
    for (std::size_t i = 0; read && i < source_->chunks.size(); ++i) {
      read = read_chunk(i, first, into);
    }
    return read;
  }
  const bool whole = into.size() == stored_bytes_ &&
                     (place_->has_record() || (source_ != nullptr && source_->protects(place_->offset, stored_bytes_)));
  const std::uint64_t begin = first * item_size(dtype_);
  const bool in_order = verifies_while_reading_ && (begin == 0 || begin == run_.end || !place_->has_record());
  const bool checks = !verified_ && (whole || in_order);
  if (!verified_ && !checks) {
    if (Status checked = verify(); !checked) {
      return checked;
    }
    return flat_read(first, into);
  }
  if (Status got = fill(content_ + begin, into); !got) {
    return got;
  }
  if (Status checked = checks ? add_to_run(begin, into) : ok(); !checked) {
    return checked;
  }
  to_native(into, source_ != nullptr && source_->swapped);
  return ok();
}

std::span<const std::byte> Reader::view(std::uint64_t first, std::uint64_t at_most) try {
  if (problem_ || first >= size_ || at_most == 0) {
    return {};
  }
  Bytes bytes = part_ ? part_view(first) : flat_view(first, at_most);
  if (!bytes) {
    fail(std::move(bytes.problem()));
    return {};
  }
  return part_ ? bytes->first(std::min<std::uint64_t>(bytes->size(), at_most * item_size(dtype_))) : *bytes;
} catch (const std::bad_alloc&) {
  fail(out_of_memory());
  return {};
}

bool Reader::read(std::uint64_t first, std::span<std::byte> into) try {
  if (problem_) {
    return false;
  }
  if (into.empty()) {
    return true;
  }
  Status got = ok();
  if (!part_) {
    got = flat_read(first, into);
  } else if (first == 0 && into.size() == size_ * item_size(dtype_)) {
    got = gather(*part_, into);
  } else {
    while (got && !into.empty()) {
      const Bytes bytes = part_view(first);
      if (!bytes) {
        got = bytes.problem();
        break;
      }
      const std::size_t size = std::min(bytes->size(), into.size());
      std::memcpy(into.data(), bytes->data(), size);
      into = into.subspan(size);
      first += size / item_size(dtype_);
    }
  }
  if (!got) {
    fail(std::move(got.problem()));
  }
  return !problem_;
} catch (const std::bad_alloc&) {
  fail(out_of_memory());
  return false;
}

std::optional<TensorValue> Reader::value() try {
  if (problem_) {
    return std::nullopt;
  }
  constexpr std::uintptr_t alignment = 16;
  if (owned_ && !part_ && repeats_ == 0 && reinterpret_cast<std::uintptr_t>(owned_.get()) % alignment == 0) {
    return TensorValue(dtype_, shape_, owned_, stored_bytes_);
  }
  const std::size_t item = item_size(dtype_);
  const std::uint64_t size = item == 0 ? stored_bytes_ : size_ * item;
  const std::shared_ptr<std::byte[]> bytes(new std::byte[std::max<std::uint64_t>(size, 1)]);
  return read(0, {bytes.get(), size}) ? std::optional(TensorValue(dtype_, shape_, bytes, size)) : std::nullopt;
} catch (const std::bad_alloc&) {
  fail(out_of_memory());
  return std::nullopt;
}

}  // namespace smd::detail::values

namespace smd {

bool Extent::for_each_block(const std::function<void(std::span<const std::byte>)>& take, std::uint64_t first,
                            std::uint64_t count) {
  const std::size_t item = item_size(dtype_);
  count = std::min(count, size_ - std::min(first, size_));
  for (std::uint64_t done = 0; done < count;) {
    const std::span<const std::byte> bytes =
        view(first + done, item == 0 ? count : std::min<std::uint64_t>(block_bytes / item, count - done));
    if (bytes.empty()) {
      return false;
    }
    take(bytes);
    done += item == 0 ? count : bytes.size() / item;
  }
  return true;
}

}  // namespace smd
