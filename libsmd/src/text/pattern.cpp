// SPDX-License-Identifier: Apache-2.0
#include "text/pattern.hpp"

#include "text/mapped.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <charconv>
#include <new>

namespace smd::detail {

namespace {

/// Matching a name takes microseconds; compiling to machine code pays off only after many.
constexpr std::uint64_t steps_before_jit = 10'000;
/// Cost of a search before its first step.
constexpr std::uint64_t steps_of_search = 50;
/// Number of bytes that are read in the time of one step.
constexpr std::uint64_t bytes_in_step = 8;

constexpr std::uint32_t options = PCRE2_UTF | PCRE2_ALT_CIRCUMFLEX | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;

/// A pattern of Python's `re`, as PCRE2 reads it. docs/format.md ("Patterns") names what still differs.
struct Translation {
  std::string pcre2;
  std::vector<std::size_t> python;  ///< For each byte of `pcre2`, and for its end: the offset in the Python pattern.
  bool ascii = false;               ///< The flag `a`: compile without PCRE2_UCP.
};

/// Translates what PCRE2 writes otherwise: the flags `a` and `u` in front, `\Z`, `\v`, `\uXXXX`, `\UXXXXXXXX`, `{,n}`.
/// All else is unchanged, also what is not valid.
class Translator {
 public:
  explicit Translator(std::string_view python) : rest_(python), size_(python.size()) {}

  Translation translate() && {
    flags();
    while (!rest_.empty()) {
      if (rest_[0] == '\\') {
        escape();
      } else if (!in_class_ && rest_[0] == '[') {
        open_class();
      } else if (!in_class_ && is_open_quantifier()) {
        put("{0", 1);
      } else {
        in_class_ = in_class_ && rest_[0] != ']';
        put(rest_.substr(0, 1), 1);
      }
    }
    result_.python.push_back(size_);
    return std::move(result_);
  }

