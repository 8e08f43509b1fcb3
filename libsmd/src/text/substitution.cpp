// SPDX-License-Identifier: Apache-2.0
#include "text/substitution.hpp"

#include <smd/limits.hpp>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>

namespace smd::detail {

namespace {

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR bytes_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Substitution::Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    pcre2_match_context_free(limits);
    pcre2_code_free(code);
  }

  pcre2_code* code = nullptr;
  pcre2_match_context* limits = nullptr;
};

Substitution::Substitution() = default;
Substitution::~Substitution() = default;
Substitution::Substitution(Substitution&&) noexcept = default;
Substitution& Substitution::operator=(Substitution&&) noexcept = default;

std::optional<std::string> Substitution::compile(std::string_view pattern, std::string_view replacement) {
  replacement_ = replacement;
  compiled_ = std::make_unique<Compiled>();
  int error = 0;
  PCRE2_SIZE place = 0;
  compiled_->code =
      pcre2_compile(bytes_of(pattern), pattern.size(), PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &place, nullptr);
  if (compiled_->code == nullptr) {
    return message_of(error) + " at byte " + std::to_string(place);
  }
  compiled_->limits = pcre2_match_context_create(nullptr);
  if (compiled_->limits != nullptr) {
    pcre2_set_match_limit(compiled_->limits, limits::pattern_match_steps);
    pcre2_set_heap_limit(compiled_->limits, limits::pattern_heap_kib);
  }
  return std::nullopt;
}

std::optional<std::string> Substitution::apply(std::string_view subject, std::string& error) const {
  std::string result(std::max<std::size_t>(2 * subject.size(), 256), '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    PCRE2_SIZE size = result.size();
    const int replaced =
        pcre2_substitute(compiled_->code, bytes_of(subject), subject.size(), 0,
                         PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_EXTENDED | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH,
                         nullptr, compiled_->limits, bytes_of(replacement_), replacement_.size(),
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
