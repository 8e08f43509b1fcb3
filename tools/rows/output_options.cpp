// SPDX-License-Identifier: Apache-2.0
#include "rows/output_options.hpp"

#include "cli/text.hpp"
#include "text/number.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace smd::tool {

namespace {

constexpr std::array<std::string_view, 2> nonfinite_choices = {"string", "null"};
constexpr std::array<std::string_view, 3> color_choices = {"auto", "always", "never"};

constexpr auto output_table = in_group(
    group::output,
    {
        valued('f', "format", "FORMAT", ArgumentKind::format,
               "how to print results (default: table on a terminal, else tsv)"),
        flag(no_letter, "json", "short for --format=json"),
        flag(no_letter, "jsonl", "short for --format=jsonl"),
        flag(no_letter, "csv", "short for --format=csv"),
        flag(no_letter, "tsv", "short for --format=tsv"),
        valued('o', "output", "FILE", ArgumentKind::file, "write results to FILE, which appears once it is whole")
            .explained(
                "Write results to FILE. It appears, or is replaced, once it is whole; until then an existing FILE "
                "stays, and it is kept if the command line is wrong (status 2) or nothing could be read. If FILE ends "
                "in the name of another format than tsv, such as .csv, -f is required. If nothing is selected (status "
                "1), FILE has no rows; with formats for arrays an existing FILE stays as it is. It is written with "
                "-q, too. A file that is replaced keeps its mode and, where the system allows it, its owner and group; "
                "where it does not, a set-user-ID or set-group-ID file is not replaced."),
        valued(no_letter, "columns", "A,B", ArgumentKind::columns, "print these columns (JSON: keys) in this order")
            .list()
            .explained("Print these columns (JSON: keys) in this order; all stands for every column, also those that "
                       "are printed only on request. A name may have commas."),
        valued(no_letter, "sort", "K[,-K]", ArgumentKind::sort_keys,
               "sort rows by these columns, with - descending; numbers as numbers")
            .list()
            .explained("Sort rows by these columns, the first one first; with a leading -, from the greatest to the "
                       "least. They need not be printed. Numbers are compared as numbers, text naturally, layers.2 "
                       "before layers.10. NaN and missing values come last in either direction; rows that are equal "
                       "keep their order. Not with --follow."),
        valued(no_letter, "limit", "N", ArgumentKind::number, "print the first N rows only")
            .explained("Print only the first N rows, with --sort the first N in that order; no more than N are then "
                       "held in memory. The exit status is the same as without. Not with --follow."),
        valued(no_letter, "where", "'COL OP VALUE'", ArgumentKind::columns,
               "only rows for which this holds; OP is one of = != < <= > >= and ~ (a pattern)")
            .repeatable()
            .explained("Print only rows that meet this and every other condition given. OP is one of = != < <= > >= "
                       "and ~, which searches a pattern (PCRE2). The last OP between blanks separates COL from VALUE; "
                       "if there is only one OP, it needs no blanks. The column need not be printed. Numbers are "
                       "compared as numbers, so that a float32 printed as 0.1 equals 0.1, and other text naturally; "
                       "to compare a number by < <= > >=, VALUE must be one. nan equals nan, and a missing value meets "
                       "no condition. If no row is left, the status is 1."),
        flag('H', "no-header", "print no header line"),
        flag('0', "null", "NUL instead of newline, in lists read and in one column written")
            .explained(
                "NUL instead of newline, in lists of operands that are read and in a single column that is written."),
        flag('T', "with-trial", "print the trial too (automatic for several)")
            .explained(
                "Print the trial in a column of its own. This is automatic for several trials; JSON always has it."),
        valued(no_letter, "precision", "N", ArgumentKind::number,
               "significant digits (default: 6 in tables, else all that are needed)"),
        valued(no_letter, "nonfinite", "HOW", ArgumentKind::choice, "NaN and infinities in JSON (default: string)")
            .of(nonfinite_choices),
        valued(no_letter, "color", "WHEN", ArgumentKind::choice, "colour tables and messages (default: auto)")
            .of(color_choices),
        flag(no_letter, "ascii", "only ASCII in tables and messages"),
    });

/// As `OutputOptions::join_names`, of one option.
template <class Name, class ColumnOf>
void join(std::string_view option, std::vector<Name>& names, std::span<const std::string_view> known,
          const ColumnOf& column_of) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    std::string whole = column_of(*name);
    for (auto next = name + 1; next != names.end();) {
      whole.append(1, ',').append(column_of(*next++));
      if (contains(known, whole)) {
        column_of(*name) = whole;
        next = names.erase(name + 1, next);
      }
    }
    // An object of JSON has each key once. That a column is unknown is said later.
    const std::string& column = column_of(*name);
    const bool is_column = known.empty() || contains(known, column) || column == "trial";
    refuse_if(is_column && std::ranges::find(names.begin(), name, column, column_of) != name,
              fmt::format("{}: {} is given twice", option, single_quoted(column)));
  }
}

}  // namespace

