// SPDX-License-Identifier: Apache-2.0
// Reads the input as an event file, record by record; writes the records again. Scans it as a log
// directory's file: of the records that a plain search finds, none is lost or doubled.
#include "wire/framing.hpp"
#include "layout/tensorboard/record_scanner.hpp"
#include "text/limits.hpp"
#include "wire/first_bytes.hpp"

#include "target.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace smd;
using namespace smd::detail::wire;

namespace {

using Bytes = std::span<const std::byte>;

class MemoryFile final : public detail::storage::File {
 public:
  explicit MemoryFile(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  detail::Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const Bytes rest = bytes_.subspan(std::min<std::uint64_t>(offset, bytes_.size()));
    std::copy_n(rest.begin(), std::min(rest.size(), into.size()), into.begin());
    return std::min(rest.size(), into.size());
  }

 private:
  Bytes bytes_;
};

using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // offset and length of sound records

/// Where the next record is of which both checksums are right, byte by byte.
std::uint64_t next_sound(Bytes file, std::uint64_t from) {
  const std::uint64_t end = std::min<std::uint64_t>(file.size(), from + limits::searched_bytes);
  for (std::uint64_t at = from + 1; at < end; ++at) {
    const auto record = next_record(file.subspan(at));
    if (record && record->protection == Protection::checksum) {
      return at;
    }
  }
  return file.size();
}

Places plain_search(Bytes file) {
  Places found;
  for (std::uint64_t at = 0; file.size() - at >= header_bytes;) {
    const auto length = parse_header(file.subspan(at));
    if (!length) {
      at = next_sound(file, at);
      continue;
    }
    if (*length + frame_bytes > file.size() - at) {
      break;
    }
    const auto record = next_record(file.subspan(at));
    if (record && record->protection == Protection::checksum) {
      found.emplace_back(at, *length + frame_bytes);
    }
    at += *length + frame_bytes;
  }
  return found;
}

void scan(Bytes file) {
  if (looks_compressed(file.first(std::min(file.size(), header_bytes)))) {
    return;
  }
  const MemoryFile opened(file);
  using Scanner = detail::layout::RecordScanner;
  Scanner scanner(opened, 0, false);
  Places found;
  for (auto next = scanner.next(); next == Scanner::Found::record || next == Scanner::Found::damaged;
       next = scanner.next()) {
    if (next == Scanner::Found::record) {
      found.emplace_back(scanner.offset(), scanner.length());
    }
  }
  SMD_REQUIRE(found == plain_search(file));
}

}  // namespace

SMD_FUZZ_ENTRY(framing)(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
  scan(rest);
  while (!rest.empty()) {
    const auto record = next_record(rest);
    if (!record) {
      SMD_REQUIRE(!record.problem().text.empty());
      break;
    }
    const std::size_t length = record->payload.size() + frame_bytes;
    SMD_REQUIRE(length <= rest.size());
    std::string written;
    append_record(written, record->payload, record->protection);
    SMD_REQUIRE(written.size() == length && std::memcmp(written.data(), rest.data(), length) == 0);
    rest = rest.subspan(length);
  }
  // With a corrected checksum of the length, so that the data after it are parsed too.
  if (size >= 8) {
    std::string header;
    append_record(header, std::as_bytes(std::span(data, 8)), Protection::checksum);
    std::string repaired(reinterpret_cast<const char*>(data), 8);
    repaired += header.substr(header.size() - footer_bytes);
    repaired.append(reinterpret_cast<const char*>(data) + 8, size - 8);
    const auto bytes = std::as_bytes(std::span(repaired.data(), repaired.size()));
    const auto record = next_record(bytes);
    SMD_REQUIRE(!record || record->payload.size() + frame_bytes <= bytes.size());
  }
  return 0;
}
