// SPDX-License-Identifier: Apache-2.0
// Metric logs and run files of W&B that grow: whatever a look sees, each value comes once.
#include "base/crc32.hpp"
#include "layout/layout_kind.hpp"
#include "layout/metrics/metric_text.hpp"
#include "layout/wandb/run_file.hpp"
#include "storage/storage.hpp"
#include "support/memory_file.hpp"
#include "support/temp_dir.hpp"
#include "text/limits.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace smd::detail;
using namespace smd::detail::layout;
using smd::ProblemKind;
using smd::test::TempDir;

namespace {

/// A file of which nothing can be read from an offset on.
class FailingFile final : public storage::File {
 public:
  FailingFile(std::unique_ptr<storage::File> file, std::uint64_t fails_from)
      : file_(std::move(file)), fails_from_(fails_from) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return file_->size(); }
  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= fails_from_) {
      return make_problem(ProblemKind::io, "the disk fails");
    }
    return file_->read_at(offset, into);
  }

 private:
  std::unique_ptr<storage::File> file_;
  std::uint64_t fails_from_;
};

/// A folder whose files fail so.
class FailingStorage final : public storage::Storage {
 public:
  FailingStorage(storage::Storage& storage, std::uint64_t fails_from) : storage_(storage), fails_from_(fails_from) {}

  Outcome<std::vector<storage::DirEntry>> list(std::string_view folder) override { return storage_.list(folder); }
  std::optional<storage::FileStamp> file_stamp(std::string_view name) override { return storage_.file_stamp(name); }
  bool exists(std::string_view name) override { return storage_.exists(name); }
  Outcome<std::unique_ptr<storage::File>> open(std::string_view name) override {
    auto opened = storage_.open(name);
    if (!opened) {
      return opened;
    }
    return std::unique_ptr<storage::File>(std::make_unique<FailingFile>(*std::move(opened), fails_from_));
  }
  Outcome<std::unique_ptr<storage::Folder>> open_folder(std::string_view name) override {
    return storage_.open_folder(name);
  }
  [[nodiscard]] unsigned parallelism() const noexcept override { return storage_.parallelism(); }
  [[nodiscard]] const std::string& root() const noexcept override { return storage_.root(); }

 private:
  storage::Storage& storage_;
  std::uint64_t fails_from_;
};

using Values = std::vector<std::tuple<std::string, std::int64_t, double>>;  // name, step, value

/// One log, and the values that looks at it gave.
class Log {
 public:
  Log(std::unique_ptr<Layout> layout, std::string name) : layout_(std::move(layout)), name_(std::move(name)) {}

  void append(std::string_view bytes) {
    std::filesystem::create_directories(std::filesystem::path(dir_ / name_).parent_path());
    std::ofstream(dir_ / name_, std::ios::binary | std::ios::app) << bytes;
  }
  void write(const std::string& name, std::string_view bytes) { dir_.write(name, bytes); }
  void replace(std::string_view bytes) {
    dir_.write("new", bytes);
    std::filesystem::rename(dir_ / "new", dir_ / name_);
  }
  /// Returns what is new, or why the log is refused. `meanwhile` is called when the first block was read.
  [[nodiscard]] Outcome<Found> find_new(bool as_it_stands = false, unsigned jobs = 1,
                                        const std::function<bool()>& meanwhile = {}) const {
    const auto local = storage::open_local_with_links(dir_.path());
    FailingStorage storage(**local, fails_from_);
    LookRequest request;
    request.as_it_stands = as_it_stands;
    request.provisional = provisional_;
    request.half_written = std::chrono::seconds(10);
    request.now = now_;
    request.jobs = jobs;
    request.stop = &meanwhile;
    return layout_->look(storage, request, listing_.get(), collections_);
  }
  /// As above, and adds the numbers that are new to `values`.
  Found look(bool as_it_stands = false, unsigned jobs = 1, const std::function<bool()>& meanwhile = {}) {
    auto found = find_new(as_it_stands, jobs, meanwhile);
    REQUIRE(found);
    listing_ = found->listing;
    collections_ = found->collections;
    for (const RowSequence& sequence : found->loaded.rows) {
      for (std::uint32_t i = 0; i < sequence.count && !sequence.seen; ++i) {
        take(found->loaded.tables.front(), sequence.nth(i));
      }
    }
    for (const Supersession& later : found->loaded.supersessions) {
      for (auto& [value, row, counts] : values_) {
        const auto& [name, step, number] = value;
        counts = counts && (name != found->loaded.tables.front().names[later.name] || step < later.from_step ||
                            row >= later.before);
      }
    }
    return *std::move(found);
  }
  void pass(std::chrono::seconds time) { now_ += time; }
  /// Lets reads of the log fail from an offset on.
  void fail_from(std::uint64_t offset) { fails_from_ = offset; }
  /// Sets whether looks return what is otherwise kept back.
  void set_provisional(bool provisional) { provisional_ = provisional; }
  [[nodiscard]] Values values() const { return sorted(false); }
  /// Returns those that no later one supersedes.
  [[nodiscard]] Values values_that_count() const { return sorted(true); }
  void write_over(std::string_view bytes) { std::ofstream(dir_ / name_, std::ios::binary) << bytes; }
  [[nodiscard]] std::vector<smd::Problem> notes() const { return listing_->notes.kept(); }
  [[nodiscard]] bool damaged() const { return has_note(ProblemKind::damaged); }
  [[nodiscard]] bool failed() const { return has_note(ProblemKind::io); }

 private:
  void take(const Tables& tables, const StepRow& row) {
    const Payload payload = tables.payloads.at(row.payload).of_row(row.index);
    for (std::uint32_t i = 0; i < payload.count; ++i) {
      const std::string name(tables.names[tables.name_lists.at(payload.names)[i]]);
      values_.push_back({{name, row.file.step, std::bit_cast<double>(payload.start(i))}, row.file.id});
    }
  }
  [[nodiscard]] bool has_note(ProblemKind kind) const {
    const auto notes = this->notes();
    return std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return note.kind == kind; });
  }
  [[nodiscard]] Values sorted(bool only_that_count) const {
    Values all;
    for (const Value& one : values_) {
      if (one.counts || !only_that_count) {
        all.push_back(one.value);
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  struct Value {
    Values::value_type value;
    std::uint64_t row = 0;
    bool counts = true;
  };
  TempDir dir_;
  std::unique_ptr<Layout> layout_;
  std::string name_;
  std::shared_ptr<const Listing> listing_;
  std::shared_ptr<const CollectionsInfo> collections_;
  std::vector<Value> values_;
  bool provisional_ = false;
  std::uint64_t fails_from_ = UINT64_MAX;
  std::chrono::steady_clock::time_point now_;
};

Values grown_by(std::size_t bytes, const std::string& name, std::string_view text) {
  Log log(metrics_layout(), name);
  for (std::size_t at = 0; at < text.size(); at += bytes) {
    log.append(text.substr(at, bytes));
    log.look();
  }
  CHECK_FALSE(log.damaged());
  return log.values();
}

using Items = std::vector<std::pair<std::string, std::string>>;  // name, JSON

/// A field of a message of protobuf, of fewer than 128 bytes.
std::string field_of(const std::string& tag, const std::string& bytes) {
  return tag + static_cast<char>(bytes.size()) + bytes;
}

std::string item_of(const std::string& tag, const std::string& name, const std::string& json) {
  return field_of(tag, field_of("\x0A", name) + field_of("\x82\x01", json));
}

std::string chunk_of(const std::string& record) {
  const std::string summed = "\x01" + record;
  const std::uint32_t sum = crc32(std::as_bytes(std::span(summed)));
  const auto length = static_cast<std::uint16_t>(record.size());
  std::string chunk(reinterpret_cast<const char*>(&sum), sizeof sum);
  chunk.append(reinterpret_cast<const char*>(&length), sizeof length) += summed;
  return chunk;
}

std::string history_of(const Items& items) {
  std::string content;
  for (const auto& [name, json] : items) {
    content += item_of("\x0A", name, json);
  }
  return chunk_of(field_of("\x12", content));
}

/// Metrics of the machine at a time below 128 seconds.
std::string measured_at(int seconds, int cpu) {
  return chunk_of(field_of("\x3A", field_of("\x12", std::string("\x08") + static_cast<char>(seconds)) +
                                       item_of("\x1A", "cpu", std::to_string(cpu))));
}

std::string run_file_of(const std::vector<Items>& records) {
  std::string file = ":W&B\xE1\xBE";
  file += '\0';
  for (const Items& items : records) {
    file += history_of(items);
  }
  return file;
}

/// A run file with records of one item each.
std::string run_file(const Items& items) {
  std::vector<Items> records;
  std::ranges::transform(items, std::back_inserter(records), [](const auto& item) { return Items{item}; });
  return run_file_of(records);
}

std::string recorded(const std::string& name) {
  return smd::test::read_file(std::string(SMD_TEST_FIXTURES) + "/metric-logs/" + name);
}

}  // namespace

TEST_CASE("a long log has the same values, however many threads read it") {
  constexpr std::int64_t rows = 120'000;
  for (const bool json : {false, true}) {
    std::string text = json ? "" : "step,loss,acc\n";
    Values right;
    const auto add = [&](std::int64_t step, const std::string& loss, const std::string& acc) {
      const std::string number = std::to_string(step);
      text += json ? "{\"step\": " + number + ", \"loss\": " + loss + ", \"acc\": " + acc + "}\n"
                   : number + "," + loss + "," + acc + "\n";
    };
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t step = i == 30'000 ? 29'990 : i;  // one that went back
      const double loss = 1 + static_cast<double>(i) / 8;
      const double acc = -1 - static_cast<double>(i) / 4;
      const bool no_loss = i == 50'000;
      const bool text_for_acc = i == 80'000;
      const std::string blanks(i == 70'000 ? 5000 : 0, ' ');
      if (i == 60'000) {
        text += json ? "[1]\n" : "60000,1,2,3\n";  // damaged
        continue;
      }
      add(step, no_loss ? (json ? "null" : "") : blanks + std::to_string(loss),
          text_for_acc ? "\"bad\"" : std::to_string(acc));
      if (!no_loss) {
        right.emplace_back("loss", step, loss);
      }
      if (!text_for_acc) {
        right.emplace_back("acc", step, acc);
      }
    }
    text.pop_back();  // the last line has no end
    std::sort(right.begin(), right.end());
    for (const unsigned jobs : {1U, 2U, 3U}) {
      Log log(metrics_layout(), json ? "metrics.jsonl" : "metrics.csv");
      log.append(text);
      log.look(true, jobs);
      CHECK(log.damaged());
      CHECK((log.values() == right));
    }
  }
}

TEST_CASE("a CSV that grows byte by byte gives each value once") {
  const std::string text = "# a run\n\"step\";loss;\"a;b\"\r\n1;2.5;7\n\n2;;\"8\"\n3;0.25;\n4;0.125;9\n";
  const Values right = {{"a;b", 1, 7},    {"a;b", 2, 8},     {"a;b", 4, 9},
                        {"loss", 1, 2.5}, {"loss", 3, 0.25}, {"loss", 4, 0.125}};
  for (const std::size_t bytes : {1, 2, 3, 7, 1000}) {
    CHECK(grown_by(bytes, "metrics.csv", text) == right);
  }
}

TEST_CASE("rows of a CSV that are nearly of the form of the one before") {
  const double infinity = std::numeric_limits<double>::infinity();
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,a,b,b\n1,2,9,3\n2,4,9,5\n+3,1.,9,.5\n4,-7,9,1e2\n5,0x1,9,2\n6,1e999,9,1e\n7,8,9,10,11\n8,1\n");
  log.append("9,,9,6\n10,5,8,7\n11,6,8,\"2\"\n13,4,8,3\r\n14,2,8,1\nstep,b,a\n15,1,2\n16,3,04");
  log.look(true);
  CHECK(log.damaged());  // the row of step 7 is too long
  CHECK(log.values() == Values{{"a", 1, 2},   {"a", 2, 4},  {"a", 3, 1},  {"a", 4, -7}, {"a", 6, infinity},
                               {"a", 8, 1},   {"a", 10, 5}, {"a", 11, 6}, {"a", 13, 4}, {"a", 14, 2},
                               {"a", 15, 2},  {"a", 16, 4}, {"b", 1, 3},  {"b", 2, 5},  {"b", 3, 0.5},
                               {"b", 4, 100}, {"b", 5, 2},  {"b", 9, 6},  {"b", 10, 7}, {"b", 11, 2},
                               {"b", 13, 3},  {"b", 14, 1}, {"b", 15, 1}, {"b", 16, 3}});
}

TEST_CASE("rows of a CSV that are read together are those that come one by one") {
  std::uint64_t state = 1;
  const auto chance = [&state](unsigned of) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<unsigned>((state >> 33) % of);
  };
  for (const std::string header : {"step,a,b\n", "step,epoch,a\n", "timestamp,a,step,b\n", "a,b,c\n"}) {
    std::string text = header;
    const auto columns = static_cast<unsigned>(std::count(header.begin(), header.end(), ','));
    int step = 0;
    for (unsigned row = 0; row < 400; ++row) {
      const unsigned odd = chance(40);
      step += odd == 0 ? 0 : odd == 1 ? -3 : odd == 2 ? 5 : 1;
      if (odd == 3) {  // a new run
        text += header;
        step = static_cast<int>(chance(10));
      }
      std::string_view rest = header;
      for (unsigned column = 0; column <= columns; ++column) {
        const std::string_view name = rest.substr(0, rest.find_first_of(",\n"));
        rest.remove_prefix(name.size() + 1);
        text += column == 0 ? "" : ",";
        text += name == "step" ? std::to_string(step) + (odd == 4 ? ".5" : "")
                : odd == 5     ? ""
                               : std::to_string(chance(7));
      }
      text += '\n';
    }
    Log whole(metrics_layout(), "metrics.csv");
    whole.append(text);
    whole.look();
    Log grown(metrics_layout(), "metrics.csv");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      grown.append(std::string_view(text).substr(at, end - at));
      grown.look();
      at = end;
    }
    CHECK(whole.values().size() > 300);
    CHECK(whole.values() == grown.values());
  }
}

