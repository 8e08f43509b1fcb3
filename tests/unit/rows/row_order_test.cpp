// SPDX-License-Identifier: Apache-2.0
#include "rows/row_order.hpp"
#include "print_rows.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace smd::tool;  // NOLINT: a test of most of the headers

namespace {

constexpr Column columns[] = {{"name"}, {"number", Align::right}, {"list"}, written_column};

OutputOptions sorted_by(std::vector<SortKey> keys, std::optional<std::uint64_t> limit = {}) {
  OutputOptions options = test::options_for("tsv");
  options.header = false;
  options.sort = std::move(keys);
  options.limit = limit;
  return options;
}

std::string print(const OutputOptions& options, const std::function<void(RowWriter&)>& rows,
                  std::span<const Column> of = columns) {
  return test::written(options, of, false, rows);
}

/// The names of those of some numbers that are printed.
std::string names_of(OutputOptions options, const std::vector<Cell>& numbers) {
  options.columns = {"name"};
  std::string names = print(options, [&](RowWriter& rows) {
    char name = 'a';
    for (const Cell& number : numbers) {
      rows.row({std::string_view(&name, 1), number, ListCell{}, PlaceCell{}});
      ++name;
    }
  });
  std::erase(names, '\n');
  return names;
}

/// The names in the order in which their numbers are sorted.
std::string names_by(const std::vector<SortKey>& keys, const std::vector<Cell>& numbers,
                     std::optional<std::uint64_t> limit = {}) {
  return names_of(sorted_by(keys, limit), numbers);
}

}  // namespace

TEST_CASE("numbers of all types are sorted as numbers") {
  // 10, 9, -1.5, 0.5 (float16), 2^63 (beyond int64), -inf
  const std::vector<Cell> numbers = {
      std::int64_t{10},  std::uint64_t{9},       -1.5F,
      smd::Half{0x3800}, std::uint64_t{1} << 63, -std::numeric_limits<double>::infinity()};
  CHECK(names_by({{"number"}}, numbers) == "fcdbae");
  CHECK(names_by({{"number", true}}, numbers) == "eabdcf");
}

TEST_CASE("integers that a double cannot tell apart are sorted, also beyond 64 bits") {
  const std::int64_t large = std::int64_t{1} << 53;
  CHECK(names_by({{"number"}}, {large + 1, large, large + 2}) == "bac");
  CHECK(names_by({{"number"}},
                 {NumeralCell{"100000000000000000000000000002"}, NumeralCell{"100000000000000000000000000001"},
                  NumeralCell{"-100000000000000000000000000002"}, NumeralCell{"-100000000000000000000000000001"},
                  std::int64_t{7}}) == "cdeba");
}

TEST_CASE("text is sorted as people read it, digits as numbers") {
  CHECK(names_by({{"number"}}, {"layers.10", "layers.2", "layers.02", "layers", "b"}) == "edcba");
}

TEST_CASE("conditions choose rows: numbers as numbers of their type, other text naturally") {
  const auto those = [](const std::vector<std::string>& conditions, const std::vector<Cell>& numbers) {
    OutputOptions options = sorted_by({});
    for (const std::string& condition : conditions) {
      options.where.push_back(parse_comparison(condition));
    }
    return names_of(options, numbers);
  };
  const std::vector<Cell> numbers = {0.1F, 0.1, std::int64_t{9}, std::int64_t{10}, std::nan(""), Cell()};
  CHECK(those({"number = 0.1"}, numbers) == "ab");
  CHECK(those({"number<10"}, numbers) == "abc");
  CHECK(those({"number >= 9", "number != 10"}, numbers) == "c");
  CHECK(those({"number = nan"}, numbers) == "e");
  CHECK(those({"number != nan"}, numbers) == "abcd");
  CHECK(those({"number < layers.10"}, {"layers.2", "layers.11", "a = b"}) == "ac");
  CHECK(those({"number > 2e-6"}, {"1e-05", "1e-6"}) == "a");  // hyperparameters that were logged as text
  CHECK(those({"number ~ ^layers\\.1"}, {"layers.2", "layers.11"}) == "b");
}

