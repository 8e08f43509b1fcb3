// SPDX-License-Identifier: Apache-2.0
#include "framework/nothing_evaluated.hpp"

#include "framework/rule_run.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/path.hpp"

#include <smd/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

namespace smd::detail::rules {

namespace {

constexpr std::size_t names_shown = 3;
constexpr std::string_view special = "\\^$|?*+()[]{}";  // without dots, to keep patterns readable

/// Returns the singular of a collection's name, which its tensors' names usually contain.
std::string_view singular(std::string_view name) {
  if (name.ends_with("sses")) {
    name.remove_suffix(2);
  } else if (name.ends_with("s")) {
    name.remove_suffix(1);
  }
  return name;
}

/// What a rule looked for and did not find.
class Missing {
 public:
  explicit Missing(const RuleRun& run) : run_(run) {
    const TrialSnapshot& snapshot = run.base().snapshot();
    tensors_ = mapped(snapshot.tensors_by_name(), [&](std::uint32_t id) { return snapshot.tensor(id); });
    collections_ = mapped(*snapshot.collections(), [](const auto& one) { return std::string_view(one.first); });
  }

  /// Returns the text for a selection without any tensor.
  [[nodiscard]] std::string text(const TensorSelection& selection) const {
    std::string text;
    for (const std::string& pattern : selection.regex) {
      text::append_part(text, of_pattern(pattern), "; ");
    }
    for (const std::string& name : selection.collections) {
      text::append_part(text, of_collection(name), "; ");
    }
    for (const std::string& name : selection.names) {
      std::vector<std::string> near = nearest(name, tensors_);
      if (near.empty()) {
        near = nearest_holding(name, tensors_);
      }
      text::append_part(text, "no tensor " + in_quotes(name) + " was saved" + meant(near, parameter_of(name), false),
                        "; ");
    }
    return text;
  }

  /// Returns the text for a pattern that matches no tensor.
  [[nodiscard]] std::string of_pattern(const std::string& pattern) const {
    return "no tensor matches pattern " + in_quotes(pattern) + suggestion(pattern);
  }

 private:
  struct Parameter {
    std::string name;
    bool list = false;
  };

  /// Returns the parameter whose value contains an item of a selection; without a name if there is none.
  [[nodiscard]] Parameter parameter_of(const std::string& item) const {
    const std::string name = run_.parameter_of(item);
    return {name, !name.empty() && contains(run_.rule().parameters().list(name), item)};
  }

  [[nodiscard]] bool has_parameter(std::string_view name) const {
    const auto& params = run_.result().params;
    return std::ranges::any_of(params, [&](const auto& one) { return one.first == name; });
  }

  /// Returns `; did you mean tensor_regex=a,b?`, or `; similar names: a, b` without a parameter.
  [[nodiscard]] static std::string meant(const std::vector<std::string>& names, const Parameter& parameter,
                                         bool pattern) {
    if (names.empty()) {
      return {};
    }
    std::string text;
    for (const std::string& name : names) {
      text::append_part(text, printable(pattern ? with_backslashes(name, special) : name),
                        parameter.name.empty() ? ", " : ",");
      if (!parameter.name.empty() && !parameter.list) {
        break;
      }
    }
    return parameter.name.empty() ? "; similar names: " + text : "; did you mean " + parameter.name + "=" + text + "?";
  }

  [[nodiscard]] std::string suggestion(const std::string& pattern) const {
    std::vector<std::string> near;
    for (const std::string& piece : plain_pieces(pattern)) {
      for (std::string& name : nearest_holding(piece, tensors_)) {
        if (near.size() < names_shown && !contains(near, name)) {
          near.push_back(std::move(name));
        }
      }
    }
    return near.empty() ? no_similar_name() : meant(near, parameter_of(pattern), true);
  }

  [[nodiscard]] std::string no_similar_name() const {
    return tensors_.size() == 1
               ? ", and the name of the only one, " + in_quotes(tensors_.front()) + ", is not similar"
               : fmt::format(", and none of {} has a similar name", counted(tensors_.size(), "tensor"));
  }

  [[nodiscard]] std::string of_collection(const std::string& name) const {
    const Parameter parameter = parameter_of(name);
    const bool known = run_.base().snapshot().has_collection(name);
    std::string text =
        known ? "collection " + in_quotes(name) + " has no tensor" : "the trial has no collection " + in_quotes(name);
    if (!known && !parameter.name.empty()) {
      if (const std::string collections = meant(nearest(name, collections_), parameter, false); !collections.empty()) {
        return text + collections;
      }
    }
    const Parameter by_pattern = has_parameter("tensor_regex") ? Parameter{"tensor_regex", true} : Parameter{};
    return text + meant(nearest_holding(singular(name), tensors_), by_pattern, !by_pattern.name.empty());
  }