TEST_CASE("without a step, a row of the header's names is a second header, and rows count from 0 again") {
  const std::string text = "loss,,1st\n4,5,1\n3,6,1\nloss,,1st\n2,7,1\nloss,other,1st\n";  // the last row is text
  const Values right = {{"1st", 0, 1},      {"1st", 0, 1},  {"1st", 1, 1},  {"column_2", 0, 5}, {"column_2", 0, 7},
                        {"column_2", 1, 6}, {"loss", 0, 2}, {"loss", 0, 4}, {"loss", 1, 3}};
  Log log(metrics_layout(), "metrics.csv");
  log.append(text);
  log.look();
  CHECK(log.values() == right);
  CHECK(grown_by(1, "metrics.csv", text) == right);
}

TEST_CASE("a row of text is no second header if only the last of equal names is right") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("loss,loss\n1,2\ntext,loss\n3,4\nloss,loss\n5,6\n");
  log.look();
  CHECK(log.values() == Values{{"loss", 0, 2}, {"loss", 0, 6}, {"loss", 2, 4}});
}

TEST_CASE("a row without its step has that of the row before, unless the epoch changed, also one of an epoch as 1/3") {
  const std::pair<std::string, std::string> logs[] = {{"metrics.csv", "step,epoch,a,b\n5,1/3,2,\n,1/3,,3\n,2/3,,4\n"},
                                                      {"metrics.jsonl", R"({"step": 5, "epoch": "1/3", "a": 2}
{"epoch": "1/3", "b": 3}
{"epoch": "2/3", "b": 4}
)"}};
  for (const auto& [name, text] : logs) {
    CHECK(grown_by(text.size(), name, text) == Values{{"a", 5, 2}, {"b", 5, 3}});
  }
}

TEST_CASE("values of hparams.yaml are without their quotes and comments") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,loss\n0,1\n");
  log.write("hparams.yaml", R"(precision: '16'
lr: 0.001   # comment
"quoted key": "a \"b\" \\ c"  # more
name: 'it''s # one'
color: a#b
on: yes
empty: ""
list: [1, 2]
nothing: null
none: # left out
text: |
  lr: 5
folded: >-
  lr: 6
open: "goes on
open too: 'goes on
behind: 'a' b
unknown: "\q"
latin: "caf\xE9"
two lines: a text
  that goes on
betas: !!python/tuple
- 0.9
sizes: &id001
- 1
same: *id001
one line: 3

  # a comment
# lr: 7
)");
  const Found found = log.look();
  REQUIRE(found.listing->extras);
  CHECK(found.listing->extras->hyperparameters ==
        std::map<std::string, std::string>{{"color", R"("a#b")"},
                                           {"empty", R"("")"},
                                           {"latin", "\"caf\u00E9\""},
                                           {"list", R"("[1, 2]")"},
                                           {"lr", R"("0.001")"},
                                           {"name", R"("it's # one")"},
                                           {"nothing", R"("null")"},
                                           {"on", R"("yes")"},
                                           {"one line", R"("3")"},
                                           {"precision", R"("16")"},
                                           {"quoted key", R"("a \"b\" \\ c")"}});
}

TEST_CASE("rows of new columns without a step of their own, after rows of others") {
  std::string text = "step,a,c\n";
  for (int step = 1; step <= 12; ++step) {
    text += std::to_string(step) + ",1,2\n";
  }
  text += "step,epoch,b\n";
  for (int row = 0; row < 8; ++row) {
    text += std::to_string(row) + ".5," + std::to_string(row) + ",3\n";
  }
  Log log(metrics_layout(), "metrics.csv");
  log.append(text);
  log.look();
  CHECK(log.values().size() == 24);  // the others have no step
}

TEST_CASE("JSON lines that are nearly of the form of the one before") {
  const double infinity = std::numeric_limits<double>::infinity();
  Log log(metrics_layout(), "metrics.jsonl");
  log.append(R"({"step": 1, "on": true, "a": {"b2": 5}}
{"step": 2, "on": true, "a": {"b2": 6}}
{"step": 3, "a": {"b2": 7}, "t": "x1"}
{"step": 4, "a": {"b2": -7e1}, "t": "x1"}
{"step": 5, "a": {"b2": 1}}
{"step": 6, "a": {"b2": 1.}}
{"step": 7, "a": {"b2": 01}}
{"step": 8, "a": {"b2": 2}}x
{"step": 9, "a": {"b2": -Infinity}}
{"step": 10, "a": {"b2": -Infinity}}
{"step": 11, "a": {"b2": "NaN 1"}}
{"step": 12, "c": [1, 2], "d": 1, "d": 2}
{"step": 13, "c": [1, 2], "d": 1, "d": 4}
{"step": 14, "c": [1, 3], "d": 3, "d": 5}
)");
  log.look(true);
  CHECK(log.damaged());  // steps 6 to 8
  CHECK(log.values() == Values{{"a.b2", 1, 5},
                               {"a.b2", 2, 6},
                               {"a.b2", 3, 7},
                               {"a.b2", 4, -70},
                               {"a.b2", 5, 1},
                               {"a.b2", 9, -infinity},
                               {"a.b2", 10, -infinity},
                               {"d", 12, 2},
                               {"d", 13, 4},
                               {"d", 14, 5},
                               {"on", 1, 1},
                               {"on", 2, 1}});
}

TEST_CASE("JSON lines and an array that grow byte by byte give each value once") {
  const std::string lines = "{\"step\": 1, \"a\": {\"b\": 2}}\n{\"step\": 2, \"a\": {\"b\": \"NaN}\", \"c\": -1e2}}\n";
  const Values right = {{"a.b", 1, 2}, {"a.c", 2, -100}};
  for (const std::size_t bytes : {1, 5, 1000}) {
    CHECK(grown_by(bytes, "metrics.jsonl", lines) == right);
    CHECK(grown_by(bytes, "scalars.json", lines) == right);
    CHECK(grown_by(bytes, "metrics.json", "[" + lines.substr(0, lines.find('\n')) + "]").size() == 1);
    CHECK(grown_by(bytes, "metrics.jsonl",
                   "[" + lines.substr(0, lines.find('\n')) + ", " + lines.substr(lines.find('\n')) + "]") == right);
  }
}

TEST_CASE("of a log that is written anew only what is new comes, unless it is another one") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,loss\n1,2\n2,1.5\n");
  log.look();
  log.replace("step,loss,acc\n1,2,\n2,1.5,\n2,,0.5\n");
  CHECK(log.look().afresh);
  log.append("3,1,0.75\n");
  log.look();
  CHECK(log.values() == Values{{"acc", 2, 0.5}, {"acc", 3, 0.75}, {"loss", 1, 2}, {"loss", 2, 1.5}, {"loss", 3, 1}});
  log.replace("step,loss\n1,9\n2,8\n3,7\n4,6\n");
  log.look();
  CHECK(log.values().size() == 9);  // four more: all values of the other log
}

TEST_CASE("a log that its writer writes anew in place gives only what is new") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,loss\n1,2\n2,1.5\n");
  log.look();
  const std::string_view anew = "step,loss,acc\n1,2,\n2,1.5,\n3,1,0.5\n";
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}, anew.size()}) {  // what a reader may see of it
    log.write_over(anew.substr(0, bytes));
    log.look();
  }
  CHECK(log.values() == Values{{"acc", 3, 0.5}, {"loss", 1, 2}, {"loss", 2, 1.5}, {"loss", 3, 1}});
}

TEST_CASE("a note says of each rewriting with other rows from which step they come again") {
  Log log(metrics_layout(), "metrics.csv");
  const auto notes = [&] {
    std::vector<std::string> texts;
    for (const smd::Problem& note : log.notes()) {
      CHECK(note.kind == ProblemKind::remark);
      texts.push_back(note.text);
    }
    return texts;
  };
  using Texts = std::vector<std::string>;
  log.append("step,loss\n1,5\n2,4\n");
  log.look();
  log.write_over("step,loss\n1,5\n2,4\n3,3\n");  // only one row is new
  log.look();
  CHECK(notes() == Texts());
  const auto rewrite = [&](const char* content, const char* more, const Texts& expected) {
    log.write_over(content);
    log.look();
    CHECK(notes() == expected);
    log.append(more);
    log.look();
    CHECK(notes() == expected);
  };
  rewrite("step,loss\n1,9\n2,8\n3,7\n4,6\n", "5,5\n", {"was written anew: its rows come again, from step 1"});
  rewrite("step,loss\n3,1\n4,0.5\n", "5,0.25\n",
          {"was written anew, 2 times by now: its rows come again, from step 3"});
}

TEST_CASE("a note about one column of a log names its tensor") {
  const auto note_of = [](std::unique_ptr<Layout> layout, const char* name, std::string_view content) {
    Log log(std::move(layout), name);
    log.append(content);
    log.look();
    REQUIRE(log.notes().size() == 1);
    return log.notes().front();
  };
  const smd::Problem texts = note_of(metrics_layout(), "metrics.csv", "step,loss,acc\n0,2,1\n1,diverged,1\n");
  CHECK(texts.tensor == "loss");
  CHECK(to_string(texts) == "metrics.csv: 'loss': 1 value is not numeric and left out");
  const smd::Problem empty = note_of(metrics_layout(), "metrics.csv", "step,val_loss,acc\n0,,1\n");
  CHECK(empty.tensor == "val_loss");
  CHECK(to_string(empty) == "metrics.csv: 'val_loss': no row has a value");
  const smd::Problem twice = note_of(metrics_layout(), "metrics.csv", "step,loss,loss\n0,2,1\n");
  CHECK(twice.tensor == "loss");
  const std::string run = run_file({{"loss", "4"}}) + history_of({{"loss", "\"diverged\""}});
  const smd::Problem of_run = note_of(wandb_layout(), "run-q7w2m4xz.wandb", run);
  CHECK(of_run.tensor == "loss");
  CHECK(to_string(of_run) == "run-q7w2m4xz.wandb: 1 value is not numeric and left out: of loss");
}

