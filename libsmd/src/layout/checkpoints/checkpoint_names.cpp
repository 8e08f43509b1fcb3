// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_names.hpp"

#include "layout/folder_walk.hpp"
#include "text/ascii.hpp"
#include "text/number.hpp"
#include "text/path.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace smd::detail::layout {

namespace {

template <class Number>
std::optional<Number> number_of(std::string_view digits) noexcept {
  return !digits.empty() && text::is_digit(digits.front()) ? text::parsed<Number>(digits) : std::nullopt;
}

/// Returns a text without the digits at its end, and these.
std::pair<std::string_view, std::string_view> split_digits(std::string_view text) noexcept {
  const std::size_t at = text.find_last_not_of("0123456789") + 1;
  return {text.substr(0, at), text.substr(at)};
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
    const bool letter_before = at > 0 && text::is_letter(name[at - 1]);
    if (const auto number = number_of<std::int64_t>(digits); number && !letter_before) {
      return number;
    }
  }
  return std::nullopt;
}

/// Returns a name without the ending `-v3` that writers append.
std::string_view without_version(std::string_view name) noexcept {
  const auto [rest, digits] = split_digits(name);
  return !digits.empty() && rest.ends_with("-v") ? rest.substr(0, rest.size() - 2) : name;
}

/// Returns the number that two digits of a text are; 100 if they are none.
unsigned two_digits(std::string_view text, std::size_t at) noexcept {
  return number_of<unsigned>(text.substr(at, 2)).value_or(100);
}

/// Returns whether a name ends in a date, alone or with a time: `20250827`, `20250827-1343`, `20250827T134315`.
bool ends_in_date(std::string_view name) noexcept {
  constexpr std::size_t date_digits = 8;  // YYYYMMDD
  auto [before, digits] = split_digits(name);
  if (digits.size() == 4 || digits.size() == 6) {  // HHMM, HHMMSS
    const bool is_time =
        two_digits(digits, 0) < 24 && two_digits(digits, 2) < 60 && (digits.size() == 4 || two_digits(digits, 4) < 60);
    if (!is_time || before.empty() || std::string_view("-_T").find(before.back()) == before.npos) {
      return false;
    }
    digits = split_digits(before.substr(0, before.size() - 1)).second;
  }
  const unsigned month = digits.size() == date_digits ? two_digits(digits, 4) : 0;
  const unsigned day = digits.size() == date_digits ? two_digits(digits, 6) : 0;
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && (digits.starts_with("19") || digits.starts_with("20"));
}

/// Returns the number at the end of a name, if one of `words` precedes it, if it is the whole name and `alone`, or if
/// it has `padded` digits after a text and `between`.
std::optional<std::int64_t> number_at_end(std::string_view name, std::span<const std::string_view> words, bool alone,
                                          char between, std::size_t padded) noexcept {
  const auto [text, digits] = split_digits(name);
  const std::string_view before = text;
  const bool stated = (alone && before.empty()) ||
                      (digits.size() == padded && before.size() > 1 && before.back() == between) ||
                      std::ranges::any_of(words, [&](std::string_view word) { return ends_with_word(before, word); });
  return stated && !ends_in_date(name) ? number_of<std::int64_t>(digits) : std::nullopt;
}

std::optional<std::int64_t> step_in(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 10> words = {"checkpoint-", "checkpoint_", "step",   "step_", "step-",
                                                      "iter_",       "iter-",       "model_", "ckpt_", "ckpt-"};
  constexpr std::string_view adapters = "_adapters";
  if (name.ends_with(adapters)) {
    name.remove_suffix(adapters.size());
    const auto [before, digits] = split_digits(name);
    return ends_with_word(before, "") ? number_of<std::int64_t>(digits) : std::nullopt;
  }
  constexpr std::size_t padded_digits = 9;  // `NAME_000000250`
  const auto number = number_at_end(name, words, true, '_', padded_digits);
  return number ? number : number_after(name, "step=");
}

