// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rows/row_format.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace smd::tool::test {

inline constexpr Column columns[] = {{"tensor"},
                                     {"steps", Align::right},
                                     {"mean", Align::right},
                                     {"shape"},
                                     {"modes"},
                                     {"dtype", Align::left, false, false}};

inline OutputOptions options_for(std::string_view format) {
  OutputOptions options;
  options.format = format;
  options.file = "given";  // so that nothing looks at the terminal
  return options;
}

/// What a writer of some columns writes of the rows that `rows` passes to it.
template <class Rows>
std::string written(const OutputOptions& options, std::span<const Column> of, bool several, Rows&& rows) {
  const smd::test::TempDir dir;
  Diagnostics messages("test");
  OutputFile out = OutputFile::file(dir / "out");
  RowWriter writer(out, options, of, several, messages);
  rows(writer);
  writer.finish();
  out.close();
  return smd::test::read_file(dir / "out");
}

/// The text of two rows, or of fewer.
inline std::string print(const OutputOptions& options, bool several = false, std::size_t rows = 2) {
  const std::vector<std::string> modes = {"train", "eval"};
  const std::vector<std::int64_t> shape = {64, 3, 7};
  return written(options, columns, several, [&](RowWriter& writer) {
    writer.set_trial("run");
    if (rows > 0) {
      writer.row({"a\tb", 12, 0.1F, ShapeCell{shape}, ListCell{modes}, "float32"});
    }
    if (rows > 1) {
      writer.row({"\xE6\xBC\xA2", Missing(), 1.0 / 3, ShapeCell{}, ListCell{}, Missing()});
    }
    CHECK(writer.rows() == rows);
  });
}

}  // namespace smd::tool::test
