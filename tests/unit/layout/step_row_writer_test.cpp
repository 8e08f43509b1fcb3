// SPDX-License-Identifier: Apache-2.0
#include "layout/series_rows.hpp"

#include "layout/tensorboard/tensorboard_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace smd::detail::layout;
using smd::Dtype;
using smd::ValueForm;

namespace {

/// An entry as it was added: step, name, kind, start, length.
using Entry = std::tuple<std::int64_t, std::string, ValueForm, std::uint64_t, std::uint64_t>;

/// Adds entries, and reads them from the rows.
class Rows {
 public:
  Rows() : writer_(loaded_, 1) { writer_.begin_file(writer_.tables().paths.add("events"), 0); }

  void add(std::int64_t step, const std::string& name, ValueForm kind, Dtype dtype, std::uint64_t start,
           std::uint64_t length) {
    writer_.begin_values(step);
    writer_.add(writer_.tables().names.add(name), kind, dtype, start, length);
    added_.emplace_back(step, name, kind, start, length);
  }

  /// Checks that the rows have what was added, in its order.
  void check() {
    LogListing listing;
    listing.add_workers(1);
    writer_.finish(listing);
    std::vector<Entry> found;
    std::uint64_t id = 1;
    const Tables& tables = loaded_.tables.front();
    for (const StepRow& row : rows_of(loaded_.rows)) {
      CHECK(row.file.id == id++);
      CHECK(row.mode_step == row.file.step);
      const Payload payload = tables.payloads.at(row.payload).of_row(row.index);
      for (std::uint32_t i = 0; i < payload.count; ++i) {
        const ValueForm kind = payload.types == no_id ? ValueForm::record : tables.type_lists.at(payload.types)[i].form;
        found.emplace_back(row.file.step, std::string(tables.names[tables.name_lists.at(payload.names).at(i)]), kind,
                           payload.start(i), payload.length(i));
      }
    }
    CHECK(found == added_);
  }
  [[nodiscard]] const LoadedSteps& loaded() const noexcept { return loaded_; }

 private:
  LoadedSteps loaded_;
  StepRowWriter writer_;
  std::vector<Entry> added_;
};

constexpr std::uint64_t wide = std::uint64_t{1} << 40;

using StoredPairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// The starts and lengths of all entries, as they came.
StoredPairs entries_of(const LoadedSteps& loaded) {
  StoredPairs entries;
  for (const StepRow& row : rows_of(loaded.rows)) {
    const Payload payload = loaded.tables.front().payloads.at(row.payload).of_row(row.index);
    for (std::uint32_t i = 0; i < payload.count; ++i) {
      entries.emplace_back(payload.start(i), payload.length(i));
    }
  }
  return entries;
}

}  // namespace

TEST_CASE("rows alike share lists, and payloads by the thousand") {
  Rows rows;
  for (std::int64_t step = 0; step < 10'000; ++step) {
    const auto bits = static_cast<std::uint64_t>(step) * 7;
    rows.add(step, "loss", ValueForm::number, Dtype::float32, bits, wide + bits);
    rows.add(step, "accuracy", ValueForm::number, Dtype::float32, bits + 1, wide + bits + 1);
  }
  rows.check();
  const Tables& tables = rows.loaded().tables.front();
  CHECK(tables.name_lists.size() == 1);
  CHECK(tables.type_lists.size() == 1);
  CHECK(tables.payloads.size() == 11 + 4);  // of 1, 2, 4, …, 1024 rows, 2047 together; then of 2048 at most
  CHECK(rows.loaded().rows.size() == 11 + 4);
}

TEST_CASE("rows of one payload whose steps are equally far apart are one sequence") {
  Rows rows;
  for (const std::int64_t step : {-7, 0, 5, 15, 16, 17, 100}) {
    rows.add(step, "loss", ValueForm::number, Dtype::float32, 1, wide);
  }
  rows.check();
  const std::vector<RowSequence>& found = rows.loaded().rows;
  REQUIRE(found.size() == 4);  // payloads have 1, 2, 4 rows
  CHECK(found[0].count == 1);
  CHECK(found[1].count == 2);
  CHECK(found[1].stride == 5);
  CHECK(found[2].count == 3);
  CHECK(found[2].last_step() == 17);
  CHECK(found[3].row.file.step == 100);
}

TEST_CASE("steps that go back, or are as far apart as numbers go") {
  Rows rows;
  for (const std::int64_t step : {INT64_MIN, std::int64_t{0}, INT64_MAX - 1, INT64_MAX}) {
    rows.add(step, "loss", ValueForm::number, Dtype::float32, 1, wide);
  }
  rows.check();
  LoadedSteps loaded;
  StepRowWriter writer(loaded, 1);
  writer.begin_file(writer.tables().paths.add("events"), 0);
  const std::uint32_t name = writer.tables().names.add("loss");
  for (const std::int64_t step : {0, 1, 2, 3, 1, 2, 3, 4}) {
    writer.begin_values(step);
    writer.add(name, ValueForm::number, Dtype::float32, 1, wide);
  }
  LogListing listing;
  listing.add_workers(1);
  writer.finish(listing);
  std::vector<std::pair<std::int64_t, std::uint64_t>> found;
  for (const StepRow& row : rows_of(loaded.rows)) {
    found.emplace_back(row.file.step, row.file.id);
  }
  CHECK(found == std::vector<std::pair<std::int64_t, std::uint64_t>>{
                     {0, 1}, {1, 2}, {1, 5}, {2, 3}, {2, 6}, {3, 4}, {3, 7}, {4, 8}});
}

