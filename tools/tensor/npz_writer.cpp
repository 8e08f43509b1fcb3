// SPDX-License-Identifier: Apache-2.0
#include "npz_writer.hpp"

#include "common/text.hpp"

#include <zlib.h>

#include <algorithm>

namespace smd::tool::tensor {

namespace {

std::string member_name(std::string_view key) {
  std::string name;
  for (const char byte : key) {
    if (byte == '\0') {
      name += "\\x00";
    } else {
      name += byte;
    }
  }
  return name + ".npy";
}

}  // namespace

void NpzWriter::add(std::string_view key, Dtype dtype, std::span<const std::int64_t> shape,
                    const std::vector<std::span<const std::byte>>& parts) {
  const std::string name = member_name(key);
  if (name.size() > ZipWriter::name_bytes) {
    messages_.fail("Usage", "-f npz: a name of " + std::to_string(name.size()) + " bytes is too long for the format",
                   ExitStatus::usage);
    return;
  }
  if (!names_.insert(name).second) {
    messages_.fail("Usage", "-f npz: two arrays would have the key " + quoted(key) + "; choose fewer",
                   ExitStatus::usage);
    return;
  }
  const NpyType type = stacked_npy_type(dtype, parts);
  const std::string header = npy_header(type, shape);
  const std::span<const std::byte> header_bytes = std::as_bytes(std::span(header));
  // The checksum stands before the bytes, so they are made twice.
  uLong crc = crc32_z(0, nullptr, 0);
  std::uint64_t size = 0;
  const ByteWriter count = [&](std::span<const std::byte> bytes) {
    if (!bytes.empty()) {  // of nothing, zlib would begin anew
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
    messages_.warning(quoted(key) + ": not all text is UTF-8; U+FFFD stands for other bytes");
  }
  zip_.begin(name, static_cast<std::uint32_t>(crc), size);
  const ByteWriter write = [&](std::span<const std::byte> bytes) { zip_.write(bytes); };
  write(header_bytes);
  for (const std::span<const std::byte> part : parts) {
    write_npy_elements(dtype, type, part, write);
  }
}

}  // namespace smd::tool::tensor