TEST_CASE("a warning says which rows of a log do not count although no job went back") {
  const auto warnings = [](Log& log, bool as_it_stands) {
    log.look(as_it_stands);
    std::vector<std::string> texts;
    for (const smd::Problem& note : log.notes()) {
      if (note.kind == ProblemKind::warning) {
        texts.push_back(note.text);
      }
    }
    return texts;
  };
  const auto warnings_of = [&](const char* name, std::string_view content) {
    Log log(metrics_layout(), name);
    log.append(content);
    return warnings(log, true);
  };
  using Texts = std::vector<std::string>;
  const std::string advice = ": give them logs of their own, or a step that no two share (--step-name NAME)";
  CHECK(warnings_of("metrics.csv", "epoch,batch,loss\n0,0,nan\n0,1,nan\n0,2,2\n1,0,inf\n1,1,1.5\n2,0,1.25\n2,1,1\n") ==
        Texts{"3 rows are superseded by later ones of another 'batch', with 2 values of NaN or infinity" + advice});
  CHECK(warnings_of("metrics.jsonl", R"({"step":0,"rank":0,"loss":NaN}
{"step":0,"rank":1,"loss":3}
{"step":1,"rank":0,"loss":2.5}
{"step":1,"rank":1,"loss":2}
{"step":2,"rank":0,"loss":1.5}
{"step":2,"rank":1,"loss":1}
)") == Texts{"3 rows are superseded by later ones of another 'rank', with 1 value of NaN or infinity" + advice});
  CHECK(warnings_of("metrics.csv", "epoch,phase,loss\n0,a,3\n0,b,4\n1,a,2\n1,b,3\n2,a,1\n2,b,2\n") ==
        Texts{"3 rows are superseded by later ones of another 'phase'" + advice});
  CHECK(warnings_of("metrics.csv", "epoch,kind,loss\n0,a,3\n0,b,4\n1,a,2\n1,b,3\n2,a,1\n2,b,2\n") ==
        Texts{"3 rows are superseded by later ones of the same step" + advice});
  // Texts tell rows apart as numbers do.
  CHECK(warnings_of("metrics.csv",
                    "step,client_id,acc\n0,site_0,1\n0,site_1,2\n1,site_0,3\n1,site_1,4\n"
                    "2,site_0,5\n2,site_1,6\n") ==
        Texts{"3 rows are superseded by later ones of another 'client_id'" + advice});
  CHECK(warnings_of("metrics.jsonl", R"({"step":0,"worker":"a","loss":3}
{"step":1,"worker":"a","loss":2}
{"step":2,"worker":"a","loss":1}
{"step":0,"worker":"b","loss":4}
{"step":1,"worker":"b","loss":3}
{"step":2,"worker":"b","loss":2}
)") == Texts{"rows are superseded by later ones of another 'worker'" + advice});
  CHECK(warnings_of("metrics.csv", "epoch,split,loss\n0,train,3\n1,train,2\n2,train,1\n0,val,4\n1,val,3\n2,val,2\n") ==
        Texts{"rows are superseded by later ones of another 'split'" + advice});
  // A validation now and then, in the column of the training.
  for (const std::string split : {"mode", "phase", "split", "stage"}) {
    std::string rare = "step," + split + ",loss\n";
    for (int step = 0; step < 40; ++step) {
      rare += fmt::format("{},train,{}\n", step, 50 - step);
      rare += step % 10 == 9 ? fmt::format("{},val,{}\n", step, 60 - step) : "";
    }
    CHECK(warnings_of("metrics.csv", rare) ==
          Texts{"4 rows are superseded by later ones of another '" + split + "'" + advice});
  }
  CHECK(warnings_of("metrics.csv", "fold,epoch,val_loss\n0,0,2\n0,1,1\n1,0,3\n1,1,1.5\n") ==
        Texts{"rows are superseded by later ones of another 'fold'" + advice});
  CHECK(warnings_of("metrics.csv", "epoch,batch,acc\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n2,0,5\n2,1,6\n") ==
        Texts{"3 rows are superseded by later ones of another 'batch'" + advice});
  // Equal numbers supersede nothing, be they NaN or not.
  CHECK(
      warnings_of("metrics.csv", "step,loss\n0,nan\n0,nan\n1,nan\n1,nan\n2,3\n2,3\n3,3\n3,2\n4,2\n4,1\n5,nan\n5,1\n") ==
      Texts{"3 rows are superseded by later ones of the same step, with 1 value of NaN or infinity" + advice});
  // Rows of the other seed supersede more than those that share a step: no number says how many.
  CHECK(warnings_of("metrics.csv",
                    "epoch,batch,seed,loss\n0,0,0,3\n0,1,0,2.5\n1,0,0,nan\n1,1,0,2\n2,0,0,1.5\n2,1,0,1\n"
                    "0,0,1,3.5\n0,1,1,3\n1,0,1,2.5\n1,1,1,2\n2,0,1,1.5\n2,1,1,1\n") ==
        Texts{"rows are superseded by later ones of another 'seed', with values of NaN or infinity" + advice});
  const auto rows_of = [](int worker, int from, int to) {
    std::string rows;
    for (int step = from; step < to; ++step) {
      rows += fmt::format("{},{},{}\n", step, worker, 1.0 / (step + worker + 1));
    }
    return rows;
  };
  // A job that was resumed by another worker, or begun anew soon, and one that ran to its end twice.
  const std::string worker_header = "step,worker_id,loss\n";
  CHECK(warnings_of("metrics.csv", worker_header + rows_of(0, 0, 60) + rows_of(1, 51, 120)) == Texts());
  CHECK(warnings_of("metrics.csv", worker_header + rows_of(0, 0, 60) + rows_of(1, 51, 52)) == Texts());
  CHECK(warnings_of("metrics.csv", worker_header + rows_of(0, 0, 10) + rows_of(1, 0, 120)) == Texts());
  CHECK(warnings_of("metrics.csv", worker_header + rows_of(0, 0, 60) + rows_of(1, 0, 60)) ==
        Texts{"rows are superseded by later ones of another 'worker_id'" + advice});
  const auto sound = {
      // A job that went back behind NaN, with one rank.
      "step,rank,loss\n0,0,3\n1,0,2\n2,0,nan\n1,0,2.5\n2,0,2\n3,0,1\n1,0,2\n2,0,1\n3,0,nan\n2,0,2\n3,0,1\n4,0,0.5\n",
      // Training and validation on rows of their own.
      "epoch,step,train_loss,val_loss,lr\n0,9,2,,1\n0,9,,2.5,0\n1,19,1,,1\n1,19,,1.5,0\n2,29,0.5,,1\n2,29,,1,0\n",
      "step,split,train_loss,val_loss\n0,train,3,\n0,val,,4\n1,train,2,\n1,val,,3\n2,train,1,\n2,val,,2\n",
      "step,split,train_loss,val_loss\n0,train,3,\n1,train,2,\n2,train,1,\n0,val,,4\n1,val,,3\n2,val,,2\n",
      // A job that another worker resumed, or began anew behind a header of its own.
      "step,worker,loss\n0,a,9\n1,a,8\n2,a,7\n3,a,6\n4,a,5\n5,a,4\n4,b,5.5\n5,b,4.5\n6,b,3\n7,b,2\n",
      "step,worker,loss\n0,a,3\n1,a,2\n2,a,1\nstep,worker,loss\n0,b,3.5\n1,b,2.5\n2,b,1.5\n",
      // Each row twice.
      "epoch,loss\n0,2\n0,2\n1,1\n1,1\n2,0.5\n2,0.5\n3,nan\n3,nan\n",
      // A job that evaluates before it goes on, resumed three times.
      "step,loss,eval_loss\n0,,9\n1,5,\n2,4,7\n2,,7.5\n3,3,\n4,2,6\n4,,6.5\n5,2,\n6,1,5\n6,,5.5\n7,1,4\n8,1,3\n9,1,2\n",
      // Two losses at the last step only.
      "step,loss\n0,3\n1,2\n2,1\n2,0.5\n2,0.25\n",
  };
  for (const char* const content : sound) {
    CAPTURE(content);
    CHECK(warnings_of("metrics.csv", content) == Texts());
  }
  // A follower says it once: without numbers that change.
  Log log(metrics_layout(), "metrics.csv");
  log.append("epoch,batch,loss\n0,0,inf\n0,1,3\n1,0,2.5\n1,1,2\n");
  CHECK(warnings(log, false) == Texts());
  for (const char* const rows : {"2,0,1\n2,1,0.5\n", "3,0,nan\n3,1,0.25\n"}) {
    log.append(rows);
    CHECK(warnings(log, false) ==
          Texts{"rows are superseded by later ones of another 'batch', with values of NaN or infinity" + advice});
  }
}

TEST_CASE("a shorter log with rows or names that were never there is another one, and comes at once") {
  Log replaced(metrics_layout(), "metrics.jsonl");
  replaced.append("{\"step\":0,\"loss\":1}\n{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"loss\":0.25}\n");
  replaced.look();
  replaced.replace("{\"step\":0,\"loss\":1,\"norm\":7}\n");
  CHECK(replaced.look().afresh);
  CHECK(replaced.values() ==
        Values{{"loss", 0, 1}, {"loss", 0, 1}, {"loss", 1, 0.5}, {"loss", 2, 0.25}, {"norm", 0, 7}});
  // The same job without validation: no val_loss will come.
  Log again(metrics_layout(), "metrics.csv");
  again.append("step,loss,val_loss\n0,1,\n1,0.5,2\n");
  again.look();
  again.write_over("step,loss,val_loss\n");
  for (const std::string_view row : {"0,1,\n", "1,0.5,\n", "2,8,\n", "3,9,\n"}) {
    again.look();
    again.append(row);
  }
  again.look();
  CHECK(again.values() == Values{{"loss", 0, 1},
                                 {"loss", 0, 1},
                                 {"loss", 1, 0.5},
                                 {"loss", 1, 0.5},
                                 {"loss", 2, 8},
                                 {"loss", 3, 9},
                                 {"val_loss", 1, 2}});
}

TEST_CASE("a rerun that begins with the same rows shows itself some rows after it goes on with others") {
  Log log(metrics_layout(), "metrics.csv");
  std::string rows = "step,loss\n";
  std::size_t same = 0;
  for (int step = 0; step < 60; ++step) {
    same = step == 33 ? rows.size() : same;
    rows += std::to_string(step) + ",1\n";
  }
  log.append(rows);
  log.look();
  log.write_over(rows.substr(0, same));
  CHECK_FALSE(log.look().afresh);
  int step = 33;
  bool shown = false;
  while (!shown && step < 60) {
    log.append(std::to_string(step++) + ",2\n");
    shown = log.look().afresh;
  }
  CHECK(shown);
  CHECK(step <= 41);
}

TEST_CASE("a log that is written anew may rest for some seconds; then it is another, shorter one") {
  const std::string_view anew = "step,loss,acc\n1,2,\n2,1.5,\n3,1,0.5\n";
  for (const bool goes_on : {true, false}) {
    Log log(metrics_layout(), "metrics.csv");
    log.append("step,loss\n1,2\n2,1.5\n");
    log.look();
    log.write_over("");
    log.look();
    log.pass(std::chrono::seconds(20));
    CHECK_FALSE(log.look().afresh);  // there is nothing yet
    log.write_over(anew.substr(0, 20));
    CHECK(log.look().due.has_value());
    log.pass(std::chrono::seconds(9));
    CHECK_FALSE(log.look().afresh);
    if (goes_on) {
      log.write_over(anew);
      log.look();
      CHECK(log.values() == Values{{"acc", 3, 0.5}, {"loss", 1, 2}, {"loss", 2, 1.5}, {"loss", 3, 1}});
    } else {
      log.pass(std::chrono::seconds(1));
      CHECK(log.look().afresh);
      CHECK(log.values() == Values{{"loss", 1, 2}, {"loss", 1, 2}, {"loss", 2, 1.5}});
    }
  }
}

TEST_CASE("a log that is overwritten is read again, however little of it was seen first") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,loss\n");
  log.look();
  log.append("1,5\n2,4\n");
  log.look();
  log.write_over("step,loss\n1,9\n2,8\n3,7\n");
  log.look();
  CHECK(log.values() == Values{{"loss", 1, 5}, {"loss", 1, 9}, {"loss", 2, 4}, {"loss", 2, 8}, {"loss", 3, 7}});
}

TEST_CASE("a header that is half written over is waited for, but not for long") {
  for (const bool goes_on : {true, false}) {
    Log log(metrics_layout(), "metrics.csv");
    log.append("epoch,step,loss\n1,1,0.5\n");
    log.look();
    log.write_over("epoch,step,acc,01,1,0.5\n");
    CHECK(log.look().due.has_value());
    CHECK(log.values() == Values{{"epoch", 1, 1}, {"loss", 1, 0.5}});
    if (goes_on) {
      log.write_over("epoch,step,acc,loss\n1,1,,0.5\n2,2,0.75,0.25\n");
      log.look();
      CHECK(log.values() ==
            Values{{"acc", 2, 0.75}, {"epoch", 1, 1}, {"epoch", 2, 2}, {"loss", 1, 0.5}, {"loss", 2, 0.25}});
    } else {
      log.pass(std::chrono::seconds(10));
      CHECK_FALSE(log.find_new());
    }
  }
}

TEST_CASE("a log that is overwritten while it is read is read again") {
  const Values right = {{"loss", 1, 5}, {"loss", 1, 9}, {"loss", 2, 4}, {"loss", 2, 8}, {"loss", 3, 7}};
  for (const bool known : {false, true}) {
    Log log(metrics_layout(), "metrics.csv");
    log.append("step,loss\n1,5\n");
    if (known) {
      log.look();
    }
    log.append("2,4\n");
    log.look(false, 1, [&] {
      log.write_over("step,loss\n1,9\n2,8\n3,7\n");
      return false;
    });
    log.look();
    CHECK(log.values() == right);
  }
  GrowingFile file;
  CHECK(file.take_head(smd::test::MemoryFile("one")));
  file.offset = 3;
  CHECK(file.take_head(smd::test::MemoryFile("one and more")));
  CHECK_FALSE(file.take_head(smd::test::MemoryFile("another that is longer")));
  CHECK_FALSE(file.is({1, 2}));
}

TEST_CASE("a job that begins its log anew is followed at once, though the log is shorter") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,loss\n1,5\n2,4\n3,3\n");
  log.look();
  log.write_over("step,loss\n1,5\n");  // as far as this goes, it may be the same one, not yet whole
  log.look();
  CHECK(log.values().size() == 3);
  log.write_over("step,loss\n1,5\n2,9\n");
  log.look();
  CHECK(log.values() == Values{{"loss", 1, 5}, {"loss", 1, 5}, {"loss", 2, 4}, {"loss", 2, 9}, {"loss", 3, 3}});
}

