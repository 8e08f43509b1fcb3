// SPDX-License-Identifier: Apache-2.0
// The single numbers of a tensor over its steps.
#include "memory_layout.hpp"
#include "scripted_trial.hpp"
#include "trial_support.hpp"

#include <smd/column.hpp>
#include <smd/error.hpp>

#include <doctest/doctest.h>

#include <tuple>
#include <vector>

namespace smd::test {
namespace {

using Row = std::tuple<std::string, Mode, std::int64_t, std::int64_t, double, double>;

std::vector<Row> rows_of(const ScalarColumn& column) {
  std::vector<Row> rows;
  for (const ColumnPart& part : column.parts()) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      rows.emplace_back(part.worker(), part.mode(), part.step(i).value, part.mode_step(i).value, part.value(i),
                        part.wall_time(i));
    }
  }
  CHECK(rows.size() == column.size());
  return rows;
}

/// `loss` of two workers at steps 0 to 4, the odd ones of which are of mode eval: 10 * step + worker. At step 5 it is
/// no single number.
struct Job {
  Job() : builder(dir.path()) {
    builder.collections("worker_0", 2).collections("worker_1", 2);
    for (std::int64_t step = 0; step < 6; ++step) {
      for (int worker = 0; worker < 2; ++worker) {
        const float loss = static_cast<float>(10 * step + worker);
        const std::vector<float> numbers = step == 5 ? std::vector<float>{loss, loss} : std::vector<float>{loss};
        builder.step({.step = step,
                      .worker = "worker_" + std::to_string(worker),
                      .mode = step % 2 == 0 ? Mode::train : Mode::eval,
                      .mode_step = step / 2,
                      .tensors = {{"loss", numbers}},
                      .shapes = {}});
      }
    }
    builder.end();
  }

  TempDir dir;
  TrialBuilder builder;
};

double written(std::int64_t step) { return 1.7e9 + static_cast<double>(step); }  // as the builder writes it

}  // namespace

TEST_CASE("a column of records: by worker, mode and step, with the values that are no numbers counted") {
  const Job job;
  const Trial trial = Trial::open(job.dir.path());
  CHECK_FALSE(ScalarColumn::held(trial, "loss"));
  const ScalarColumn column = ScalarColumn::read(trial, "loss");
  std::vector<Row> expected;
  for (int worker = 0; worker < 2; ++worker) {
    for (const Mode mode : {Mode::train, Mode::eval}) {
      for (std::int64_t step = mode == Mode::train ? 0 : 1; step < 5; step += 2) {
        expected.emplace_back("worker_" + std::to_string(worker), mode, step, step / 2,
                              static_cast<double>(10 * step + worker), written(step));
      }
    }
  }
  CHECK(rows_of(column) == expected);
  CHECK(column.others() == 2);
  CHECK(column.problems().empty());
  for (const ColumnPart& part : column.parts()) {
    CHECK(part.dtype() == Dtype::float32);
  }
}

TEST_CASE("a column of one worker and one mode, read by any number of threads") {
  const Job job;
  const Trial trial = Trial::open(job.dir.path());
  for (const unsigned jobs : {1U, 3U}) {
    const ScalarColumn column = ScalarColumn::read(trial, "loss", Mode::eval, "worker_1", {.jobs = jobs});
    CHECK(rows_of(column) == std::vector<Row>{{"worker_1", Mode::eval, 1, 0, 11, written(1)},
                                              {"worker_1", Mode::eval, 3, 1, 31, written(3)}});
    CHECK(column.others() == 1);
  }
  CHECK_THROWS_AS((void)ScalarColumn::read(trial, "los"), TensorUnavailable);
}

TEST_CASE("a column of later steps only") {
  const Job job;
  const std::string damaged = events_path(2, "worker_1");
  job.dir.write(damaged, read_file(job.dir / damaged).substr(0, 20));
  const Trial trial = Trial::open(job.dir.path());
  const ScalarColumn column = ScalarColumn::read(trial, "loss", Mode::train, "worker_1", {}, GlobalStep(2));
  CHECK(rows_of(column) == std::vector<Row>{{"worker_1", Mode::train, 4, 2, 41, written(4)}});
  CHECK(column.problems().empty());  // what is not read gives none
  CHECK(ScalarColumn::read(trial, "loss", {}, {}, {}, GlobalStep(5)).size() == 0);
}

TEST_CASE("a column lacks what cannot be read, and says why") {
  const Job job;
  const std::string file = events_path(2, "worker_0");
  job.dir.write(file, read_file(job.dir / file).substr(0, 20));
  const Trial trial = Trial::open(job.dir.path());
  const ScalarColumn column = ScalarColumn::read(trial, "loss", {}, "worker_0");
  CHECK(column.size() == 4);
  REQUIRE(column.problems().size() == 1);
  CHECK(column.problems()[0].file == file);
  CHECK(column.problems()[0].kind == ProblemKind::damaged);
  CHECK(column.problems()[0].step == GlobalStep(2));
}

TEST_CASE("numbers of every type keep their bits, and outlive the trial") {
  std::optional<ScalarColumn> column;
  {
    Script script;
    MemoryTrial job;
    job.number(3, "epoch", 7, Dtype::int64).number(5, "epoch", -9, Dtype::int64);
    column = ScalarColumn::read(job.open(script), "run/epoch");
  }
  REQUIRE(column->parts().size() == 1);
  const ColumnPart& part = column->parts()[0];
  CHECK(part.dtype() == Dtype::int64);
  CHECK(part.number(0) == 7);
  CHECK(static_cast<std::int64_t>(part.number(1)) == -9);
  CHECK(part.value(1) == -9);
  CHECK(part.step(1) == GlobalStep(5));
}

}  // namespace smd::test
