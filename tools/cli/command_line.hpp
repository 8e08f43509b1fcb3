// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"
#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"

namespace smd::tool {

/// One option as given on the command line.
struct GivenOption {
  const OptionSpec* spec = nullptr;
  std::string value;  ///< Empty for flags.
};

/// A parsed command line. Parsing does no input or output.
///
/// GNU conventions: options and operands mix, `--` ends options, `--opt=V` or `--opt V`, `-oV` or `-o V`, short flags
/// may be joined, no abbreviations, an option that needs a value takes exactly the next argument, whatever it looks
/// like (`-s -3:`), `-` is an operand.
class CommandLine {
 public:
  /// `arguments` without the program's name. The definition must outlive the result.
  /// @throws UsageError, with the nearest option for an unknown one.
  static CommandLine parse(const CommandDefinition& definition, const std::vector<std::string>& arguments);

  [[nodiscard]] const CommandDefinition& definition() const noexcept { return *definition_; }
  [[nodiscard]] bool has(std::string_view name) const noexcept { return count(name) != 0; }
  /// How often an option was given.
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
  /// The last value given; nullopt if the option was not given.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  /// All values in order, split at commas if the option says so. If the option's last value wins, only that one.
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
  /// All options in the order given: for choices where the last of several options wins.
  [[nodiscard]] const std::vector<GivenOption>& given() const noexcept { return given_; }
  /// The last given of several options that exclude each other (`--json`, `-f`); null if none was given.
  [[nodiscard]] const GivenOption* last_of(std::initializer_list<std::string_view> names) const noexcept;
  [[nodiscard]] const std::vector<std::string>& operands() const noexcept { return operands_; }
  /// Whether there was no operand, so that it is the current folder.
  [[nodiscard]] bool here() const noexcept { return here_; }

  /// The last value, converted by `parser`; nullopt if the option was not given.
  /// @throws UsageError if `parser` throws InvalidValue: `--step: '1:x' is not a step …`.
  template <class Parser>
  auto convert(std::string_view name, Parser&& parser) const {
    const std::optional<std::string> text = value(name);
    return text ? std::make_optional(converted(name, *text, parser)) : std::nullopt;
  }
  /// The same for a decimal integer within bounds.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, std::int64_t least,
                                                    std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  /// As `convert`, for each of `values`.
  template <class Parser>
  auto convert_all(std::string_view name, Parser&& parser) const {
    return mapped(values(name), [&](const std::string& text) { return converted(name, text, parser); });
  }

 private:
  template <class Parser>
  static auto converted(std::string_view name, const std::string& text, Parser& parser) {
    try {
      return parser(text);
    } catch (const InvalidValue& error) {
      throw UsageError("--" + std::string(name) + ": " + error.what());
    }
  }

  const CommandDefinition* definition_ = nullptr;
  std::vector<GivenOption> given_;
  std::vector<std::string> operands_;
  bool here_ = false;
};

/// A decimal integer within bounds. @throws InvalidValue.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, std::int64_t least, std::int64_t most);

/// What `--help` prints: usage, one sentence, examples, options by group, exit statuses, the manual page.
[[nodiscard]] std::string help_text(const CommandDefinition& definition, std::size_t width);

/// What `-h` prints: usage, one sentence, examples, and the names of the options, on one screen.
[[nodiscard]] std::string short_help_text(const CommandDefinition& definition, std::size_t width);

/// What `--version` prints.
[[nodiscard]] std::string version_text(const CommandDefinition& definition);

}  // namespace smd::tool
