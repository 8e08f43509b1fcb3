// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/tensorboard_layout.hpp"
#include "support/compressed.hpp"
#include "support/temp_dir.hpp"
#include "wire/encode.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

using namespace smd::detail;
using namespace smd::detail::layout;
using smd::Problem;
using smd::ProblemKind;
using smd::test::compressed;
using smd::test::TempDir;

namespace {

std::string framed(const std::string& event) {
  std::string bytes;
  wire::append_record(bytes, std::as_bytes(std::span(event)), wire::Protection::checksum);
  return bytes;
}

std::string scalar(const std::string& tag, std::int64_t step, double wall_time, float value) {
  std::string event;
  wire::append_scalar_summary(event, {.tag = tag, .wall_time = wall_time, .step = step}, value);
  return framed(event);
}

/// An event with a tensor of float64, without metadata.
std::string tensor(const std::string& tag, std::int64_t step, const std::vector<std::int64_t>& shape,
                   const std::vector<double>& elements) {
  std::string event;
  wire::append_event(event, {.tag = tag, .wall_time = 1, .step = step, .mode_step = {}, .mode = {}},
                     {smd::Dtype::float64, shape, std::as_bytes(std::span(elements))});
  return framed(event);
}

/// An event with a SessionLog: field 1 wall_time, 2 step, 7 {1 status}.
std::string session(int status, std::int64_t step, double wall_time) {
  std::string event("\x09", 1);
  const auto bits = std::bit_cast<std::uint64_t>(wall_time);
  for (int i = 0; i < 8; ++i) {
    event.push_back(static_cast<char>(bits >> (8 * i) & 0xFF));
  }
  event += {'\x10', static_cast<char>(step), '\x3A', '\x02', '\x08', static_cast<char>(status)};
  return framed(event);
}
constexpr int start = 1;
constexpr int stop = 2;

std::string file_name(int time, int process) {
  return "events.out.tfevents." + std::to_string(1'700'000'000 + time) + ".host." + std::to_string(process) + ".0";
}

/// What counts of a log directory, as looks give it one after another.
class Logs {
 public:
  using Values = std::vector<std::tuple<std::string, std::string, std::int64_t, float>>;  // worker, name, step, value

  void append(const std::string& file, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(dir_ / file).parent_path());
    std::ofstream(dir_ / file, std::ios::binary | std::ios::app) << bytes;
  }
  void remove(const std::string& file) { std::filesystem::remove(dir_ / file); }

  Found look(bool as_it_stands = true, std::chrono::seconds now = std::chrono::seconds(0), bool everything = false) {
    const auto storage = storage::open_local_with_links(dir_.path());
    LookRequest request;
    request.as_it_stands = as_it_stands;
    request.everything = everything;
    request.half_written = std::chrono::seconds(10);
    request.now = std::chrono::steady_clock::time_point(now);
    auto found = tensorboard_layout()->look(**storage, request, listing_.get(), collections_);
    REQUIRE(found);
    listing_ = std::static_pointer_cast<const LogListing>(found->listing);
    collections_ = found->collections;
    take(*found);
    return *std::move(found);
  }

  [[nodiscard]] Values values() const {
    Values all;
    for (const Value& value : values_) {
      all.emplace_back(value.worker, value.name, value.step, value.number);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  [[nodiscard]] std::size_t superseded() const { return superseded_; }
  [[nodiscard]] const LogListing& listing() const { return *listing_; }
  [[nodiscard]] std::vector<std::string> workers() const {
    std::vector<std::string> names;
    for (const auto& worker : listing_->workers) {
      names.push_back(*worker);
    }
    return names;
  }

 private:
  struct Value {
    std::string worker;
    std::string name;
    std::int64_t step = 0;
    float number = 0;
    std::uint64_t row = 0;
  };

  /// Applies what a look gave, as a trial does.
  void take(const Found& found) {
    if (found.afresh) {
      values_.clear();
      superseded_ = 0;
    }
    const std::vector<StepRow> rows = rows_of(found.loaded.rows);
    CHECK(std::is_sorted(rows.begin(), rows.end(),
                         [&](const auto& a, const auto& b) { return found.listing->before(a.file, b.file); }));
    std::uint64_t last_row = last_row_;
    for (const StepRow& row : rows) {
      const Tables& tables = found.loaded.tables.front();
      const Payload payload = tables.payloads.at(row.payload).of_row(row.index);
      CHECK(row.file.id > last_row_);
      last_row = std::max(last_row, row.file.id);
      CHECK(found.listing->path(row.file) == tables.paths[row.event_file]);
      for (std::uint32_t i = 0; i < payload.count; ++i) {
        const auto bits = static_cast<std::uint32_t>(payload.start(i));
        values_.push_back({*found.listing->workers.at(row.file.worker),
                           std::string(tables.names[tables.name_lists.at(payload.names)[i]]), row.file.step,
                           std::bit_cast<float>(bits), row.file.id});
      }
    }
    last_row_ = last_row;
    for (const Supersession& later : found.loaded.supersessions) {
      const std::string name(found.loaded.tables.at(later.tables).names[later.name]);
      const std::string& worker = *found.listing->workers.at(later.worker);
      superseded_ += std::erase_if(values_, [&](const Value& value) {
        const bool reached = later.one_step ? value.step == later.from_step : value.step >= later.from_step;
        return value.worker == worker && value.name == name && reached && value.row < later.before;
      });
    }
  }

  TempDir dir_;
  std::shared_ptr<const LogListing> listing_;
  std::shared_ptr<const CollectionsInfo> collections_;
  std::vector<Value> values_;
  std::size_t superseded_ = 0;
  std::uint64_t last_row_ = 0;
};

using Values = Logs::Values;
using Names = std::vector<std::string>;
const std::string w0 = "worker_0";
const std::string w1 = "worker_1";

}  // namespace

TEST_CASE("values of runs, at their steps") {
  Logs logs;
  logs.append(file_name(0, 1),
              scalar("loss", 0, 1, 0.5F) + scalar("acc", 0, 1.5, 0.25F) + scalar("loss", 1, 2, 0.125F));
  logs.append("train/" + file_name(0, 2), scalar("loss", 1, 1, 8));
  const Found found = logs.look();
  CHECK(logs.values() ==
        Values{{w0, "acc", 0, 0.25F}, {w0, "loss", 0, 0.5F}, {w0, "loss", 1, 0.125F}, {w0, "train/loss", 1, 8.0F}});
  CHECK(count_rows(found.loaded.rows) == 3);  // the first two values of step 0 are of one row
  CHECK(found.news);
  CHECK_FALSE(found.listing->ended);
  CHECK(found.listing->notes.empty());
}

TEST_CASE("tags of two runs that make one name are reported once, with both") {
  Logs logs;
  logs.append(file_name(0, 1), scalar("train/loss", 0, 1, 0.5F) + scalar("train/acc", 0, 1, 0.5F));
  const Found first = logs.look();
  CHECK(first.listing->notes.empty());
  logs.append("train/" + file_name(0, 2),
              scalar("loss", 5, 1, 8) + scalar("loss", 6, 2, 8) + scalar("train/acc", 5, 1, 8));
  const Found both = logs.look();
  const std::vector<Problem> notes = both.listing->notes.all();
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].kind == ProblemKind::warning);
  CHECK(notes[0].file == "train/" + file_name(0, 2));
  CHECK(notes[0].offset == 0);
  CHECK(notes[0].text ==
        "the tag 'loss' of the run 'train' and the tag 'train/loss' of the trial's own folder have one name: their "
        "values are read as those of one tensor; give the run's folder another name to tell them apart");
}

