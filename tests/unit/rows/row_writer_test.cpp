// SPDX-License-Identifier: Apache-2.0
#include "print_rows.hpp"

#include <doctest/doctest.h>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("columns are chosen and ordered; one alone is a bare list") {
  OutputOptions options = options_for("tsv");
  options.columns = {"dtype", "steps"};
  CHECK(print(options, true) == "dtype\tsteps\nfloat32\t12\nNA\tNA\n");
  options.with_trial = true;
  CHECK(print(options, true, 1) == "trial\tdtype\tsteps\nrun\tfloat32\t12\n");
  options.with_trial = false;
  options.columns = {"tensor"};
  CHECK(print(options) == "a\tb\n\xE6\xBC\xA2\n");
  options.null_separated = true;
  CHECK(print(options) == std::string("a\tb\0\xE6\xBC\xA2\0", 8));
  options.null_separated = false;
  options.format = "csv";
  CHECK(print(options, false, 1) == "tensor\na\tb\n");
  options.format = "jsonl";
  options.columns = {"steps", "trial"};
  CHECK(print(options, false, 1) == "{\"steps\":12,\"trial\":\"run\"}\n");
  options.columns = {"nothing"};
  CHECK_THROWS_AS((void)print(options), UsageError);
}

TEST_CASE("a command can ask what will be printed") {
  Diagnostics messages("test");
  OutputFile out = OutputFile::memory();
  const OutputOptions options = options_for("tsv");
  const RowWriter writer(out, options, columns, false, messages);
  CHECK(writer.wants("shape"));
  CHECK_FALSE(writer.wants("dtype"));
  CHECK_FALSE(writer.wants("trial"));
}

TEST_CASE("rows made into text elsewhere are taken as they are") {
  const auto both = [](std::string_view format, bool together) {
    Diagnostics messages("test");
    OutputOptions bare = options_for(format);
    bare.header = false;
    OutputFile memory = OutputFile::memory();
    RowWriter part(memory, bare, columns, false, messages);
    return written(options_for(format), columns, false, [&](RowWriter& writer) {
      CHECK(writer.rows_stand_alone());
      for (int row = 0; row < 3; ++row) {
        std::string text;
        (together ? part : writer).row({"a\tb", row, 0.5, Missing(), Missing(), Missing()});
        memory.take_text(text);
        writer.append(text, together ? 1 : 0);
      }
      CHECK(writer.rows() == 3);
    });
  };
  for (const char* format : {"tsv", "csv", "jsonl"}) {
    CHECK(both(format, true) == both(format, false));
  }
  Diagnostics messages("test");
  OutputFile out = OutputFile::memory();
  for (const char* format : {"json", "table"}) {
    const OutputOptions options = options_for(format);
    CHECK_FALSE(RowWriter(out, options, columns, false, messages).rows_stand_alone());
  }
}
