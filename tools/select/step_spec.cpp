// SPDX-License-Identifier: Apache-2.0
#include "select/step_spec.hpp"

#include "cli/command_line.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace smd::tool {

namespace {

constexpr std::int64_t largest_step = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least_step = std::numeric_limits<std::int64_t>::min();

[[noreturn]] void refuse(std::string_view text) {
  throw InvalidValue(single_quoted(text) + " is not a step: N, A:B, A:B:S, first, last or all");
}

std::int64_t number_in(std::string_view part, std::string_view whole) {
  try {
    return parse_integer(part, -largest_step, largest_step);
  } catch (const InvalidValue&) {
    refuse(whole);
  }
}

std::optional<std::int64_t> bound_in(std::string_view part, std::string_view whole) {
  return part.empty() ? std::nullopt : std::optional(number_in(part, whole));
}

bool is_all(const StepTerm& term) { return !term.single && !term.start && !term.stop && term.stride == 1; }

// Whether no step can lie in a range, whatever was saved: both ends are numbers, or both count from the end. An open
// start counts as 0 here: steps below 0 are rarer than a slip such as `:0`.
bool is_empty(const StepTerm& term) {
  if (term.stride > 0) {
    const std::int64_t start = term.start.value_or(0);
    return term.stop && (start < 0) == (*term.stop < 0) && start >= *term.stop;
  }
  return term.start && term.stop && (*term.start < 0) == (*term.stop < 0) && *term.start <= *term.stop;
}

[[noreturn]] void refuse_empty(const StepTerm& term) {
  std::string hint;
  if (term.stride == 1 && term.start) {
    const std::string before = *term.start == *term.stop ? std::string() : std::to_string(*term.stop) + ":";
    hint = did_you_mean(std::array{before + std::to_string(*term.start)});
  }
  throw InvalidValue(single_quoted(term.text) + " is empty: a range ends before its second number" + hint);
}

// Python's range with ends that may be open; no member lies beyond `first` and `last`.
struct Members {
  std::int64_t start = 0;
  std::optional<std::int64_t> stop;
  std::int64_t stride = 1;
  bool none = false;

  [[nodiscard]] bool contain(std::int64_t number) const noexcept {
    if (none) {
      return false;
    }
    // Unsigned: two steps may lie further apart than a signed number holds.
    const auto distance = [](std::int64_t from, std::int64_t to) {
      return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    };
    if (stride > 0) {
      return number >= start && (!stop || number < *stop) && distance(start, number) % distance(0, stride) == 0;
    }
    return number <= start && (!stop || number > *stop) && distance(number, start) % distance(stride, 0) == 0;
  }
};

// `saved` holds distinct numbers, ascending, at least one.
Members members_of(const StepTerm& term, const std::vector<std::int64_t>& saved) {
  const auto size = static_cast<std::int64_t>(saved.size());
  const bool upward = term.stride > 0;
  Members members = {.stop = term.stop, .stride = term.stride};
  if (!term.start && upward) {
    // A writer's defect makes steps below 0: then the start is the first multiple of the stride among all steps.
    members.start = std::min<std::int64_t>(saved.front() - saved.front() % term.stride, 0);
  } else if (!term.start) {
    members.start = saved.back();
  } else if (*term.start >= 0) {
    members.start = *term.start;
  } else if (*term.start < -size) {  // further back than there are steps
    members.none = !upward;
    members.start = saved.front();
  } else {
    members.start = saved[static_cast<std::size_t>(size + *term.start)];
  }
  if (term.stop && *term.stop < 0) {
    if (*term.stop >= -size) {
      members.stop = saved[static_cast<std::size_t>(size + *term.stop)];
    } else if (upward) {
      members.none = true;
    } else {
      members.stop.reset();
    }
  }
  return members;
}

// The number that a single step means; nullopt if it counts beyond the saved steps.
std::optional<std::int64_t> number_of(const StepTerm& term, const std::vector<std::int64_t>& saved) {
  if (term.oldest) {
    return saved.front();
  }
  if (term.number >= 0) {
    return term.number;
  }
  const auto size = static_cast<std::int64_t>(saved.size());
  return term.number >= -size ? std::optional(saved[static_cast<std::size_t>(size + term.number)]) : std::nullopt;
}

StepNeed newest(std::int64_t back) { return {StepNeed::Kind::newest, static_cast<std::size_t>(-back), {}}; }

StepNeed window(std::int64_t first, std::optional<std::int64_t> end) {
  const auto bound = end ? std::optional(GlobalStep(*end)) : std::nullopt;
  return {StepNeed::Kind::windows, 0, {{.first = GlobalStep(first), .end = bound}}};
}

StepNeed need_of(const StepTerm& term) {
  if (term.single) {
    if (term.oldest) {
      return {StepNeed::Kind::oldest, 1, {}};
    }
    return term.number < 0
               ? newest(term.number)
               : window(term.number, term.number < largest_step ? std::optional(term.number + 1) : std::nullopt);
  }
  const bool upward = term.stride > 0;
  const std::optional<std::int64_t>& start = term.start;
  const std::optional<std::int64_t>& stop = term.stop;
  if (upward && start && *start < 0) {
    return newest(*start);
  }
  if (upward && (!stop || *stop >= 0)) {
    return start || stop ? window(start.value_or(least_step), stop) : StepNeed{};
  }
  if (!upward && start && *start >= 0 && (!stop || *stop >= 0)) {
    return window(stop ? (*stop < largest_step ? *stop + 1 : largest_step) : least_step,
                  *start < largest_step ? std::optional(*start + 1) : std::nullopt);
  }
  if (!upward && stop && *stop < 0 && (!start || *start < 0)) {  // down from a late step to one counted from the end
    return newest(*stop);
  }
  return {};
}

}  // namespace

