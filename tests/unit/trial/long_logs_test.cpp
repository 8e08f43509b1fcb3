// SPDX-License-Identifier: Apache-2.0
// Logs of so many steps that these are kept as sequences, and made when somebody asks for them.
#include "support/temp_dir.hpp"
#include "trial/snapshot.hpp"
#include "wire/encode.hpp"
#include "wire/framing.hpp"

#include <smd/column.hpp>
#include <smd/trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smd {
namespace {

using detail::layout::RowSequence;
using detail::trial::Step;
using detail::trial::StepChunk;

constexpr double first_time = 1.7e9;

std::string scalar(const std::string& tag, std::int64_t step, float value) {
  std::string event;
  detail::wire::append_scalar_summary(
      event, {.tag = tag, .wall_time = first_time + static_cast<double>(step), .step = step}, value);
  std::string bytes;
  detail::wire::append_record(bytes, std::as_bytes(std::span(event)), detail::wire::Protection::checksum);
  return bytes;
}

/// Steps 0, 3, … 8997; then each one up to 9999; then every hundredth up to 99,900. `b` is there at every tenth of
/// them.
std::vector<std::int64_t> steps_of_log() {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step < 9000; step += 3) {
    steps.push_back(step);
  }
  for (std::int64_t step = 9000; step < 10'000; ++step) {
    steps.push_back(step);
  }
  for (std::int64_t step = 10'000; step < 100'000; step += 100) {
    steps.push_back(step);
  }
  return steps;
}

bool has_b(std::size_t place) { return place % 10 == 0; }

class LongLog {
 public:
  explicit LongLog(const std::vector<std::int64_t>& steps) {
    std::string bytes;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      bytes += scalar("a", steps[i], static_cast<float>(steps[i]) / 2);
      if (has_b(i)) {
        bytes += scalar("b", steps[i], static_cast<float>(i));
      }
    }
    append(bytes);
  }
  void append(const std::string& bytes) const {
    std::ofstream(dir_.path() + "/events.out.tfevents.1700000000.host.1.0", std::ios::app | std::ios::binary) << bytes;
  }
  [[nodiscard]] Trial open(bool follows = false, TrialOptions options = {}) const {
    options.as_it_stands = !follows;
    return Trial::open(dir_.path(), options);
  }

 private:
  test::TempDir dir_;
};

struct Found {
  std::string tensor;
  std::int64_t step;
  double value;
  double time;

  bool operator==(const Found&) const = default;
};

std::vector<Found> entries(const Trial& trial, const EntryQuery& query) {
  std::vector<Found> found;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    found.push_back({std::string(entry.tensor), entry.step.value,
                     static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(entry.value->number))),
                     entry.value->wall_time});
    return true;
  });
  return found;
}

std::vector<Found> expected(const std::vector<std::int64_t>& steps) {
  std::vector<Found> all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double time = first_time + static_cast<double>(steps[i]);
    all.push_back({"a", steps[i], static_cast<double>(steps[i]) / 2, time});
    if (has_b(i)) {
      all.push_back({"b", steps[i], static_cast<double>(i), time});
    }
  }
  return all;
}

std::vector<GlobalStep> global(const std::vector<std::int64_t>& numbers) {
  std::vector<GlobalStep> steps;
  for (const std::int64_t number : numbers) {
    steps.emplace_back(number);
  }
  return steps;
}

/// What each question about the trial must answer.
void check(const Trial& trial, const std::vector<std::int64_t>& steps) {
  CHECK(entries(trial, {}) == expected(steps));
  CHECK(trial.steps() == global(steps));
  CHECK(trial.steps(true) == global(steps));
  CHECK(trial.last_complete_step() == GlobalStep(steps.back()));
  CHECK(trial.tensor_names() == std::vector<std::string>{"a", "b"});
  CHECK(trial.writers() == std::vector<std::string>{"worker_0"});
  const std::vector<TensorSummary> summaries = trial.summaries();
  REQUIRE(summaries.size() == 2);
  CHECK(summaries[0].steps == steps.size());
  CHECK(summaries[0].first_step == GlobalStep(steps.front()));
  CHECK(summaries[0].last_step == GlobalStep(steps.back()));
  CHECK(summaries[0].bytes == 4 * steps.size());
  CHECK(summaries[1].steps == (steps.size() + 9) / 10);
  CHECK(summaries[1].bytes == 4 * ((steps.size() + 9) / 10));
  CHECK(trial.step_infos().size() == steps.size());
  for (const std::size_t place : {std::size_t{0}, std::size_t{10}, steps.size() / 2, steps.size() - 1}) {
    CHECK(trial.mode(GlobalStep(steps[place])) == Mode::global);
    CHECK(trial.tensor("a").value(GlobalStep(steps[place])).item() == static_cast<double>(steps[place]) / 2);
    CHECK(entries(trial, {.tensors = {"a"}, .steps = {{GlobalStep(steps[place])}}}).size() == 1);
  }
  CHECK_FALSE(trial.mode(GlobalStep(1)));
  CHECK_FALSE(trial.mode(GlobalStep(steps.back() + 1)));
  CHECK(trial.tensor("b").steps().size() == (steps.size() + 9) / 10);
  const TrialSnapshot snapshot = TrialSnapshot::last(trial);
  CHECK(snapshot.steps().size() == steps.size());
  CHECK(snapshot.find_step(GlobalStep(steps[10]))->step == snapshot.steps(GlobalStep(steps[9])).front().step);
  CHECK(snapshot.rows(GlobalStep(steps[10])).front().step() == GlobalStep(steps[10]));
  CHECK(snapshot.rows(GlobalStep(1)).empty());
}

