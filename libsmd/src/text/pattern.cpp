// SPDX-License-Identifier: Apache-2.0
#include "text/pattern.hpp"

#include "text/match_cost.hpp"
#include "text/pattern_dialect.hpp"

#include <smd/limits.hpp>

#include <algorithm>
#include <array>

namespace smd::detail {

namespace {

/// Matching a name takes microseconds; compiling to machine code pays off only after many.
constexpr std::uint64_t steps_before_jit = 10'000;
/// Cost of a search before its first step.
constexpr std::uint64_t steps_of_search = 50;

constexpr std::uint32_t options =
    PCRE2_UTF | PCRE2_UCP | PCRE2_ALT_CIRCUMFLEX | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;

template <class T, void (*Free)(T*)>
struct Freer {
  void operator()(T* object) const noexcept { Free(object); }
};
template <class T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, Freer<T, Free>>;

}  // namespace

struct Pattern::Compiled {
  Handle<pcre2_code, pcre2_code_free> code;
  Handle<pcre2_match_data, pcre2_match_data_free> match;
  Handle<pcre2_match_context, pcre2_match_context_free> context;
  Handle<pcre2_jit_stack, pcre2_jit_stack_free> stack;
  ItemCosts costs;
  bool literal = false;  // a plain text to be found
  bool counted = false;  // has callouts
  std::uint64_t steps = 0;

  void use_machine_code();
  [[nodiscard]] int find(std::string_view subject, std::size_t from, std::uint32_t how) const {
    return pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), from, how, match.get(),
                       context.get());
  }
  [[nodiscard]] int find_counted(std::string_view subject, StepCounter& counter);
  [[nodiscard]] int find_by_starts(std::string_view subject, StepCounter& counter) const;
};

void Pattern::Compiled::use_machine_code() {
  stack.reset(pcre2_jit_stack_create(32 * 1024, limits::pattern_jit_stack, nullptr));
  if (stack != nullptr && pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) == 0) {
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
}

/// After many searches the pattern is compiled to machine code. During a long search it is compiled on the way, and
/// the search restarts.
int Pattern::Compiled::find_counted(std::string_view subject, StepCounter& counter) {
  if (steps >= steps_before_jit && stack == nullptr) {
    use_machine_code();
  }
  pcre2_set_callout(context.get(), &StepCounter::callout, &counter);
  if (stack != nullptr || counter.limit() <= steps_before_jit) {
    return find(subject, 0, 0);
  }
  StepCounter first(costs, steps_before_jit);
  pcre2_set_callout(context.get(), &StepCounter::callout, &first);
  const int result = find(subject, 0, 0);
  if (!counter.take(first.steps()) || result != PCRE2_ERROR_CALLOUT) {
    return result;
  }
  use_machine_code();
  pcre2_set_callout(context.get(), &StepCounter::callout, &counter);
  return find(subject, 0, 0);
}

/// For patterns that callouts would make too large for PCRE2: tries one start after another, each with a PCRE2 limit
/// that is raised each time it is hit, so that at most four times the required steps are counted.
int Pattern::Compiled::find_by_starts(std::string_view subject, StepCounter& counter) const {
  for (std::size_t start = 0;; ++start) {
    if (start < subject.size() && (static_cast<unsigned char>(subject[start]) & 0xC0U) == 0x80) {
      continue;  // inside a character
    }
    int result = PCRE2_ERROR_MATCHLIMIT;
    for (std::uint32_t steps_here = 64; result == PCRE2_ERROR_MATCHLIMIT; steps_here *= 4) {
      if (!counter.take(steps_here)) {
        return PCRE2_ERROR_CALLOUT;
      }
      pcre2_set_match_limit(context.get(), steps_here);
      result = find(subject, start, PCRE2_ANCHORED);
    }
    if (result != PCRE2_ERROR_NOMATCH || start >= subject.size()) {
      return result;
    }
  }
}

Pattern::Pattern() = default;
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

std::optional<std::string> Pattern::compile(std::string_view text) {
  text_ = text;
  compiled_.reset();
  if (text == ".*" || text.empty()) {
    return std::nullopt;  // matches every text
  }
  if (text.size() > limits::pattern_bytes) {
    return "it is longer than " + std::to_string(limits::pattern_bytes / 1024) + " KiB";
  }
  const Handle<pcre2_compile_context, pcre2_compile_context_free> context(pcre2_compile_context_create(nullptr));
  if (context == nullptr) {
    return "memory ran out";
  }
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  auto compiled = std::make_unique<Compiled>();
  const Translation translation = translate_pattern(text);
  if (const auto& refusal = translation.refusal) {
    return refusal->text + " at byte " + std::to_string(refusal->byte) + refusal->advice;
  }
  int error = 0;
  PCRE2_SIZE place = 0;
  const auto compile_with = [&](std::uint32_t more) {
    compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translation.pcre2.data()), translation.pcre2.size(),
                                       options | more, &error, &place, context.get()));
    return compiled->code != nullptr;
  };
  compiled->literal = text.find_first_of("\\^$.|?*+()[]{}") == text.npos;
  compiled->counted = !compiled->literal && compile_with(PCRE2_AUTO_CALLOUT);
  if (compiled->counted) {
    compiled->costs = ItemCosts(compiled->code.get(), translation.pcre2);
  } else if (compiled->literal || error == PCRE2_ERROR_PATTERN_TOO_LARGE) {
    compile_with(0);
  }
  if (compiled->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    return std::string(reinterpret_cast<const char*>(message.data())) + " at byte " +
           std::to_string(translation.python_offset(place));
  }
  compiled->match.reset(pcre2_match_data_create(1, nullptr));
  compiled->context.reset(pcre2_match_context_create(nullptr));
  if (compiled->match == nullptr || compiled->context == nullptr) {
    return "memory ran out";
  }
  pcre2_set_match_limit(compiled->context.get(), limits::pattern_match_steps);
  pcre2_set_heap_limit(compiled->context.get(), limits::pattern_heap_kib);
  compiled_ = std::move(compiled);
  return std::nullopt;
}

Pattern::Answer Pattern::search(std::string_view subject, MatchBudget& budget) {
  if (compiled_ == nullptr) {
    return Answer::yes;
  }
  if (budget.spent()) {
    return Answer::spent;
  }
  if (compiled_->literal) {
    budget.spend(1 + subject.size() / bytes_in_step);
    return subject.find(text_) != subject.npos ? Answer::yes : Answer::no;
  }
  const std::uint64_t limit = std::min<std::uint64_t>(limits::pattern_match_steps, budget.left());
  StepCounter counter(compiled_->costs, limit);
  const int result =
      compiled_->counted ? compiled_->find_counted(subject, counter) : compiled_->find_by_starts(subject, counter);
  const std::uint64_t steps = counter.steps() + 1 + subject.size() / bytes_in_step;
  compiled_->steps += steps + steps_of_search;
  budget.spend(steps);
  if (result == PCRE2_ERROR_NOMATCH) {
    return Answer::no;
  }
  if (result >= 0) {
    return Answer::yes;
  }
  // Any other failure is a limit of steps, memory or stack, and never means "no match".
  return result == PCRE2_ERROR_CALLOUT && limit < limits::pattern_match_steps ? Answer::spent : Answer::limit;
}

}  // namespace smd::detail