StepTerm StepSpec::parse_term(std::string_view text) {
  StepTerm term;
  term.text = text;
  if (text == "first" || text == "last") {
    term.single = true;
    term.oldest = text == "first";
    term.number = term.oldest ? 0 : -1;
    return term;
  }
  if (text == "all") {
    return term;
  }
  const std::vector<std::string_view> parts = split(text, ":");
  if (parts.size() == 1) {
    term.single = true;
    term.number = number_in(text, text);
    return term;
  }
  if (parts.size() > 3) {
    refuse(text);
  }
  term.start = bound_in(parts[0], text);
  term.stop = bound_in(parts[1], text);
  if (parts.size() == 3) {
    term.stride = bound_in(parts[2], text).value_or(1);
    invalid_if(term.stride == 0, "the stride of " + single_quoted(text) + " is 0");
  }
  if (is_empty(term)) {
    refuse_empty(term);
  }
  return term;
}

StepSpec StepSpec::parse(std::string_view text) { return StepSpec(mapped(split(text, ","), parse_term)); }

bool StepSpec::all() const noexcept { return terms_.empty() || std::ranges::any_of(terms_, is_all); }

StepChoice StepSpec::choose(std::span<const std::int64_t> saved) const {
  StepChoice choice;
  std::vector<std::int64_t> distinct;
  distinct.reserve(saved.size());
  std::ranges::unique_copy(saved, std::back_inserter(distinct));
  std::vector<bool> chosen(saved.size(), all());
  for (const StepTerm& term : terms_) {
    if (term.single) {
      const std::optional<std::int64_t> number = distinct.empty() ? std::nullopt : number_of(term, distinct);
      const auto [begin, end] =
          number ? std::equal_range(saved.begin(), saved.end(), *number) : std::pair(saved.end(), saved.end());
      if (begin == end) {
        choice.missing.push_back(&term);
      }
      std::fill(chosen.begin() + (begin - saved.begin()), chosen.begin() + (end - saved.begin()), true);
    } else if (!distinct.empty()) {
      const Members members = members_of(term, distinct);
      for (std::size_t i = 0; i < saved.size(); ++i) {
        chosen[i] = chosen[i] || members.contain(saved[i]);
      }
    }
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) {
      choice.indices.push_back(i);
    }
  }
  return choice;
}

StepNeed StepSpec::need() const {
  StepNeed sum;
  for (const StepTerm& term : terms_) {
    const StepNeed need = need_of(term);
    if (&term != &terms_.front() && need.kind != sum.kind) {
      return {};  // a mixture is rare: read all
    }
    sum.kind = need.kind;
    sum.count = std::max(sum.count, need.count);
    sum.windows.insert(sum.windows.end(), need.windows.begin(), need.windows.end());
  }
  return sum;
}

bool counts_from_end(const StepTerm& term) noexcept {
  return term.single ? term.oldest || term.number < 0 : term.start.value_or(0) < 0 || term.stop.value_or(0) < 0;
}

bool counts_from_end(const StepSpec& spec) noexcept {
  return std::ranges::any_of(spec.terms(), [](const StepTerm& term) { return counts_from_end(term); });
}

bool asks_for_last(const StepSpec& spec) {
  return std::ranges::any_of(spec.terms(),
                             [](const StepTerm& term) { return term.single && !term.oldest && term.number == -1; });
}

}  // namespace smd::tool