 private:
  /// Writes `text` for the next `bytes` of the Python pattern.
  void put(std::string_view text, std::size_t bytes) {
    result_.pcre2 += text;
    result_.python.resize(result_.pcre2.size(), size_ - rest_.size());
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  /// Global flags, if the pattern begins with them.
  void flags() {
    const std::size_t end = rest_.starts_with("(?") ? rest_.find_first_not_of("aimsux", 2) : rest_.npos;
    if (end == rest_.npos || rest_[end] != ')') {
      return;
    }
    const std::string_view letters = rest_.substr(2, end - 2);
    result_.ascii = letters.find('a') != letters.npos;
    if (result_.ascii && letters.find('u') != letters.npos) {
      return;  // not valid; PCRE2 says so
    }
    std::string known(letters);
    std::erase_if(known, [](char letter) { return letter == 'a' || letter == 'u'; });
    put("(?" + known + ")", end + 1);
  }

  void escape() {
    const char kind = rest_.size() > 1 ? rest_[1] : '\0';
    const std::size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    const std::string_view hex = rest_.substr(std::min<std::size_t>(2, rest_.size()), digits);
    if (digits != 0 && hex.size() == digits && hex.find_first_not_of("0123456789abcdefABCDEF") == hex.npos) {
      put("\\x{" + std::string(hex) + "}", 2 + digits);
    } else if (kind == 'Z' && !in_class_) {
      put("\\z", 2);
    } else if (kind == 'v') {
      put("\\x0b", 2);
    } else {
      put(rest_.substr(0, 2), 2);
    }
  }

  /// A bracket in first place is a member.
  void open_class() {
    in_class_ = true;
    const std::size_t opening = rest_.starts_with("[^") ? 2 : 1;
    put(rest_.substr(0, opening), opening);
    if (rest_.starts_with("]")) {
      put("]", 1);
    }
  }

  /// Returns whether `{,n}` or `{,}` is next.
  [[nodiscard]] bool is_open_quantifier() const noexcept {
    const std::size_t end = rest_.starts_with("{,") ? rest_.find_first_not_of("0123456789", 2) : rest_.npos;
    return end != rest_.npos && rest_[end] == '}';
  }

  std::string_view rest_;
  std::size_t size_;
  bool in_class_ = false;
  Translation result_;
};

template <class T, void (*Free)(T*)>
struct Freer {
  void operator()(T* object) const noexcept { Free(object); }
};
template <class T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, Freer<T, Free>>;

PCRE2_SPTR bytes_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

/// What a pattern costs. PCRE2's own match limit starts again at each place where a match may begin, and counts neither
/// what a repeated class skips nor what it compares. So steps are counted at the callouts that PCRE2 inserts before
/// each item (PCRE2_AUTO_CALLOUT).
struct Costs {
  std::uint64_t per_byte = 1;  ///< For bytes that an item skips: a large class is slow to search.
  std::uint64_t ahead = 0;     ///< Bytes that an item may read and then fail, without a callout.
};

/// `pattern`: the text from which `code` was compiled.
Costs costs_of(const pcre2_code* code, std::string_view pattern) {
  constexpr std::uint64_t bytes_in_character = 4;
  Costs costs;
  std::uint32_t back_reference = 0;
  pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &back_reference);
  // A reference may compare, and `\X` read, any number of bytes.
  if (back_reference != 0 || pattern.find("\\X") != pattern.npos) {
    costs.ahead = limits::name_bytes;
  }
  std::uint32_t characters = 0;
  pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &characters);
  costs.ahead = std::max(costs.ahead, characters * bytes_in_character);
  // `x{3,5}` matches three characters without a callout between them.
  for (std::size_t at = pattern.find('{'); at != pattern.npos; at = pattern.find('{', at + 1)) {
    std::uint32_t least = 0;
    std::from_chars(pattern.data() + at + 1, pattern.data() + pattern.size(), least);
    costs.ahead = std::max(costs.ahead, least * bytes_in_character);
  }
  // A class is searched range by range, in time roughly proportional to the length of its text.
  const auto measure = [](pcre2_callout_enumerate_block* item, void* data) {
    constexpr std::uint64_t class_text_in_byte = 32;
    std::uint64_t& per_byte = static_cast<Costs*>(data)->per_byte;
    per_byte = std::max(per_byte, 1 + item->next_item_length / class_text_in_byte);
    return 0;
  };
  pcre2_callout_enumerate(code, measure, &costs);
  return costs;
}

/// Counts the steps of one search, up to a limit.
class StepCounter {
 public:
  StepCounter(const Costs& costs, std::uint64_t limit) noexcept : costs_(costs), limit_(limit) {}

  /// For pcre2_set_callout; `counter` is a StepCounter. Ends the search with PCRE2_ERROR_CALLOUT.
  static int callout(pcre2_callout_block* block, void* counter) noexcept {
    StepCounter& self = *static_cast<StepCounter*>(counter);
    const std::uint64_t passed = block->current_position - std::min(self.position_, block->current_position);
    self.position_ = block->current_position;
    // PCRE2's fast search finds the first item, so that what is passed before it costs nothing.
    const std::uint64_t read = self.steps_ == 0 ? 0 : passed * self.costs_.per_byte;
    return self.take(1 + (read + std::min(self.costs_.ahead, block->subject_length)) / bytes_in_step)
               ? 0
               : PCRE2_ERROR_CALLOUT;
  }

  /// Adds steps; returns whether the total is within the limit.
  [[nodiscard]] bool take(std::uint64_t steps) noexcept {
    steps_ += steps;
    return steps_ <= limit_;
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  Costs costs_;
  std::uint64_t limit_;
  std::uint64_t steps_ = 0;
  std::size_t position_ = 0;
};

}  // namespace

struct Pattern::Compiled {
  Handle<pcre2_code, pcre2_code_free> code;
  Handle<pcre2_match_data, pcre2_match_data_free> match;
  Handle<pcre2_match_context, pcre2_match_context_free> context;
  Handle<pcre2_jit_stack, pcre2_jit_stack_free> stack;
  Costs costs;
  bool literal = false;  // a plain text to be found
  bool counted = false;  // has callouts
  // In the machine code of PCRE2 10.42, \W without PCRE2_UCP finds nothing beyond ASCII where a text may not be UTF-8.
  bool interpreted = false;
  std::uint64_t steps = 0;

