// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include "cli/option_hints.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <map>

namespace smd::tool {

namespace {

// CLI11 splits the arguments into options, values and operands: bundles of letters, `-ofile`, `--name=value`, `--`. The
// code below overrides it where the commands promise something else, or where CLI11 would make them slow to start:
// - `--name=` is an option with an empty value. CLI11 would take the next argument as the value, so the empty value
//   travels as `empty_mark`, which cannot be typed.
// - Operands are CLI11's extras: positionals would be matched before unknown options are known.
// - Options are added only if they may occur among the arguments (`may_be_given`): CLI11 compares each option's names
//   with those of all others, which took half of the time of a short command.
// - Values keep their order over all options (`parse_order`), as `--json -f csv` needs it: the last one counts.
// - Unknown options, choices and missing operands are checked here, so that messages can suggest what was meant.
// - Help, manual pages and completions come from the same table (`OptionSpec`): CLI11 knows neither our groups nor
//   examples nor exit statuses.
constexpr std::string_view empty_mark = "\x01=\x01";

// Exposes CLI11's extras with their classification, which only a subclass can read.
class Parser : public CLI::App {
 public:
  [[nodiscard]] const auto& left_over() const noexcept { return missing_; }
};

bool is_bare_long_option(std::string_view argument) {
  return argument.size() > 3 && argument.starts_with("--") && argument.find('=') == argument.size() - 1;
}

std::string without_mark(std::string_view text) {
  if (text == empty_mark) {
    return {};
  }
  if (text.starts_with("--") && text.ends_with(empty_mark)) {
    text.remove_suffix(empty_mark.size());
  }
  return std::string(text);
}

[[noreturn]] void refuse_unknown(const CommandDefinition& definition, std::string_view argument) {
  const bool letter = !argument.starts_with("--");
  const std::string_view name = argument.substr(0, letter ? 2 : argument.find('='));
  std::string hint = option_hint(definition, name);
  if (hint.empty() && !letter) {
    const std::vector<std::string> candidates =
        mapped(definition.options(), [](const OptionSpec* spec) { return "--" + std::string(spec->name); });
    hint = did_you_mean(detail::nearest(name, candidates, 1));
  }
  throw UsageError("unknown option " + single_quoted(name) + hint);
}

/// Whether any of the arguments could be this option.
bool may_be_given(const OptionSpec& spec, const std::vector<std::string>& arguments) {
  return std::ranges::any_of(arguments, [&](std::string_view argument) {
    if (argument.starts_with("--")) {
      argument.remove_prefix(2);
      return argument.starts_with(spec.name) &&
             (argument.size() == spec.name.size() || argument[spec.name.size()] == '=');
    }
    // Several letters may stand together, the last with its value.
    return argument.starts_with('-') && spec.short_name != '\0' &&
           argument.find(spec.short_name) != std::string_view::npos;
  });
}

void check_choice(const OptionSpec& spec, std::string_view value, const CommandDefinition& definition) {
  const std::span<const std::string_view> choices = definition.choices_of(spec);
  if (!choices.empty() && !contains(choices, value)) {
    throw UsageError("--" + std::string(spec.name) + ": " + not_one_of(value, choices));
  }
}

void check_operands(const CommandDefinition& definition, const std::vector<std::string>& operands) {
  const auto required = static_cast<std::size_t>(
      std::ranges::count_if(definition.operands, [](const OperandSpec& spec) { return spec.required || spec.here; }));
  const bool unlimited = std::ranges::any_of(definition.operands, &OperandSpec::repeats);
  if (operands.size() < required) {
    throw UsageError("missing operand " + std::string(definition.operands[operands.size()].metavar));
  }
  if (!unlimited && operands.size() > definition.operands.size()) {
    throw UsageError("unexpected operand " + single_quoted(operands[definition.operands.size()]) +
                     (definition.find("name") != nullptr ? "; -n NAME selects a tensor" : ""));
  }
}

/// Refuses a file whose ending names a format, if none was chosen and another one would be written.
void check_ending(const CommandDefinition& definition, const CommandLine& line) {
  const OptionSpec* const format = definition.find("format");
  if (format == nullptr || line.last_of({"format", "json", "jsonl", "csv", "tsv", "hook-config"}) != nullptr) {
    return;
  }
  const std::string file = line.value("output").value_or("");
  const std::span<const std::string_view> known = definition.choices_of(*format);
  const std::string_view written = contains(known, "tsv") ? "tsv" : "html";
  for (const std::string_view name : known) {
    refuse_if(name != written && file.ends_with(fmt::format(".{}", name)),
              fmt::format("--output: {0} would be written as {1}: give -f {2}, or -f {1} if that is meant",
                          single_quoted(file), written, name));
  }
}

}  // namespace

CommandLine CommandLine::parse(const CommandDefinition& definition, const std::vector<std::string>& arguments) {
  Parser app;
  app.set_help_flag();
  app.allow_extras();
  std::map<const CLI::Option*, const OptionSpec*> specs;
  for (const OptionSpec* spec : definition.options()) {
    if (!may_be_given(*spec, arguments)) {
      continue;
    }
    const std::string letter = spec->short_name == '\0' ? "" : fmt::format("-{},", spec->short_name);
    CLI::Option* option =
        app.add_option(fmt::format("{}--{}", letter, spec->name), [](const CLI::results_t&) { return true; });
    option->expected(spec->metavar.empty() ? 0 : 1);
    option->allow_extra_args(false);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    specs.emplace(option, spec);
  }

  std::vector<std::string> reversed;
  reversed.reserve(arguments.size());
  bool options_ended = false;
  for (const std::string& argument : arguments) {
    options_ended = options_ended || argument == "--";
    reversed.push_back(!options_ended && is_bare_long_option(argument) ? argument + std::string(empty_mark) : argument);
  }
  std::ranges::reverse(reversed);
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch&) {
    // The only cause: the line ended where a value was expected.
    throw UsageError("option " + single_quoted(arguments.back()) + " needs a value");
  } catch (const CLI::Error&) {
    throw UsageError("the command line cannot be understood");
  }

