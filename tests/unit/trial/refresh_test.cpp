// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <set>

// A trial that is open while the job writes.
namespace smd::test {
namespace {

std::string index_of(const BuiltStep& step) { return encode_step(step).index; }

}  // namespace

TEST_CASE("new steps, workers, tensors and collections appear") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0));
  const Trial trial = Trial::open(dir.path());
  CHECK(numbers(trial.steps()) == Numbers{0});
  CHECK_FALSE(trial.has_tensor("b"));
  CHECK_FALSE(trial.ended());

  builder.step({.step = 1, .tensors = {{"b", {1, 2}}}, .shapes = {}});
  CHECK(numbers(trial.steps()) == Numbers{0, 1});
  CHECK(trial.tensor_names() == Texts{"a", "b"});
  CHECK(trial.writers() == Texts{"worker_0"});

  builder.step(simple_step(1, "worker_1"));
  CHECK(trial.writers() == Texts{"worker_0", "worker_1"});
  CHECK(trial.workers() == Texts{"worker_0"});
  builder.collections("worker_1");
  CHECK(trial.workers() == Texts{"worker_0", "worker_1"});

  builder.end();
  CHECK(trial.ended());
}

TEST_CASE("files that come late, behind the last complete step, are read") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2).collections("worker_1", 2);
  for (const std::int64_t step : {0, 2, 4}) {
    builder.step(simple_step(step)).step(simple_step(step, "worker_1"));
  }
  const Trial trial = Trial::open(dir.path());
  REQUIRE(trial.last_complete_step() == GlobalStep(4));
  builder.step(simple_step(1, "worker_1")).step(simple_step(3));
  CHECK(numbers(trial.steps()) == Numbers{0, 1, 2, 3, 4});
  CHECK(trial.tensor("a").workers(GlobalStep(1)) == Texts{"worker_1"});
  CHECK(first_float(trial.tensor("a").value(GlobalStep(3))) == 3);
  CHECK(trial.last_complete_step() == GlobalStep(4));
}

TEST_CASE("a collections file that is replaced is read again") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  const auto losses = [&](const std::string& names, int workers) {
    builder.file("collections/000000000/worker_0_collections.json",
                 R"({"collections": {"losses": {"name": "losses", "tensor_names": [)" + names +
                     R"(]}}, "_meta": {"num_workers": )" + std::to_string(workers) + "}}");
  };
  losses(R"("a")", 1);
  builder.step({.step = 0, .tensors = {{"a", {1}}, {"b", {1}}}, .shapes = {}});
  const Trial trial = Trial::open(dir.path());
  CHECK(trial.tensor_names({.collections = {"losses"}}) == Texts{"a"});
  losses(R"("b")", 1);  // as long as before
  CHECK(trial.tensor_names({.collections = {"losses"}}) == Texts{"b"});
  losses(R"("a", "b")", 2);
  CHECK(trial.tensor_names({.collections = {"losses"}}) == Texts{"a", "b"});
  CHECK(trial.steps().empty());  // the other worker has not written it
}

TEST_CASE("while the job runs, a collections file that was just written counts once it can be read") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  const std::string second = "collections/000000000/worker_1_collections.json";
  builder.file("collections/000000000/worker_0_collections.json", "").step(simple_step(0));
  CHECK_THROWS_WITH_AS(Trial::open(dir.path()), doctest::Contains("no collection files that can be read yet ("),
                       MissingCollectionFiles);
  builder.collections("worker_0", 2).file(second, R"({"collections": )");
  const Trial trial = Trial::open(dir.path());
  CHECK(trial.workers() == Texts{"worker_0"});
  CHECK(kinds_and_files(trial.problems()).front() == "NotYet " + second);

  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(dir / second, long_ago);
  CHECK(trial.workers() == Texts{"worker_0", "worker_1"});
  CHECK(kinds_and_files(trial.problems()).front() == "Damaged " + second);
  builder.collections("worker_1", 2);
  CHECK(trial.workers() == Texts{"worker_0", "worker_1"});

  builder.file(second, "{");  // written again: what counted goes on to count
  CHECK(trial.workers() == Texts{"worker_0", "worker_1"});
  CHECK(kinds_and_files(trial.problems()).front() == "Damaged " + second);
}