  void use_machine_code() {
    stack.reset(pcre2_jit_stack_create(32 * 1024, limits::pattern_jit_stack, nullptr));
    if (stack != nullptr && pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE) == 0) {
      pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    }
  }
  [[nodiscard]] int find(std::string_view subject, std::size_t from, std::uint32_t how) const {
    return pcre2_match(code.get(), bytes_of(subject), subject.size(), from, how, match.get(), context.get());
  }
  [[nodiscard]] int find_by_starts(std::string_view subject, std::uint32_t how, StepCounter& counter) const;
  /// Returns names and numbers of groups.
  [[nodiscard]] std::vector<std::pair<std::string, std::size_t>> groups() const {
    std::uint32_t count = 0;
    std::uint32_t bytes = 0;
    PCRE2_SPTR table = nullptr;  // entries of a number of two bytes, and a name that ends in a zero
    pcre2_pattern_info(code.get(), PCRE2_INFO_NAMECOUNT, &count);
    pcre2_pattern_info(code.get(), PCRE2_INFO_NAMEENTRYSIZE, &bytes);
    pcre2_pattern_info(code.get(), PCRE2_INFO_NAMETABLE, &table);
    std::vector<std::pair<std::string, std::size_t>> all;
    for (std::uint32_t i = 0; i < count; ++i, table += bytes) {
      all.emplace_back(reinterpret_cast<const char*>(table + 2), std::size_t{table[0]} << 8 | table[1]);
    }
    return all;
  }
};

