// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_names.hpp"

#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace smd::detail::layout {

namespace {

constexpr bool is_ascii_digit(char c) noexcept { return c >= '0' && c <= '9'; }

template <class Number>
std::optional<Number> number_of(std::string_view digits) noexcept {
  Number number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return !digits.empty() && is_ascii_digit(digits.front()) && error == std::errc() &&
                 end == digits.data() + digits.size()
             ? std::optional(number)
             : std::nullopt;
}

/// Returns the digits at the end of a text.
std::string_view last_digits(std::string_view text) noexcept {
  std::size_t begin = text.size();
  while (begin > 0 && is_ascii_digit(text[begin - 1])) {
    --begin;
  }
  return text.substr(begin);
}

/// Returns whether a text ends with `word`, and `word` is the whole text or follows one of `-_.`.
bool ends_with_word(std::string_view text, std::string_view word) noexcept {
  return text.ends_with(word) &&
         (text.size() == word.size() || std::string_view("-_.").find(text[text.size() - word.size() - 1]) != text.npos);
}

/// Returns the number after `key` anywhere in a name, unless a letter precedes `key`: `epoch=3-step=800`.
std::optional<std::int64_t> number_after(std::string_view name, std::string_view key) noexcept {
  for (std::size_t at = name.find(key); at != name.npos; at = name.find(key, at + 1)) {
    std::string_view digits = name.substr(at + key.size());
    digits = digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size()));
    const bool letter_before = at > 0 && ((name[at - 1] | 0x20) >= 'a' && (name[at - 1] | 0x20) <= 'z');
    if (const auto number = number_of<std::int64_t>(digits); number && !letter_before) {
      return number;
    }
  }
  return std::nullopt;
}

/// Returns a name without the ending `-v3` that writers append.
std::string_view without_version(std::string_view name) noexcept {
  const std::string_view digits = last_digits(name);
  const std::string_view rest = name.substr(0, name.size() - digits.size());
  return !digits.empty() && rest.ends_with("-v") ? rest.substr(0, rest.size() - 2) : name;
}

std::optional<std::int64_t> step_in(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> words = {"checkpoint-", "global_step", "step_", "step-", "iter_"};
  constexpr std::string_view adapters = "_adapters";
  if (name.ends_with(adapters)) {
    const std::string_view digits = last_digits(name.substr(0, name.size() - adapters.size()));
    const std::string_view before = name.substr(0, name.size() - adapters.size() - digits.size());
    return before.empty() || std::string_view("-_.").find(before.back()) != before.npos
               ? number_of<std::int64_t>(digits)
               : std::nullopt;
  }
  const std::string_view digits = last_digits(name);
  const std::string_view before = name.substr(0, name.size() - digits.size());
  const bool told =
      before.empty() || before.ends_with("-step") ||
      std::any_of(words.begin(), words.end(), [&](std::string_view word) { return ends_with_word(before, word); });
  if (const auto number = number_of<std::int64_t>(digits); number && told) {
    return number;
  }
  return number_after(name, "step=");
}

std::optional<std::int64_t> epoch_in(std::string_view name) noexcept {
  constexpr std::size_t padded_digits = 6;  // `NAME-000004`
  const std::string_view digits = last_digits(name);
  const std::string_view before = name.substr(0, name.size() - digits.size());
  const bool told = ends_with_word(before, "epoch-") || ends_with_word(before, "epoch_") ||
                    (digits.size() == padded_digits && before.size() > 1 && before.ends_with('-'));
  if (const auto number = number_of<std::int64_t>(digits); number && told) {
    return number;
  }
  return number_after(name, "epoch=");
}

}  // namespace

SafetensorsName split_safetensors_name(std::string_view file) noexcept {
  SafetensorsName name;
  name.stem = file.substr(file.rfind('/') + 1);
  if (name.stem.ends_with(shard_index_ending)) {
    name.stem.remove_suffix(shard_index_ending.size());
    return name;
  }
  if (name.stem.ends_with(safetensors_ending)) {
    name.stem.remove_suffix(safetensors_ending.size());
  }
  constexpr std::size_t digits = 5;
  constexpr std::string_view between = "-of-";
  constexpr std::size_t ending = 1 + digits + between.size() + digits;  // `-00001-of-00003`
  if (name.stem.size() > ending) {
    const std::string_view tail = name.stem.substr(name.stem.size() - ending);
    const auto shard = number_of<std::uint32_t>(tail.substr(1, digits));
    const auto of = number_of<std::uint32_t>(tail.substr(ending - digits));
    if (tail.front() == '-' && tail.substr(1 + digits, between.size()) == between && shard && of && *shard > 0 &&
        *shard <= *of) {
      name.shard = *shard;
      name.of = *of;
      name.stem.remove_suffix(ending);
    }
  }
  return name;
}

std::optional<NamedStep> step_of_name(std::string_view name) {
  name = without_version(name);
  if (const auto step = step_in(name)) {
    return NamedStep{*step, StepUnit::step};
  }
  if (const auto epoch = epoch_in(name)) {
    return NamedStep{*epoch, StepUnit::epoch};
  }
  return std::nullopt;
}

std::uint64_t version_of_name(std::string_view name) {
  return without_version(name) == name ? 0 : number_of<std::uint64_t>(last_digits(name)).value_or(0);
}

std::optional<unsigned> label_of_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> labels = {"last", "latest", "final", "best"};
  const std::vector<std::string> words = text::split_words(name);
  const auto label = std::find_first_of(labels.begin(), labels.end(), words.begin(), words.end());
  return label == labels.end() ? std::nullopt : std::optional(static_cast<unsigned>(label - labels.begin()));
}

}  // namespace smd::detail::layout
