// SPDX-License-Identifier: Apache-2.0
#include "npz_writer.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/ascii.hpp"
#include "text/nearest.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>

namespace smd::tool::tensor {

std::string percent_encoded(char byte) { return fmt::format("%{:02X}", static_cast<unsigned char>(byte)); }

void NpzWriter::add(std::string_view key, Dtype dtype, std::span<const std::int64_t> shape,
                    const std::vector<std::span<const std::byte>>& parts) {
  const auto refuse = [this](const std::string& why) { messages_.fail("Usage", "-f npz: " + why, ExitStatus::usage); };
  const NpyType type = stacked_npy_type(dtype, parts);
  if (const std::string why = too_much_padding(type, dtype, shape, parts); !why.empty()) {
    return refuse(single_quoted(key) + ": " + why);
  }
  const std::optional<std::string> member = names_.add(key);
  if (!member) {
    return refuse("two arrays would have the key " + single_quoted(key) + "; choose fewer");
  }
  if (*member != key && ++encoded_ == 1) {
    first_encoded_ = single_quoted(*member) + " stands for " + single_quoted(key);
  }
  const std::string name = *member + ".npy";
  if (name.size() > ZipWriter::name_bytes) {
    return refuse("a name of " + std::to_string(name.size()) + " bytes is too long for the format");
  }
  const std::string header = npy_header(type, shape);
  const std::span<const std::byte> header_bytes = std::as_bytes(std::span(header));
  // The checksum precedes the bytes, so they are made twice.
  uLong crc = crc32_z(0, nullptr, 0);
  std::uint64_t size = 0;
  const ByteWriter count = [&](std::span<const std::byte> bytes) {
    if (!bytes.empty()) {  // for no bytes, zlib would begin anew
      crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    }
    size += bytes.size();
  };
  count(header_bytes);
  bool utf8 = true;
  for (const std::span<const std::byte> part : parts) {
    utf8 = write_npy_elements(dtype, type, part, count) && utf8;
  }
  if (!utf8) {
    left_out_.emplace_back(key);
    return;
  }
  zip_.begin(name, static_cast<std::uint32_t>(crc), size);
  const ByteWriter write = [&](std::span<const std::byte> bytes) { zip_.write(bytes); };
  write(header_bytes);
  for (const std::span<const std::byte> part : parts) {
    write_npy_elements(dtype, type, part, write);
  }
}

void NpzWriter::finish() {
  if (!left_out_.empty()) {
    const std::string text = "-f npz leaves out " + quoted_list(left_out_, 3) + ": " + std::string(not_text);
    if (zip_.empty()) {
      messages_.fail("Usage", text, ExitStatus::usage);
    } else {
      messages_.warning(text);
    }
  }
  if (encoded_ > 0) {
    messages_.note("-f npz: " + counted(encoded_, "key", "is", "are") +
                   " percent-encoded, so that NumPy finds them and unpacking does no harm (" + first_encoded_ +
                   "); Python's urllib.parse.unquote decodes keys");
  }
  zip_.finish();
}

namespace {

constexpr std::uint32_t no_room = 0xFFFFFFFF;  // the true number is in the ZIP64 field
constexpr std::uint16_t zip64_field = 1;       // the tag of its extra field
constexpr std::uint16_t stored = 0;            // not compressed
constexpr std::uint16_t midnight = 0;
constexpr std::uint16_t date_1980 = (1U << 5) | 1U;
constexpr std::uint16_t made_on_unix = 0x0300;
constexpr std::uint32_t mode_644 = 0100644U << 16;
constexpr std::uint16_t none = 0;

/// A signature, and numbers in as many bytes as their types have, little-endian.
template <std::unsigned_integral... Numbers>
std::string record(std::string_view signature, Numbers... numbers) {
  std::string bytes(signature);
  const auto add = [&bytes](auto number) {
    for (std::size_t i = 0; i < sizeof number; ++i) {
      bytes += static_cast<char>(number >> (8 * i) & 0xFF);
    }
  };
  (add(numbers), ...);
  return bytes;
}

std::uint32_t short_form(std::uint64_t number) {
  return number < no_room ? static_cast<std::uint32_t>(number) : no_room;
}

std::uint16_t version_needed(bool zip64) { return zip64 ? 45 : 20; }

/// A member's name, and the ZIP64 field with numbers that have no room elsewhere, if there are any.
std::string name_and_extra(const std::string& name, const std::string& large) {
  return large.empty() ? name : name + record("", zip64_field, static_cast<std::uint16_t>(large.size())) + large;
}

/// Whether Windows takes a file of that name, with any extension, for a device.
bool is_device(std::string_view part) {
  std::string stem = detail::folded(part.substr(0, part.find('.')));
  stem.erase(stem.find_last_not_of(' ') + 1);
  constexpr std::array<std::string_view, 6> devices = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  return contains(devices, stem) ||
         (stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && text::is_digit(stem[3]));
}

/// A mark for each byte of a name: 1 if it must be encoded.
std::string marks_of(std::string_view name) {
  std::string marks(name.size(), 0);
  const auto mark = [&marks](std::size_t at, std::size_t count) {
    std::fill_n(marks.begin() + static_cast<std::ptrdiff_t>(at), count, 1);
  };
  for (std::size_t at = 0; at < name.size();) {
    const CodePoint point = first_character(name.substr(at));
    const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
    const bool special = point.value < 0x80 && std::string_view("%\\\"*<>?|").find(name[at]) != std::string_view::npos;
    if (!point.valid || control || special) {
      mark(at, point.bytes);
    }
    at += point.bytes;
  }
  for (std::size_t start = 0, end = 0; start <= name.size(); start = end + 1) {
    end = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, end - start);
    const bool is_folder = end < name.size();  // the last part is the array's own file, to which `.npy` is added
    if (part.empty() && is_folder) {
      mark(end, 1);
    } else if (part == "." || part == "..") {
      mark(start, part.size());
    } else if (is_device(part)) {
      mark(start, 1);
    }
    if (is_folder && (part.ends_with('.') || part.ends_with(' '))) {
      mark(end - 1, 1);
    }
  }
  if (name.size() > 1 && name[1] == ':' && text::is_letter(name[0])) {
    mark(1, 1);
  }
  return marks;
}

}  // namespace