TEST_CASE("a trial that grew is as one opened anew, whatever came when") {
  std::mt19937 random(7);
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const TempDir dir;
    TrialBuilder builder(dir.path());
    builder.collections("worker_0", 3);
    TrialOptions options;
    options.auto_refresh = false;
    options.incomplete_step_wait_window = round % 7;
    Trial all = Trial::open(dir.path(), options);
    TrialOptions late = options;
    late.range_steps = StepRange{.first = GlobalStep(12)};  // finds which worker wrote earlier ones
    Trial part = Trial::open(dir.path(), late);
    std::set<std::string> written;  // each once, as hooks do
    std::vector<std::pair<std::string, std::string>> cut;
    const unsigned lost = random() % 4;  // 3: no worker dies
    for (std::int64_t step = 0; step < 24; ++step) {
      for (unsigned worker = 0; worker < 3; ++worker) {
        if ((worker == lost && step > 6) || one_in(8)) {
          continue;
        }
        BuiltStep built =
            simple_step(step - static_cast<std::int64_t>(random() % 3), "worker_" + std::to_string(worker));
        const std::string name = index_path(built.step, built.worker);
        if (built.step < 0 || !written.insert(name).second) {
          continue;
        }
        if (one_in(5)) {
          built.tensors.clear();  // lists nothing
        }
        const std::string index = index_of(built);
        if (one_in(6)) {
          builder.file(name, index.substr(0, index.size() / 2));
          cut.emplace_back(name, index);
        } else {
          builder.file(name, index);
        }
      }
      if (!cut.empty() && one_in(3)) {
        builder.file(cut.back().first, cut.back().second);
        cut.pop_back();
      }
      if (step == 20 && one_in(2)) {
        builder.collections("worker_0", 2);
      }
      if (step == 22 && one_in(2)) {
        builder.end();
      }
      CAPTURE(step);
      all.refresh();
      part.refresh();
      const Trial anew = Trial::open(dir.path(), options);
      CHECK(all.last_complete_step() == anew.last_complete_step());
      CHECK(numbers(all.steps()) == numbers(anew.steps()));
      CHECK(part.last_complete_step() == Trial::open(dir.path(), late).last_complete_step());
    }
  }
}

TEST_CASE("the end makes all steps complete") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2).step(simple_step(0)).step(simple_step(1));
  const Trial trial = Trial::open(dir.path());
  CHECK(trial.steps().empty());
  CHECK(trial.has_passed_step(GlobalStep(7)) == StepState::not_yet_available);
  builder.end();
  CHECK(numbers(trial.steps()) == Numbers{0, 1});
  CHECK(trial.last_complete_step() == GlobalStep(1));
  CHECK(trial.has_passed_step(GlobalStep(7)) == StepState::unavailable);
}

TEST_CASE("without auto_refresh a trial changes when told to") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0));
  TrialOptions options;
  options.auto_refresh = false;
  Trial trial = Trial::open(dir.path(), options);
  builder.step(simple_step(1));
  CHECK(numbers(trial.steps()) == Numbers{0});
  trial.refresh();
  CHECK(numbers(trial.steps()) == Numbers{0, 1});
}

TEST_CASE("a worker's newest index file cut at any byte is not there yet; whole, it is read") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0));
  const std::string whole = index_of(simple_step(1));
  const Trial trial = Trial::open(dir.path());
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    CAPTURE(cut);
    dir.write(index_path(1, "worker_0"), whole.substr(0, cut));
    CHECK(numbers(trial.steps(true)) == Numbers{0});
    CHECK(kinds_and_files(trial.problems()) == Texts{"NotYet index/000000000/000000000001_worker_0.json"});
  }
  dir.write(index_path(1, "worker_0"), whole);
  CHECK(numbers(trial.steps()) == Numbers{0, 1});
  CHECK(trial.problems().empty());
}