  const RuleRun& run_;
  std::vector<std::string_view> tensors_;
  std::vector<std::string_view> collections_;
};

/// Returns the names of the reductions saved of some tensors in range; empty if a raw value of any was saved.
std::vector<std::string_view> only_reductions(const RuleRun& run, const TensorSet& tensors) {
  const TrialSnapshot& snapshot = run.base().snapshot();
  std::set<std::string_view> names;
  bool value = false;
  run.for_each_row(0, [&](SavedRow row) {
    for (const SavedItem& item : snapshot.items(row)) {
      if (item.tensor >= tensors.size() || !tensors[item.tensor]) {
        continue;
      }
      value = value || item.is_value();
      if (!item.is_value()) {
        names.insert(snapshot.reduction(item.reduction));
      }
    }
  });
  return value ? std::vector<std::string_view>() : std::vector<std::string_view>(names.begin(), names.end());
}

/// Returns whether a problem with an index file or folder means that steps or records are unknown.
bool hides_records(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::absent:
    case ProblemKind::not_found:
    case ProblemKind::access_denied:
    case ProblemKind::io:
    case ProblemKind::network:
    case ProblemKind::damaged:
      return true;
    case ProblemKind::not_yet:
    case ProblemKind::warning:
    case ProblemKind::note:
    case ProblemKind::stopped:
    case ProblemKind::remark:
    case ProblemKind::other_trial:
      break;
  }
  return false;
}

/// The steps of a kind, and of the tensors of the kind that were asked for, ascending.
struct Saved {
  std::vector<GlobalStep> steps;
  std::map<std::uint32_t, std::vector<GlobalStep>> tensors;
};
/// What may be saved together.
struct Family {
  std::map<std::string, Saved> kinds;                     // of histograms
  std::map<std::size_t, std::vector<GlobalStep>> values;  // the steps of each set of tensors that have values at once
};
using Families = std::map<std::pair<std::uint32_t, std::string>, Family>;  // by worker and folder of the files

/// Returns the steps of the family at which a tensor has no histogram; none if it never has one at two successive steps
/// of the family, because then it is saved less often.
std::vector<GlobalStep> missed(const std::vector<GlobalStep>& all, const std::vector<GlobalStep>& own) {
  std::vector<GlobalStep> missed;
  bool in_succession = own.size() == 1;
  bool before = false;
  for (const GlobalStep step : all) {
    const bool has = std::ranges::binary_search(own, step);
    in_succession = in_succession || (has && before);
    before = has;
    if (!has) {
      missed.push_back(step);
    }
  }
  return in_succession ? missed : std::vector<GlobalStep>();
}

Families families(const RuleRun& run, const TensorSet& tensors) {
  const TrialSnapshot& snapshot = run.base().snapshot();
  std::vector<std::pair<std::string, TensorSet>> collections;
  for (const char* const name : {"gradients", "weights", "biases"}) {
    collections.emplace_back(name, snapshot.select({.collections = {name}}));
  }
  const auto kind_of = [&](std::uint32_t tensor) {
    for (const auto& [name, members] : collections) {
      if (members[tensor]) {
        return name;
      }
    }
    const std::vector<std::string> words = text::split_words(snapshot.tensor(tensor));
    return "word " + (words.empty() ? std::string() : words.back());
  };
  using Kinds = std::map<std::string, std::vector<std::uint32_t>>;  // with the tensors asked for
  // Once for all rows that saved the same: the kinds, and the number of the set of tensors that have values.
  std::unordered_map<const SavedItem*, std::pair<Kinds, std::optional<std::size_t>>> saved;
  std::map<std::set<std::uint32_t>, std::size_t> numbers;
  Families families;
  run.for_each_row(0, [&](SavedRow row) {
    const std::span<const SavedItem> items = snapshot.items(row);
    const auto [found, is_new] = saved.try_emplace(items.data());
    auto& [kinds, values] = found->second;
    std::set<std::uint32_t> with_values;
    for (const SavedItem& item : is_new ? items : std::span<const SavedItem>()) {
      if (item.is_value()) {
        with_values.insert(item.tensor);
      } else if (snapshot.reduction(item.reduction) == saved_histogram) {
        std::vector<std::uint32_t>& asked = kinds[kind_of(item.tensor)];
        if (item.tensor < tensors.size() && tensors[item.tensor]) {
          asked.push_back(item.tensor);
        }
      }
    }
    if (!with_values.empty()) {
      values = numbers.try_emplace(std::move(with_values), numbers.size()).first->second;
    }
    const auto add = [&](std::vector<GlobalStep>& steps) {
      if (steps.empty() || steps.back() != row.step()) {
        steps.push_back(row.step());
      }
    };
    Family& family = families[{row.worker(), std::string(text::folder_of(*snapshot.file(row)))}];
    if (values) {
      add(family.values[*values]);
    }
    for (const auto& [kind, asked] : kinds) {
      Saved& of_kind = family.kinds[kind];
      add(of_kind.steps);
      for (const std::uint32_t tensor : asked) {
        add(of_kind.tensors[tensor]);
      }
    }
  });
  return families;
}

/// Adds the later steps of what was saved at the same steps from the first one on. One step more is no stop: the job
/// may still write it.
void add_later(std::vector<GlobalStep>& steps, const std::vector<GlobalStep>& own,
               const std::vector<GlobalStep>& others) {
  const auto first = std::ranges::lower_bound(others, own.front());
  const auto parts = std::mismatch(own.begin(), own.end(), first, others.end());
  if (parts.first == own.end() && others.end() - parts.second > 1) {
    steps.insert(steps.end(), parts.second, others.end());
  }
}

/// Returns the steps of values, of those that were saved together at any of some steps.
std::vector<GlobalStep> steps_of_values(const Family& family, const std::vector<GlobalStep>& steps) {
  std::vector<GlobalStep> all;
  for (const auto& [number, saved] : family.values) {
    if (std::ranges::any_of(saved, [&](GlobalStep step) { return std::ranges::binary_search(steps, step); })) {
      all.insert(all.end(), saved.begin(), saved.end());
    }
  }
  sort_each_once(all);
  return all;
}

}  // namespace