double smoothing_weight(const std::string& text) {
  const std::optional<double> weight = text::number_of(text);
  invalid_if(!weight || !(*weight >= 0 && *weight < 1), single_quoted(text) + " is not a number from 0 to below 1");
  return *weight;
}

std::span<const OptionSpec> OutputOptions::table() noexcept { return output_table; }

OutputOptions OutputOptions::from(const CommandLine& line) {
  OutputOptions options;
  options.file = line.value("output");
  refuse_if(options.file && options.file->empty(), "--output: the name is empty");
  if (options.file == "-") {  // as in most commands: standard output
    options.file.reset();
  }
  const GivenOption* const last = line.last_of({"format", "json", "jsonl", "csv", "tsv"});
  options.format_given = last != nullptr;
  options.format = last == nullptr                ? (options.to_terminal() ? "table" : "tsv")
                   : last->spec->name == "format" ? last->value
                                                  : std::string(last->spec->name);
  options.columns = line.values("columns");
  options.sort = line.convert_all("sort", [](const std::string& text) {
    const bool descending = text.starts_with('-');
    invalid_if(text.size() == (descending ? 1U : 0U), "the name of a column is missing in " + single_quoted(text));
    return SortKey{text.substr(descending ? 1 : 0), descending};
  });
  options.limit = line.integer("limit", 0);
  options.where = line.convert_all("where", [](const std::string& text) { return parse_comparison(text); });
  options.header = !line.has("no-header");
  options.null_separated = line.has("null");
  options.with_trial = line.has("with-trial");
  options.precision = static_cast<int>(line.integer("precision", 1, max_precision).value_or(0));
  options.nonfinite = line.value("nonfinite") == "null" ? NonFinite::null : NonFinite::string;
  options.terminal = TerminalOptions::from(line);
  options.silent = line.has("quiet") && !options.file;
  options.quiet = options.silent && options.where.empty();
  return options;
}

void OutputOptions::join_names(std::span<const std::string_view> known) {
  join("--columns", columns, known, [](std::string& name) -> std::string& { return name; });
  join("--sort", sort, known, [](SortKey& key) -> std::string& { return key.column; });
}

std::string_view OutputOptions::row_option() const noexcept {
  return !columns.empty() ? "--columns"
         : !sort.empty()  ? "--sort"
         : limit          ? "--limit"
         : !where.empty() ? "--where"
                          : std::string_view();
}

bool OutputOptions::names(std::string_view column) const noexcept {
  const auto is_it = [column](std::string_view name) { return name == column || name == "all"; };
  return std::ranges::any_of(columns, is_it) ||
         std::ranges::any_of(sort, [&](const SortKey& key) { return is_it(key.column); }) ||
         std::ranges::any_of(where, [&](const Comparison& one) { return is_it(one.name); });
}

bool OutputOptions::to_terminal() const noexcept { return !file && is_terminal(STDOUT_FILENO); }

OutputFile OutputOptions::open(bool binary) const {
  if (file) {
    return OutputFile::file(*file);
  }
  if (silent) {
    return OutputFile::discard();
  }
  refuse_if(binary && to_terminal(), "the terminal cannot show " + format + ": give -o FILE or a pipe");
  return OutputFile::standard();
}

}  // namespace smd::tool