TEST_CASE("of tags of two runs that make one name the later value counts at each step") {
  Logs logs;
  const std::string root = file_name(0, 1);
  const std::string run = "train/" + file_name(0, 2);
  logs.append(root, scalar("train/loss", 0, 1, 1) + scalar("train/loss", 1, 2, 2) + scalar("train/loss", 2, 3, 3));
  logs.append(run, scalar("loss", 0, 1, 7) + scalar("loss", 1, 2, 8));
  logs.look();
  CHECK(logs.values() == Values{{w0, "train/loss", 0, 7.0F}, {w0, "train/loss", 1, 8.0F}, {w0, "train/loss", 2, 3.0F}});
  CHECK(logs.superseded() == 2);
  logs.append(run, scalar("loss", 2, 3, 9) + scalar("loss", 3, 4, 10));
  logs.look();
  logs.append(root, scalar("train/loss", 3, 4, 4) + scalar("train/loss", 4, 5, 5));
  logs.look();
  CHECK(logs.values() == Values{{w0, "train/loss", 0, 7.0F},
                                {w0, "train/loss", 1, 8.0F},
                                {w0, "train/loss", 2, 9.0F},
                                {w0, "train/loss", 3, 4.0F},
                                {w0, "train/loss", 4, 5.0F}});
  CHECK(logs.superseded() == 4);
}