TEST_CASE("a long log that is begun anew, and alike, loses no row") {
  std::string rows = "step,loss\n";
  const auto rows_until = [&](int end) {
    for (int step = static_cast<int>(std::ranges::count(rows, '\n')) - 1; step < end; ++step) {
      rows += std::to_string(step) + (step < 600 ? ",1.5\n" : ",-1.25\n");
    }
    return rows;
  };
  Log log(metrics_layout(), "metrics.csv");
  std::string old = rows_until(600);
  for (int step = 600; step < 1000; ++step) {
    old += std::to_string(step) + ",1.25\n";
  }
  log.append(old);
  log.look();
  log.write_over(rows_until(700));
  log.look();
  log.write_over(rows_until(1200));
  log.look();
  const Values values = log.values();
  for (int step = 0; step < 1200; ++step) {
    CHECK(std::ranges::binary_search(values, std::tuple("loss", std::int64_t{step}, step < 600 ? 1.5 : -1.25)));
  }
}

TEST_CASE("a long log whose last row is filled in later, and is no shorter then, is read again") {
  struct Case {
    std::string name, header, before, middle, behind, last, filled, next;
  };
  const Case cases[] = {
      {"metrics.csv", "step,loss,val_loss\n", "", ",0.5,", "0.25\n", "100000,0.5,\n", "100000,0.5,0.75\n",
       "100001,4,\n"},
      {"metrics.jsonl", "", "{\"step\": ", ", \"loss\": 0.5, \"val_loss\": ", "0.25}\n",
       "{\"step\": 100000, \"loss\": 0.5}\n", "{\"step\": 100000, \"loss\": 0.5, \"val_loss\": 0.75}\n",
       "{\"step\": 100001, \"loss\": 4}\n"},
      {"metrics.jsonl", "[\n", "{\"step\": ", ", \"loss\": 0.5, \"val_loss\": ", "0.25},\n",
       "{\"step\": 100000, \"loss\": 0.5}\n]\n", "{\"step\": 100000, \"loss\": 0.5, \"val_loss\": 0.75},\n",
       "{\"step\": 100001, \"loss\": 4}\n]\n"}};
  for (const Case& one : cases) {
    for (const std::int64_t rows : {400, 100'000}) {  // of lines, threads read the latter
      CAPTURE(one.name);
      CAPTURE(rows);
      std::string text = one.header;
      Values right = {{"loss", 100'000, 0.5}, {"loss", 100'001, 4}, {"val_loss", 100'000, 0.75}};
      for (std::int64_t step = 100'000 - rows; step < 100'000; ++step) {
        text += one.before + std::to_string(step) + one.middle + one.behind;
        right.insert(right.end(), {{"loss", step, 0.5}, {"val_loss", step, 0.25}});
      }
      std::sort(right.begin(), right.end());
      Log log(metrics_layout(), one.name);
      log.append(text + one.last);
      log.look(false, 2);
      log.write_over(text + one.filled + one.next);
      log.look(false, 2);
      CHECK_FALSE(log.damaged());
      CHECK((log.values() == right));
    }
  }
}

TEST_CASE("a long log that is cut back and goes on in place, beyond where it ended, is read again") {
  constexpr int cut_at = 900;
  std::string before = "step,loss\n";
  for (int step = 0; step < cut_at; ++step) {
    before += std::to_string(step) + ",1.5\n";
  }
  std::string old = before;
  std::string now = before;
  Values right;  // those of the first look, and all of the other one
  for (int step = 0; step < 1100; ++step) {
    right.emplace_back("loss", step, step < cut_at ? 1.5 : 1.0625);
    if (step < 1000) {
      right.emplace_back("loss", step, step < cut_at ? 1.5 : 2.5);
    }
    if (step >= cut_at) {
      old += step < 1000 ? std::to_string(step) + ",2.5\n" : "";
      now += std::to_string(step) + ",1.0625\n";
    }
  }
  std::sort(right.begin(), right.end());
  Log log(metrics_layout(), "metrics.csv");
  log.append(old);
  log.look();
  log.write_over(now);
  const Found found = log.look();
  CHECK(found.afresh);
  CHECK(log.values() == right);
}

TEST_CASE("no row of a log comes again because the log could not be read for a while") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,loss\n1,5\n2,4\n");
  log.look();
  log.append("3,3\n");
  log.fail_from(0);
  for (int look = 0; look < 2; ++look) {
    log.look();
    CHECK(log.failed());
    CHECK(log.values() == Values{{"loss", 1, 5}, {"loss", 2, 4}});
    log.pass(std::chrono::seconds(20));
  }
  log.fail_from(UINT64_MAX);
  log.look();
  CHECK_FALSE(log.failed());
  CHECK(log.values() == Values{{"loss", 1, 5}, {"loss", 2, 4}, {"loss", 3, 3}});
}

TEST_CASE("a long log that is rewritten after a read failed is read again") {
  constexpr int old_rows = 200'000;
  constexpr int same_rows = 1000;  // more than its first 4 KiB
  constexpr std::uint64_t block = std::uint64_t{256} << 10;
  std::string old = "step,loss\n";
  std::string now = old;
  for (int step = 0; step < old_rows; ++step) {
    old += std::to_string(step) + ",1.5\n";
    now += std::to_string(step) + (step < same_rows ? ",1.5\n" : ",2.5\n");
  }
  const std::string more = std::to_string(old_rows) + ",3\n";
  REQUIRE(old.size() > 6 * block);  // so that threads read it
  struct Case {
    bool read_before;
    std::uint64_t fails_from;
  };
  // Behind the first bytes, when rows were read before; where the rows begin that threads leave.
  for (const Case& one : {Case{true, 4096}, Case{false, old.size() - 2 * block + 1}}) {
    CAPTURE(one.read_before);
    Log log(metrics_layout(), "metrics.csv");
    log.append(old);
    if (one.read_before) {
      log.look(false, 2);
      log.append(more);
    }
    log.fail_from(one.fails_from);
    log.look(false, 2);
    CHECK(log.failed());
    CHECK(log.values().size() <= std::size_t{old_rows});
    log.fail_from(UINT64_MAX);
    log.write_over(now + more);
    CHECK(log.look(false, 2).afresh);
    CHECK_FALSE(log.failed());
    const Values values = log.values();
    for (int step = same_rows; step < old_rows; step += 997) {
      CHECK(std::ranges::binary_search(values, std::tuple("loss", std::int64_t{step}, 2.5)));
    }
    CHECK(std::ranges::binary_search(values, std::tuple("loss", std::int64_t{old_rows}, 3.0)));
  }
}

TEST_CASE("a long array that grows in place, and is indented, is not read again") {
  std::string objects = "[\n  {\"step\": 0, \"loss\": 0}";
  Log log(metrics_layout(), "metrics.jsonl");
  Values right = {{"loss", 0, 0}};
  for (int step = 1; step <= 300; ++step) {
    objects += ",\n  {\"step\": " + std::to_string(step) + ", \"loss\": " + std::to_string(step) + "}";
    right.emplace_back("loss", step, step);
    log.write_over(objects + "\n]\n");
    const Found found = log.look();
    CHECK((!found.afresh || objects.size() < 5000));  // the end of a short one is among its first bytes
  }
  CHECK_FALSE(log.damaged());
  CHECK(log.values() == right);
}

TEST_CASE("steps that no double has are exact") {
  constexpr std::int64_t far = 9007199254740993;
  Log crossing(metrics_layout(), "metrics.csv");
  crossing.append("step,loss\n");
  Values right;
  for (std::int64_t step = far - 5; step < far + 5; ++step) {
    crossing.append(std::to_string(step) + ",1\n");
    right.emplace_back("loss", step, 1);
  }
  crossing.look(true);
  CHECK(crossing.values() == right);
  for (const auto& [name, text] : {std::pair("metrics.csv", "step,loss\n9007199254740992,1\n9007199254740993,2\n"),
                                   std::pair("metrics.jsonl",
                                             "{\"step\":9007199254740992,\"loss\":1}\n"
                                             "{\"loss\":2,\"step\":9007199254740993}\n")}) {
    Log log(metrics_layout(), name);
    log.append(text);
    log.look(true);
    CHECK(log.values() == Values{{"loss", far - 1, 1}, {"loss", far, 2}});
  }
}

TEST_CASE("of a key that comes twice in a JSON line the last value counts, also if it is none") {
  Log log(metrics_layout(), "metrics.jsonl");
  log.append(
      "{\"step\":1,\"loss\":3,\"loss\":null,\"acc\":1}\n{\"step\":2,\"loss\":3,\"loss\":[1]}\n"
      "{\"step\":3,\"loss\":null,\"loss\":4}\n");
  log.look(true);
  CHECK(log.values() == Values{{"acc", 1, 1}, {"loss", 3, 4}});
}

TEST_CASE("what cannot be read of a log costs its row, and is damage") {
  struct Case {
    const char* name;
    std::string text;
    Values values;
  };
  const std::string zeros(5, '\0');
  const Values without_second = {{"loss", 1, 5}, {"loss", 3, 3}};
  std::string few_fractions = "step,loss\n";
  Values whole_steps;
  for (int step = 1; step <= 30; ++step) {
    few_fractions += std::to_string(step) + (step == 20 ? ".5" : "") + ",1\n";
    whole_steps.emplace_back("loss", step, 1);
  }
  whole_steps.erase(whole_steps.begin() + 19);
  std::string few_of_texts = "step,loss\n";
  for (int step = 1; step <= 30; ++step) {
    few_of_texts += std::to_string(step) + (step == 20 ? ".5,1\n" : "/30,1\n");
  }
  // Each column is judged by its own rows.
  std::string behind_epochs = "epoch,loss\n0.5,9\nstep,epoch,loss\n";
  Values with_epochs = {{"epoch", 0, 0.5}, {"loss", 0, 9}};
  for (int step = 10; step <= 1000; step += 10) {
    behind_epochs += std::to_string(step) + (step == 500 ? ".5" : "") + ",1,2\n";
    if (step != 500) {
      with_epochs.insert(with_epochs.end(), {{"epoch", step, 1}, {"loss", step, 2}});
    }
  }
  std::sort(with_epochs.begin(), with_epochs.end());
  std::string before_fractions = "iteration,loss\n";
  Values by_iteration;
  for (int step = 1; step <= 104; ++step) {
    before_fractions += step == 101 ? "step,iteration,loss\n" : "";
    before_fractions += step > 100 ? std::to_string(step) + ".5," : "";
    before_fractions += std::to_string(step) + (step == 50 ? ".5" : "") + ",1\n";
    if (step != 50) {
      by_iteration.emplace_back("loss", step, 1);
    }
    if (step > 100) {
      by_iteration.emplace_back("step", step, step + 0.5);
    }
  }
  std::sort(by_iteration.begin(), by_iteration.end());
  std::string half_steps = "{\"iteration\":0,\"loss\":9}\n";
  Values with_half_steps = {{"loss", 0, 9}};
  for (int i = 1; i < 60; ++i) {
    half_steps += "{\"iteration\":" + std::to_string(i) + (i == 5 ? ".5" : "");
    half_steps += ",\"step\":" + std::to_string(i * 0.5) + ",\"loss\":1}\n";
    if (i != 5) {
      with_half_steps.insert(with_half_steps.end(), {{"loss", i, 1}, {"step", i, i * 0.5}});
    }
  }
  std::sort(with_half_steps.begin(), with_half_steps.end());
  for (const Case& one :
       {Case{"metrics.csv", "step,loss\n1,5\nabc,4\n3,3\n", without_second},
        Case{"metrics.csv", "step,loss\n1,5\n\"1,000\",4\n3,3\n", without_second},
        Case{"metrics.csv", "step,loss\n1,5\n" + zeros + "2,4\n3,3\n", without_second},
        Case{"metrics.csv", "step,loss,note\n1,5,\n2,4,\"x\n3,3,\n", without_second},
        Case{"metrics.csv", few_fractions, whole_steps}, Case{"metrics.csv", few_of_texts, whole_steps},
        Case{"metrics.csv", behind_epochs, with_epochs}, Case{"metrics.csv", before_fractions, by_iteration},
        Case{"metrics.jsonl", half_steps, with_half_steps},
        Case{"metrics.csv", "step,loss\n1,5\n3,3\n" + zeros, without_second},
        Case{"metrics.csv", "step,loss\n1,5\n3,3\n4,2." + zeros, without_second},
        Case{"metrics.jsonl", "{\"step\":1,\"loss\":5}\n{\"step\":3,\"loss\":3}\n" + zeros, without_second},
        Case{"metrics.jsonl", "{\"step\":1,\"loss\":5}\n{\"step\":\"x\",\"loss\":4}\n{\"step\":3,\"loss\":3}\n",
             without_second},
        Case{"metrics.jsonl", "[{\"step\":1,\"loss\":5},\n{\"step\":2,\"loss\":4,\n{\"step\":3,\"loss\":3}]",
             without_second},
        Case{"metrics.jsonl", "[{\"step\":1,\"loss\":5},{\"step\":3,\"loss\":3}]\n{\"step\":2}", without_second},
        Case{"metrics.jsonl", "[{\"step\":1,\"loss\":5},{\"step\":3,\"loss\":3},2]", without_second},
        Case{"metrics.csv", "step,loss\n1,5\n3,3\n4,nan,3", without_second},
        Case{"metrics.jsonl", "{\"step\":1,\"loss\":5}\n{\"step\":3,\"loss\":3}\n{\"step\":4,\"loss\":2}}",
             without_second}}) {
    CAPTURE(one.text);
    Log log(metrics_layout(), one.name);
    log.append(one.text);
    log.look(true);
    CHECK(log.damaged());
    CHECK(log.values() == one.values);
  }
}

TEST_CASE("a last line that may become right is no damage, nor is one that may grow") {
  for (const std::string_view rest : {"4,2", "4,\"nan,3", "step,loss,ac", "4", "4,nan,3"}) {
    CAPTURE(rest);
    Log log(metrics_layout(), "metrics.csv");
    log.append("step,loss\n1,5\n");
    log.append(rest);
    log.look(rest != "4,nan,3");
    CHECK_FALSE(log.damaged());
  }
  for (const std::string_view rest : {R"({"step":4)", R"({"step":4,"x":"}}")", R"({"step":4}})"}) {
    CAPTURE(rest);
    Log log(metrics_layout(), "metrics.jsonl");
    log.append("{\"step\":1,\"loss\":5}\n");
    log.append(rest);
    log.look(rest != R"({"step":4}})");
    CHECK_FALSE(log.damaged());
  }
}

