// SPDX-License-Identifier: Apache-2.0
#include "zip_writer.hpp"

#include "cli/text.hpp"

#include <concepts>

namespace smd::tool::tensor {

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

}  // namespace smd::tool::tensor