TEST_CASE("rows that end early, go on, or turn out unlike the last one") {
  Rows rows;
  const auto number = [&](std::int64_t step, const char* name, std::uint64_t start) {
    rows.add(step, name, ValueForm::number, Dtype::float32, start, wide + start);
  };
  for (std::int64_t step = 0; step < 40; step += 4) {
    const auto start = static_cast<std::uint64_t>(step);
    number(step, "a", start);
    number(step, "b", start + 1);
    number(step + 1, "a", start + 2);  // one fewer
    number(step + 2, "a", start + 3);  // one more
    number(step + 2, "b", start + 4);
    number(step + 2, "c", start + 5);
    number(step + 3, "a", start + 6);  // another one in its place
    rows.add(step + 3, "b", ValueForm::record, Dtype::float32, start + 7, 100);
  }
  rows.check();
  CHECK(rows.loaded().tables.front().name_lists.size() == 3);
}

TEST_CASE("numbers of one time, and without any") {
  const auto unknown = std::bit_cast<std::uint64_t>(unknown_time);
  const auto bytes_of_times = [](const Rows& rows) {
    std::size_t bytes = 0;
    for (const Payload& payload : rows.loaded().tables.front().payloads) {
      bytes = std::max(bytes, Payload::lengths_bytes(payload.length_form, payload.count));
    }
    return bytes;
  };
  for (const bool timed : {false, true}) {
    Rows rows;
    for (std::int64_t step = 0; step < 30; ++step) {
      for (const char* const name : {"a", "b", "c"}) {
        rows.add(step, name, ValueForm::number, Dtype::float64, wide,
                 timed ? wide + static_cast<std::uint64_t>(step) : unknown);
      }
    }
    rows.check();
    CHECK(bytes_of_times(rows) == (timed ? 8 : 0));
  }
  Rows mixed;
  for (std::int64_t step = 0; step < 30; ++step) {
    mixed.add(step, "a", ValueForm::number, Dtype::float64, wide, step % 4 == 0 ? unknown : wide);
    mixed.add(step, "b", ValueForm::number, Dtype::float64, wide, step % 7 == 0 ? unknown : wide);
  }
  mixed.check();
  CHECK(bytes_of_times(mixed) == 16);
}

TEST_CASE("numbers get another time") {
  LoadedSteps loaded;
  StepRowWriter writer(loaded, 1);
  writer.begin_file(writer.tables().paths.add("log"), 0);
  const std::uint32_t a = writer.tables().names.add("a");
  const std::uint32_t b = writer.tables().names.add("b");
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.begin_values(step);
    writer.add(a, ValueForm::number, Dtype::float64, 1, wide);
    writer.add(b, ValueForm::number, Dtype::float64, 2, wide);
    if (step == 1) {
      writer.retime(b, wide + 5);
    }
  }
  LogListing listing;
  listing.add_workers(1);
  writer.finish(listing);
  CHECK(entries_of(loaded) == StoredPairs{{1, wide}, {2, wide}, {1, wide}, {2, wide + 5}, {1, wide}, {2, wide}});
}

TEST_CASE("a row that repeats the last one has its time for each name, whatever times the rows before had") {
  const auto unknown = std::bit_cast<std::uint64_t>(unknown_time);
  enum class Times { apart, equal, none };
  for (const Times times : {Times::apart, Times::equal, Times::none}) {
    for (std::uint32_t count = 1; count <= 3; ++count) {
      CAPTURE(count);
      LoadedSteps loaded;
      StepRowWriter writer(loaded, 1);
      writer.begin_file(writer.tables().paths.add("log"), 0);
      StoredPairs right;
      std::size_t repeated = 0;
      for (std::int64_t step = 0; step < 60; ++step) {
        const std::uint64_t time = times == Times::none ? unknown : wide + 10 * static_cast<std::uint64_t>(step);
        std::byte* to = nullptr;
        if (writer.repeats() && writer.can_repeat()) {
          CHECK((times != Times::none || writer.add_repeated(step, wide) == nullptr));
          to = writer.add_repeated(step, time);
          REQUIRE(to != nullptr);
          ++repeated;
        }
        writer.begin_values(step);
        for (std::uint32_t i = 0; i < count; ++i) {
          right.emplace_back(wide + i, to == nullptr && times == Times::apart ? time + i : time);
          if (to == nullptr) {
            writer.add(writer.tables().names.add(std::string(1, static_cast<char>('a' + i))), ValueForm::number,
                       Dtype::float64, wide + i, right.back().second);
          } else {
            const std::uint64_t bits = wide + i;
            std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
          }
        }
      }
      LogListing listing;
      listing.add_workers(1);
      writer.finish(listing);
      CHECK(repeated > 30);
      CHECK(entries_of(loaded) == right);
    }
  }
}

TEST_CASE("numbers above 32 bits among others") {
  Rows rows;
  for (std::int64_t step = 0; step < 30; ++step) {
    const auto start = static_cast<std::uint64_t>(step);
    rows.add(step, "record", ValueForm::record, Dtype::float32, step % 3 == 0 ? wide + start : start, 50);
    rows.add(step, "other", ValueForm::record, Dtype::float32, start, step % 5 == 0 ? wide + 60 : 60);
  }
  rows.check();
}