std::optional<std::int64_t> epoch_in(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> words = {"epoch-", "epoch_", "epoch"};
  constexpr std::size_t padded_digits = 6;  // `NAME-000004`
  const auto number = number_at_end(name, words, false, '-', padded_digits);
  return number ? number : number_after(name, "epoch=");
}

}  // namespace

std::string_view tensor_ending(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> endings = {safetensors_ending, ".pt",      ".pth",         ".ckpt",
                                                       ".pt.tar",          ".pth.tar", doubtful_ending};
  const std::string_view leaf = text::leaf_of(name);
  const auto* const found = std::ranges::find_if(
      endings, [&](std::string_view ending) { return leaf.ends_with(ending) && leaf.size() > ending.size(); });
  return found == endings.end() || is_beside_model(leaf) || is_apple_double(leaf) ? std::string_view() : *found;
}

bool is_beside_model(std::string_view name) noexcept {
  return name == "training_args.bin" || name == "scheduler.pt" ||
         (name.starts_with("rng_state") && name.ends_with(".pth"));
}

bool is_shard_index(std::string_view name) noexcept {
  return name.ends_with(shard_index_ending) &&
         !tensor_ending(name.substr(0, name.size() - shard_index_ending.size())).empty();
}

bool is_checkpoint_file(std::string_view name) noexcept {
  return !tensor_ending(name).empty() || is_shard_index(name) || name == trainer_state_name ||
         (name.ends_with(distributed_ending) && !is_apple_double(name));
}

bool is_doubtful(std::string_view path) noexcept {
  const TensorFileName name = split_tensor_file_name(path);
  const bool of_pytorch = rank_of_model(name.stem) != no_model && !name.stem.starts_with("model");  // as others' may be
  return name.ending == doubtful_ending && name.of == 0 && !of_pytorch;
}

std::string_view newer_stem(std::string_view stem) noexcept {
  constexpr std::string_view older = "pytorch_";
  return stem.starts_with("pytorch_model") ? stem.substr(older.size()) : stem;
}

std::size_t rank_of_model(std::string_view stem) noexcept {
  constexpr std::array<std::string_view, no_model> known = {distributed_name, "model", "diffusion_pytorch_model",
                                                            "adapter_model", "pytorch_lora_weights"};
  const auto* const found =
      std::ranges::find_if(known, [&](std::string_view one) { return newer_stem(stem).starts_with(one); });
  return static_cast<std::size_t>(found - known.begin());
}

TensorFileName split_tensor_file_name(std::string_view file) noexcept {
  TensorFileName name;
  name.stem = text::leaf_of(file);
  const bool index = is_shard_index(name.stem);
  if (index) {
    name.stem.remove_suffix(shard_index_ending.size());
  }
  name.ending = tensor_ending(name.stem);
  name.stem.remove_suffix(name.ending.size());
  if (index) {
    return name;
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
  const auto epoch = epoch_in(name);
  return epoch ? std::optional(NamedStep{*epoch, StepUnit::epoch}) : std::nullopt;
}

std::uint64_t version_of_name(std::string_view name) {
  return without_version(name) == name ? 0 : number_of<std::uint64_t>(split_digits(name).second).value_or(0);
}

std::optional<unsigned> label_of_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> labels = {"last", "latest", "final", "best"};
  const std::vector<std::string> words = text::split_words(name);
  const auto label = std::find_first_of(labels.begin(), labels.end(), words.begin(), words.end());
  return label == labels.end() ? std::nullopt : std::optional(static_cast<unsigned>(label - labels.begin()));
}

bool is_checkpoint_folder(std::string_view name) {
  return (step_of_name(name) || label_of_name(name)) && !is_name_of_copy(name);
}

bool may_have_components(std::string_view name, bool is_pipeline) {
  return is_pipeline ||
         (step_of_name(name) && !label_of_name(name) && name.find_first_not_of("0123456789") != name.npos);
}

}  // namespace smd::detail::layout
