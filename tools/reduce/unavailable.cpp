// SPDX-License-Identifier: Apache-2.0
#include "unavailable.hpp"

#include "cli/text.hpp"
#include "select/saved_forms.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace smd::tool::reduce {

namespace {

using Names = Unavailable::Names;

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
    std::ranges::transform(entry.reductions, std::inserter(saved, saved.end()), &SavedReduction::name);
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

void say_unavailable(const std::string& text, bool strict, Diagnostics& messages) {
  if (strict) {
    messages.fail("TensorUnavailableForStep", text, ExitStatus::no);
  } else {
    messages.warning(text);
  }
}

void Unavailable::say(bool pooled, bool strict, Diagnostics& messages) const {
  const auto say_it = [&](const std::string& text) { say_unavailable(text, strict, messages); };
  if (!missing_of.empty()) {
    std::string text = fmt::format("no {} of {}; saved: {}", fmt::join(missing, ", "), quoted_list(missing_of, 3),
                                   saved.empty() ? "nothing" : fmt::format("{}", fmt::join(saved, ", ")));
    text += saved.contains(buckets_name) ? " (elements were not saved, and buckets give only bounds of it)" : "";
    if (pooled) {
      text += " (to pool a statistic, all that is pooled must have it, or its values)";
    }
    say_it(text);
  }
  if (!undefined.empty()) {
    // Of complex numbers |x| has all statistics.
    const bool only_of_none = std::ranges::all_of(undefined, [](const auto& name) { return name.starts_with("abs_"); });
    say_it(fmt::format("there is no {} of no elements{}: {}", fmt::join(undefined, ", "),
                       only_of_none ? "" : " or of complex numbers", quoted_list(undefined_of, 3)));
  }
  if (!strings.empty()) {
    say_it("strings have no reductions: " + quoted_list(strings, 3));
  }
  if (!without_rows.empty()) {
    say_it("fewer than two axes, so no rows: " + quoted_list(without_rows, 3));
  }
}

}  // namespace smd::tool::reduce