TEST_CASE("a follower remarks on a last line that is not finished when following ends") {
  Log log(metrics_layout(), "metrics.csv");
  log.append("step,loss\n1,5\n2,4");
  log.look();
  REQUIRE(log.notes().size() == 1);
  CHECK(log.notes().front().kind == ProblemKind::remark);
  CHECK(log.notes().front().unfinished);
  CHECK(log.notes().front().offset == 14);
  log.append("\n");
  log.look();
  CHECK(log.notes().empty());
}

TEST_CASE("a look stops also within a line that does not end, and within zeros of a run file") {
  const std::string line(3 * smd::limits::row_bytes, 'x');
  const std::string run = run_file({{"loss", "5"}});
  const std::string zeros(3 * wire::wandb_block_bytes - run.size(), '\0');
  struct Case {
    std::unique_ptr<Layout> layout;
    std::string name;
    std::string text;
    std::int64_t step;
  };
  Case cases[] = {
      {metrics_layout(), "metrics.csv", "step,loss\n1,5\n" + line + "\n2,4\n", 1},
      {metrics_layout(), "metrics.jsonl", "{\"step\":1,\"loss\":5}\n" + line + "\n{\"step\":2,\"loss\":4}\n", 1},
      {wandb_layout(), "run-q7w2m4xz.wandb", run + zeros + history_of({{"loss", "4"}}), 0}};
  for (Case& one : cases) {
    CAPTURE(one.name);
    Log log(std::move(one.layout), one.name);
    log.append(one.text);
    unsigned asked = 0;
    log.look(false, 1, [&] { return ++asked > 1; });
    CHECK(log.values() == Values{{"loss", one.step, 5}});
  }
}

TEST_CASE("zeros at the end of a log are told where they begin, but not while it may grow") {
  const std::string text = "step,loss\n1,5\n2," + std::string(4, '\0');
  Log whole(metrics_layout(), "metrics.csv");
  whole.append(text);
  const Found found = whole.look(true);
  CHECK(whole.damaged());
  CHECK(found.listing->notes.kept().front().offset == 16);
  Log log(metrics_layout(), "metrics.csv");
  log.append(text);
  log.look();
  CHECK_FALSE(log.damaged());
  log.write_over("step,loss\n1,5\n2,4.25\n");
  log.look();
  CHECK_FALSE(log.damaged());
  CHECK(log.values() == Values{{"loss", 1, 5}, {"loss", 2, 4.25}});
}

TEST_CASE("the empty string is a name") {
  Log lines(metrics_layout(), "metrics.jsonl");
  lines.append("{\"step\":1,\"\":3,\"x\":2}\n");
  lines.look(true);
  CHECK(lines.values() == Values{{"", 1, 3}, {"x", 1, 2}});
  Log run(wandb_layout(), "run-q7w2m4xz.wandb");
  run.append(run_file({{"", "4"}, {"x", "2"}}));
  run.look(true);
  CHECK(run.values() == Values{{"", 0, 4}, {"x", 1, 2}});
}

TEST_CASE("an array of objects that are never closed is given up") {
  std::string text = R"([{"step":1,"loss":5},)";
  for (int i = 0; i < 500'000; ++i) {
    text += "{,";
  }
  Log log(metrics_layout(), "metrics.jsonl");
  log.append(text);
  log.look(true);
  CHECK(log.damaged());
  CHECK(log.values() == Values{{"loss", 1, 5}});
}

TEST_CASE("objects without a number or a text count where steps are the numbers of rows; blank lines do not") {
  const std::string text = "{\"loss\":3}\n{\"loss\":null}\n{}\n\n{\"loss\":[1]}\n{\"loss\":{}}\n{\"loss\":1}\n";
  const Values right = {{"loss", 0, 3}, {"loss", 5, 1}};
  Log log(metrics_layout(), "metrics.jsonl");
  log.append(text);
  log.look(true);
  CHECK(log.values() == right);
  for (const std::size_t bytes : {1, 7, 1000}) {
    CHECK(grown_by(bytes, "metrics.jsonl", text) == right);
  }
}

TEST_CASE("the step of JSON lines may have a name that the first line lacks") {
  Log log(metrics_layout(), "metrics.jsonl");
  log.append(
      "\xEF\xBB\xBF{\"epoch\":0,\"loss\":9}\n{\"epoch\":0,\"step\":5,\"loss\":2}\n{\"epoch\":0,\"step\":10,\"loss\":1}"
      "\n");
  log.look(true);
  CHECK(log.values() == Values{{"epoch", 5, 0}, {"epoch", 10, 0}, {"loss", 5, 2}, {"loss", 10, 1}});
  CHECK_FALSE(log.damaged());
}