TEST_CASE("a second look reads what is new") {
  Logs logs;
  const std::string file = file_name(0, 1);
  logs.append(file, scalar("loss", 0, 1, 0.5F));
  logs.look();
  const Found nothing = logs.look();
  CHECK_FALSE(nothing.news);
  CHECK(nothing.loaded.rows.empty());
  logs.append(file, scalar("loss", 1, 2, 0.25F));
  logs.append("eval/" + file_name(3, 2), scalar("loss", 1, 3, 4));
  const Found more = logs.look();
  CHECK(more.news);
  CHECK_FALSE(more.afresh);
  CHECK(count_rows(more.loaded.rows) == 2);
  CHECK(logs.values() == Values{{w0, "eval/loss", 1, 4.0F}, {w0, "loss", 0, 0.5F}, {w0, "loss", 1, 0.25F}});
}

TEST_CASE("values that are read again because a file is a concurrent writer's are marked as seen") {
  Logs logs;
  logs.append(file_name(0, 1), scalar("loss", 0, 1, 0.5F) + scalar("loss", 1, 2, 0.25F));
  logs.look();
  logs.append(file_name(2, 2), scalar("loss", 0, 3, 8) + scalar("loss", 1, 4, 8));  // a restart, as far as one can tell
  logs.look();
  logs.append(file_name(0, 1), scalar("loss", 2, 5, 0.125F));  // but the first one goes on
  const Found again = logs.look();
  CHECK(again.afresh);
  std::vector<std::pair<std::int64_t, bool>> found;
  for (const RowSequence& rows : again.loaded.rows) {
    for (std::uint32_t i = 0; i < rows.count; ++i) {
      found.emplace_back(rows.step(i), rows.seen);
    }
  }
  CHECK(found == std::vector<std::pair<std::int64_t, bool>>{{0, true}, {0, true}, {1, true}, {1, true}, {2, false}});
  CHECK(logs.values() == Values{{w0, "loss", 0, 0.5F},
                                {w0, "loss", 1, 0.25F},
                                {w0, "loss", 2, 0.125F},
                                {w1, "loss", 0, 8.0F},
                                {w1, "loss", 1, 8.0F}});
}

TEST_CASE("all rows again, if they are asked for") {
  Logs logs;
  logs.append(file_name(0, 1), scalar("loss", 0, 1, 0.5F) + scalar("loss", 1, 2, 0.25F));
  logs.look();
  const Found again = logs.look(true, {}, true);
  CHECK(count_rows(again.loaded.rows) == 2);
  CHECK(again.afresh);
  CHECK(logs.values() == Values{{w0, "loss", 0, 0.5F}, {w0, "loss", 1, 0.25F}});
}

TEST_CASE("a later value supersedes those of its tag at its step and after it, in earlier looks too") {
  Logs logs;
  const std::string file = file_name(0, 1);
  logs.append(file, scalar("a", 1, 1, 1) + scalar("a", 2, 2, 2) + scalar("a", 3, 3, 3) + scalar("b", 3, 3, 9));
  logs.look();
  logs.append(file, scalar("a", 2, 4, 20));
  logs.look();
  CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 20.0F}, {w0, "b", 3, 9.0F}});
  CHECK(logs.superseded() == 2);
}

