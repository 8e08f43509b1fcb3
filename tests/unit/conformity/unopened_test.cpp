// SPDX-License-Identifier: Apache-2.0
#include "elements.hpp"
#include "recorded.hpp"
#include "support/sha256.hpp"

#include <doctest/doctest.h>

#include <string>

// Trials that the reference cannot open but libsmd can read. `written` lists their content.
namespace smd::test {
namespace {

void check_written(const Recorded& trial, const Trial& opened) {
  std::size_t count = 0;
  for (const Json& row : trial.answers.at("written")) {
    CAPTURE(row);
    const std::string worker = row.at("worker");
    const TensorValue value =
        opened.tensor(row.at("tensor").get<std::string>()).value(GlobalStep(row.at("global_step")), worker);
    CHECK(Json(to_string(value.dtype())) == row.at("dtype"));
    CHECK(Json(value.shape()) == row.at("shape"));
    CHECK(value.bytes().size() == row.at("nbytes").get<std::size_t>());
    CHECK(sha256(value.bytes()) == row.at("sha256").get<std::string>());
    CHECK(first_elements(value.view(), 8) == row.at("head"));
    ++count;
  }
  std::size_t entries = 0;
  EntryQuery query;
  query.include_incomplete = true;
  opened.for_each_entry(query, [&](const TensorEntry&) {
    ++entries;
    return true;
  });
  CHECK(entries == count);
}

}  // namespace

// docs/format.md: the global step is that of the file name, the mode step as written.
TEST_CASE("a scalar with mode step -1 is read") {
  const Recorded& trial = recorded("pt_scalar_before_eval");
  REQUIRE(trial.answers.at("open").at("error") == "SMDebugValueError");
  const Trial opened = trial.open();
  check_written(trial, opened);
  CHECK(opened.ended());
  // From the names and content of the index files.
  CHECK(numbers(opened.steps()) == Json({0, 4, 6}));
  CHECK(opened.mode(GlobalStep(6)) == Mode::eval);
  CHECK(opened.mode_step(GlobalStep(6)) == ModeStep(-1));
  CHECK(opened.global_step(Mode::eval, ModeStep(-1)) == GlobalStep(6));
  CHECK(numbers(opened.steps(Mode::eval)) == Json({-1}));
  CHECK(opened.has_passed_step(StepKey(Mode::eval, ModeStep(-1))) == StepState::available);
  const TensorValue scalar = opened.tensor("scalar/final/accuracy").value(StepKey(Mode::eval, ModeStep(-1)));
  CHECK(first_elements(scalar.view(), 1) == Json({0.75}));
}

// docs/faults.md, "fewer collections files than workers": the trial is read, with one warning that gives their number.
TEST_CASE("a job with a worker that wrote nothing is read, with a warning") {
  const Recorded& trial = recorded("mw2_no_second_collections_ended");
  REQUIRE(trial.answers.at("open").at("error") == "MissingCollectionFiles");
  const Trial opened = trial.open();
  check_written(trial, opened);
  CHECK(opened.num_workers() == 2);
  CHECK(Json(opened.workers()) == Json({"worker_0"}));
  CHECK(numbers(opened.steps()) == Json({0, 1}));  // complete, because the job has ended
  std::size_t warnings = 0;
  for (const Problem& problem : opened.problems()) {
    CAPTURE(to_string(problem));
    CHECK(problem.kind == ProblemKind::warning);
    ++warnings;
    CHECK(problem.text.find('1') != std::string::npos);
    CHECK(problem.text.find('2') != std::string::npos);
  }
  CHECK(warnings == 1);
}

}  // namespace smd::test
