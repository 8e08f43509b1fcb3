// SPDX-License-Identifier: Apache-2.0
#include "print_rows.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("json and jsonl hold the same objects, always with the trial") {
  const std::string first =
      R"({"trial":"run","tensor":"a\tb","steps":12,"mean":0.1,"shape":[64,3,7],"modes":["train","eval"]})";
  const std::string second =
      "{\"trial\":\"run\",\"tensor\":\"\xE6\xBC\xA2\",\"steps\":null,"
      "\"mean\":0.3333333333333333,\"shape\":[],\"modes\":[]}";
  CHECK(print(options_for("json")) == "[\n" + first + ",\n" + second + "\n]\n");
  CHECK(print(options_for("jsonl")) == first + "\n" + second + "\n");
  CHECK(print(options_for("json"), false, 0) == "[]\n");
  CHECK(print(options_for("jsonl"), false, 0).empty());
}

TEST_CASE("a value that writes its own JSON stands in its place") {
  constexpr Column own[] = {{"value"}, {"after"}};
  const std::function<void(OutputFile&)> nested = [](OutputFile& to) { to.write("[[1],[2]]"); };
  const std::string line = written(options_for("jsonl"), own, false, [&](RowWriter& writer) {
    writer.set_trial("run");
    writer.row({JsonCell{&nested}, 3});
  });
  CHECK(line == "{\"trial\":\"run\",\"value\":[[1],[2]],\"after\":3}\n");
}
