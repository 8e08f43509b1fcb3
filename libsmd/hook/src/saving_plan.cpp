// SPDX-License-Identifier: Apache-2.0
#include "saving_plan.hpp"

#include <smd/hook.hpp>

#include "file_text.hpp"
#include "layout/name_table.hpp"
#include "stock_collections.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"
#include "text/loss_name.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "types/refuse.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd::detail::hook {
namespace {

void check_interval(const SaveConfigMode& config, const std::string& whose) {
  detail::refuse_if(config.save_interval < 1,
                    whose + ": save_interval " + std::to_string(config.save_interval) + " is not 1 or more");
}

void check_reductions(const ReductionConfig& config, const std::string& whose) {
  detail::refuse_if(!config.save_raw_tensor && !config.save_shape && config.reductions.empty(),
                    whose + ": neither reductions, nor the tensor itself, nor its shape would be saved");
  for (const std::string& name : config.reductions) {
    if (!can_be_saved(plain_reduction_name(name))) {
      (void)parse_reduction_config(name);  // throws, with the nearest name
    }
  }
}

[[noreturn]] void throw_no_members(const std::string& collection) {
  throw InvalidCollectionConfiguration(
      "collection " + in_quotes(collection) +
          " is not built in and has neither patterns (include_regex) nor names of tensors" +
          did_you_mean(similar_collection(collection)),
      collection);
}

bool matches(std::vector<Pattern>& patterns, std::string_view name, MatchBudget& budget) {
  return std::ranges::any_of(patterns, [&](Pattern& pattern) { return pattern.found(name, budget); });
}

void check_collection_name(const std::string& name) {
  refuse_if(name.empty() || name.size() > limits::name_bytes || !valid_utf8(name),
            "a collection's name is empty, longer than the limit (name_bytes), or not UTF-8");
}

}  // namespace

void check_name(std::string_view name) {
  refuse_if(name.size() > limits::name_bytes, "a tensor's name is longer than the limit (name_bytes)");
  if (!valid_utf8(name)) {
    throw InvalidArgument("the tensor's name " + in_quotes(name) + " is not UTF-8");
  }
}

void check_tensor_name(std::string_view name) {
  check_name(name);
  // The reference looks for this anywhere in a name; it cannot open the trial if REDUCTION/TENSOR does not follow.
  if (layout::parse_stored_name(name).tensor.find("smdebug/reductions/") != name.npos) {
    throw InvalidArgument(in_quotes(name) + " cannot be a tensor's name: what follows 'smdebug/reductions/' is read " +
                          "as a reduction of another tensor; choose another name");
  }
}

Collections::Collections(const HookConfig& config)
    : save_config_(config.save_config),
      save_histogram_(config.save_histogram.value_or(true)),
      reduction_config_(config.reduction_config.value_or(ReductionConfig{.save_raw_tensor = true})),
      replaces_earlier_(config.replaces_earlier_reductions) {
  for (const auto& [mode, of_mode] : save_config_.modes()) {
    check_interval(of_mode, "the hook");
  }
  check_reductions(reduction_config_, "the hook");
  for (const auto& [name, collection] : stock_collections(config.framework)) {
    entries_[find_or_add(name)].config = collection;
  }
  for (const std::string& name : collections_always_saved(config.framework)) {
    entries_[find_or_add(name)].included = true;
  }
  for (const CollectionConfig& own : config.collections) {
    check_collection_name(own.name);
    const bool known = by_name_.contains(own.name);
    Entry& entry = entries_[find_or_add(own.name)];
    entry.included = true;
    // Collections that rules need are configured for any framework, but `metrics`, for one, is not built in for all.
    auto patterns = known ? std::move(entry.config.include_regex) : patterns_in_any_framework(own.name);
    patterns.insert(patterns.end(), own.include_regex.begin(), own.include_regex.end());
    std::ranges::for_each(own.tensor_names, check_tensor_name);
    entry.config = own;
    entry.config.include_regex = std::move(patterns);
    entry.own_reductions = own.reduction_config.has_value();
  }
  for (const std::string& name : config.include_collections) {
    entries_[find_or_add(name)].included = true;
  }
  if (!config.include_regex.empty()) {
    Entry& entry = entries_[find_or_add("default")];
    entry.included = true;
    std::ranges::copy(config.include_regex, std::back_inserter(entry.config.include_regex));
  }
  told_nothing_ = selects_nothing(config);
  if (config.save_all || told_nothing_) {
    entries_[find_or_add("all")].included = true;
  }
  everything_ = entries_[find_or_add("all")].included;
  for (Entry& entry : entries_) {
    resolve(entry);
  }
  index_entries();
  set_step(Mode::global, 0);
}

