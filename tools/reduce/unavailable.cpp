// SPDX-License-Identifier: Apache-2.0
#include "unavailable.hpp"

#include "cli/text.hpp"
#include "select/saved_forms.hpp"

namespace smd::tool::reduce {

namespace {

constexpr std::size_t most_names = 100;

using Names = std::set<std::string, std::less<>>;

std::string comma_list(const Names& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

std::string quoted_few(const Names& names) {
  const std::vector<std::string> list(names.begin(), names.end());
  return quoted_list(list, 3);
}

/// Returns whether it is new.
bool add_name(Names& names, std::string_view name) {
  return names.find(name) == names.end() && names.size() < most_names && names.emplace(name).second;
}

}  // namespace

void Unavailable::lacks(const TensorEntry& entry, const RowPlan& plan, const std::vector<Wanted>& wanted) {
  for (std::size_t i = 0; i < plan.how.size(); ++i) {
    if (plan.how[i] == How::missing) {
      missing_reductions_.insert(wanted[i].name);
    }
  }
  if (add_name(missing_tensors_, entry.tensor)) {
    if (entry.value) {
      missing_saved_.insert("value");
    }
    for (const SavedReduction& reduction : entry.reductions) {
      missing_saved_.insert(reduction.name);
    }
  }
}

void Unavailable::undefined(const std::string& reduction, std::string_view tensor) {
  undefined_.insert(reduction);
  add_name(undefined_of_, tensor);
}

void Unavailable::string(std::string_view tensor) { strings_.emplace(tensor); }

void Unavailable::without_rows(std::string_view tensor) { without_rows_.emplace(tensor); }

void Unavailable::merge(const Unavailable& other) {
  missing_reductions_.insert(other.missing_reductions_.begin(), other.missing_reductions_.end());
  missing_saved_.insert(other.missing_saved_.begin(), other.missing_saved_.end());
  undefined_.insert(other.undefined_.begin(), other.undefined_.end());
  strings_.insert(other.strings_.begin(), other.strings_.end());
  without_rows_.insert(other.without_rows_.begin(), other.without_rows_.end());
  for (const std::string& name : other.missing_tensors_) {
    add_name(missing_tensors_, name);
  }
  for (const std::string& name : other.undefined_of_) {
    add_name(undefined_of_, name);
  }
}

void Unavailable::clear() { *this = {}; }

void Unavailable::say(bool pooled, bool strict, Diagnostics& messages) const {
  const auto say_it = [&](const std::string& text) {
    if (strict) {
      messages.fail("TensorUnavailableForStep", text, ExitStatus::no);
    } else {
      messages.warning(text);
    }
  };
  if (!missing_tensors_.empty()) {
    std::string text = "no " + comma_list(missing_reductions_) + " of " + quoted_few(missing_tensors_) +
                       "; saved: " + (missing_saved_.empty() ? "nothing" : comma_list(missing_saved_));
    if (missing_saved_.contains(buckets_name)) {
      text += " (elements were not saved, and buckets give only bounds of it)";
    }
    if (pooled) {
      text += " (to pool a statistic, all that is pooled must have it, or its values)";
    }
    say_it(text);
  }
  if (!undefined_.empty()) {
    say_it("there is no " + comma_list(undefined_) +
           " of no elements or of complex numbers: " + quoted_few(undefined_of_));
  }
  if (!strings_.empty()) {
    say_it("strings have no reductions: " + quoted_few(strings_));
  }
  if (!without_rows_.empty()) {
    say_it("fewer than two axes, so no rows: " + quoted_few(without_rows_));
  }
}

}  // namespace smd::tool::reduce
