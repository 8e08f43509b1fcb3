// SPDX-License-Identifier: Apache-2.0
#include "shard_row.hpp"

#include "cli/command_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <limits>

namespace smd::tool::reduce {

namespace {

using Json = nlohmann::ordered_json;

template <class Get>
auto checked(Get&& get) {
  try {
    return get();
  } catch (const Json::exception& error) {
    throw MalformedShardLine(error.what());
  }
}

Statistic statistic_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return {};
    case Json::value_t::boolean:
      return Statistic(value.get<bool>());
    case Json::value_t::number_integer:
      // `-0`, which other programs may write for `-0.0`: a floating-point zero.
      return value.get<std::int64_t>() == 0 ? Statistic(-0.0) : Statistic(value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return Statistic(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return Statistic(value.get<double>());
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      constexpr double infinity = std::numeric_limits<double>::infinity();
      if (text == "NaN") {
        return Statistic(std::numeric_limits<double>::quiet_NaN());
      }
      if (text == "Infinity" || text == "-Infinity") {
        return Statistic(text.front() == '-' ? -infinity : infinity);
      }
      break;
    }
    case Json::value_t::array:
      if (value.size() == 2 && !value[0].is_array() && !value[1].is_array()) {
        return Statistic(std::complex<double>(statistic_of(value[0]).number(), statistic_of(value[1]).number()));
      }
      break;
    case Json::value_t::object:
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  throw InvalidValue("a statistic is no number");
}

}  // namespace

ShardLine::ShardLine(const std::string& line)
    : object_(checked([&] { return std::make_unique<Json>(Json::parse(line)); })) {}

ShardLine::~ShardLine() = default;

std::string ShardLine::text(const std::string& key) const {
  return checked([&] { return object_->at(key).get<std::string>(); });
}

std::string ShardLine::text_or_null(const std::string& key) const {
  return checked([&] {
    const Json& value = object_->at(key);
    return value.is_null() ? std::string() : value.get<std::string>();
  });
}

std::int64_t ShardLine::number(const std::string& key) const {
  return checked([&] { return object_->at(key).get<std::int64_t>(); });
}

bool ShardLine::is_floating(const std::string& key) const {
  return checked([&] { return object_->at(key).is_number_float(); });
}

Statistic ShardLine::statistic(const std::string& key) const {
  return checked([&] { return statistic_of(object_->at(key)); });
}

ShardLayout ShardLayout::of(const ShardLine& line) {
  ShardLayout layout;
  bool after = false;
  bool trial = false;
  for (const auto& [key, value] : line.object().items()) {
    if (!after) {
      trial = trial || key == "trial";
      layout.by.tensor = layout.by.tensor || key == "tensor";
      layout.by.step = layout.by.step || key == "step";
      layout.by.worker = layout.by.worker || key == "worker";
      after = key == "source";
    } else if (key != "partial") {
      layout.reductions.push_back(key);
    }
  }
  if (!after || !trial || layout.reductions.empty() || !line.object().contains("partial") ||
      !line.object().contains("count")) {
    throw InvalidValue("not a row of a shard: make shards with --shard and --jsonl, without --columns");
  }
  return layout;
}

namespace {

constexpr std::string_view version = "2";

// Calls visit for each number that identifies the part, in the order of the text.
template <class Data, class Visit>
void for_each_place(Data& partial, Visit&& visit) {
  visit(partial.shard.index);
  visit(partial.shard.count);
  visit(partial.steps.count);
  visit(partial.steps.first);
  visit(partial.steps.last);
}

// Calls visit for each number of a PartialReduction, in the order of the text.
template <class Data, class Visit>
void for_each_number(Data& data, Visit&& visit) {
  visit(data.count);
  visit(data.nan);
  visit(data.posinf);
  visit(data.neginf);
  visit(data.zero);
  visit(data.negative);
  visit(data.min);
  visit(data.max);
  visit(data.abs_min);
  visit(data.min_integer_high);
  visit(data.min_integer_low);
  visit(data.max_integer_high);
  visit(data.max_integer_low);
  visit(data.abs_min_integer_high);
  visit(data.abs_min_integer_low);
  for (auto* const pair : {&data.sum, &data.abs_sum, &data.m2, &data.abs_m2, &data.prod}) {
    visit((*pair)[0]);
    visit((*pair)[1]);
  }
  visit(data.sum_integer_high);
  visit(data.sum_integer_low);
  visit(data.abs_sum_integer_high);
  visit(data.abs_sum_integer_low);
  visit(data.prod_exponent);
}

void skip_spaces(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())); }

template <class Number>
bool read(std::string_view& text, Number& number) {
  skip_spaces(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || (end != text.data() + text.size() && *end != ' ')) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::string_view word(std::string_view& text) {
  const std::size_t end = text.find(' ');
  const std::string_view result = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return result;
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
  for_each_place(partial, append);
  text += ' ';
  text += partial.how;
  text += partial.options.nan == NanPolicy::omit ? " omit " : " propagate ";
  text += std::to_string(partial.options.ddof);
  if (!partial.data) {
    return text + " complex";
  }
  text += partial.data->integers ? " integers" : " reals";
  for_each_number(*partial.data, append);
  return text;
}

std::optional<Partial> parse_partial(std::string_view text) {
  Partial partial;
  if (word(text) != version) {
    return std::nullopt;
  }
  bool good = true;
  const auto take = [&](auto& number) { good = good && read(text, number); };
  for_each_place(partial, take);
  if (!good || partial.shard.index < 1 || partial.shard.index > partial.shard.count) {
    return std::nullopt;
  }
  skip_spaces(text);
  partial.how = word(text);
  const std::string_view nan = word(text);
  if (partial.how.find_first_not_of("csb-") != std::string::npos || (nan != "omit" && nan != "propagate")) {
    return std::nullopt;
  }
  partial.options.nan = nan == "omit" ? NanPolicy::omit : NanPolicy::propagate;
  take(partial.options.ddof);
  skip_spaces(text);
  const std::string_view kind = word(text);
  if (kind == "complex" && good && text.empty()) {
    return partial;
  }
  good = good && (kind == "integers" || kind == "reals");
  PartialReduction& data = partial.data.emplace();
  data.integers = kind == "integers";
  for_each_number(data, take);
  if (!good || !text.empty()) {
    return std::nullopt;
  }
  return partial;
}

}  // namespace smd::tool::reduce