void ZipWriter::put(std::string_view bytes) {
  out_.write(bytes);
  offset_ += bytes.size();
}

std::string ZipWriter::description(const Member& member, const std::string& large) {
  const std::uint16_t flags = valid_utf8(member.name) ? 0x800 : 0;  // bit 11
  return record("", version_needed(!large.empty()), flags, stored, midnight, date_1980, member.crc,
                short_form(member.size), short_form(member.size), static_cast<std::uint16_t>(member.name.size()),
                static_cast<std::uint16_t>(large.empty() ? 0 : large.size() + 4));
}

void ZipWriter::begin(std::string_view name, std::uint32_t crc, std::uint64_t size) {
  const Member& member = members_.emplace_back(Member{std::string(name), crc, size, offset_});
  const std::string large = size >= no_room ? record("", size, size) : "";
  put("PK\x03\x04" + description(member, large) + name_and_extra(member.name, large));
}

void ZipWriter::write(std::span<const std::byte> bytes) {
  put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void ZipWriter::finish() {
  const std::uint64_t start = offset_;
  for (const Member& member : members_) {
    const std::string large = (member.size >= no_room ? record("", member.size, member.size) : "") +
                              (member.offset >= no_room ? record("", member.offset) : "");
    const auto made_by = static_cast<std::uint16_t>(made_on_unix | version_needed(!large.empty()));
    constexpr std::uint16_t first_disk = 0;
    constexpr std::uint16_t not_known_to_be_text = 0;
    put(record("PK\x01\x02", made_by) + description(member, large) +
        record("", none, first_disk, not_known_to_be_text, mode_644, short_form(member.offset)) +
        name_and_extra(member.name, large));
  }
  const std::uint64_t size = offset_ - start;
  const std::uint64_t count = members_.size();
  constexpr std::uint32_t disk = 0;
  if (count >= 0xFFFF || size >= no_room || start >= no_room) {
    const std::uint64_t at = offset_;
    const std::uint64_t bytes_that_follow = 44;
    const auto made_by = static_cast<std::uint16_t>(made_on_unix | version_needed(true));
    put(record("PK\x06\x06", bytes_that_follow, made_by, version_needed(true), disk, disk, count, count, size, start));
    put(record("PK\x06\x07", disk, at, std::uint32_t{1}));
  }
  const auto short_count = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, 0xFFFF));
  put(record("PK\x05\x06", none, none, short_count, short_count, short_form(size), short_form(start), none));
}

std::optional<std::string> MemberNames::add(std::string_view array) {
  if (!arrays_.emplace(array).second) {
    return std::nullopt;
  }
  std::string marks = marks_of(array);
  // NumPy takes a key that is the name of a member, such as `c.npy`, for that member. Shorter names come first.
  if (array.ends_with(".npy") && arrays_.contains(array.substr(0, array.size() - 4))) {
    marks[array.size() - 4] = 1;
  }
  const auto never = [](char) noexcept { return false; };
  std::string member;
  for (bool (*const encoded_too)(char) : {+never, text::is_upper, text::is_letter}) {
    member.clear();
    for (std::size_t i = 0; i < array.size(); ++i) {
      member += marks[i] != 0 || encoded_too(array[i]) ? percent_encoded(array[i]) : std::string(1, array[i]);
    }
    if (folded_.insert(detail::folded(member)).second) {
      break;  // the last one is unique, since all its letters are encoded
    }
  }
  return member;
}

}  // namespace smd::tool::tensor
