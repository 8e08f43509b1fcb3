// SPDX-License-Identifier: Apache-2.0
// Every recorded trial, read and written anew by the hook: the same catalog, the same elements.
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>

namespace smd {
namespace {

using test::TempDir;

/// What was saved of one tensor at one step by one worker, read back.
struct Saved {
  TensorEntry entry;
  std::string tensor;
  std::string worker;
};

std::vector<Saved> everything(const Trial& trial) {
  std::vector<Saved> all;
  trial.for_each_entry({.include_incomplete = true}, [&](const TensorEntry& entry) {
    all.push_back({entry, std::string(entry.tensor), std::string(entry.worker)});
    return true;
  });
  return all;
}

TensorValue read_one(const Trial& trial, const Place& place, const std::string& name) {
  std::optional<TensorValue> value;
  const WantedValue wanted = {place, name};
  trial.read({&wanted, 1}, [&](std::size_t, ReadResult&& result) {
    REQUIRE_MESSAGE(result.value, (result.problem ? to_string(*result.problem) : ""));
    value = std::move(result.value);
    return true;
  });
  return *value;
}

bool equal(const TensorValue& a, const TensorValue& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.bytes().size() == b.bytes().size() &&
         (a.bytes().empty() || std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0);
}

/// Saves a step's entries as they are: values, reductions by their stored names, shapes.
void save_again(const Trial& trial, const Saved& saved, Hook& hook) {
  if (saved.entry.value) {
    const TensorValue value = read_one(trial, *saved.entry.value, saved.tensor);
    hook.save_tensor(saved.tensor, value.view());
  }
  for (const SavedReduction& reduction : saved.entry.reductions) {
    const std::string stored = reduction_tensor_name(reduction.name, saved.tensor);
    const TensorValue value = read_one(trial, reduction.place, stored);
    hook.save_tensor(stored, value.view());
  }
  if (saved.entry.shape) {
    hook.save_shape(saved.tensor, *saved.entry.shape, saved.entry.original_name.value_or(""));
  }
}

void compare(const Trial& before, const Trial& after) {
  const auto old_entries = everything(before);
  const auto new_entries = everything(after);
  REQUIRE(new_entries.size() == old_entries.size());
  for (std::size_t i = 0; i < old_entries.size(); ++i) {
    const Saved& was = old_entries[i];
    const Saved& is = new_entries[i];
    CAPTURE(was.tensor);
    CAPTURE(was.entry.step.value);
    REQUIRE(is.tensor == was.tensor);
    REQUIRE(is.worker == was.worker);
    CHECK(is.entry.step == was.entry.step);
    CHECK(is.entry.mode == was.entry.mode);
    CHECK(is.entry.mode_step == was.entry.mode_step);
    CHECK(is.entry.shape == was.entry.shape);
    CHECK(is.entry.original_name == was.entry.original_name);
    REQUIRE(is.entry.value.has_value() == was.entry.value.has_value());
    if (was.entry.value) {
      CHECK(equal(read_one(after, *is.entry.value, is.tensor), read_one(before, *was.entry.value, was.tensor)));
    }
    REQUIRE(is.entry.reductions.size() == was.entry.reductions.size());
    for (std::size_t r = 0; r < was.entry.reductions.size(); ++r) {
      CHECK(is.entry.reductions[r].name == was.entry.reductions[r].name);
      const std::string stored = reduction_tensor_name(was.entry.reductions[r].name, was.tensor);
      CHECK(equal(read_one(after, is.entry.reductions[r].place, stored),
                  read_one(before, was.entry.reductions[r].place, stored)));
    }
  }
  CHECK(after.tensor_names() == before.tensor_names());
  CHECK(after.steps(true) == before.steps(true));
  CHECK(after.modes() == before.modes());
}

TEST_CASE("recorded trials written anew") {
  std::size_t rewritten = 0;
  for (const auto& place : std::filesystem::directory_iterator(SMD_RECORDED_TRIALS)) {
    const std::string name = place.path().filename().string();
    // What no right writer writes: a mode step of -1.
    if (!place.is_directory() || name == "broken" || name == "rules" || name == "pt_scalar_before_eval") {
      continue;
    }
    CAPTURE(name);
    const Trial before = Trial::open(place.path().string());
    const TempDir folder;
    std::map<std::string, Hook> hooks;
    for (const Saved& saved : everything(before)) {
      auto at = hooks.find(saved.worker);
      if (at == hooks.end()) {
        HookConfig config{.out_dir = folder / "run", .save_config = SaveConfigMode{.save_interval = 1}};
        config.worker = saved.worker;
        config.num_workers = before.num_workers();
        config.end_marker = before.ended();
        at = hooks.emplace(saved.worker, Hook(config)).first;
      }
      Hook& hook = at->second;
      const TensorEntry& entry = saved.entry;
      if (hook.step() != entry.step || hook.mode() != entry.mode || hook.mode_step() != entry.mode_step) {
        hook.set_step(entry.step, entry.mode, entry.mode_step);
      }
      save_again(before, saved, hook);
    }
    for (auto& [worker, hook] : hooks) {
      hook.close();
    }
    if (hooks.empty()) {
      continue;  // no step was saved
    }
    compare(before, Trial::open(folder / "run"));
    const CheckReport report = check_trial(folder / "run", {}, [](const Problem& problem) {
      CHECK_MESSAGE(problem.kind >= ProblemKind::warning, to_string(problem));
    });
    CHECK_FALSE(report.damaged);
    ++rewritten;
  }
  CHECK(rewritten >= 35);
}

}  // namespace
}  // namespace smd