TEST_CASE("rows without a step may come before those of JSON lines that have one") {
  struct Case {
    std::string text;
    Values whole;
    Values followed;  ///< What came out before keeps the number of its row, or its epoch.
  };
  for (const Case& one :
       {Case{"{\"epoch\":0,\"lr\":0.5}\n{\"_step\":10,\"epoch\":0,\"loss\":1}\n{\"_step\":20,\"epoch\":1,\"loss\":2}\n",
             {{"epoch", 10, 0}, {"epoch", 20, 1}, {"loss", 10, 1}, {"loss", 20, 2}},
             {{"loss", 0, 1}, {"loss", 1, 2}, {"lr", 0, 0.5}}},
        Case{"{\"loss\":5}\n{\"_step\":10,\"loss\":1}\n{\"_step\":20,\"loss\":2}\n",
             {{"loss", 10, 1}, {"loss", 20, 2}},
             {{"loss", 0, 5}, {"loss", 10, 1}, {"loss", 20, 2}}},
        Case{"{\"gpu\":50}\n{\"gpu\":51}\n{\"gpu\":52}\n{\"step\":100,\"loss\":1}\n{\"gpu\":53}\n",
             {{"gpu", 100, 53}, {"loss", 100, 1}},
             {{"gpu", 0, 50}, {"gpu", 1, 51}, {"gpu", 2, 52}, {"gpu", 100, 53}, {"loss", 100, 1}}},
        Case{"{\"lr\":0.5}\n{\"step\":\"2/10\",\"loss\":3}\n", {{"loss", 2, 3}}, {{"loss", 2, 3}, {"lr", 0, 0.5}}},
        // Epochs may have fractions later: a follower that took one for the step would have to leave those out.
        Case{"{\"lr\":0.5}\n{\"lr\":0.25}\n{\"lr\":0.125}\n{\"epoch\":1,\"loss\":2}\n",
             {{"loss", 1, 2}},
             {{"epoch", 3, 1}, {"loss", 3, 2}, {"lr", 0, 0.5}, {"lr", 1, 0.25}, {"lr", 2, 0.125}}},
        Case{"{\"lr\":0.5}\n{\"epoch\":0.5,\"loss\":2}\n",
             {{"epoch", 1, 0.5}, {"loss", 1, 2}, {"lr", 0, 0.5}},
             {{"epoch", 1, 0.5}, {"loss", 1, 2}, {"lr", 0, 0.5}}}}) {
    CAPTURE(one.text);
    Log whole(metrics_layout(), "metrics.jsonl");
    whole.append(one.text);
    whole.look(true);
    CHECK(whole.values() == one.whole);
    for (const std::size_t bytes : {1, 7, 1000}) {
      CHECK(grown_by(bytes, "metrics.jsonl", one.text) == one.followed);
    }
  }
  // The first whole number may stand in a row of the same form as the one before.
  CHECK(grown_by(1000, "metrics.jsonl", "{\"lr\":0.5}\n{\"step\":1.5,\"loss\":2}\n{\"step\":2,\"loss\":1}\n") ==
        Values{{"loss", 1, 2}, {"loss", 2, 1}, {"lr", 0, 0.5}, {"step", 1, 1.5}});
  Log log(metrics_layout(), "metrics.jsonl");
  log.append("{\"lr\":0.5}\n{\"step\":100,\"loss\":1}\n");
  const Found found = log.look();
  REQUIRE(found.listing->notes.kept().size() == 1);
  CHECK(found.listing->notes.kept().front().kind == ProblemKind::warning);
  CHECK(found.listing->notes.kept().front().offset == 11);
}

TEST_CASE("a list with a name of steps is not the step of JSON lines") {
  Log log(metrics_layout(), "metrics.jsonl");
  log.append("{\"step\":[7,8],\"epoch\":1,\"loss\":3}\n{\"step\":[7,8],\"epoch\":2,\"loss\":2}\n");
  log.look(true);
  CHECK(log.values() == Values{{"loss", 1, 3}, {"loss", 2, 2}});
  CHECK_FALSE(log.damaged());
}

TEST_CASE("with a follower the choice of the step is that of the first row") {
  const std::string text = "step,loss\n1,2\n1.5,1\n";
  Log whole(metrics_layout(), "metrics.csv");
  whole.append(text);
  whole.look(true);
  CHECK(whole.values() == Values{{"loss", 0, 2}, {"loss", 1, 1}, {"step", 0, 1}, {"step", 1, 1.5}});  // rows
  CHECK(grown_by(1, "metrics.csv", text) == Values{{"loss", 1, 1}, {"loss", 1, 2}});
}

TEST_CASE("a fraction in a step that came out does not change the step at a further header") {
  const std::string text =
      "step,iteration,loss\n1,100,9\n1.5,150,8\n2,200,7\nstep,iteration,loss\n2,201,6\n2.5,250,5\n3,300,4\n";
  const Values right = {{"iteration", 1, 100}, {"iteration", 1, 150}, {"iteration", 2, 200}, {"iteration", 2, 201},
                        {"iteration", 2, 250}, {"iteration", 3, 300}, {"loss", 1, 8},        {"loss", 1, 9},
                        {"loss", 2, 5},        {"loss", 2, 6},        {"loss", 2, 7},        {"loss", 3, 4}};
  for (const std::size_t bytes : {1, 7, 1000}) {
    CHECK(grown_by(bytes, "metrics.csv", text) == right);
  }
}

TEST_CASE("each header of a CSV chooses the step anew, with a follower and without") {
  const std::pair<std::string, Values> logs[] = {
      {"epoch,step,loss\n0,0,9\n0,1,8\nepoch,val_loss\n0,7\nepoch,step,loss\n1,2,7\n1,3,6\n1,4,5\n",
       {{"loss", 0, 9}, {"loss", 1, 8}, {"loss", 2, 7}, {"loss", 3, 6}, {"loss", 4, 5}, {"val_loss", 0, 7}}},
      {"epoch,loss\n0,1\n1,2\nstep,epoch,loss\n30,2,3\n40,3,4\n",
       {{"loss", 0, 1}, {"loss", 1, 2}, {"loss", 30, 3}, {"loss", 40, 4}}}};
  for (const auto& log : logs) {
    CAPTURE(log.first);
    Log whole(metrics_layout(), "metrics.csv");
    whole.append(log.first);
    whole.look(true);
    Values values = whole.values();
    for (const std::size_t bytes : {1, 7, 1000}) {
      CHECK(grown_by(bytes, "metrics.csv", log.first) == values);
    }
    std::erase_if(values, [](const auto& value) { return std::get<0>(value) == "epoch"; });
    CHECK(values == log.second);
  }
}

TEST_CASE("whether a column of a CSV is the step depends on its rows behind all headers") {
  std::string halves = "step,iteration,loss\n0.5,1,9\nstep,iteration,loss\n";
  std::string epochs = "epoch,loss\n1,9\n1.5,8\nepoch,step,loss\n";
  for (int row = 1; row <= 40; ++row) {
    halves += std::to_string(row * 0.5) + ',' + std::to_string(row) + ",7\n";
    epochs += "2," + std::to_string(100 * row) + ",7\n";
  }
  Log by_iteration(metrics_layout(), "metrics.csv");
  by_iteration.append(halves);
  by_iteration.look(true);
  CHECK_FALSE(by_iteration.damaged());
  Log by_row_and_step(metrics_layout(), "metrics.csv");
  by_row_and_step.append(epochs);
  by_row_and_step.look(true);
  CHECK_FALSE(by_row_and_step.damaged());
  const Values one = by_iteration.values_that_count();
  const Values other = by_row_and_step.values();
  for (std::int64_t row = 1; row <= 40; ++row) {
    CHECK(std::ranges::binary_search(one, std::tuple("loss", row, 7.0)));
    CHECK(std::ranges::binary_search(one, std::tuple("step", row, static_cast<double>(row) / 2)));
    CHECK(std::ranges::binary_search(other, std::tuple("loss", 100 * row, 7.0)));
  }
  CHECK(std::ranges::binary_search(other, std::tuple("loss", std::int64_t{1}, 8.0)));
}

TEST_CASE("a fraction before any step tells a follower what is no step, as it tells others") {
  for (const auto& log :
       {std::pair("metrics.csv", "epoch,loss\n,8\n0.25,4\n0.5,3\n1.0,2\n1.5,1\n"),
        std::pair("metrics.csv", "step,iter,loss\n0.5,10,4\n1.5,20,3\n2,30,2\n"),
        std::pair("metrics.jsonl", "{\"epoch\":0.25,\"loss\":4}\n{\"epoch\":1,\"loss\":3}\n"),
        std::pair("metrics.jsonl", "{\"step\":0.5,\"iter\":10,\"loss\":4}\n{\"step\":1,\"iter\":20,\"loss\":3}\n")}) {
    CAPTURE(log.second);
    const auto& [name, text] = log;
    Log whole(metrics_layout(), name);
    whole.append(text);
    whole.look(true);
    CHECK_FALSE(whole.values().empty());
    for (const std::size_t bytes : {1, 7, 1000}) {
      CHECK(grown_by(bytes, name, text) == whole.values());
    }
  }
}

TEST_CASE("a run file cut at any byte is a prefix, and one that grows gives each value once") {
  const std::string file = "run-q7w2m4xz.wandb";
  const std::string bytes = recorded("wb_old/" + file);
  Log whole(wandb_layout(), file);
  whole.append(bytes);
  whole.look();
  const Values all = whole.values();
  CHECK(all.size() > 60);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 13) {
    Log part(wandb_layout(), file);
    part.append(bytes.substr(0, cut));
    part.look(true);
    const Values some = part.values();
    CHECK_FALSE(part.damaged());
    CHECK(std::includes(all.begin(), all.end(), some.begin(), some.end()));
  }
  for (const std::size_t step : {1UL, 97UL}) {
    Log growing(wandb_layout(), file);
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      growing.append(std::string_view(bytes).substr(at, step));
      growing.look();
    }
    CHECK(growing.values() == all);
    CHECK(growing.look().listing->ended);
  }
}

TEST_CASE("a run file whose first bytes cannot be read is read by the next look") {
  Log log(wandb_layout(), "run-q7w2m4xz.wandb");
  log.append(run_file({{"loss", "4"}}));
  log.fail_from(0);
  log.look();
  CHECK(log.failed());
  CHECK(log.values().empty());
  log.fail_from(UINT64_MAX);
  log.look();
  CHECK_FALSE(log.failed());
  CHECK(log.values() == Values{{"loss", 0, 4}});
}

TEST_CASE("a chunk of a run that would end behind the file is damaged if another begins within it") {
  const std::string file = "run-q7w2m4xz.wandb";
  const std::size_t second = run_file({{"loss", "4"}}).size();
  const std::size_t third = run_file({{"loss", "4"}, {"loss", "3"}}).size();
  std::string bytes = run_file({{"loss", "4"}, {"loss", "3"}, {"loss", "2"}});
  bytes[second + 5] = '\x10';  // of its length
  for (const std::size_t size : {third, bytes.size()}) {
    Log log(wandb_layout(), file);
    log.append(bytes.substr(0, size));
    const Found found = log.look(true);
    CHECK(log.values() == Values{{"loss", 0, 4}});
    CHECK(log.damaged() == (size > third));
    CHECK((!log.damaged() || found.listing->notes.kept().front().offset == second));
  }
}

TEST_CASE("zeros in a run with data behind them are damage; at its end data may come in their place") {
  const std::string file = "run-q7w2m4xz.wandb";
  const std::string one = run_file({{"loss", "4"}});
  const std::string three = run_file({{"loss", "4"}, {"loss", "nan"}, {"loss", "2"}});
  std::string wiped = three;
  wiped.replace(one.size(), 20, std::string(20, '\0'));
  // In a block that is not the last one, too.
  const std::string full = wiped + std::string(wire::wandb_block_bytes - wiped.size(), '\0');
  for (const std::string& bytes : {wiped, full, full + history_of({{"loss", "1"}})}) {
    for (const bool as_it_stands : {false, true}) {
      Log log(wandb_layout(), file);
      log.append(bytes);
      const Found found = log.look(as_it_stands);
      const bool awaited = !as_it_stands && bytes == wiped;
      CHECK(log.damaged() == !awaited);
      CHECK((awaited || found.listing->notes.kept().front().offset == one.size()));
      CHECK(log.values().front() == Values::value_type{"loss", 0, 4});
    }
  }
  // What a follower sees of a file that is copied in any order.
  const std::string many = run_file(Items(400, {"loss", "4"}));
  std::string holed = many;
  holed.replace(run_file(Items(300, {"loss", "4"})).size(), 20, std::string(20, '\0'));
  Log copied(wandb_layout(), file);
  copied.append(holed);
  copied.look();
  CHECK(copied.values().size() == 300);
  copied.write_over(many + history_of({{"loss", "1"}}));
  copied.look();
  CHECK(copied.values().size() == 401);
  CHECK(!copied.damaged());
  // A file that is as long as its block before it is written.
  const auto preallocated = [](std::size_t records) {
    std::string bytes = run_file(Items(records, {"loss", "4"}));
    bytes.resize(wire::wandb_block_bytes);
    return bytes;
  };
  Log log(wandb_layout(), file);
  log.append(preallocated(500));
  log.look();
  log.write_over(preallocated(700));
  CHECK(log.look().listing->notes.kept().empty());
  CHECK(log.values().size() == 700);
}

