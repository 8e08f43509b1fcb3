// SPDX-License-Identifier: Apache-2.0
#include "npz_writer.hpp"

#include "cli/text.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace smd::tool::tensor {

void NpzWriter::add(std::string_view key, Dtype dtype, std::span<const std::int64_t> shape,
                    const std::vector<std::span<const std::byte>>& parts) {
  const NpyType type = stacked_npy_type(dtype, parts);
  if (const std::string why = too_much_padding(type, dtype, shape, parts); !why.empty()) {
    messages_.fail("Usage", "-f npz: " + single_quoted(key) + ": " + why, ExitStatus::usage);
    return;
  }
  const std::optional<std::string> member = names_.add(key);
  if (!member) {
    messages_.fail("Usage", "-f npz: two arrays would have the key " + single_quoted(key) + "; choose fewer",
                   ExitStatus::usage);
    return;
  }
  if (*member != key && ++encoded_ == 1) {
    first_encoded_ = single_quoted(*member) + " stands for " + single_quoted(key);
  }
  const std::string name = *member + ".npy";
  if (name.size() > ZipWriter::name_bytes) {
    messages_.fail("Usage", "-f npz: a name of " + std::to_string(name.size()) + " bytes is too long for the format",
                   ExitStatus::usage);
    return;
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
    zip_.empty() ? messages_.fail("Usage", text, ExitStatus::usage) : messages_.warning(text);
  }
  if (encoded_ > 0) {
    messages_.note("-f npz: " + counted(encoded_, "key") + (encoded_ == 1 ? " is" : " are") +
                   " percent-encoded, so that unpacking the archive does no harm (" + first_encoded_ +
                   "); Python's urllib.parse.unquote decodes keys");
  }
  zip_.finish();
}

namespace {

constexpr std::uint32_t no_room = 0xFFFFFFFF;  // the true number is in the ZIP64 field
constexpr std::uint16_t date_1980 = (1U << 5) | 1U;

template <std::unsigned_integral Number>
void add(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    out += static_cast<char>(number >> (8 * i) & 0xFF);
  }
}

std::uint32_t short_form(std::uint64_t number) {
  return number < no_room ? static_cast<std::uint32_t>(number) : no_room;
}

std::uint16_t version_needed(bool zip64) { return zip64 ? 45 : 20; }

// Bit 11: the name is UTF-8.
std::uint16_t flags(const std::string& name) { return is_utf8(name) ? 0x800 : 0; }

}  // namespace

void ZipWriter::put(std::string_view bytes) {
  out_.write(bytes);
  offset_ += bytes.size();
}

void ZipWriter::begin(std::string_view name, std::uint32_t crc, std::uint64_t size) {
  members_.push_back({std::string(name), crc, size, offset_});
  const bool large = size >= no_room;
  std::string header("PK\x03\x04");
  add<std::uint16_t>(header, version_needed(large));
  add<std::uint16_t>(header, flags(members_.back().name));
  add<std::uint16_t>(header, 0);  // stored
  add<std::uint16_t>(header, 0);  // midnight
  add<std::uint16_t>(header, date_1980);
  add<std::uint32_t>(header, crc);
  add<std::uint32_t>(header, short_form(size));
  add<std::uint32_t>(header, short_form(size));
  add<std::uint16_t>(header, static_cast<std::uint16_t>(name.size()));
  add<std::uint16_t>(header, large ? 20 : 0);
  header += name;
  if (large) {
    add<std::uint16_t>(header, 1);
    add<std::uint16_t>(header, 16);
    add<std::uint64_t>(header, size);
    add<std::uint64_t>(header, size);
  }
  put(header);
}

