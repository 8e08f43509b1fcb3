// SPDX-License-Identifier: Apache-2.0
#include "rows/row_format.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <vector>

using namespace smd::tool;  // NOLINT: a test of most of the header

namespace {

constexpr Column columns[] = {{"tensor"},
                              {"steps", Align::right},
                              {"mean", Align::right},
                              {"shape"},
                              {"modes"},
                              {"dtype", Align::left, false, false}};

OutputOptions options_for(std::string_view format) {
  OutputOptions options;
  options.format = format;
  options.file = "given";  // so that nothing looks at the terminal
  return options;
}

std::string print(const OutputOptions& options, bool several = false, std::size_t rows = 2) {
  const smd::test::TempDir dir;
  Diagnostics messages("test");
  OutputFile out = OutputFile::file(dir / "out");
  RowWriter writer(out, options, columns, several, messages);
  const std::vector<std::string> modes = {"train", "eval"};
  const std::vector<std::int64_t> shape = {64, 3, 7};
  writer.set_trial("run");
  if (rows > 0) {
    writer.row({"a\tb", 12, 0.1F, ShapeCell{shape}, ListCell{modes}, "float32"});
  }
  if (rows > 1) {
    writer.row({"\xE6\xBC\xA2", Missing(), 1.0 / 3, ShapeCell{}, ListCell{}, Missing()});
  }
  CHECK(writer.rows() == rows);
  writer.finish();
  out.close();
  return smd::test::read_file(dir / "out");
}

}  // namespace

TEST_CASE("tsv") {
  CHECK(print(options_for("tsv")) ==
        "tensor\tsteps\tmean\tshape\tmodes\n"
        "a\\tb\t12\t0.1\t64x3x7\ttrain,eval\n"
        "\xE6\xBC\xA2\tNA\t0.3333333333333333\tscalar\t\n");
  OutputOptions options = options_for("tsv");
  options.header = false;
  options.precision = 3;
  CHECK(print(options, true, 1) == "run\ta\\tb\t12\t0.1\t64x3x7\ttrain,eval\n");
}

TEST_CASE("csv quotes a list") {
  CHECK(print(options_for("csv"), true, 1) ==
        "trial,tensor,steps,mean,shape,modes\n"
        "run,a\tb,12,0.1,64x3x7,\"train,eval\"\n");
}

TEST_CASE("long and short cells of all kinds follow one another") {
  const std::string text(5000, 'x');
  const std::vector<std::string> names = {"p,q", "r"};
  for (const char* format : {"tsv", "csv"}) {
    const smd::test::TempDir dir;
    Diagnostics messages("test");
    OutputFile out = OutputFile::file(dir / "out");
    OutputOptions options = options_for(format);
    options.header = false;
    constexpr Column three[] = {{"a"}, {"b"}, {"c"}};
    RowWriter writer(out, options, three, false, messages);
    writer.row({1.5, text, -7});
    writer.row({std::string_view(), Half{0x3C00}, std::complex<double>(0.5, -2)});
    writer.row({true, Missing(), ListCell{names}});
    writer.finish();
    out.close();
    CHECK(smd::test::read_file(dir / "out") == (format == std::string("tsv") ? "1.5\t" + text +
                                                                                   "\t-7\n"
                                                                                   "\t1\t0.5-2j\n"
                                                                                   "true\tNA\tp,q,r\n"
                                                                             : "1.5," + text +
                                                                                   ",-7\n"
                                                                                   "\"\",1,0.5-2j\n"
                                                                                   "true,NA,\"p,q,r\"\n"));
  }
}

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

TEST_CASE("table aligns by display width and escapes") {
  // The first column is 6 wide: `tensor`, `a\x09b`, and a character of width 2 with 4 spaces.
  CHECK(print(options_for("table")) ==
        "tensor  steps      mean  shape   modes\n"
        "a\\x09b     12       0.1  64x3x7  train,eval\n"
        "\xE6\xBC\xA2         NA  0.333333  scalar\n");
}

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
  const smd::test::TempDir dir;
  Diagnostics messages("test");
  OutputFile out = OutputFile::file(dir / "out");
  const OutputOptions options = options_for("tsv");
  const RowWriter writer(out, options, columns, false, messages);
  CHECK(writer.wants("shape"));
  CHECK_FALSE(writer.wants("dtype"));
  CHECK_FALSE(writer.wants("trial"));
}

TEST_CASE("a value that writes its own JSON stands in its place") {
  const smd::test::TempDir dir;
  Diagnostics messages("test");
  OutputFile out = OutputFile::file(dir / "out");
  const OutputOptions options = options_for("jsonl");
  constexpr Column own[] = {{"value"}, {"after"}};
  RowWriter writer(out, options, own, false, messages);
  writer.set_trial("run");
  const std::function<void(OutputFile&)> nested = [](OutputFile& to) { to.write("[[1],[2]]"); };
  writer.row({JsonCell{&nested}, 3});
  writer.finish();
  out.close();
  CHECK(smd::test::read_file(dir / "out") == "{\"trial\":\"run\",\"value\":[[1],[2]],\"after\":3}\n");
}

TEST_CASE("a table longer than what is held back keeps every row") {
  const smd::test::TempDir dir;
  Diagnostics messages("test");
  OutputFile out = OutputFile::file(dir / "out");
  const OutputOptions options = options_for("table");
  constexpr Column two[] = {{"a", Align::right}, {"b"}};
  RowWriter writer(out, options, two, false, messages);
  std::string expected = "   a  b\n";  // the first 4096 rows hold numbers of up to four digits
  for (int i = 0; i < 10'000; ++i) {
    writer.row({i, "x"});
    const std::string number = std::to_string(i);
    expected += std::string(4 - number.size(), ' ') + number + "  x\n";
  }
  writer.finish();
  out.close();
  CHECK(smd::test::read_file(dir / "out") == expected);
}

TEST_CASE("every format in the list can be made") {
  for (const std::string_view name : row_format_names()) {
    CHECK(static_cast<bool>(find_row_format(name, 2)));
  }
  CHECK_FALSE(static_cast<bool>(find_row_format("npy", 2)));
}

TEST_CASE("rows made into text elsewhere are taken as they are") {
  const auto both = [](std::string_view format, bool together) {
    const smd::test::TempDir dir;
    Diagnostics messages("test");
    const OutputOptions options = options_for(format);
    OutputOptions bare = options;
    bare.header = false;
    OutputFile out = OutputFile::file(dir / "out");
    OutputFile memory = OutputFile::memory();
    RowWriter writer(out, options, columns, false, messages);
    RowWriter part(memory, bare, columns, false, messages);
    CHECK(writer.rows_stand_alone());
    for (int row = 0; row < 3; ++row) {
      std::string text;
      (together ? part : writer).row({"a\tb", row, 0.5, Missing(), Missing(), Missing()});
      memory.take_text(text);
      writer.append(text, together ? 1 : 0);
    }
    CHECK(writer.rows() == 3);
    writer.finish();
    out.close();
    return smd::test::read_file(dir / "out");
  };
  for (const char* format : {"tsv", "csv", "jsonl"}) {
    CHECK(both(format, true) == both(format, false));
  }
  const smd::test::TempDir dir;
  Diagnostics messages("test");
  OutputFile out = OutputFile::file(dir / "out");
  for (const char* format : {"json", "table"}) {
    const OutputOptions options = options_for(format);
    CHECK_FALSE(RowWriter(out, options, columns, false, messages).rows_stand_alone());
  }
}
