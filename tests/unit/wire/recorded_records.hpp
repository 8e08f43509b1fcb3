// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/shape.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace smd::test {

/// A record that the reference wrote, and the recorded results for it.
struct RecordedRecord {
  std::string_view trial;
  std::string_view tag;
  std::string_view dtype;
  Shape shape;
  std::string_view sha256;  ///< Of the elements; for strings, in the packed form of `TensorView`.
  std::int64_t step;
  std::int64_t mode_step;
  std::int64_t mode;
  std::string_view hex;
};

inline const std::vector<RecordedRecord>& recorded_records() {
  using namespace std::string_view_literals;  // a tag may contain NUL
  static const std::vector<RecordedRecord> records = {
#include "recorded_records.inc"
  };
  return records;
}

}  // namespace smd::test
