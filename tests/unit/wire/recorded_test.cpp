// SPDX-License-Identifier: Apache-2.0
// Records that the reference wrote, in both directions: their content, and that libsmd writes the same bytes.
#include "hex.hpp"
#include "recorded_records.hpp"
#include "support/sha256.hpp"
#include "wire/encode.hpp"
#include "wire/event.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>

using namespace smd;
using namespace smd::detail::wire;
using namespace smd::test;

TEST_CASE("recorded records parse to the recorded answers") {
  CHECK(recorded_records().size() > 50);
  for (const RecordedRecord& recorded : recorded_records()) {
    CAPTURE(recorded.trial);
    CAPTURE(recorded.tag);
    const std::string bytes = from_hex(recorded.hex);
    const auto record = next_record(bytes_of(bytes));
    REQUIRE(record);
    const bool checksummed = recorded.trial == "checksum_full";
    CHECK(record->protection == (checksummed ? Protection::checksum : Protection::unprotected));
    const auto value = parse_value(record->payload, recorded.tag);
    REQUIRE_MESSAGE(value, value.problem().text);
    CHECK(to_string(value->dtype) == recorded.dtype);
    CHECK(value->shape == recorded.shape);
    CHECK(sha256(value->bytes) == recorded.sha256);
    CHECK(value->step == recorded.step);
    CHECK(value->wall_time > 1.7e9);  // November 2023; the recording machine's clock was later
    CHECK((value->owned == nullptr) == (value->dtype != Dtype::string || value->bytes.empty()));
  }
}

TEST_CASE("writing the content of a recorded record gives the same bytes") {
  for (const RecordedRecord& recorded : recorded_records()) {
    CAPTURE(recorded.trial);
    CAPTURE(recorded.tag);
    const std::string bytes = from_hex(recorded.hex);
    const auto record = next_record(bytes_of(bytes));
    REQUIRE(record);
    const auto value = parse_value(record->payload, recorded.tag);
    REQUIRE(value);
    std::string payload;
    append_event(payload, {recorded.tag, value->wall_time, value->step, recorded.mode_step, recorded.mode},
                 {value->dtype, value->shape, value->bytes});
    std::string written;
    append_record(written, bytes_of(payload), record->protection);
    CHECK(to_hex(bytes_of(written)) == recorded.hex);
  }
}