void Collections::replace(CollectionConfig own) {
  check_collection_name(own.name);
  std::ranges::for_each(own.tensor_names, check_tensor_name);
  const auto before = by_name_.find(own.name);
  if (before == by_name_.end() && own.include_regex.empty() && own.tensor_names.empty()) {
    throw_no_members(own.name);
  }
  Entry entry;
  entry.included = true;
  // A caller may change and add a collection that `get_collection` returned: reductions that it did not change remain
  // the hook's.
  entry.own_reductions =
      own.reduction_config &&
      (before == by_name_.end() || own.reduction_config != entries_[before->second].config.reduction_config ||
       entries_[before->second].own_reductions);
  entry.config = std::move(own);
  resolve(entry);  // throws before anything is changed
  if (told_nothing_) {
    Entry& all = entries_[by_name_.at("all")];
    all.included = false;
    all.config.include_regex.clear();
    all.patterns.clear();
    told_nothing_ = false;
  }
  entries_[find_or_add(entry.config.name)] = std::move(entry);
  everything_ = entries_[by_name_.at("all")].included;
  index_entries();
  members_.clear();
  other_losses_.clear();
  changed_ = true;
  set_step(mode_, mode_step_);
}

std::size_t Collections::find_or_add(const std::string& name) {
  const auto [at, added] = by_name_.try_emplace(name, entries_.size());
  if (added) {
    entries_.emplace_back().config.name = name;
  }
  return at->second;
}

void Collections::resolve(Entry& entry) const {
  Collection& config = entry.config;
  const std::string whose = "collection " + in_quotes(config.name);
  for (const auto& [mode, of_mode] : config.save_config) {
    check_interval(of_mode, whose);
  }
  config.save_config.merge(save_config_.modes());  // adds those that it lacks
  if (is_scalar_collection(config.name)) {
    config.reduction_config = ReductionConfig{.save_raw_tensor = true};
    config.save_histogram = false;
  } else {
    config.reduction_config = config.reduction_config ? *config.reduction_config : reduction_config_;
    config.save_histogram = config.save_histogram.value_or(save_histogram_);
  }
  check_reductions(*config.reduction_config, whose);
  entry.names.insert(std::make_move_iterator(config.tensor_names.begin()),
                     std::make_move_iterator(config.tensor_names.end()));
  config.tensor_names.clear();
  auto& patterns = config.include_regex;
  if (config.name == "all" && entry.included) {
    add_once(patterns, ".*");
  }
  entry.patterns.clear();
  for (const std::string& text : patterns) {
    Pattern pattern;
    if (const auto error = pattern.compile(text)) {
      throw InvalidArgument(whose + ": pattern " + in_quotes(text) + " does not compile: " + *error);
    }
    entry.patterns.push_back(std::move(pattern));
  }
}

void Collections::update(Entry& entry) const {
  const bool of_training = entry.config.name == "gradients" || entry.config.name == "optimizer_variables";
  const bool barred = of_training && (mode_ == Mode::eval || mode_ == Mode::predict);
  entry.saved_now = !barred && should_save_step(entry.config.save_config.at(mode_), mode_step_);
}

void Collections::set_step(Mode mode, std::int64_t mode_step) {
  mode_ = mode;
  mode_step_ = mode_step;
  some_saved_now_ = false;
  for (Entry& entry : entries_) {
    update(entry);
    some_saved_now_ = some_saved_now_ || (entry.saved_now && (entry.included || everything_));
  }
}

void Collections::index_entries() {
  named_.clear();
  with_patterns_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    for (const std::string& name : entries_[i].names) {
      named_[name].push_back(i);
    }
    if (!entries_[i].patterns.empty()) {
      with_patterns_.push_back(i);
    }
  }
}

std::vector<std::size_t>& Collections::members(std::string_view name) {
  if (const auto at = members_.find(name); at != members_.end()) {
    return at->second;
  }
  check_tensor_name(name);  // before it can be written into the collections file
  std::vector<std::size_t> found;
  const auto counts = [this](std::size_t id) { return entries_[id].included || everything_; };
  if (const auto at = named_.find(name); at != named_.end()) {
    std::ranges::copy_if(at->second, std::back_inserter(found), counts);
  }
  const std::size_t by_name = found.size();
  MatchBudget budget;
  for (const std::size_t id : with_patterns_) {
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(by_name);
    if (counts(id) && std::find(found.begin(), end, id) == end && matches(entries_[id].patterns, name, budget)) {
      found.push_back(id);
    }
  }
  std::ranges::sort(found);
  const std::size_t all = by_name_.at("all");
  if (std::ranges::all_of(found, [all](std::size_t id) { return id == all; }) && text::is_loss_name(name)) {
    other_losses_.emplace(name);
  }
  return members_.emplace(name, std::move(found)).first->second;
}

