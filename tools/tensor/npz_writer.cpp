// SPDX-License-Identifier: Apache-2.0
#include "npz_writer.hpp"

#include "cli/text.hpp"

#include <zlib.h>

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

}  // namespace smd::tool::tensor