void ZipWriter::write(std::span<const std::byte> bytes) {
  put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void ZipWriter::finish() {
  const std::uint64_t start = offset_;
  for (const Member& member : members_) {
    std::string extra;
    if (member.size >= no_room) {
      add<std::uint64_t>(extra, member.size);
      add<std::uint64_t>(extra, member.size);
    }
    if (member.offset >= no_room) {
      add<std::uint64_t>(extra, member.offset);
    }
    const bool zip64 = !extra.empty();
    std::string entry("PK\x01\x02");
    add<std::uint16_t>(entry, 0x0300U | version_needed(zip64));  // made on Unix
    add<std::uint16_t>(entry, version_needed(zip64));
    add<std::uint16_t>(entry, flags(member.name));
    add<std::uint16_t>(entry, 0);
    add<std::uint16_t>(entry, 0);
    add<std::uint16_t>(entry, date_1980);
    add<std::uint32_t>(entry, member.crc);
    add<std::uint32_t>(entry, short_form(member.size));
    add<std::uint32_t>(entry, short_form(member.size));
    add<std::uint16_t>(entry, static_cast<std::uint16_t>(member.name.size()));
    add<std::uint16_t>(entry, static_cast<std::uint16_t>(zip64 ? extra.size() + 4 : 0));
    add<std::uint16_t>(entry, 0);               // no comment
    add<std::uint16_t>(entry, 0);               // first disk
    add<std::uint16_t>(entry, 0);               // not known to be text
    add<std::uint32_t>(entry, 0100644U << 16);  // a file of mode 644
    add<std::uint32_t>(entry, short_form(member.offset));
    entry += member.name;
    if (zip64) {
      add<std::uint16_t>(entry, 1);
      add<std::uint16_t>(entry, static_cast<std::uint16_t>(extra.size()));
      entry += extra;
    }
    put(entry);
  }
  const std::uint64_t size = offset_ - start;
  const std::uint64_t count = members_.size();
  std::string end;
  if (count >= 0xFFFF || size >= no_room || start >= no_room) {
    const std::uint64_t at = offset_;
    end += "PK\x06\x06";
    add<std::uint64_t>(end, 44);
    add<std::uint16_t>(end, 0x0300U | 45U);
    add<std::uint16_t>(end, 45);
    add<std::uint32_t>(end, 0);
    add<std::uint32_t>(end, 0);
    add<std::uint64_t>(end, count);
    add<std::uint64_t>(end, count);
    add<std::uint64_t>(end, size);
    add<std::uint64_t>(end, start);
    end += "PK\x06\x07";
    add<std::uint32_t>(end, 0);
    add<std::uint64_t>(end, at);
    add<std::uint32_t>(end, 1);
  }
  const auto short_count = static_cast<std::uint16_t>(count < 0xFFFF ? count : 0xFFFF);
  end += "PK\x05\x06";
  add<std::uint16_t>(end, 0);
  add<std::uint16_t>(end, 0);
  add<std::uint16_t>(end, short_count);
  add<std::uint16_t>(end, short_count);
  add<std::uint32_t>(end, short_form(size));
  add<std::uint32_t>(end, short_form(start));
  add<std::uint16_t>(end, 0);
  put(end);
}

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

void append_encoded(std::string& out, char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  out += '%';
  out += digits[value >> 4U];
  out += digits[value & 0xFU];
}

/// Whether Windows takes a file of that name, with any extension, for a device.
bool is_device(std::string_view part) {
  std::string stem = lower(part.substr(0, part.find('.')));
  stem.erase(stem.find_last_not_of(' ') + 1);
  constexpr std::array<std::string_view, 6> devices = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  return std::find(devices.begin(), devices.end(), stem) != devices.end() ||
         (stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '0' && stem[3] <= '9');
}

/// Which bytes of a name must be encoded.
class Marks {
 public:
  explicit Marks(std::string_view name) : name_(name), encoded_(name.size(), 0) {
    mark_characters();
    for (std::size_t start = 0; start <= name_.size();) {
      const std::size_t end = std::min(name_.find('/', start), name_.size());
      mark_part(start, end);
      start = end + 1;
    }
    if (name_.size() > 1 && name_[1] == ':' && is_letter(name_[0])) {
      encoded_[1] = 1;
    }
  }

  enum class Letters : std::uint8_t { as_they_are, upper_encoded, all_encoded };

  [[nodiscard]] std::string text(Letters letters) const {
    std::string out;
    for (std::size_t i = 0; i < name_.size(); ++i) {
      const bool by_case = (letters == Letters::upper_encoded && is_upper(name_[i])) ||
                           (letters == Letters::all_encoded && is_letter(name_[i]));
      if (encoded_[i] != 0 || by_case) {
        append_encoded(out, name_[i]);
      } else {
        out += name_[i];
      }
    }
    return out;
  }

 private:
  void mark_characters() {
    for (std::size_t at = 0; at < name_.size();) {
      const DecodedCharacter point = decode_utf8(name_.substr(at));
      const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
      const bool special =
          point.value < 0x80 && std::string_view("%\\\"*<>?|").find(name_[at]) != std::string_view::npos;
      if (!point.valid || control || special) {
        std::fill_n(encoded_.begin() + static_cast<std::ptrdiff_t>(at), point.size, 1);
      }
      at += point.size;
    }
  }

  /// Marks a part between slashes; the last one is the array's own file, to which `.npy` is added.
  void mark_part(std::size_t start, std::size_t end) {
    const std::string_view part = name_.substr(start, end - start);
    const bool is_folder = end < name_.size();
    if (part.empty() && is_folder) {
      encoded_[end] = 1;
    } else if (part == "." || part == "..") {
      std::fill_n(encoded_.begin() + static_cast<std::ptrdiff_t>(start), part.size(), 1);
    } else if (is_device(part)) {
      encoded_[start] = 1;
    }
    if (is_folder && (part.ends_with('.') || part.ends_with(' '))) {
      encoded_[end - 1] = 1;
    }
  }

  std::string_view name_;
  std::string encoded_;  // 1: written %XX
};

}  // namespace

std::optional<std::string> MemberNames::add(std::string_view array) {
  if (!arrays_.emplace(array).second) {
    return std::nullopt;
  }
  const Marks marks(array);
  using Letters = Marks::Letters;
  std::string member;
  for (const Letters letters : {Letters::as_they_are, Letters::upper_encoded, Letters::all_encoded}) {
    member = marks.text(letters);
    if (folded_.insert(lower(member)).second) {
      break;  // the last one is unique, since all its letters are encoded
    }
  }
  return member;
}

}  // namespace smd::tool::tensor