TEST_CASE("twice the same step in a row: the later one counts") {
  Logs logs;
  logs.append(file_name(0, 1), scalar("a", 1, 1, 1) + scalar("a", 1, 2, 2) + scalar("a", 1, 3, 3));
  logs.look();
  CHECK(logs.values() == Values{{w0, "a", 1, 3.0F}});
  CHECK(logs.superseded() == 2);
}

TEST_CASE("SessionLog START supersedes all tags from its step, but nothing of another run") {
  Logs logs;
  logs.append(file_name(0, 1),
              session(start, 0, 0.5) + scalar("a", 1, 1, 1) + scalar("a", 2, 2, 2) + scalar("b", 5, 3, 9));
  logs.append("eval/" + file_name(0, 1), scalar("a", 7, 1, 7));
  logs.append(file_name(10, 2), session(start, 2, 10) + scalar("a", 2, 11, 20));
  logs.look();
  CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 20.0F}, {w0, "eval/a", 7, 7.0F}});
  CHECK(logs.superseded() == 2);
}

TEST_CASE("the job is over once each run's last file says so") {
  Logs logs;
  logs.append(file_name(0, 1), scalar("a", 1, 1, 1) + session(stop, 1, 2));
  logs.append("eval/" + file_name(0, 1), scalar("a", 1, 1, 1));
  CHECK_FALSE(logs.look().listing->ended);
  logs.append("eval/" + file_name(0, 1), session(stop, 1, 2));
  CHECK(logs.look().listing->ended);
  logs.append(file_name(10, 2), scalar("a", 2, 11, 1));
  CHECK_FALSE(logs.look().listing->ended);
}

TEST_CASE("a restart goes on as the same worker") {
  Logs logs;
  logs.append(file_name(0, 1), scalar("a", 1, 1, 1) + scalar("a", 2, 2, 2));
  logs.append(file_name(5, 2), scalar("a", 2, 5, 20));
  logs.look();
  CHECK(logs.workers() == Names{w0});
  CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 20.0F}});
}

TEST_CASE("a file that turns out to be of a concurrent writer gets a worker: all is read again") {
  Logs logs;
  logs.append(file_name(0, 1), scalar("a", 1, 1, 1) + scalar("a", 2, 2, 2));
  logs.append(file_name(0, 2), scalar("a", 1, 3, 10));
  logs.look();
  CHECK(logs.workers() == Names{w0});
  logs.append(file_name(0, 1), scalar("a", 3, 4, 3));
  const Found found = logs.look();
  CHECK(found.afresh);
  CHECK(logs.workers() == Names{w0, w1});
  CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 2.0F}, {w0, "a", 3, 3.0F}, {w1, "a", 1, 10.0F}});
}

TEST_CASE("files that are gone or are shorter than what was read: all is read again") {
  Logs logs;
  const std::string first = file_name(0, 1);
  const std::string second = file_name(10, 2);
  logs.append(first, scalar("a", 1, 1, 1) + scalar("a", 2, 2, 2));
  logs.append(second, scalar("a", 2, 11, 20));
  logs.look();
  logs.remove(second);
  CHECK(logs.look().afresh);
  CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 2.0F}});
  logs.remove(first);
  logs.append(first, scalar("a", 1, 1, 5));
  CHECK(logs.look().afresh);
  CHECK(logs.values() == Values{{w0, "a", 1, 5.0F}});
}

TEST_CASE("damage is reported with file and offset, and costs no more than it must") {
  Logs logs;
  const std::string first = scalar("a", 1, 1, 1);
  std::string second = scalar("a", 2, 2, 2);
  second[20] ^= 1;
  logs.append("train/" + file_name(0, 1), first + second + framed("no event") + scalar("a", 3, 3, 3));
  logs.append("val/" + file_name(0, 1), scalar("a", 1, 1, 1) + std::string(30, '\0'));
  const Found found = logs.look();
  std::vector<std::pair<std::string, std::uint64_t>> places;
  for (const Problem& problem : found.listing->notes.kept()) {
    CHECK(problem.kind == ProblemKind::damaged);
    places.emplace_back(problem.file, problem.offset.value_or(0));
  }
  CHECK(places ==
        std::vector<std::pair<std::string, std::uint64_t>>{{"train/" + file_name(0, 1), first.size()},
                                                           {"train/" + file_name(0, 1), first.size() + second.size()},
                                                           {"val/" + file_name(0, 1), first.size()}});
  CHECK(logs.values() == Values{{w0, "train/a", 1, 1.0F}, {w0, "train/a", 3, 3.0F}, {w0, "val/a", 1, 1.0F}});
}

