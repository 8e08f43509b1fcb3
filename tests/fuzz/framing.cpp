// SPDX-License-Identifier: Apache-2.0
// Reads the input as an event file, record by record, and as one record; writes the records again.
#include "wire/framing.hpp"

#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

using namespace smd;
using namespace smd::detail::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
  const auto exact = parse_record(rest);
  SMD_REQUIRE(exact || exact.problem().kind == ProblemKind::damaged);
  bool first = true;
  while (!rest.empty()) {
    const auto record = next_record(rest);
    if (!record) {
      SMD_REQUIRE(!record.problem().text.empty());
      break;
    }
    const std::size_t length = record->payload.size() + frame_bytes;
    SMD_REQUIRE(length <= rest.size());
    if (first) {
      SMD_REQUIRE(static_cast<bool>(exact) == (length == size));
    }
    std::string written;
    append_record(written, record->payload, record->protection);
    SMD_REQUIRE(written.size() == length && std::memcmp(written.data(), rest.data(), length) == 0);
    rest = rest.subspan(length);
    first = false;
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