TEST_CASE("a condition's number is not rounded to the type of a cell that would print another") {
  const auto holds = [](const std::string& condition, const Cell& cell) {
    return RowCondition(parse_comparison(condition)).holds(cell);
  };
  const smd::Half infinite_half{0x7C00};
  const smd::BFloat16 one{0x3F80};
  CHECK(holds("x > 100000", infinite_half));
  CHECK(holds("x = inf", infinite_half));
  CHECK(holds("x > 0.999", one));
  CHECK_FALSE(holds("x >= 1.0004", smd::Half{0x3C00}));
  CHECK(holds("x > 1e39", std::numeric_limits<float>::infinity()));
  CHECK_FALSE(holds("x = 1e39", std::numeric_limits<float>::infinity()));
  for (const Cell& tenth : {Cell(0.1F), Cell(smd::Half{0x2E66}), Cell(smd::BFloat16{0x3DCD}), Cell(0.1)}) {
    CHECK(holds("x = 0.1", tenth));
    CHECK(holds("x >= 0.10", tenth));
    CHECK_FALSE(holds("x > 1e-1", tenth));
  }
  CHECK(holds("x = 1", NumeralCell{"1.0"}));
  CHECK(holds("x = 1e-5", NumeralCell{"1e-05"}));
  CHECK(holds("x > 0", true));
  CHECK_FALSE(holds("x > 0", false));
  CHECK_FALSE(holds("x > 0.5", std::complex<double>(1, std::nan(""))));
}

TEST_CASE("a number has no order beside text") {
  const auto condition = [](const std::string& text) { return RowCondition(parse_comparison(text)); };
  for (const Cell& number : {Cell(0.5), Cell(std::nan("")), Cell(3), Cell(NumeralCell{"7"})}) {
    CHECK_THROWS_WITH_AS((void)condition("x > 0,4").holds(number),
                         "--where: 'x > 0,4': '0,4' is no number, and x is one", UsageError);
  }
  CHECK_FALSE(condition("x = 0,4").holds(0.5));
  CHECK_FALSE(condition("x > 0,4").holds(Cell()));
  CHECK(condition("x < abc").holds("10"));
  CHECK(condition("x < true").holds(false));
}

TEST_CASE("NaN and what is missing are last in either direction, behind text") {
  const std::vector<Cell> numbers = {std::nan(""), 1.0, Cell(), 2.0, "text"};
  CHECK(names_by({{"number"}}, numbers) == "bdeac");
  CHECK(names_by({{"number", true}}, numbers) == "edbac");
}

TEST_CASE("rows that are equal keep their order, in both directions and with a limit") {
  const std::vector<Cell> numbers = {1, 2, 1, 2, 1, 2};
  CHECK(names_by({{"number"}}, numbers) == "acebdf");
  CHECK(names_by({{"number", true}}, numbers) == "bdface");
  for (std::uint64_t limit = 0; limit <= 7; ++limit) {
    CHECK(names_by({{"number"}}, numbers, limit) == std::string("acebdf").substr(0, limit));
    CHECK(names_by({{"number", true}}, numbers, limit) == std::string("bdface").substr(0, limit));
    CHECK(names_by({}, numbers, limit) == std::string("abcdef").substr(0, limit));
  }
}

TEST_CASE("a later key decides between rows that are equal by the first") {
  CHECK(names_by({{"number", true}, {"name", true}}, {1, 2, 1, 2}) == "dbca");
}

TEST_CASE("the order in which a job saved: the step, then the place in the file") {
  OutputOptions options = sorted_by({{"written"}});
  options.columns = {"name"};
  CHECK(print(options, [](RowWriter& rows) {
          rows.row({"a", 0, ListCell{}, PlaceCell{10, 0}});
          rows.row({"b", 0, ListCell{}, PlaceCell{9, 300}});
          rows.row({"c", 0, ListCell{}, PlaceCell{9, 40}});
        }) == "c\nb\na\n");
}

