// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The texts of metric logs: CSV (RFC 4180), JSON lines, and one array of JSON objects.
namespace smd::detail::layout {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

enum class MetricForm : std::uint8_t { csv, lines, array };

/// Returns `text` without its first line if that begins with NULs, which a crash leaves, or a writer whose log was
/// emptied; else `text`.
[[nodiscard]] std::string_view behind_zeros(std::string_view text) noexcept;

/// Returns the form of a log, by the first character after NULs and blanks; nullopt if the text has nothing else.
[[nodiscard]] std::optional<MetricForm> form_of(std::string_view text) noexcept;

/// Returns the text from the first `wanted` on that is not in quotes. Empty if no such character occurs.
[[nodiscard]] std::string_view from_unquoted(std::string_view text, char wanted) noexcept;

/// Splits rows into fields. Leaves out quotes around fields, and blanks on both sides of the quotes.
class CsvSplitter {
 public:
  explicit CsvSplitter(char separator = ',') noexcept : separator_(separator) {}

  /// Returns the separator of a header: a comma, or if it has none outside quotes, `;` or a tab.
  [[nodiscard]] static char separator_of(std::string_view header) noexcept;
  /// Splits the row at the beginning of a text, and returns its length with its line end. Nullopt if the row does not
  /// end in the text. Fields are valid until the next call, and as long as the text is.
  std::optional<std::size_t> split(std::string_view text) { return split_row(text, false); }
  /// As above, for a row that the end of the text ends.
  void split_last(std::string_view text) { (void)split_row(text, true); }
  [[nodiscard]] const std::vector<std::string_view>& fields() const noexcept { return fields_; }
  /// Returns whether the text that was split ends between quotes.
  [[nodiscard]] bool in_quotes() const noexcept { return in_quotes_; }
  /// Returns whether the row has nothing but blanks.
  [[nodiscard]] bool blank() const noexcept {
    return fields_.size() == 1 && fields_.front().empty() && quoted_.empty();
  }

 private:
  std::optional<std::size_t> split_row(std::string_view text, bool last);

  struct Quoted {
    std::size_t field = 0;
    std::size_t begin = 0;  ///< In `unquoted_`.
  };

  char separator_;
  std::vector<std::string_view> fields_;
  std::vector<Quoted> quoted_;
  std::string unquoted_;
  bool in_quotes_ = false;
};

/// The form of a line: what stands between its numbers. Most lines of a log have the form of the one before.
/// Benchmark: metric_logs.py, `smd-ls -j 1, a million rows of CSV`.
class LineForm {
 public:
  /// Takes the form of a whole line, whose numbers begin at these offsets. It stays unknown if a number is not written
  /// as in JSON. `exact`: index of a number that must not be rounded; lines in which it may be have another form.
  void learn(std::string_view line, std::span<const std::size_t> numbers, std::optional<std::size_t> exact = {});
  void forget() noexcept { between_.clear(); }
  /// Reads the numbers of the line at the beginning of a text, and returns its length with its line end. Nullopt if it
  /// has another form, or does not end in the text.
  std::optional<std::size_t> read(std::string_view text);
  [[nodiscard]] const std::vector<double>& numbers() const noexcept { return numbers_; }

 private:
  std::vector<std::string> between_;  ///< Before each number, and after the last one; empty: the form is unknown.
  std::vector<double> numbers_;
  std::size_t exact_ = 0;  ///< Index in `numbers_` of the one that must not be rounded; their number: none.
};

/// Returns whether a row can be a header: two names or more, and no number.
[[nodiscard]] bool is_header(const std::vector<std::string_view>& fields) noexcept;

/// Returns the bytes from the beginning of a text to the first header: a byte order mark, blank lines, and lines that
/// begin with `#`. Nullopt if the text ends before.
[[nodiscard]] std::optional<std::size_t> before_header(std::string_view text) noexcept;

/// Returns the length of the JSON object at the beginning of a text; nullopt if it does not end in it. It need not be
/// valid.
[[nodiscard]] std::optional<std::size_t> object_length(std::string_view text) noexcept;

/// Names of steps, the best first. The last ones are those of epochs.
[[nodiscard]] std::optional<std::size_t> rank_of_step_name(std::string_view name) noexcept;

/// Epochs may well be fractions.
[[nodiscard]] inline bool counts_epochs(std::string_view name) noexcept { return name == "epoch" || name == "Epoch"; }

/// Returns the whole number that a step is: `3`, `3.0`, or `3/50`, of which it is 3. Nullopt for all else.
[[nodiscard]] std::optional<std::int64_t> step_of(std::string_view text) noexcept;

/// Why a file is not a CSV of metrics.
inline constexpr std::string_view no_header =
    "is not a metric log: its first line is not a header of two names or more, without a number; smd-save --lines "
    "takes numbers from other text";

inline constexpr std::string_view too_long_line =
    "is not a metric log: its first line is longer than the limit (row_bytes)";

/// Returns why a file is no metric log, by its beginning; nullopt if it may be one. The kind is not_yet if what stands
/// behind it may make it one, as long as it is shorter than `limits::row_bytes`; else not_found. `needs_step`: it must
/// have a name of steps.
[[nodiscard]] std::optional<Problem> metric_log_problem(std::string_view beginning, bool needs_step);

}  // namespace smd::detail::layout