std::vector<std::string> plain_pieces(std::string_view pattern) {
  std::vector<std::string> pieces(1);
  std::string piece;
  const auto end_piece = [&] {
    if (piece.size() > pieces.back().size()) {
      pieces.back() = piece;
    }
    piece.clear();
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char escaped = pattern[++i];
      if (std::string_view("dDsSwWbBAZ").find(escaped) == std::string_view::npos) {
        piece += escaped;
      } else {
        end_piece();
      }
    } else if (c == '[') {
      end_piece();
      i = std::min(pattern.find(']', i + 2), pattern.size());
    } else if (c == '|') {
      end_piece();
      pieces.emplace_back();
    } else if (c == '?' || c == '*' || c == '{') {  // the character before it is optional
      if (!piece.empty()) {
        piece.pop_back();
      }
      end_piece();
    } else if (c == '.' || special.find(c) != std::string_view::npos) {
      end_piece();
    } else {
      piece += c;
    }
  }
  end_piece();
  std::erase(pieces, std::string());
  return pieces;
}

std::string unmatched(const RuleRun& run, const std::string& pattern) { return Missing(run).of_pattern(pattern); }

std::string nothing_evaluated(const RuleRun& run, const std::string& reason) {
  const std::vector<TensorSelection>& selections = RuleAccess::selections(run.rule());
  const Missing missing(run);
  std::string lacking;
  bool any_matched = false;
  std::set<std::string_view> saved;
  TensorSet wanted(run.base().snapshot().tensors());
  for (std::size_t i = 0; i < selections.size(); ++i) {
    const TensorSet& set = run.selected(static_cast<SelectionId>(i));
    if (!contains(set, true)) {
      text::append_part(lacking, missing.text(selections[i]), "; ");
      continue;
    }
    any_matched = true;
    for (std::size_t tensor = 0; tensor < std::min(set.size(), wanted.size()); ++tensor) {
      wanted[tensor] = wanted[tensor] || set[tensor];
    }
    const std::vector<std::string_view> more = run.saved_tensors(static_cast<SelectionId>(i), 0);
    saved.insert(more.begin(), more.end());
  }
  if (!reason.empty()) {
    return any_matched || lacking.empty() ? reason : reason + "; " + lacking;
  }
  if (!lacking.empty()) {
    return lacking;
  }
  if (saved.empty()) {
    return any_matched ? "what the rule looks for was saved at no step in range"
                       : "nothing that the rule needs was saved";
  }
  const std::string names = counted(saved.size(), "tensor") + " (" + first_names({saved.begin(), saved.end()}) + ")";
  if (const std::vector<std::string_view> reductions = only_reductions(run, wanted); !reductions.empty()) {
    if (contains(reductions, saved_histogram)) {
      return "of " + names + " only histograms were saved, not the raw values or reductions that the rule needs";
    }
    return "of " + names + " only reductions were saved (" + first_names(reductions) +
           "), not those that the rule needs, " + "nor raw values";
  }
  return "what the rule needs of " + names +
         fmt::format(" is not there at any of {}", counted(run.result().steps_skipped, "step"));
}

