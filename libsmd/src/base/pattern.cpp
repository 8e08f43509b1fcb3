// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/pattern.hpp"

#include "base/pattern_dialect.hpp"

#include <smd/limits.hpp>

#include <pcre2.h>

#include <array>

namespace smd::detail {

namespace {

/// Matching a name takes microseconds; compiling to machine code pays only after many.
constexpr unsigned searches_before_jit = 64;

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
  unsigned searches = 0;
};

Pattern::Pattern() = default;
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

std::optional<std::string> Pattern::compile(std::string_view text) {
  text_ = text;
  compiled_.reset();
  if (text == ".*" || text.empty()) {
    return std::nullopt;  // found in every text
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
  const std::string rewritten = to_pcre2(text);
  int error = 0;
  PCRE2_SIZE place = 0;
  compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(rewritten.data()), rewritten.size(),
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &error,
                                     &place, context.get()));
  if (compiled->code == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    return std::string(reinterpret_cast<const char*>(message.data())) + " at byte " +
           std::to_string(python_offset(text, place));
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

Pattern::Answer Pattern::search(std::string_view subject) {
  if (compiled_ == nullptr) {
    return Answer::yes;
  }
  if (++compiled_->searches == searches_before_jit &&
      pcre2_jit_compile(compiled_->code.get(), PCRE2_JIT_COMPLETE) == 0) {
    compiled_->stack.reset(pcre2_jit_stack_create(32 * 1024, limits::pattern_jit_stack, nullptr));
    if (compiled_->stack != nullptr) {
      pcre2_jit_stack_assign(compiled_->context.get(), nullptr, compiled_->stack.get());
    }
  }
  const int result = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0,
                                 0, compiled_->match.get(), compiled_->context.get());
  if (result == PCRE2_ERROR_NOMATCH) {
    return Answer::no;
  }
  // Any other failure is a limit of steps, memory or stack: never taken for "no".
  return result >= 0 ? Answer::yes : Answer::limit;
}

}  // namespace smd::detail
