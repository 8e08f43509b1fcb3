// SPDX-License-Identifier: Apache-2.0
#include "layout/metrics/metric_text.hpp"

#include "text/limits.hpp"
#include "text/number.hpp"
#include "text/trim.hpp"
#include "types/outcome.hpp"
#include "wire/flat_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace smd::detail::layout {

namespace {

// clang-format off
constexpr std::array<std::string_view, 17> step_names = {
    "step", "global_step", "_step", "trainer/global_step", "train/global_step", "current_steps", "iteration", "iter",
    "training_iteration", "time/total_timesteps", "total_timesteps", "timesteps_total", "num_timesteps", "Step",
    "steps", "epoch", "Epoch"};
// clang-format on

}  // namespace

std::string_view behind_zeros(std::string_view text) noexcept {
  return text.starts_with('\0') ? text.substr(std::min(text.find('\n'), text.size() - 1) + 1) : text;
}

std::optional<MetricForm> form_of(std::string_view text) noexcept {
  text = behind_zeros(text);
  if (text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == text.npos   ? std::nullopt
         : text[first] == '{' ? std::optional(MetricForm::lines)
         : text[first] == '[' ? std::optional(MetricForm::array)
                              : std::optional(MetricForm::csv);
}

std::string_view from_unquoted(std::string_view text, char wanted) noexcept {
  bool quoted = false;
  const auto found = std::ranges::find_if(text, [&](char character) {
    quoted = character == '"' ? !quoted : quoted;
    return !quoted && character == wanted;
  });
  return {found, text.end()};
}

char CsvSplitter::separator_of(std::string_view header) noexcept {
  const auto has = [&](char separator) { return !from_unquoted(header, separator).empty(); };
  return has(',') ? ',' : has(';') ? ';' : has('\t') ? '\t' : ',';
}

std::optional<std::size_t> CsvSplitter::split_row(std::string_view text, bool last) {
  fields_.clear();
  unquoted_.clear();
  quoted_.clear();
  in_quotes_ = false;
  const std::string_view blanks = separator_ == '\t' ? " \r" : " \t\r";
  std::size_t line_end = text.find('\n');
  if (line_end == text.npos && !last) {
    return std::nullopt;
  }
  line_end = std::min(line_end, text.size());
  if (text.substr(0, line_end).find('"') == text.npos) {  // the usual case
    std::string_view line = text.substr(0, line_end);
    for (std::size_t end = line.find(separator_); end != line.npos; end = line.find(separator_)) {
      fields_.push_back(text::trimmed(line.substr(0, end), blanks));
      line.remove_prefix(end + 1);
    }
    fields_.push_back(text::trimmed(line, blanks));
    return std::min(line_end + 1, text.size());
  }
  std::size_t at = 0;
  const auto end_of_field = [&] {
    line_end = line_end < at ? std::min(text.find('\n', at), text.size()) : line_end;
    return std::min(text.substr(0, line_end).find(separator_, at), line_end);
  };
  while (true) {
    at = std::min(text.find_first_not_of(blanks, at), text.size());
    if (at < text.size() && text[at] == '"') {
      const std::size_t begin = at;
      quoted_.push_back({fields_.size(), unquoted_.size()});
      fields_.emplace_back();
      in_quotes_ = true;
      for (++at; at < text.size(); ++at) {
        if (text[at] == '"') {
          ++at;
          if (at == text.size() || text[at] != '"') {
            in_quotes_ = false;
            break;
          }
        }
        unquoted_.push_back(text[at]);
      }
      std::size_t end = end_of_field();
      if (!text::trimmed(text.substr(at, end - at), blanks).empty()) {  // then the quotes are a part of the text
        if (text.substr(begin, at - begin).find('\n') != text.npos) {   // and the first was not closed in its line
          at = begin;
          line_end = std::min(text.find('\n', at), text.size());
          end = end_of_field();
        }
        unquoted_.resize(quoted_.back().begin);
        quoted_.pop_back();
        fields_.back() = text::trimmed(text.substr(begin, end - begin), blanks);
      }
      at = end;
    } else {
      const std::size_t end = end_of_field();
      fields_.push_back(text::trimmed(text.substr(at, end - at), blanks));
      at = end;
    }
    if (at == text.size() && !last) {
      return std::nullopt;
    }
    if (at == text.size() || text[at++] == '\n') {
      break;
    }
  }
  for (std::size_t i = 0; i < quoted_.size(); ++i) {
    const std::size_t end = i + 1 < quoted_.size() ? quoted_[i + 1].begin : unquoted_.size();
    fields_[quoted_[i].field] =
        text::trimmed(std::string_view(unquoted_).substr(quoted_[i].begin, end - quoted_[i].begin));
  }
  return at;
}

void LineForm::learn(std::string_view line, std::span<const std::size_t> numbers, std::optional<std::size_t> exact) {
  forget();
  exact_ = exact.value_or(numbers.size());
  if (numbers.empty() || !line.ends_with('\n')) {
    return;
  }
  std::size_t begin = 0;
  for (const std::size_t at : numbers) {
    text::JsonNumber number;
    const char* const end =
        at < begin ? nullptr : text::read_json_number(line.data() + at, line.data() + line.size(), number);
    if (end == nullptr) {
      return forget();
    }
    between_.emplace_back(line.substr(begin, at - begin));
    begin = static_cast<std::size_t>(end - line.data());
  }
  between_.emplace_back(line.substr(begin));
  numbers_.resize(numbers.size());
}

std::optional<std::size_t> LineForm::read(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  double* const numbers = numbers_.data();
  for (std::size_t i = 0; i < between_.size(); ++i) {
    const std::string_view between = between_[i];
    const bool one = between.size() == 1;  // as commas are: without a call
    if (one ? at == end || *at != between.front() : !std::string_view(at, end).starts_with(between)) {
      return std::nullopt;
    }
    at += between.size();
    if (i == numbers_.size()) {
      return static_cast<std::size_t>(at - text.data());
    }
    bool is_whole = false;
    const char* const after = text::read_json_real(at, end, numbers[i], is_whole);
    if (after == nullptr || (*at == '-' && numbers[i] == 0) ||  // -0 is read in several ways
        (i == exact_ && std::abs(numbers[i]) >= text::most_exact_whole)) {
      return std::nullopt;
    }
    at = after;
  }
  return std::nullopt;
}

bool is_header(const std::vector<std::string_view>& fields) noexcept {
  return fields.size() >= 2 && std::any_of(fields.begin(), fields.end(), [](auto field) { return !field.empty(); }) &&
         std::none_of(fields.begin(), fields.end(), [](auto field) { return text::number_of(field).has_value(); });
}

std::optional<std::size_t> before_header(std::string_view text) noexcept {
  std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text::trimmed(text.substr(at, end - at));
    if (!line.empty() && !line.starts_with('#')) {
      return at;
    }
    if (end == text.npos) {
      return std::nullopt;
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::optional<std::size_t> object_length(std::string_view text) noexcept {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    if (quoted) {
      at += character == '\\' ? 1 : 0;
      quoted = character != '"';
    } else if (character == '"') {
      quoted = true;
    } else if (character == '{') {
      ++depth;
    } else if (character == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> rank_of_step_name(std::string_view name) noexcept {
  const auto known = std::find(step_names.begin(), step_names.end(), name);
  return known == step_names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(known - step_names.begin()));
}

std::optional<std::int64_t> step_of(std::string_view text) noexcept {
  std::int64_t whole = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, whole);
  if (error == std::errc{} && (end == last || (*end == '/' && text::number_of({end + 1, last})))) {
    return whole;
  }
  const auto number = text::number_of(text);
  return number ? text::whole_of(*number) : std::nullopt;
}

std::optional<Problem> metric_log_problem(std::string_view beginning, bool needs_step) {
  const auto refuse = [&](bool begun, std::string_view why) {
    const bool too_long = begun && beginning.size() >= limits::row_bytes;
    return make_problem(begun && !too_long ? ProblemKind::not_yet : ProblemKind::not_found,
                        std::string(too_long ? too_long_line : why));
  };
  beginning = behind_zeros(beginning);
  const std::string no_step = "a metric log needs a step, or an epoch; --step-name names another one";
  const auto form = form_of(beginning);
  if (!form) {
    return refuse(true, "is empty, and not a metric log");
  }
  if (*form == MetricForm::csv) {
    const auto skipped = before_header(beginning);
    const std::string_view text = skipped ? beginning.substr(*skipped) : std::string_view();
    CsvSplitter row(CsvSplitter::separator_of(text.substr(0, text.find('\n'))));
    const bool begun = !row.split(text);
    if (begun) {
      row.split_last(text);
    }
    if (!is_header(row.fields())) {
      return refuse(begun, no_header);
    }
    const bool named = std::ranges::any_of(row.fields(), [](auto name) { return rank_of_step_name(name).has_value(); });
    return needs_step && !named ? std::optional(refuse(begun, "no column is a step: " + no_step)) : std::nullopt;
  }
  std::string_view text = beginning.substr(beginning.find(*form == MetricForm::array ? '[' : '{'));
  if (*form == MetricForm::array) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n", 1), text.size()));
  }
  const auto length = text.starts_with('{') ? object_length(text) : std::nullopt;
  const std::string_view object = text.substr(0, length.value_or(0));
  if (*form == MetricForm::lines && text.substr(0, length.value_or(text.npos)).find('\n') != text.npos) {
    return refuse(false, "is one JSON document, and not JSON lines: an object takes several lines");
  }
  if (!length) {
    const bool begun = text.empty() || text.front() == '{';
    return refuse(begun, begun ? "is not a metric log: it ends before its first object does"
                               : "is not a metric log: its array does not begin with an object");
  }
  std::string padded(object);
  padded.reserve(padded.size() + Buffer::padding);
  wire::FlatJson values;
  if (!values.add_object(padded)) {
    return refuse(false, "is not a metric log: its first line is not one JSON object, or is nested too deeply");
  }
  const bool named = std::any_of(values.values().begin(), values.values().end(),
                                 [&](const auto& value) { return rank_of_step_name(values.name(value)).has_value(); });
  return needs_step && !named ? std::optional(refuse(false, "no member of its first object is a step: " + no_step +
                                                                ", also one that only later rows have"))
                              : std::nullopt;
}

}  // namespace smd::detail::layout