void Collections::require_members(const std::vector<std::string>& also) {
  for (const Entry& entry : entries_) {
    const std::string& name = entry.config.name;
    if (entry.included && entry.patterns.empty() && entry.names.empty() && !is_built_in_collection(name) &&
        !contains(also, name)) {
      throw_no_members(name);
    }
  }
  have_members_ = true;
}

const SavingPlan& Collections::plan(std::string_view name, const std::vector<std::string>& also, bool is_number) {
  plan_ = SavingPlan{};
  if (!have_members_) {
    require_members(also);
  }
  if (!some_saved_now_ && also.empty()) {
    return plan_;
  }
  std::vector<std::size_t>& found = members(name);
  for (const std::string& explicitly : also) {
    check_collection_name(explicitly);
    const bool known = by_name_.contains(explicitly);
    const std::size_t id = find_or_add(explicitly);
    Entry& entry = entries_[id];
    if (!known) {
      resolve(entry);
      changed_ = true;
    }
    entry.included = true;
    update(entry);
    some_saved_now_ = some_saved_now_ || entry.saved_now;
    add_once(found, id);
  }
  if (is_number && told_nothing_ && also.empty() && other_losses_.contains(name)) {
    add_once(found, by_name_.at("losses"));
  }
  plan_.scalar = std::ranges::any_of(found, [this](std::size_t id) {
    return entries_[id].saved_now && is_scalar_collection(entries_[id].config.name);
  });
  for (const std::size_t id : found) {
    Entry& entry = entries_[id];
    if (!entry.saved_now) {
      continue;
    }
    const ReductionConfig& config = *entry.config.reduction_config;
    plan_.raw = plan_.raw || config.save_raw_tensor;
    plan_.shape = plan_.shape || config.save_shape;
    for (const std::string& reduction : config.reductions) {
      if (plan_.scalar && !entry.own_reductions) {
        break;  // the hook's reductions do not apply to numbers, though `all` has them for every tensor
      }
      add_once(plan_.reductions, plain_reduction_name(reduction));
    }
    if (plan_.histogram_collection.empty() && *entry.config.save_histogram) {
      plan_.histogram_collection = entry.config.name;
    }
    if (!entry.names.contains(name)) {
      MatchBudget budget;
      (matches(entry.patterns, name, budget) ? only_listed_ : changed_) = true;
      entry.names.emplace(name);
      named_[std::string(name)].push_back(id);
    }
  }
  if (!plan_.nothing() && layout::parse_stored_name(name).reduction) {
    plan_ = SavingPlan{.raw = true};  // readers take a reduction of a reduction for one of a tensor of that name
  }
  return plan_;
}

void Collections::list_number(std::string_view name) {
  (void)members(name);
  const std::size_t losses = by_name_.at("losses");
  if (other_losses_.contains(name) && entries_[losses].names.emplace(name).second) {
    named_[std::string(name)].push_back(losses);
    changed_ = true;
  }
}

void Collections::merge(const std::map<std::string, Collection>& earlier) {
  for (const auto& [name, collection] : earlier) {
    const bool known = by_name_.contains(name);
    Entry& entry = entries_[find_or_add(name)];
    if (!known) {
      entry.config = collection;
      const auto& reductions = entry.config.reduction_config;
      if (replaces_earlier_ ||
          (reductions && reductions->reductions.empty() && !reductions->save_raw_tensor && !reductions->save_shape)) {
        entry.config.reduction_config.reset();
      }
      resolve(entry);
      update(entry);
      continue;
    }
    entry.names.insert(collection.tensor_names.begin(), collection.tensor_names.end());
    auto& patterns = entry.config.include_regex;
    std::set<std::string> there(patterns.begin(), patterns.end());
    for (const std::string& pattern : collection.include_regex) {
      if (there.insert(pattern).second) {
        patterns.push_back(pattern);  // for the file only; this run saves what its own configuration says
      }
    }
  }
  index_entries();
}

std::map<std::string, Collection> Collections::content() const {
  std::map<std::string, Collection> all;
  for (const Entry& entry : entries_) {
    all.emplace(entry.config.name, entry.config)
        .first->second.tensor_names.assign(entry.names.begin(), entry.names.end());
  }
  return all;
}

bool Collections::must_be_written(bool at_end) noexcept {
  const bool must = changed_ || (at_end && only_listed_);
  changed_ = false;
  only_listed_ = only_listed_ && !must;
  return must;
}

}  // namespace smd::detail::hook