  CommandLine line;
  line.definition_ = &definition;
  bool only_operands = false;
  for (const auto& [kind, text] : app.left_over()) {
    const std::string argument = without_mark(text);
    if (kind == CLI::detail::Classifier::POSITIONAL_MARK) {
      only_operands = true;
    } else if (!only_operands && argument.size() > 1 && argument.front() == '-') {
      refuse_unknown(definition, argument);
    } else {
      line.operands_.push_back(argument);
    }
  }
  std::map<const CLI::Option*, std::size_t> taken;
  for (const CLI::Option* option : app.parse_order()) {
    const OptionSpec* spec = specs.at(option);
    std::string value = without_mark(option->results().at(taken[option]++));
    if (spec->metavar.empty()) {
      refuse_if(value != "true", "option '--" + std::string(spec->name) + "' takes no value");
      value.clear();
    } else {
      check_choice(*spec, value, definition);
    }
    line.given_.push_back({spec, std::move(value)});
  }
  if (!line.has("help") && !line.has("version")) {
    if (line.operands_.empty() && !definition.operands.empty() && definition.operands.front().here) {
      refuse_if(line.has("merge"), "--merge: name the files that --shard --jsonl wrote");
      line.here_ = true;
      line.operands_.emplace_back(".");
    }
    check_operands(definition, line.operands_);
    check_ending(definition, line);
  }
  return line;
}

std::size_t CommandLine::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(given_, [&](const GivenOption& given) { return given.spec->name == name; }));
}

std::optional<std::string> CommandLine::value(std::string_view name) const {
  const GivenOption* last = last_of({name});
  return last == nullptr ? std::nullopt : std::optional(last->value);
}

std::optional<std::int64_t> CommandLine::integer(std::string_view name, std::int64_t least, std::int64_t most) const {
  return convert(name, [=](const std::string& text) { return parse_integer(text, least, most); });
}

std::vector<std::string> CommandLine::values(std::string_view name) const {
  std::vector<std::string> result;
  for (const GivenOption& given : given_) {
    if (given.spec->name != name) {
      continue;
    }
    if (given.spec->repeat == Repeat::last_wins) {
      result.clear();
    }
    const std::string_view value = given.value;
    const std::vector<std::string_view> parts = given.spec->split_commas ? split(value, ",") : std::vector{value};
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

const GivenOption* CommandLine::last_of(std::initializer_list<std::string_view> names) const noexcept {
  const auto last = std::find_if(given_.rbegin(), given_.rend(),
                                 [&](const GivenOption& given) { return contains(names, given.spec->name); });
  return last == given_.rend() ? nullptr : &*last;
}

std::int64_t parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  invalid_if(text.empty() || rest != end || error == std::errc::invalid_argument,
             single_quoted(text) + " is not a whole number");
  invalid_if(error != std::errc() || number < least || number > most,
             single_quoted(text) + " is not between " + std::to_string(least) + " and " + std::to_string(most));
  return number;
}

}  // namespace smd::tool