TEST_CASE("a histogram of a run whose buckets cannot be is left out, and is damage") {
  Log log(wandb_layout(), "run-q7w2m4xz.wandb");
  log.append(run_file({{"a", R"({"_type":"histogram","bins":[0,1,2],"values":[1,-2]})"},
                       {"b", R"({"_type":"histogram","bins":[2,1,0],"values":[1,2]})"},
                       {"c", R"({"_type":"histogram","bins":[0,1],"values":[1,2]})"},
                       {"d", R"({"_type":"histogram","packedBins":{"min":0,"size":1,"count":3},"values":[1,2]})"},
                       {"e", R"({"_type":"histogram","bins":null,"values":null})"},
                       {"loss", "1"}}));
  const Found found = log.look(true);
  const auto& notes = found.listing->notes.kept();
  REQUIRE(notes.size() == 5);
  CHECK(notes[0].text == "the value of 'a' is left out: a bucket of the histogram has -2 elements");
  CHECK(notes[1].text == "the value of 'b' is left out: the buckets of the histogram do not ascend");
  for (std::size_t i = 2; i < notes.size(); ++i) {
    CHECK(notes[i].text.ends_with("' is left out: the bins of the histogram do not fit its counts"));
  }
  CHECK(log.damaged());
  CHECK(log.values() == Values{{"loss", 5, 1}});
}

TEST_CASE("a later copy of a log gives only what is new, and another log all that it has") {
  const std::string run_file = "run-q7w2m4xz.wandb";
  const std::string event_file = "events.out.tfevents.1700000000.host-a.4242.0";
  const auto events = [&](const std::string& log) {
    return smd::test::read_file(std::string(SMD_TEST_FIXTURES) + "/tb-logs/" + log + "/" + event_file);
  };
  const std::string logged = events("lightning_steps");
  struct Case {
    std::unique_ptr<Layout> (*layout)();
    std::string name;
    std::string bytes;
    std::size_t first;
    std::string other;
  };
  const auto wandb = [] { return wandb_layout(); };
  const auto tensorboard = [] { return tensorboard_layout(); };
  for (const auto& [layout, name, bytes, first, other] :
       {Case{wandb, run_file, recorded("wb_healthy/" + run_file), 5000, recorded("wb_old/" + run_file)},
        Case{tensorboard, event_file, logged, logged.size() / 2, events("megatron")}}) {
    Log whole(layout(), name);
    whole.append(bytes);
    whole.look();
    Log copied(layout(), name);
    copied.append(std::string_view(bytes).substr(0, first));
    copied.look();
    CHECK_FALSE(copied.values().empty());
    CHECK(copied.values().size() < whole.values().size());
    copied.replace(bytes);
    CHECK_FALSE(copied.look().afresh);
    CHECK(copied.values() == whole.values());
    CHECK_FALSE(copied.damaged());
    copied.replace(std::string_view(bytes).substr(0, first));
    CHECK(copied.look().afresh);
    const std::size_t before = copied.values().size();
    copied.replace(other);
    CHECK(copied.look().afresh);
    CHECK(copied.values().size() > before);
  }
}

TEST_CASE("rows of one run share a list of names, in whatever order its records have them") {
  const std::string file = "run-q7w2m4xz.wandb";
  Log log(wandb_layout(), file);
  log.append(recorded("wb_healthy/" + file));  // 60 records with two sets of names, in eight orders
  const Found found = log.look(true);
  CHECK(found.loaded.tables.front().name_lists.size() == 2);
}

TEST_CASE("of a name of a run that had a text, null is NaN if it has numbers; a follower knows them once one came") {
  const std::string file = "run-q7w2m4xz.wandb";
  Log log(wandb_layout(), file);
  const std::string bytes = run_file(
      {{"loss", "\"n/a\""}, {"loss", "null"}, {"loss", "1"}, {"loss", "null"}, {"name", "\"x\""}, {"name", "null"}});
  log.append(bytes);
  const Found found = log.look(true);
  const Values values = log.values();
  REQUIRE(values.size() == 3);
  CHECK(std::get<std::int64_t>(values[0]) == 1);
  CHECK(std::isnan(std::get<double>(values[0])));
  CHECK(values[1] == Values::value_type("loss", 2, 1));
  CHECK(std::isnan(std::get<double>(values[2])));
  CHECK(std::ranges::any_of(found.listing->notes.kept(),
                            [](const auto& note) { return note.text.starts_with("2 values are null"); }));
  Log followed(wandb_layout(), file);
  followed.append(bytes);
  const Found first = followed.look();
  CHECK(followed.values().size() == 2);
  CHECK(std::ranges::any_of(first.listing->notes.kept(), [](const auto& note) {
    return note.kind == ProblemKind::warning && note.text.starts_with("'loss' has a number: nulls before it");
  }));
}

TEST_CASE("a whole number beside nulls that a text precedes is a float64, however large it is") {
  Log log(wandb_layout(), "run-q7w2m4xz.wandb");
  log.append(run_file({{"n", "\"n/a\""}, {"n", "null"}, {"n", "9007199254740993"}}));  // 2^53 + 1
  log.look(true);
  const Values values = log.values();
  REQUIRE(values.size() == 2);
  CHECK(values[1] == Values::value_type("n", 2, 9007199254740992.0));
}

TEST_CASE("a number that equals the last one of its name counts if something else came between") {
  Log log(wandb_layout(), "run-q7w2m4xz.wandb");
  log.append(run_file_of({{{"_step", "1"}, {"x", "[1, 2]"}}, {{"_step", "1"}, {"x", "0"}}}));
  log.look(true);
  CHECK(log.values_that_count() == Values{{"x", 1, 0}});
}

TEST_CASE("a follower waits for the step that was asked for, and then gives what others give") {
  const std::string file = "run-q7w2m4xz.wandb";
  const Opening opening{.name = {}, .file = {}, .step_name = "iter"};
  const std::vector<Items> records = {{{"loss", "4"}}, {{"loss", "3"}}, {{"iter", "7"}, {"loss", "2"}}};
  Log growing(wandb_layout(opening), file);
  growing.append(run_file_of({records[0], records[1]}));
  CHECK(growing.look().collections != nullptr);
  growing.look();
  CHECK(growing.values().empty());
  const std::string whole_file = run_file_of(records);
  growing.append(whole_file.substr(run_file_of({records[0], records[1]}).size()));
  growing.look();
  Log whole(wandb_layout(opening), file);
  whole.append(whole_file);
  whole.look(true);
  CHECK(growing.values() == whole.values());
  CHECK(whole.values() == Values{{"loss", 0, 3}, {"loss", 0, 4}, {"loss", 7, 2}});
}

TEST_CASE("a record of a run that has the step and no tensor is no step, and its step goes on") {
  const std::string name = "run-q7w2m4xz.wandb";
  const std::string global = "trainer/global_step";
  const std::pair<std::string, std::string> image = {"pic", R"({"_type":"image-file"})"};
  struct Case {
    std::vector<Items> records;
    Values whole;
    Values followed;  ///< A follower chooses the step at the first record with a tensor.
  };
  const auto alike = [](std::vector<Items> records, const Values& values) {
    return Case{std::move(records), values, values};
  };
  const std::vector<Case> cases = {
      alike({{{global, "0"}}, {{global, "10"}, {"loss", "1"}}, {{global, "20"}, {"loss", "0.5"}}},
            {{"loss", 10, 1}, {"loss", 20, 0.5}}),
      alike({{{global, "0"}, {"loss", "1"}},
             {{global, "100"}},
             {{"acc", "0.5"}},
             {{global, "200"}, {"loss", "0.5"}},
             {{"acc", "0.75"}}},
            {{"acc", 100, 0.5}, {"acc", 200, 0.75}, {"loss", 0, 1}, {"loss", 200, 0.5}}),
      alike({{{global, "0"}, {"note", "\"hi\""}}, {{global, "10"}, {"loss", "1"}}}, {{"loss", 10, 1}}),
      alike({{{global, "0"}, image},
             {{global, "50"}, {"loss", "1"}},
             {{global, "1000"}, image},
             {{"val/acc", "0.5"}},
             {{global, "1050"}, {"loss", "0.25"}}},
            {{"loss", 50, 1}, {"loss", 1050, 0.25}, {"val/acc", 1000, 0.5}}),
      {{{{global, "12"}}, {{"lr", "3"}}, {{global, "33"}, {"lr", "2"}, {"loss", "1"}}},
       {{"loss", 33, 1}, {"lr", 12, 3}, {"lr", 33, 2}},
       {{"loss", 2, 1}, {"lr", 1, 3}, {"lr", 2, 2}, {global, 0, 12}, {global, 2, 33}}},
      alike({{{global, "12"}}, {{"loss", "1"}}, {{global, "13"}, {"loss", "0.5"}}},
            {{"loss", 1, 1}, {"loss", 2, 0.5}, {global, 0, 12}, {global, 2, 13}}),
      alike({{{"global_step", "3"}}, {{global, "5"}, {"loss", "1"}}}, {{"global_step", 0, 3}, {"loss", 5, 1}}),
      alike({{{"global_step", "3.5"}}, {{"loss", "1"}}}, {{"global_step", 0, 3.5}, {"loss", 1, 1}}),
      {{{{"global_step", "3.5"}}, {{"note", "\"hi\""}}}, {{"global_step", 0, 3.5}}, {}},
      alike({{{global, "3"}}, {{global, "4"}}}, {})};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const auto& [records, values, followed] = cases[i];
    const std::string bytes = run_file_of(records);
    Log whole(wandb_layout(), name);
    whole.append(bytes);
    whole.look(true);
    CHECK(whole.values() == values);
    Log growing(wandb_layout(), name);
    growing.append(run_file_of({}));
    for (const Items& record : records) {
      CHECK_FALSE(growing.look().afresh);
      growing.append(history_of(record));
    }
    CHECK_FALSE(growing.look().afresh);
    CHECK(growing.values() == followed);
    for (const std::size_t step : {std::size_t{1}, std::size_t{50}, bytes.size()}) {
      Log cut(wandb_layout(), name);
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        cut.append(std::string_view(bytes).substr(at, step));
        cut.look();
      }
      CHECK(cut.values() == followed);
    }
  }
}

TEST_CASE("the step that was asked for, or of the run that is resumed, goes on from a record without a tensor") {
  Log named(wandb_layout(Opening{.name = {}, .file = {}, .step_name = "iter"}), "run-q7w2m4xz.wandb");
  named.append(run_file_of({{{"iter", "7"}}, {{"loss", "4"}}, {{"iter", "9"}, {"loss", "3"}}}));
  named.look(true);
  CHECK(named.values() == Values{{"loss", 7, 4}, {"loss", 9, 3}});
  Log resumed(wandb_layout(), "run-20250101_000000-one/run-one.wandb");
  resumed.append(run_file_of({{{"global_step", "10"}, {"loss", "1"}}}));
  resumed.look();
  resumed.write("run-20250103_000000-one/run-one.wandb", run_file_of({{{"global_step", "40"}, {"note", "\"hi\""}},
                                                                      {{"acc", "0.5"}},
                                                                      {{"global_step", "50"}, {"loss", "0.5"}}}));
  resumed.look();
  CHECK(resumed.values() == Values{{"acc", 40, 0.5}, {"loss", 10, 1}, {"loss", 50, 0.5}});
}