/// For patterns that callouts would make too large for PCRE2: tries one start after another, each with a PCRE2 limit
/// that is raised each time it is hit, so that at most four times the required steps are counted.
int Pattern::Compiled::find_by_starts(std::string_view subject, std::uint32_t how, StepCounter& counter) const {
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
      result = find(subject, start, how | PCRE2_ANCHORED);
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
  const Translation translation = Translator(text).translate();
  int error = 0;
  PCRE2_SIZE place = 0;
  const auto compile_with = [&](std::uint32_t more) {
    compiled->code.reset(pcre2_compile(bytes_of(translation.pcre2), translation.pcre2.size(),
                                       options | (translation.ascii ? 0 : PCRE2_UCP) | more, &error, &place,
                                       context.get()));
    return compiled->code != nullptr;
  };
  compiled->interpreted = translation.ascii;
  compiled->literal = text.find_first_of("\\^$.|?*+()[]{}") == text.npos;
  compiled->counted = !compiled->literal && compile_with(PCRE2_AUTO_CALLOUT);
  if (compiled->counted) {
    compiled->costs = costs_of(compiled->code.get(), translation.pcre2);
  } else if (compiled->literal || error == PCRE2_ERROR_PATTERN_TOO_LARGE) {
    compile_with(0);
  }
  if (compiled->code == nullptr) {
    return message_of(error) + " at byte " +
           std::to_string(translation.python[std::min(place, translation.pcre2.size())]);
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

std::vector<std::string> Pattern::group_names() const {
  using Named = std::pair<std::string, std::size_t>;
  return compiled_ != nullptr ? mapped(compiled_->groups(), &Named::first) : std::vector<std::string>();
}

Pattern::Answer Pattern::search_groups(std::string_view subject, std::vector<Group>& groups) {
  if (compiled_ == nullptr) {
    return Answer::yes;
  }
  if (pcre2_get_ovector_count(compiled_->match.get()) == 1) {  // as `search` needs it
    compiled_->match.reset(pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr));
  }
  if (compiled_->match == nullptr) {
    throw std::bad_alloc();
  }
  const Answer answer = search(subject);
  if (answer != Answer::yes) {
    return answer;
  }
  const PCRE2_SIZE* const places = pcre2_get_ovector_pointer(compiled_->match.get());
  for (const auto& [name, number] : compiled_->groups()) {
    const PCRE2_SIZE begin = places[2 * number];
    const PCRE2_SIZE end = places[2 * number + 1];
    groups.emplace_back(name, begin == PCRE2_UNSET ? std::nullopt : std::optional(subject.substr(begin, end - begin)));
  }
  return answer;
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
  if (compiled_->steps >= steps_before_jit && compiled_->stack == nullptr && !compiled_->interpreted) {
    compiled_->use_machine_code();
  }
  const std::uint64_t limit = std::min<std::uint64_t>(limits::pattern_match_steps, budget.left());
  StepCounter counter(compiled_->costs, limit);
  pcre2_set_callout(compiled_->context.get(), &StepCounter::callout, &counter);
  // Of a text that is not UTF-8, machine code counts other steps, and finds other matches at its end. An answer must
  // not depend on how many names came before.
  const std::uint32_t how = compiled_->stack == nullptr || valid_utf8(subject) ? 0 : PCRE2_NO_JIT;
  const int result =
      compiled_->counted ? compiled_->find(subject, 0, how) : compiled_->find_by_starts(subject, how, counter);
  const std::uint64_t steps = counter.steps() + 1 + subject.size() / bytes_in_step;
  compiled_->steps += steps + steps_of_search;
  budget.spend(steps);
  if (result == PCRE2_ERROR_NOMATCH) {
    return Answer::no;
  }
  if (result >= 0) {
    return Answer::yes;
  }
  if (result == PCRE2_ERROR_NOMEMORY) {
    throw std::bad_alloc();
  }
  // Any other failure is a limit of steps, memory or stack, and never means "no match".
  return result == PCRE2_ERROR_CALLOUT && limit < limits::pattern_match_steps ? Answer::spent : Answer::limit;
}

struct Substitution::Compiled {
  Handle<pcre2_code, pcre2_code_free> code;
  Handle<pcre2_match_context, pcre2_match_context_free> context;
};

std::optional<std::string> Substitution::compile(std::string_view pattern, std::string_view replacement) {
  replacement_ = replacement;
  const auto compiled = std::make_shared<Compiled>();
  int error = 0;
  PCRE2_SIZE place = 0;
  compiled->code.reset(
      pcre2_compile(bytes_of(pattern), pattern.size(), PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &place, nullptr));
  if (compiled->code == nullptr) {
    return message_of(error) + " at byte " + std::to_string(place);
  }
  compiled->context.reset(pcre2_match_context_create(nullptr));
  if (compiled->context != nullptr) {
    pcre2_set_match_limit(compiled->context.get(), limits::pattern_match_steps);
    pcre2_set_heap_limit(compiled->context.get(), limits::pattern_heap_kib);
  }
  compiled_ = compiled;
  return std::nullopt;
}

std::optional<std::string> Substitution::apply(std::string_view subject, std::string& error) const {
  std::string result(std::max<std::size_t>(2 * subject.size(), 256), '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    PCRE2_SIZE size = result.size();
    const int replaced =
        pcre2_substitute(compiled_->code.get(), bytes_of(subject), subject.size(), 0,
                         PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_EXTENDED | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH,
                         nullptr, compiled_->context.get(), bytes_of(replacement_), replacement_.size(),
                         reinterpret_cast<PCRE2_UCHAR*>(result.data()), &size);
    if (replaced >= 0) {
      result.resize(size);
      return result;
    }
    if (replaced != PCRE2_ERROR_NOMEMORY || size > limits::name_bytes) {
      error = message_of(replaced);
      return std::nullopt;
    }
    result.resize(size);
  }
  return std::nullopt;
}

}  // namespace smd::detail
