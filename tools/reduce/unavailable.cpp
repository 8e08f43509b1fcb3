// SPDX-License-Identifier: Apache-2.0
#include "unavailable.hpp"

#include "cli/text.hpp"
#include "select/saved_forms.hpp"

namespace smd::tool::reduce {

namespace {

using Names = Unavailable::Names;

std::string comma_list(const Names& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

std::string quoted_few(const Names& names) {
  return quoted_list(std::vector<std::string>(names.begin(), names.end()), 3);
}

/// Adds a name to a list that has no more than some. Returns whether it is new.
bool add_name(Names& names, std::string_view name) {
  constexpr std::size_t most_names = 100;
  return names.find(name) == names.end() && names.size() < most_names && names.emplace(name).second;
}

}  // namespace

void Unavailable::lacks(const TensorEntry& entry, const RowPlan& plan, const std::vector<Wanted>& wanted) {
  for (std::size_t i = 0; i < plan.how.size(); ++i) {
    if (plan.how[i] == How::missing) {
      missing.insert(wanted[i].name);
    }
  }
  if (add_name(missing_of, entry.tensor)) {
    if (entry.value) {
      saved.insert("value");
    }
    for (const SavedReduction& reduction : entry.reductions) {
      saved.insert(reduction.name);
    }
  }
}

void Unavailable::undefined_for(const std::string& reduction, std::string_view tensor) {
  undefined.insert(reduction);
  add_name(undefined_of, tensor);
}

void Unavailable::merge(const Unavailable& other) {
  for (Names Unavailable::*const names : {&Unavailable::missing, &Unavailable::saved, &Unavailable::undefined,
                                          &Unavailable::strings, &Unavailable::without_rows}) {
    (this->*names).insert((other.*names).begin(), (other.*names).end());
  }
  for (Names Unavailable::*const names : {&Unavailable::missing_of, &Unavailable::undefined_of}) {
    for (const std::string& name : other.*names) {
      add_name(this->*names, name);
    }
  }
}

void Unavailable::say(bool pooled, bool strict, Diagnostics& messages) const {
  const auto say_it = [&](const std::string& text) {
    if (strict) {
      messages.fail("TensorUnavailableForStep", text, ExitStatus::no);
    } else {
      messages.warning(text);
    }
  };
  if (!missing_of.empty()) {
    std::string text = "no " + comma_list(missing) + " of " + quoted_few(missing_of) +
                       "; saved: " + (saved.empty() ? "nothing" : comma_list(saved));
    if (saved.contains(buckets_name)) {
      text += " (elements were not saved, and buckets give only bounds of it)";
    }
    if (pooled) {
      text += " (to pool a statistic, all that is pooled must have it, or its values)";
    }
    say_it(text);
  }
  if (!undefined.empty()) {
    say_it("there is no " + comma_list(undefined) +
           " of no elements or of complex numbers: " + quoted_few(undefined_of));
  }
  if (!strings.empty()) {
    say_it("strings have no reductions: " + quoted_few(strings));
  }
  if (!without_rows.empty()) {
    say_it("fewer than two axes, so no rows: " + quoted_few(without_rows));
  }
}

}  // namespace smd::tool::reduce
