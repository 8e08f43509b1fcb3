// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <cmath>

namespace smd::detail::rules {

namespace {

constexpr Reduction variance{.kind = ReductionKind::variance};

}  // namespace

ParameterSpec at_least(double least, ParameterSpec spec) {
  spec.at_least = least;
  return spec;
}

ParameterSpec between(double least, double most, ParameterSpec spec) {
  spec.at_most = most;
  return at_least(least, std::move(spec));
}

ParameterSpec within(double low, double high, ParameterSpec spec) {
  spec.exclusive = true;
  return between(low, high, std::move(spec));
}

ParameterSpec one_of(Texts choices, ParameterSpec spec) {
  spec.choices = std::move(choices);
  return spec;
}

ParameterSpec collection_names_parameter(std::string_view help) {
  return {"collection_names", Type::list, no_default,
          "collections to look at" + std::string(help.empty() ? "" : "; ") + std::string(help)};
}

ParameterSpec tensor_regex_parameter(std::string_view help) {
  return {"tensor_regex", Type::pattern_list, no_default,
          "tensors to look at, by name" + std::string(help.empty() ? "" : "; ") + std::string(help)};
}

TensorSelection selection_of(const Parameters& parameters, bool all_by_default) {
  return {.regex = parameters.list("tensor_regex"),
          .collections = parameters.list("collection_names"),
          .all = all_by_default};
}

TensorSelection required_selection(const Parameters& parameters) {
  TensorSelection selection = selection_of(parameters, false);
  if (selection.collections.empty() && selection.regex.empty()) {
    throw ConfigurationError(ConfigurationErrorKind::missing_parameter,
                             "say what to look at: collection_names, tensor_regex or both", "collection_names");
  }
  return selection;
}

void UnitRule::set_required_tensors(StepNeeds& step) {
  if (looks_at(step)) {
    for (const Unit& unit : step.units(selection_)) {
      need(step, unit);
    }
  }
}

void UnitRule::invoke_at_step(StepView& step) {
  if (looks_at(step)) {
    for (const Unit& unit : step.units(selection_)) {
      evaluate(step, unit);
    }
  }
}

void NanCounts::add(std::string_view tensor, const char* noun, const char* consequence, double measured) {
  auto& [all, nan] = counts_[{std::string(tensor), noun, consequence}];
  ++all;
  nan += std::isnan(measured) ? 1 : 0;
}

void NanCounts::summarize(RuleSummary& summary) const {
  bool all_nan = !counts_.empty();
  for (const auto& [words, numbers] : counts_) {
    const auto& [tensor, noun, consequence] = words;
    const auto& [all, nan] = numbers;
    all_nan = all_nan && nan == all;
    if (nan > 0) {
      summary.warn(fmt::format("{}: {} of {} NaN: {}", printable(tensor), nan, text::counted(all, noun, "is", "are"),
                               consequence));
    }
  }
  if (all_nan) {
    summary.none_evaluated("all that can be compared is NaN");
  }
}

void need_values(StepNeeds& step, std::initializer_list<SelectionId> selections) {
  for (const SelectionId selection : selections) {
    for (const Unit& unit : step.units(selection)) {
      step.value(unit);
    }
  }
}

void need_variance(StepNeeds& step, const Unit& unit) {
  if (unit.has_reduction("variance") || unit.has_value()) {
    step.measure(unit, variance);
  } else {
    step.saved(unit, "std");
  }
}

std::optional<double> variance_of(const StepView& step, const Unit& unit) {
  if (unit.has_reduction("variance") || unit.has_value()) {
    return step.measure(unit, variance);
  }
  const std::optional<double> deviation = step.saved(unit, "std");
  return deviation ? std::optional(*deviation * *deviation) : std::nullopt;
}

Collection collection_of(std::string name, Texts patterns) {
  return {.name = std::move(name), .include_regex = std::move(patterns)};
}

Collection reduced(Collection collection, Texts reductions) {
  // The hook saves scalars whole; reductions do not apply to them.
  if (!reductions.empty() && !is_scalar_collection(collection.name)) {
    collection.reduction_config = ReductionConfig{.reductions = std::move(reductions)};
  }
  return collection;
}

Collection only_in(std::initializer_list<Mode> modes, Collection collection) {
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    if (!contains(modes, mode)) {
      collection.save_config[mode] = SaveConfigMode{.end_step = 0};
    }
  }
  return collection;
}

Collections only_in_mode(const Parameters& parameters, Collections collections) {
  if (const std::optional<Mode> mode = parse_mode(parameters.text("mode")); mode && *mode != Mode::global) {
    for (Collection& one : collections) {
      one = only_in({*mode}, std::move(one));
    }
  }
  return collections;
}

Collections selected(const Parameters& parameters, const std::string& own, const Texts& reductions,
                     const std::string& everything) {
  Collections all;
  for (const std::string& name : parameters.list("collection_names")) {
    all.push_back(reduced(collection_of(name), reductions));
  }
  if (const Texts& patterns = parameters.list("tensor_regex"); !patterns.empty()) {
    all.push_back(reduced(collection_of(own, patterns), reductions));
  }
  if (all.empty() && !everything.empty()) {
    all.push_back(reduced(collection_of(everything, {".*"}), reductions));
  }
  return all;
}

}  // namespace smd::detail::rules