TEST_CASE("the same in an ended job, or behind a newer one, is damage; it is looked at again") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0)).step(simple_step(2));
  const std::string whole = index_of(simple_step(1));
  dir.write(index_path(1, "worker_0"), whole.substr(0, 50));
  const Texts damaged = {"Damaged index/000000000/000000000001_worker_0.json"};
  const Trial trial = Trial::open(dir.path());
  for (int again = 0; again < 3; ++again) {
    CHECK(kinds_and_files(trial.problems()) == damaged);
    CHECK(numbers(trial.steps()) == Numbers{0, 2});
  }
  builder.end();
  CHECK(numbers(trial.steps()) == Numbers{0, 2});
  CHECK(kinds_and_files(trial.problems()) == damaged);
  dir.write(index_path(1, "worker_0"), whole);
  CHECK(numbers(trial.steps()) == Numbers{0, 1, 2});
  CHECK(trial.problems().empty());
}

TEST_CASE("a thousand refreshes at random cuts lose no step") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2).collections("worker_1", 2);
  TrialOptions options;
  options.auto_refresh = false;
  Trial trial = Trial::open(dir.path(), options);
  std::mt19937 random(20240607);
  std::set<std::int64_t> written;
  for (std::int64_t step = 0; step < 250; ++step) {
    for (const char* const worker : {"worker_0", "worker_1"}) {
      BuiltStep built = simple_step(step, worker);
      if (random() % 4 == 0) {
        built.tensors.emplace_back("t" + std::to_string(random() % 20), std::vector<float>{1});
      }
      const std::string whole = index_of(built);
      dir.write(index_path(step, worker), whole.substr(0, random() % whole.size()));
      trial.refresh();
      REQUIRE(trial.steps(true).size() == written.size());
      dir.write(index_path(step, worker), whole);
      written.insert(step);
      trial.refresh();
      REQUIRE(trial.steps(true).size() == written.size());
    }
    REQUIRE(trial.last_complete_step() == GlobalStep(step));
  }
  CHECK(trial.problems().empty());
  std::size_t entries = 0;
  trial.for_each_entry({.tensors = {"a"}}, [&](const TensorEntry&) { return ++entries != 0; });
  CHECK(entries == 500);
}

TEST_CASE("names handed out stay valid across refreshes") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0, "worker_with_a_name_of_its_own"));
  std::vector<TensorEntry> kept;
  std::vector<std::string> tensors;
  {
    Trial trial = Trial::open(dir.path());
    const Tensor first = trial.tensor("a");
    for (std::int64_t step = 1; step < 60; ++step) {
      const std::string tensor = std::string(static_cast<std::size_t>(step) * 20, 'x') + std::to_string(step);
      builder.step(
          {.step = step, .worker = "w" + std::to_string(step), .tensors = {{tensor, {1}}, {"a", {1}}}, .shapes = {}});
      trial.for_each_entry({.tensors = {tensor}, .include_incomplete = true}, [&](const TensorEntry& entry) {
        kept.push_back(entry);
        tensors.push_back(tensor);
        return true;
      });
    }
    CHECK(first.entries().size() == 60);
    REQUIRE(kept.size() == 59);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      CHECK(kept[i].tensor == tensors[i]);
      CHECK(kept[i].worker == "w" + std::to_string(i + 1));
    }
  }
}

TEST_CASE("a tensor outlives its trial, and goes on refreshing") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0));
  const Tensor tensor = Trial::open(dir.path()).tensor("a");
  builder.step(simple_step(1));
  CHECK(numbers(tensor.steps()) == Numbers{0, 1});
  CHECK(first_float(tensor.value(GlobalStep(1))) == 1);
}

TEST_CASE("questions that may be answered no are answered though the trial can no longer be listed") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0));
  const Trial trial = Trial::open(dir.path());
  std::filesystem::remove_all(dir.path());
  CHECK(trial.has_tensor("a"));
  CHECK_FALSE(trial.has_tensor("b"));
  CHECK(trial.has_passed_step(GlobalStep(0)) == StepState::available);
  CHECK_THROWS_AS(static_cast<void>(trial.steps()), Error);
}

}  // namespace smd::test