TEST_CASE("sorted rows hold what they borrowed, in all kinds of cells") {
  OutputOptions options = sorted_by({{"number"}});
  options.format = "jsonl";
  const auto fill = [](RowWriter& rows) {
    for (int i = 2; i > 0; --i) {
      const std::string name = "name" + std::to_string(i);
      const std::vector<std::string> list = {name, "x"};
      const std::vector<std::int64_t> shape = {i, 3};
      const std::function<void(OutputFile&)> nested = [&](OutputFile& to) {
        to.write("[[" + std::to_string(i) + "]]");
      };
      rows.set_trial("trial" + std::to_string(i));
      rows.row({name, i, ListCell{list}, ShapeCell{shape}, JsonCell{&nested}, NumeralCell{name.substr(4)},
                std::complex<double>(i, 1), true, Cell(), ListCell{}, IndexCell{shape}});
    }
  };
  constexpr Column all[] = {{"name"},    {"number"}, {"list"}, {"shape"}, {"json"}, {"big"},
                            {"complex"}, {"truth"},  {"none"}, {"empty"}, {"index"}};
  CHECK(print(options, fill, all) ==
        R"({"trial":"trial1","name":"name1","number":1,"list":["name1","x"],"shape":[1,3],"json":[[1]],"big":1,)"
        R"("complex":[1, 1],"truth":true,"none":null,"empty":[],"index":[1,3]})"
        "\n"
        R"({"trial":"trial2","name":"name2","number":2,"list":["name2","x"],"shape":[2,3],"json":[[2]],"big":2,)"
        R"("complex":[2, 1],"truth":true,"none":null,"empty":[],"index":[2,3]})"
        "\n");
  options.format = "tsv";
  options.columns = {"json", "shape", "index", "trial"};
  CHECK(print(options, fill, all) == "NA\t1x3\t1,3\ttrial1\nNA\t2x3\t2,3\ttrial2\n");
  options.sort = {{"index", true}};
  CHECK(print(options, fill, all) == "NA\t2x3\t2,3\ttrial2\nNA\t1x3\t1,3\ttrial1\n");
  options.format = "json";
  options.sort = {{"json"}};  // an array
  CHECK_THROWS_AS((void)print(options, fill, all), UsageError);
}

TEST_CASE("what rows are sorted by is worked out, and must be there") {
  Diagnostics messages("test");
  OutputFile out = OutputFile::memory();
  OutputOptions options = sorted_by({{"written"}});
  options.columns = {"name"};
  const RowWriter writer(out, options, columns, false, messages);
  CHECK(writer.wants("written"));
  CHECK_FALSE(writer.wants("number"));
  CHECK_FALSE(writer.rows_stand_alone());
  options.columns = {"written"};  // not to be printed
  CHECK_THROWS_AS(RowWriter(out, options, columns, false, messages), UsageError);
  options = sorted_by({{"nothing"}});
  CHECK_THROWS_AS(RowWriter(out, options, columns, false, messages), UsageError);
}

TEST_CASE("with a limit and no order, rows are printed as they come, and then no more are wanted") {
  const std::string lines = print(sorted_by({}, 2), [](RowWriter& writer) {
    for (int i = 0; i < 4; ++i) {
      CHECK(writer.full() == (i >= 2));
      writer.row({"x", i, ListCell{}, PlaceCell{}});
    }
    CHECK(writer.rows() == 4);
  });
  CHECK(lines == "x\t0\t\nx\t1\t\n");
}

TEST_CASE("of many rows, no more than the limit are held") {
  SortedRows<int> rows({{"number", true}}, 3);
  int made = 0;
  for (int i = 0; i < 1000; ++i) {  // descending: the first three are the greatest
    std::vector<SortValue> values;
    values.emplace_back(Cell(999 - i));
    rows.add(std::move(values), [&] {
      ++made;
      return 999 - i;
    });
  }
  CHECK(made == 3);  // none of the others was kept even for a moment
  std::vector<int> kept;
  rows.take_all([&](int row) { kept.push_back(row); });
  CHECK(kept == std::vector<int>{999, 998, 997});
}

TEST_CASE("hyperparameters are equal if they are the same number, however it is written") {
  const auto same = [](const char* a, const char* b) { return HpValue(a) == HpValue(b); };
  CHECK(same("1e-05", R"("0.00001")"));
  CHECK(same(R"("+5")", "5.0"));
  CHECK(same("0", "-0.0"));
  CHECK(same(R"("NaN")", R"("nan")"));
  CHECK(same(R"("Infinity")", R"("inf")"));
  CHECK(same("true", R"("true")"));
  CHECK_FALSE(same("9007199254740993", "9007199254740992"));
  CHECK_FALSE(same("123456789012345678901", "123456789012345678902"));
  CHECK_FALSE(same(R"("x1")", R"("x01")"));
  CHECK_FALSE(same("true", "1"));
  CHECK_FALSE(same("null", "0"));
  std::string text;
  for (const char* const json : {R"("NaN")", R"("-Infinity")", R"("1e-4")"}) {
    append_text(text, HpValue(json).cell(), 0);
    text += ' ';
  }
  CHECK(text == "nan -inf 1e-4 ");
}