void Unread::add_problem(const EvaluatedTrial& trial, const Problem& problem) {
  Problem placed = problem;
  if (trial.number() > 0) {  // problems name files relative to the base trial
    const std::string& path = trial.trial().path();
    placed.file = path.ends_with(problem.file) ? std::string() : problem.file;
    placed = {problem.kind, {}, {}, "in " + printable(path) + ": " + to_string(placed)};
  }
  if (texts_.insert(to_string(placed)).second) {
    problems_.push_back(std::move(placed));
  }
}

void Unread::add_record(const Slot& slot, const Problem& problem) {
  if (records_.insert({slot.trial->number(), slot.row.id(), slot.position}).second) {
    add_problem(*slot.trial, problem);
  }
}

void Unread::add_record(const EvaluatedTrial& trial, const Problem& problem) {
  others_.insert(to_string(problem));
  add_problem(trial, problem);
}

void Unread::add_files(const EvaluatedTrial& trial, const std::function<bool(GlobalStep)>& wanted, bool collections) {
  for (const SnapshotProblem& found : trial.snapshot().problems()) {
    if (!hides_records(found.problem.kind) || (found.worker && !trial.has_worker(*found.worker)) ||
        (found.problem.step && !wanted(*found.problem.step)) || (found.of_collections && !collections)) {
      continue;
    }
    auto& files = found.of_collections                 ? collections_files_
                  : trial.trial().layout().marks_steps ? index_files_
                                                       : other_files_;
    files.insert({trial.number(), found.problem.file});
    add_problem(trial, found.problem);
    if (found.problem.step && !trial.snapshot().find_step(*found.problem.step)) {
      add_step(*found.problem.step);
    }
  }
}

std::string Unread::text(std::size_t steps_evaluated) const {
  const std::size_t steps = steps_evaluated + steps_.size();
  std::string what = records() == 0 ? std::string() : counted(records(), "record");
  for (const auto& [files, noun] : {std::pair(&index_files_, "index file"), std::pair(&other_files_, "file"),
                                    std::pair(&collections_files_, "collections file")}) {
    if (!files->empty()) {
      text::append_part(what, counted(files->size(), noun), " and ");
    }
  }
  return fmt::format("{} of {} evaluated; {} could not be read: {}", steps_evaluated, counted(steps, "step"), what,
                     to_string(problems_.front()));
}

std::string histogram_gaps(const RuleRun& run, const TensorSet& tensors) {
  const TrialSnapshot& snapshot = run.base().snapshot();
  std::map<std::string_view, std::vector<GlobalStep>> found;  // by tensor
  for (const auto& [of, family] : families(run, tensors)) {
    for (const auto& [kind, saved] : family.kinds) {
      std::vector<GlobalStep> all = saved.steps;
      if (!kind.starts_with("word ") && saved.steps.size() > 1) {
        add_later(all, saved.steps, steps_of_values(family, saved.steps));
        for (const auto& [of_other, other] : family.kinds) {
          add_later(all, saved.steps, other.steps);
        }
      }
      sort_each_once(all);
      for (const auto& [tensor, steps] : saved.tensors) {
        if (std::vector<GlobalStep> steps_missed = missed(all, steps); !steps_missed.empty()) {
          found.emplace(snapshot.tensor(tensor), std::move(steps_missed));
        }
      }
    }
  }
  if (found.empty()) {
    return {};
  }
  const auto& [name, steps] = *found.begin();
  std::string text = fmt::format("{} has no histogram at step {}", printable(name), steps.front().value);
  text += steps.size() > 1 ? fmt::format(" and {} more", steps.size() - 1) : "";
  text += " at which its siblings were saved";
  text += found.size() > 1 ? fmt::format(" (likewise {})", counted(found.size() - 1, "other tensor")) : "";
  return text + ": writers leave out histograms that are all NaN";
}

}  // namespace smd::detail::rules