std::vector<Found> numbers_of(const ScalarColumn& column, const std::string& tensor) {
  std::vector<Found> found;
  for (const ColumnPart& part : column.parts()) {
    CHECK(part.worker() == "worker_0");
    CHECK(part.mode() == Mode::global);
    REQUIRE(part.dtype() == Dtype::float32);
    for (std::size_t i = 0; i < part.size(); ++i) {
      CHECK(part.mode_step(i).value == part.step(i).value);
      CHECK(part.value(i) == static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(part.number(i)))));
      found.push_back({tensor, part.step(i).value, part.value(i), part.wall_time(i)});
    }
  }
  CHECK(found.size() == column.size());
  return found;
}

/// The numbers of a tensor that the trial holds; empty if they must be asked for one by one.
std::vector<Found> held(const Trial& trial, const std::string& tensor) {
  const std::optional<ScalarColumn> column = ScalarColumn::held(trial, tensor);
  return column ? numbers_of(*column, tensor) : std::vector<Found>();
}

}  // namespace

TEST_CASE("a log of many steps answers as one of few does") {
  const std::vector<std::int64_t> steps = steps_of_log();
  const LongLog log(steps);
  check(log.open(), steps);
}

TEST_CASE("the numbers of a tensor in a log of many steps, all at once") {
  const std::vector<std::int64_t> steps = steps_of_log();
  const LongLog log(steps);
  Trial trial = log.open(true);
  std::vector<Found> all = expected(steps);
  const auto half = std::stable_partition(all.begin(), all.end(), [](const Found& one) { return one.tensor == "a"; });
  CHECK(held(trial, "a") == std::vector<Found>(all.begin(), half));
  CHECK(held(trial, "b") == std::vector<Found>(half, all.end()));
  TrialOptions bounded;
  bounded.range_steps = StepRange{.first = GlobalStep(INT64_MIN)};  // which bounds nothing
  CHECK(held(log.open(true, bounded), "a") == std::vector<Found>(all.begin(), half));
  log.append(scalar("a", steps.back() + 1, 1));
  trial.refresh();
  CHECK(held(trial, "a").empty());
}

TEST_CASE("steps that come after, between and again while a long log is followed") {
  std::vector<std::int64_t> steps = steps_of_log();
  const LongLog log(steps);
  Trial trial = log.open(true);
  for (int i = 0; i < 20; ++i) {
    steps.push_back(steps.back() + 7);
    log.append(scalar("a", steps.back(), static_cast<float>(steps.back()) / 2));
    if (has_b(steps.size() - 1)) {
      log.append(scalar("b", steps.back(), static_cast<float>(steps.size() - 1)));
    }
    trial.refresh();
  }
  check(trial, steps);
  const TrialSnapshot before = TrialSnapshot::last(trial);
  CHECK(before.same_up_to(before) == GlobalStep(steps.back()));
  // A job that was restarted at step 9000: of `a`, which it writes again, nothing counts that came later.
  log.append(scalar("a", 9000, 1) + scalar("a", 9500, 2));
  trial.refresh();
  const std::vector<Found> again = entries(trial, {.tensors = {"a"}});
  REQUIRE(again.size() == 3000 + 2);
  CHECK(again[2999] == Found{"a", 8997, 4498.5, first_time + 8997});
  CHECK(again[3000] == Found{"a", 9000, 1, first_time + 9000});
  CHECK(again[3001] == Found{"a", 9500, 2, first_time + 9500});
  CHECK(trial.tensor("b").steps().size() == (steps.size() + 9) / 10);
  // The steps before it have the same rows as before.
  const TrialSnapshot after = TrialSnapshot::last(trial);
  const std::optional<GlobalStep> same = before.same_up_to(after);
  REQUIRE(same);
  CHECK(*same < GlobalStep(9000));
  for (const SnapshotStep& step : before.steps({}, same)) {
    CHECK(before.rows(step.step) == after.rows(step.step));
  }
  const std::uint32_t a = after.find_tensor("a").value();
  const std::uint32_t worker = after.rows(GlobalStep(0)).front().worker();
  CHECK(after.series(a, worker).size() == again.size());
  CHECK(after.series(a, worker, {}, GlobalStep(8994)).size() == 3);  // at 8997, 9000 and 9500
}

TEST_CASE("a chunk of sequences has their rows as steps") {
  RowSequence first;
  first.row.file = {10, 0, 100};
  first.row.mode_step = 10;
  first.row.payload = 7;
  first.row.index = 2;
  first.count = 3;
  first.stride = 5;
  RowSequence second;
  second.row.file = {21, 0, 103};
  second.row.mode_step = 21;
  second.row.payload = 8;
  const StepChunk chunk(std::vector{first, second});
  const std::vector<std::pair<std::int64_t, std::uint64_t>> wanted = {{10, 100}, {15, 101}, {20, 102}, {21, 103}};
  std::vector<std::pair<std::int64_t, std::uint64_t>> found;
  const auto visit = [&](const Step& step) {
    CHECK(step.rows == 1);
    CHECK(step.mode_step == step.number);
    found.emplace_back(step.number, step.first_row->file.id);
    return true;
  };
  CHECK(chunk.size() == 4);
  CHECK(last_of(chunk).number == 21);
  CHECK(chunk.for_each(visit));
  CHECK(found == wanted);
  found.clear();
  CHECK(chunk[2].first_row->index == 4);
  CHECK(chunk.for_each(visit));  // the steps are there now
  CHECK(found == wanted);
  CHECK_FALSE(chunk.for_each([](const Step&) { return false; }));
  const Step kept = StepChunk(std::vector{first}).back();  // holds its row
  CHECK(kept.first_row->file == detail::layout::StepPart{20, 0, 102});
}

}  // namespace smd