TEST_CASE("metrics of the machine stand at no step that has no other tensor") {
  Log log(wandb_layout(), "run-q7w2m4xz.wandb");
  log.append(run_file_of({{{"global_step", "0"}, {"_timestamp", "1"}},
                          {{"global_step", "10"}, {"_timestamp", "3"}, {"loss", "1"}},
                          {{"global_step", "20"}, {"_timestamp", "4"}}}));
  log.append(measured_at(5, 60));
  log.append(history_of({{"global_step", "30"}, {"_timestamp", "6"}, {"loss", "0.5"}}));
  log.look(true);
  CHECK(log.values() == Values{{"loss", 10, 1}, {"loss", 30, 0.5}, {"system/cpu", 10, 60}});
}

TEST_CASE("metrics of the machine at superseded steps are superseded, and those of the resumed run stand at its own") {
  // Every 4 seconds a step, and a second after each odd one the metrics.
  const auto leg = [](int first, int last, int begin, bool timed, int more) {
    std::string records;
    for (int step = first; step <= last; ++step) {
      const int time = begin + 4 * (step - first);
      Items items = {{"_step", std::to_string(step)}, {"loss", std::to_string(step + more)}};
      if (timed) {
        items.emplace_back("_timestamp", std::to_string(time));
      }
      records += history_of(items);
      records += step % 2 == 1 ? measured_at(time + 1, step + more) : "";
    }
    return records;
  };
  struct Case {
    int first_end;
    int begin;  ///< Of the second leg, at step 3; the first one begins at 10 seconds.
    bool timed;
  };
  const Values right = {{"loss", 0, 0},   {"loss", 1, 1},   {"loss", 2, 2},       {"loss", 3, 103},
                        {"loss", 4, 104}, {"loss", 5, 105}, {"system/cpu", 1, 1}, {"system/cpu", 3, 103}};
  for (const Case& run : {Case{6, 60, true}, Case{7, 60, true}, Case{6, 1, true}, Case{7, 1, true}, Case{6, 60, false},
                          Case{3, 60, true}, Case{3, 1, true}, Case{2, 60, true}}) {
    CAPTURE(run.first_end);
    CAPTURE(run.begin);
    const std::string first = leg(0, run.first_end, 10, run.timed, 0);
    const std::string second = leg(3, 5, run.begin, run.timed, 100);
    const std::string resumed = "run-20250103_000000-one/run-one.wandb";
    for (const bool followed : {false, true}) {
      Log log(wandb_layout(), "run-20250101_000000-one/run-one.wandb");
      log.append(run_file_of({}) + first);
      if (followed) {
        log.look();
        log.write(resumed, run_file_of({}));
        log.look();
      }
      log.write(resumed, run_file_of({}) + second);
      log.look();
      CHECK(log.values_that_count() == right);
    }
    if (run.first_end > 3) {  // a repeated step alone is no sign that a run goes on from an earlier one
      Log log(wandb_layout(), "run-one.wandb");
      log.append(run_file_of({}) + first + second);
      log.look();
      CHECK(log.values_that_count() == right);
    }
  }
}

TEST_CASE("a value that comes late leaves metrics of the machine where they are, and later ones at the newest step") {
  Log log(wandb_layout(), "run-one.wandb");
  log.append(run_file_of({{{"_step", "1"}, {"_timestamp", "10"}, {"loss", "4"}}}) + measured_at(11, 50));
  log.append(history_of({{"_step", "2"}, {"_timestamp", "12"}, {"loss", "3"}}) + measured_at(13, 51));
  log.append(history_of({{"_step", "3"}, {"_timestamp", "14"}, {"loss", "2"}}));
  log.append(history_of({{"_step", "1"}, {"_timestamp", "16"}, {"acc", "0.5"}}) + measured_at(17, 52));
  log.append(history_of({{"_step", "4"}, {"_timestamp", "18"}, {"loss", "1"}}));
  log.look();
  CHECK(log.values_that_count() == Values{{"acc", 1, 0.5},
                                          {"loss", 1, 4},
                                          {"loss", 2, 3},
                                          {"loss", 3, 2},
                                          {"loss", 4, 1},
                                          {"system/cpu", 1, 50},
                                          {"system/cpu", 2, 51},
                                          {"system/cpu", 3, 52}});
}

TEST_CASE("metrics of the machine are kept back at the newest step, or superseded by later ones") {
  Log log(wandb_layout(), "run-one.wandb");
  const auto counts = [&](bool provisional, const Values& right) {
    log.set_provisional(provisional);
    const bool keeps_back = log.look().listing->keeps_back;
    CHECK(log.values_that_count() == right);
    return keeps_back;
  };
  log.append(run_file_of({{{"_step", "1"}, {"_timestamp", "10"}, {"loss", "4"}}}) + measured_at(11, 50));
  CHECK(counts(false, {{"loss", 1, 4}}));
  CHECK_FALSE(counts(true, {{"loss", 1, 4}, {"system/cpu", 1, 50}}));  // the file is as it was
  CHECK_FALSE(counts(true, {{"loss", 1, 4}, {"system/cpu", 1, 50}}));
  log.append(measured_at(12, 50));
  CHECK_FALSE(counts(true, {{"loss", 1, 4}, {"system/cpu", 1, 50}}));
  CHECK(log.values().size() == 2);  // the same number again is no news
  log.append(measured_at(13, 51));
  CHECK_FALSE(counts(true, {{"loss", 1, 4}, {"system/cpu", 1, 51}}));
  log.append(measured_at(14, 52));
  CHECK(counts(false, {{"loss", 1, 4}, {"system/cpu", 1, 51}}));
  log.append(history_of({{"_step", "2"}, {"_timestamp", "20"}, {"loss", "3"}}) + measured_at(21, 53));
  const Values with_52 = {{"loss", 1, 4}, {"loss", 2, 3}, {"system/cpu", 1, 52}};
  CHECK(counts(false, with_52));
  log.append(measured_at(15, 54));  // late: where another one stands for good
  CHECK(counts(false, with_52));
  CHECK_FALSE(counts(true, {{"loss", 1, 4}, {"loss", 2, 3}, {"system/cpu", 1, 52}, {"system/cpu", 2, 53}}));
  log.append(measured_at(34, 90) + measured_at(33, 10));  // the one that was measured last counts
  CHECK_FALSE(counts(true, {{"loss", 1, 4}, {"loss", 2, 3}, {"system/cpu", 1, 52}, {"system/cpu", 2, 90}}));
  log.append(history_of({{"_step", "3"}, {"_timestamp", "30"}, {"loss", "2"}}));  // written when step 4 began
  const Values three = {{"loss", 1, 4}, {"loss", 2, 3}, {"loss", 3, 2}, {"system/cpu", 1, 52}, {"system/cpu", 2, 53}};
  CHECK(counts(false, three));
  log.append(history_of({{"_step", "4"}, {"_timestamp", "40"}, {"loss", "1"}}));
  CHECK_FALSE(counts(false, {{"loss", 1, 4},
                             {"loss", 2, 3},
                             {"loss", 3, 2},
                             {"loss", 4, 1},
                             {"system/cpu", 1, 52},
                             {"system/cpu", 2, 53},
                             {"system/cpu", 3, 90}}));
}

TEST_CASE("a row of JSON lines without a number tells a follower nothing of the step") {
  for (const std::string first : {R"({"note": "begun"})", R"({"timestamp": 1700000000, "note": "begun"})"}) {
    const std::string text = first + "\n{\"step\": 5}\n{\"acc\": 0.5}\n{\"step\": 10, \"loss\": 1}\n";
    Log whole(metrics_layout(), "metrics.jsonl");
    whole.append(text);
    whole.look(true);
    CHECK(whole.values() == Values{{"acc", 5, 0.5}, {"loss", 10, 1}});
    for (const std::size_t bytes : {1, 7, 1000}) {
      CHECK(grown_by(bytes, "metrics.jsonl", text) == whole.values());
    }
  }
}

TEST_CASE("rows of JSON lines that hold nothing are not left out, whatever step follows") {
  Log log(metrics_layout(), "metrics.jsonl");
  log.append("{\"a\":null}\n{}\n{\"step\":1,\"loss\":2}\n{}\n");
  log.look(true);
  CHECK(log.values() == Values{{"loss", 1, 2}});
  CHECK(log.notes().empty());
  log.replace("{}\n{\"x\":\"text\"}\n{\"step\":1,\"loss\":2}\n");
  log.look(true);
  REQUIRE_FALSE(log.notes().empty());
  CHECK(log.notes().back().text == "1 row is left out, which has no step");
}

TEST_CASE("damage in a run file that grows is told once") {
  const std::string file = "run-q7w2m4xz.wandb";
  const std::string bytes = recorded("wb_bad_crc/" + file);
  Log whole(wandb_layout(), file);
  whole.append(bytes);
  whole.look(true);
  Log growing(wandb_layout(), file);
  Found last;
  for (std::size_t at = 0; at < bytes.size(); at += 4001) {
    growing.append(std::string_view(bytes).substr(at, 4001));
    last = growing.look();
  }
  CHECK(growing.values() == whole.values());
  CHECK(last.listing->notes.kept() == whole.look(true).listing->notes.kept());
}

TEST_CASE("a follower of a run does not take another run that begins beside it") {
  const std::string run = recorded("wb_killed/run-q7w2m4xz.wandb");
  Log log(wandb_layout(), "run-20250101_000000-one/run-one.wandb");
  log.append(run);
  log.look();
  const Values before = log.values();
  CHECK_FALSE(before.empty());
  log.write("run-20250102_000000-two/run-two.wandb", run);
  log.look();
  CHECK(log.values() == before);
  log.write("run-20250103_000000-one/run-one.wandb", run);  // resumed
  log.look();
  CHECK(log.values().size() > before.size());
}

TEST_CASE("run files are found by their names") {
  CHECK(is_run_file("run-abc.wandb"));
  CHECK_FALSE(is_run_file("abc.wandb"));
  CHECK(is_run_folder("run-20251009_081500-abc"));
  CHECK(is_run_folder("offline-run-20251009_081500-abc"));
  CHECK_FALSE(is_run_folder("latest-run"));
}

TEST_CASE("why a text is no metric log") {
  const auto problem = [](std::string_view text) {
    return metric_log_problem(text, true).value_or(smd::Problem()).text;
  };
  CHECK(problem("step,loss\n").empty());
  CHECK(problem("{\"step\": 1, \"loss\": 2}\n").empty());
  CHECK(problem("[\n {\"epoch\": 1, \"loss\": 2}\n]").empty());
  CHECK(problem("1,2\n").find("header") != std::string::npos);
  CHECK(problem("name,height\n").find("step") != std::string::npos);
  CHECK(problem("{\"lr\": 1}\n{\"step\": 1}\n")
            .ends_with("--step-name names another one, also one that only later rows have"));
  CHECK(problem("{\n\"step\": 1\n}\n").find("lines") != std::string::npos);
  CHECK(problem("one line of prose\n").find("header") != std::string::npos);
  CHECK(problem("[[1,2],{\"step\":2,\"loss\":1}]").find("array") != std::string::npos);
  CHECK(problem("[{\"step\":2,").find("first object") != std::string::npos);
  CHECK(problem("a,b\n" + std::string(smd::limits::row_bytes, 'x')).find("step") != std::string::npos);
  CHECK(problem(std::string(smd::limits::row_bytes, 'x')) == too_long_line);
  CHECK(metric_log_problem("{\"step\":2,", true).value_or(smd::Problem()).kind == smd::ProblemKind::not_yet);
}