TEST_CASE("a tag whose metadata may be in a damaged record is read as what its first value looks like") {
  Logs logs;
  const std::vector<double> buckets = {-1, 0, 5, 0, 1, 2};
  std::string lost = scalar("lost", 1, 1, 1);
  lost[20] ^= 1;
  logs.append(file_name(0, 1), tensor("early", 1, {2, 3}, buckets) + lost);
  CHECK(logs.look(false).listing->notes.kept().size() == 1);
  const std::string numbers = tensor("early", 2, {2, 3}, buckets) + tensor("loss", 2, {}, {0.5});
  const std::string histogram = tensor("buckets", 2, {2, 3}, buckets);
  const std::string parts = tensor("parts", 2, {2, 3}, {-1, 0, 0.5, 0, 1, 2});
  logs.append(file_name(0, 1), numbers + histogram + parts + tensor("zeros", 2, {1, 3}, {0, 0, 0}) +
                                   tensor("buckets", 3, {1, 3}, {2, 2, 7}));
  logs.append("sound/" + file_name(0, 1), histogram);
  const Found found = logs.look(false);
  CHECK(found.collections->collections->at("histograms").tensor_names == Names{"buckets"});
  CHECK(found.collections->collections->at("losses").tensor_names == Names{"loss"});
  std::vector<std::uint64_t> warned;
  for (const Problem& problem : found.listing->notes.kept()) {
    if (problem.kind == ProblemKind::warning) {
      CHECK(problem.text.find("may have been in a damaged record") != std::string::npos);
      warned.push_back(*problem.offset);
    }
  }
  const std::uint64_t begin = tensor("early", 1, {2, 3}, buckets).size() + lost.size() + numbers.size();
  CHECK(warned == std::vector<std::uint64_t>{begin, begin + histogram.size(), begin + histogram.size() + parts.size()});
}

TEST_CASE("compressed files are read as what they hold, and whole again when they change") {
  const std::string first = scalar("a", 1, 1, 1) + scalar("a", 2, 2, 2);
  for (const int format : {smd::test::gzip, smd::test::zlib}) {
    Logs logs;
    logs.append(file_name(0, 1), compressed(first, format));
    logs.append(file_name(9, 1), scalar("a", 4, 9, 4));
    const Found found = logs.look(false);
    CHECK(found.listing->notes.empty());
    CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 2.0F}, {w0, "a", 4, 4.0F}});
    CHECK_FALSE(logs.look(false).news);
    logs.remove(file_name(0, 1));
    logs.append(file_name(0, 1), compressed(first + scalar("a", 3, 3, 3), format));
    CHECK(logs.look(false).afresh);
    CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 2.0F}, {w0, "a", 3, 3.0F}, {w0, "a", 4, 4.0F}});
  }
}

