// SPDX-License-Identifier: Apache-2.0
#include "partial.hpp"

#include "text/json.hpp"
#include "text/number.hpp"
#include "text/trim.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <tuple>

namespace smd::tool::reduce {

namespace {

constexpr std::string_view version = "3";

// The numbers that identify the part, in the order of the text.
template <class Data>
auto place_of_part(Data& of) {
  return std::tie(of.shard.index, of.shard.count, of.steps.count, of.steps.first, of.steps.last);
}

// The numbers of a PartialReduction, in the order of the text.
template <class Data>
auto numbers_of(Data& of) {
  return std::tie(of.count, of.nan, of.posinf, of.neginf, of.zero, of.negative, of.min, of.max, of.abs_min,
                  of.min_integer_high, of.min_integer_low, of.max_integer_high, of.max_integer_low,
                  of.abs_min_integer_high, of.abs_min_integer_low, of.sum[0], of.sum[1], of.abs_sum[0], of.abs_sum[1],
                  of.m2[0], of.m2[1], of.abs_m2[0], of.abs_m2[1], of.prod[0], of.prod[1], of.sum_integer_high,
                  of.sum_integer_low, of.abs_sum_integer_high, of.abs_sum_integer_low, of.prod_exponent);
}

template <class Numbers, class Visit>
void for_each(const Numbers& numbers, Visit&& visit) {
  std::apply([&](auto&... number) { (visit(number), ...); }, numbers);
}

}  // namespace

std::string to_text(const Partial& partial) {
  std::string text(version);
  const auto append = [&text](const auto& number) {
    std::array<char, 32> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    text += ' ';
    text.append(digits.data(), end);
  };
  for_each(place_of_part(partial), append);
  text += ' ';
  text += partial.how;
  text += partial.options.omit_nan ? " omit " : " propagate ";
  text += std::to_string(partial.options.ddof);
  if (!partial.data) {
    return text + " complex";
  }
  text += partial.data->integers ? " integers" : " reals";
  for_each(numbers_of(*partial.data), append);
  return text;
}

std::optional<Partial> parse_partial(std::string_view text) {
  Partial partial;
  const auto word = [&text] { return text::next_part(text, " "); };
  bool good = word() == version;
  const auto take = [&]<class Number>(Number& number) {
    const std::optional<Number> parsed = text::parsed<Number>(word());
    good = good && parsed;
    number = parsed.value_or(Number());
  };
  for_each(place_of_part(partial), take);
  if (!good || partial.shard.index < 1 || partial.shard.index > partial.shard.count) {
    return std::nullopt;
  }
  partial.how = word();
  const std::string_view nan = word();
  if (partial.how.find_first_not_of("csbx-") != std::string::npos || (nan != "omit" && nan != "propagate")) {
    return std::nullopt;
  }
  partial.options.omit_nan = nan == "omit";
  take(partial.options.ddof);
  const std::string_view kind = word();
  if (kind == "complex" && good && text.empty()) {
    return partial;
  }
  good = good && (kind == "integers" || kind == "reals");
  PartialReduction& data = partial.data.emplace();
  data.integers = kind == "integers";
  for_each(numbers_of(data), take);
  return good && text.empty() ? std::optional(std::move(partial)) : std::nullopt;
}

std::string no_rows_line(const Session& session) {
  const Partial partial = {
      .shard = *session.options.shard, .steps = session.sharded, .how = "-", .options = {}, .data = {}};
  return fmt::format("{{\"trial\":{},\"partial\":\"{}\"}}\n", text::json_string(session.name), to_text(partial));
}

std::string last_line(const Shard& shard, std::size_t lines, ExitStatus status) {
  return fmt::format(R"({{"record":"part","part":{},"parts":{},"records":{},"status":{}}})", shard.index, shard.count,
                     lines, static_cast<int>(status)) +
         "\n";
}

}  // namespace smd::tool::reduce
