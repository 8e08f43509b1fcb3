// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace smd::tool {

/// What kind of thing an option's value is: for completion and manual pages. Checking is the command's own business.
enum class ArgumentKind : std::uint8_t {
  none,  ///< A flag: takes no value.
  text,
  file,
  folder,
  trial,
  tensor,
  collection,
  worker,
  pattern,
  step,         ///< N, first, last, all and more.
  step_number,  ///< N alone.
  mode,
  format,       ///< One of `CommandDefinition::formats`.
  format_file,  ///< `FORMAT=FILE`, a format of `CommandDefinition::formats`.
  choice,       ///< One of `OptionSpec::choices`; anything else is refused when the line is parsed.
  columns,
  sort_keys,  ///< Columns, each with an optional `-` ahead.
  number,
  duration,
  rule,
  rule_parameter,  ///< `K=V` of a rule chosen on the same line.
};

/// What giving an option again means.
enum class Repeat : std::uint8_t {
  last_wins,
  adds_up,  ///< A list; a flag is counted.
};

/// One option, defined once: parser, `--help`, manual page and completions are all made from this.
/// The texts are literals: everything here lives as long as the program.
struct OptionSpec {
  char short_name = '\0';      ///< `\0`: none.
  std::string_view name{};     ///< Long name without dashes.
  std::string_view metavar{};  ///< Empty exactly for flags.
  std::string_view help{};     ///< A phrase without full stop: `print only names`.
  std::string_view group{};    ///< Heading in `--help`, one of `group::…`.
  ArgumentKind kind = ArgumentKind::none;
  Repeat repeat = Repeat::last_wins;
  bool split_commas = false;                    ///< `-m train,eval` is two values.
  std::span<const std::string_view> choices{};  ///< For `ArgumentKind::choice`; for other kinds only offered by shells.
  std::string_view manual{};                    ///< Whole sentences for the manual page; empty: `help`.

  /// The same option with another value of a member.
  template <class Value>
  [[nodiscard]] constexpr OptionSpec with(Value OptionSpec::*member, Value value) const {
    OptionSpec spec = *this;
    spec.*member = value;
    return spec;
  }
  // The same option with more of these.
  [[nodiscard]] constexpr OptionSpec repeatable() const { return with(&OptionSpec::repeat, Repeat::adds_up); }
  /// Takes a list with commas, and may be given again.
  [[nodiscard]] constexpr OptionSpec list() const { return repeatable().with(&OptionSpec::split_commas, true); }
  [[nodiscard]] constexpr OptionSpec of(std::span<const std::string_view> words) const {
    return with(&OptionSpec::choices, words);
  }
  [[nodiscard]] constexpr OptionSpec under(std::string_view heading) const { return with(&OptionSpec::group, heading); }
  [[nodiscard]] constexpr OptionSpec explained(std::string_view sentences) const {
    return with(&OptionSpec::manual, sentences);
  }
};

inline constexpr char no_letter = '\0';

/// An option without a value.
constexpr OptionSpec flag(char short_name, std::string_view name, std::string_view help) {
  return {.short_name = short_name, .name = name, .help = help};
}

/// An option with a value.
constexpr OptionSpec valued(char short_name, std::string_view name, std::string_view metavar, ArgumentKind kind,
                            std::string_view help) {
  return {.short_name = short_name, .name = name, .metavar = metavar, .help = help, .kind = kind};
}

/// A table of options under one heading.
template <std::size_t Size>
constexpr std::array<OptionSpec, Size> in_group(std::string_view group, const OptionSpec (&options)[Size]) {
  std::array<OptionSpec, Size> table = std::to_array(options);
  for (OptionSpec& spec : table) {
    spec.group = spec.group.empty() ? group : spec.group;
  }
  return table;
}

/// Headings of the option groups, in the order of `--help`. Commands may have further ones; they come after `view`.
namespace group {
inline constexpr std::string_view view = "View";
inline constexpr std::string_view selection = "Selection";
inline constexpr std::string_view output = "Output";
inline constexpr std::string_view messages = "Messages";
inline constexpr std::string_view reading = "Reading";
inline constexpr std::string_view other = "Other";
}  // namespace group

}  // namespace smd::tool