TEST_CASE("a compressed file that is damaged or cut off gives what can be inflated, and says so") {
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) {
    bytes += scalar("a", i, 1 + i, 0.001F * static_cast<float>(i * i % 9973));
  }
  const auto look = [](const std::string& content) {
    Logs logs;
    logs.append(file_name(0, 1), content);
    const Found found = logs.look(false);
    REQUIRE_FALSE(found.listing->notes.empty());
    return std::pair(found.listing->notes.kept().back(), logs.values().size());
  };
  const std::string whole = compressed(bytes, smd::test::gzip);
  const auto [cut, of_cut] = look(whole.substr(0, whole.size() / 2));
  CHECK(cut.kind == ProblemKind::not_yet);
  CHECK(cut.text == "compressed data is cut off at byte " + std::to_string(whole.size() / 2) +
                        " of the file itself (in the inflated stream)");
  CHECK(of_cut > 5'000);
  CHECK(of_cut < 15'000);
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 0x10;
  const auto [damage, of_damage] = look(flipped);
  CHECK(damage.kind == ProblemKind::damaged);
  CHECK(of_damage > 5'000);
  CHECK(of_damage < 20'000);
  const auto [twice, of_twice] = look(compressed(compressed(bytes, smd::test::gzip), smd::test::gzip));
  CHECK(twice.kind == ProblemKind::damaged);
  CHECK(twice.text.starts_with("compressed twice"));
  CHECK(of_twice == 0);
}

TEST_CASE("a damaged length or a hole costs what lies there, read at once or as the file grows") {
  std::mt19937 random(13);
  for (int round = 0; round < 40; ++round) {
    const bool headers = round % 2 == 1;  // alone: what follows is then taken for the payload
    std::string bytes;
    Values expected;
    for (int i = 0; i < 40; ++i) {
      std::string event = scalar("a", i, 1 + i, static_cast<float>(i));
      const unsigned kind = i == 0 || i == 39 ? 9 : static_cast<unsigned>(random() % (headers ? 10 : 8));
      if (kind < 2) {
        event[random() % 12] ^= 0x20;
      } else if (kind < 4) {
        event += std::string(1 + random() % 200, '\0');
      } else if (headers && kind == 8) {
        event = framed(std::string(random() % 3000, 'b')).substr(0, 12);
      }
      if (kind >= 2) {
        expected.emplace_back(w0, "a", i, static_cast<float>(i));
      }
      bytes += event;
    }
    Logs whole;
    whole.append(file_name(0, 1), bytes);
    whole.look();
    Logs grown;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t more = 1 + random() % 300;
      grown.append(file_name(0, 1), bytes.substr(at, more));
      grown.look();
      at += more;
    }
    const auto texts = [](const Logs& logs) {
      Names all;
      for (const Problem& problem : logs.listing().notes.all()) {
        all.push_back(to_string(problem));
      }
      return all;
    };
    CHECK(grown.values() == whole.values());
    CHECK(texts(grown) == texts(whole));
    CHECK(whole.superseded() == 0);
    if (!headers) {
      std::sort(expected.begin(), expected.end());
      CHECK(whole.values() == expected);
    }
  }
}

TEST_CASE("a short tail is not yet there while it is young and followed, else damage") {
  Logs logs;
  const std::string whole = scalar("a", 1, 1, 1);
  const std::string next = scalar("a", 2, 2, 2);
  const std::string file = file_name(0, 1);
  logs.append(file, whole + next.substr(0, 7));
  const auto kind = [](const Found& found) { return found.listing->notes.kept().at(0).kind; };
  using std::chrono::seconds;
  const Found young = logs.look(false, seconds(100));
  CHECK(kind(young) == ProblemKind::not_yet);
  CHECK(young.due == std::chrono::steady_clock::time_point(seconds(110)));
  CHECK(kind(logs.look(false, seconds(109))) == ProblemKind::not_yet);
  CHECK(kind(logs.look(true, seconds(109))) == ProblemKind::damaged);
  CHECK(kind(logs.look(false, seconds(110))) == ProblemKind::damaged);
  logs.append(file, next.substr(7, 5));
  const Found grown = logs.look(false, seconds(120));
  CHECK(kind(grown) == ProblemKind::not_yet);
  CHECK(grown.due == std::chrono::steady_clock::time_point(seconds(130)));
  logs.append(file, next.substr(12));
  CHECK(logs.look(false, seconds(121)).listing->notes.empty());
  CHECK(logs.values() == Values{{w0, "a", 1, 1.0F}, {w0, "a", 2, 2.0F}});
}

TEST_CASE("empty files and files with nothing but a version make no worker") {
  Logs logs;
  logs.append(file_name(0, 1), "");
  logs.append(file_name(0, 2), framed(std::string("\x1A\x0D"
                                                  "brain.Event:2",
                                                  15)));
  const Found found = logs.look();
  CHECK(logs.values().empty());
  CHECK(logs.workers().empty());
  CHECK(found.collections->found);
  CHECK(found.listing->notes.empty());
}

TEST_CASE("many rows of the same tags, with others between them, and damage") {
  Logs logs;
  Values expected;
  std::string bytes;
  std::mt19937 random(5);
  std::int64_t step = 0;
  const auto add = [&](const std::string& tag, std::size_t i, bool counts) {
    const auto value = static_cast<float>(10 * i) + static_cast<float>(tag.back() - 'a');
    bytes += scalar(tag, step, 1 + static_cast<double>(i), value);
    if (counts) {
      expected.emplace_back(w0, tag, step, value);
    }
  };
  for (std::size_t i = 0; i < 20'000; ++i) {
    // Equally far apart for long, then not at all; steps of one to nine bytes; above 2^62 at the end.
    step += i < 9000     ? 1
            : i < 12'000 ? 1 + static_cast<std::int64_t>(random() % 3)
            : i < 19'900 ? 7
                         : std::int64_t{1} << 55;
    const bool damaged = i % 4999 == 0;
    add("train/a", i, !damaged);
    if (damaged) {
      bytes.back() ^= 1;
    }
    if (i % 3000 < 2990) {
      add("train/b", i, true);
    }
    if (i % 500 == 499) {
      add("eval/c", i, true);
    }
  }
  logs.append(file_name(0, 1), bytes);
  logs.look();
  std::sort(expected.begin(), expected.end());
  CHECK(logs.values() == expected);
  CHECK(logs.superseded() == 0);
  CHECK(logs.listing().notes.kept().size() == 5);
}

TEST_CASE("any split of a run's events into files gives the same values, read at once or as they grow") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> events;
    double time = 1;
    for (int i = 0; i < 60; ++i, time += 0.25) {
      const std::int64_t step = std::max(0, i / 3 - static_cast<int>(random() % 5 == 0 ? random() % 6 : 0));
      events.push_back(random() % 20 == 0 ? session(start, step, time)
                                          : scalar(std::string(1, static_cast<char>('a' + random() % 4)), step, time,
                                                   static_cast<float>(i)));
    }
    Logs whole;
    Logs split;
    Logs grown;
    int part = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      part += random() % 10 == 0 ? 1 : 0;
      whole.append(file_name(0, 1), events[i]);
      split.append(file_name(part, 1 + part), events[i]);
      grown.append(file_name(part, 1 + part), events[i]);
      if (random() % 3 == 0) {
        grown.look();
      }
    }
    whole.look();
    split.look();
    grown.look();
    CHECK(split.values() == whole.values());
    CHECK(grown.values() == whole.values());
    CHECK(split.superseded() == whole.superseded());
    CHECK(grown.superseded() == whole.superseded());
    CHECK(split.workers() == Names{w0});
  }
}

TEST_CASE("concurrent writers get the same workers in whatever order their events come to be read") {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    constexpr int writers = 3;
    std::vector<std::vector<std::string>> left(writers);
    Logs at_once;
    for (int writer = 0; writer < writers; ++writer) {
      for (int i = 0; i < 12; ++i) {
        left[static_cast<std::size_t>(writer)].push_back(
            scalar("a", i, 1 + i + 0.125 * writer, static_cast<float>(100 * writer + i)));
        at_once.append(file_name(0, writer), left[static_cast<std::size_t>(writer)].back());
      }
    }
    at_once.look();
    CHECK(at_once.workers() == Names{w0, w1, "worker_2"});
    Logs grown;
    for (int i = 0; i < writers * 12; ++i) {
      std::size_t writer = random() % writers;
      while (left[writer].empty()) {
        writer = (writer + 1) % writers;
      }
      grown.append(file_name(0, static_cast<int>(writer)), left[writer].front());
      left[writer].erase(left[writer].begin());
      if (random() % 2 == 0) {
        grown.look();
      }
    }
    grown.look();
    CHECK(grown.values() == at_once.values());
    CHECK(grown.superseded() == 0);
  }
}
