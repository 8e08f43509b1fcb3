// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

// Names of tensors and members of collections.
namespace smd::test {
namespace {

Json names(const Trial& trial, const TensorQuery& query) { return trial.tensor_names(query); }

}  // namespace

TEST_CASE("tensor names are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    const Json& all = trial.answers.at("tensor_names");
    CHECK(names(opened, {}) == all);
    CHECK(opened.summaries().size() == all.size());
    for (const std::string name : all) {
      CAPTURE(name);
      CHECK(opened.has_tensor(name));
      CHECK(opened.tensor(name).name() == name);
    }
    CHECK(!opened.has_tensor("no such tensor"));
    CHECK_THROWS_AS((void)opened.tensor("no such tensor"), TensorUnavailable);
  });
}

TEST_CASE("tensor names of a mode are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    for (const auto& [mode_key, answer] : trial.answers.at("tensor_names_by_mode").items()) {
      const auto& mode = mode_key;
      CAPTURE(mode);
      TensorQuery query;
      query.mode = mode_of(mode);
      // `correct` is used where the reference raises KeyError for a mode that was never saved.
      CHECK(names(opened, query) == right(answer));
    }
  });
}

TEST_CASE("tensor names of a step are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    for (const auto& [step_key, answer] : trial.answers.at("tensor_names_by_step").items()) {
      const auto& step = step_key;
      CAPTURE(step);
      TensorQuery query;
      query.step = GlobalStep(std::stoll(step));
      CHECK(names(opened, query) == right(answer));
    }
    TensorQuery unknown;
    unknown.step = GlobalStep(std::int64_t{1} << 40);
    CHECK(opened.tensor_names(unknown).empty());
  });
}

TEST_CASE("tensor names of a mode step are those of the records") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    std::map<std::tuple<Mode, std::int64_t>, std::set<std::string>> expected;
    for_each_record(trial, [&](const std::string& tensor, const Json& record) {
      expected[{mode_of(record.at("mode")), record.at("mode_step")}].insert(tensor);
    });
    for (const auto& [step, tensors] : expected) {
      const auto mode = std::get<0>(step);
      const auto number = std::get<1>(step);
      INFO(to_string(mode), " ", number);
      TensorQuery query;
      query.step = StepKey(mode, ModeStep(number));
      CHECK(names(opened, query) == Json(tensors));
    }
  });
}

TEST_CASE("collections are as recorded") {
  std::size_t compared = 0;
  for_each_trial([&](const Recorded& trial, const Trial& opened) {
    const auto collections = opened.collections();
    const Json& answers = trial.answers.at("collections");
    CHECK(collections.size() == answers.size());
    for (const auto& [name_key, answer] : answers.items()) {
      const auto& name = name_key;
      CAPTURE(name);
      REQUIRE(collections.contains(name));
      const Collection& collection = collections.at(name);
      CHECK(collection.name == name);
      CHECK(opened.collection(name) == collection);
      CHECK(Json(collection.include_regex) == answer.at("include_regex"));
      CHECK(Json(collection.tensor_names) == answer.at("tensor_names"));
      CHECK(Json(collection.save_histogram.value()) == answer.at("save_histogram"));
      TensorQuery query;
      query.collections = {name};
      CHECK(names(opened, query) == answer.at("resolved"));
      ++compared;
    }
    // The reference creates a collection when it is requested.
    CHECK(!opened.collection("no such collection"));
    TensorQuery query;
    query.collections = {"no such collection"};
    CHECK(opened.tensor_names(query).empty());
    CHECK(opened.collections() == collections);
  });
  CHECK(compared == 118);  // the number of recorded results
}

TEST_CASE("configurations of collections are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    for (const auto& [name_key, answer] : trial.answers.at("collections").items()) {
      const auto& name = name_key;
      CAPTURE(name);
      const Collection collection = opened.collection(name).value();
      const Json& reductions = answer.at("reduction_config");
      REQUIRE(collection.reduction_config.has_value() == !reductions.is_null());
      if (!reductions.is_null()) {
        std::string joined;
        for (const std::string& reduction : collection.reduction_config->reductions) {
          joined += (joined.empty() ? "" : ",") + reduction;
        }
        CHECK(Json(joined) == reductions.at("reductions"));
        CHECK(collection.reduction_config->save_raw_tensor == reductions.at("save_raw_tensor").get<bool>());
        CHECK(collection.reduction_config->save_shape == reductions.at("save_shape").get<bool>());
      }
      const Json& save = answer.at("save_config");
      CHECK(collection.save_config.size() == save.size());
      for (const auto& [mode_key, expected] : save.items()) {
        const auto& mode = mode_key;
        CAPTURE(mode);
        const SaveConfigMode& config = collection.save_config.at(mode_of(mode));
        CHECK(config.save_interval == expected.at("save_interval").get<std::int64_t>());
        CHECK(Json(config.save_steps) == expected.at("save_steps"));
        CHECK(config.start_step == expected.at("start_step").get<std::int64_t>());
        CHECK((config.end_step ? Json(*config.end_step) : Json()) == expected.at("end_step"));
      }
    }
  });
}

}  // namespace smd::test
