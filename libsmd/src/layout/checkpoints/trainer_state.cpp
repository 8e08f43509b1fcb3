// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/trainer_state.hpp"

#include "base/buffer.hpp"
#include "text/json_reader.hpp"
#include "text/number.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <unordered_map>

namespace smd::detail::layout {

namespace {

/// Returns a natural number, also one that is written as `10.0`. Nullopt for any other number.
std::optional<std::int64_t> whole_number(const text::JsonNumber& number) noexcept {
  if (number.natural) {
    return *number.natural <= INT64_MAX ? std::optional(static_cast<std::int64_t>(*number.natural)) : std::nullopt;
  }
  return number.real >= 0 ? text::whole_of(number.real) : std::nullopt;
}

std::string shown_name(std::string_view key) {
  constexpr std::string_view eval = "eval_";
  constexpr std::string_view test = "test_";
  return key.starts_with(eval)   ? "eval/" + std::string(key.substr(eval.size()))
         : key.starts_with(test) ? "test/" + std::string(key.substr(test.size()))
                                 : "train/" + std::string(key);
}

}  // namespace

void TrainerLog::add(std::int64_t step, std::span<const Number> numbers) {
  const auto same = [&](const std::vector<std::uint32_t>& kind) {
    return std::ranges::equal(kind, numbers, {}, {}, &Number::first);
  };
  if (numbers.empty()) {
    return;
  }
  constexpr std::ptrdiff_t most_looks = 16;
  auto kind = std::find_if(kinds_.rbegin(), kinds_.rbegin() + std::min(std::ssize(kinds_), most_looks), same);
  if (kind == kinds_.rend() || !same(*kind)) {
    std::vector<std::uint32_t>& ids = kinds_.emplace_back();
    std::ranges::transform(numbers, std::back_inserter(ids), &Number::first);
    kind = kinds_.rbegin();
  }
  entries_.push_back(
      {step, static_cast<std::uint32_t>(kinds_.rend() - kind - 1), static_cast<std::uint32_t>(values_.size())});
  std::ranges::transform(numbers, std::back_inserter(values_), &Number::second);
}

std::size_t TrainerLog::for_each_step(const std::function<void(std::int64_t, std::span<const Number>)>& take) const {
  std::vector<std::uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t entry) { return entries_[entry].step; });
  std::vector<Number> numbers;
  std::size_t replaced = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Entry& entry = entries_[order[i]];
    std::size_t value = entry.first;
    for (const std::uint32_t name : kinds_[entry.kind]) {
      numbers.emplace_back(name, values_[value++]);
    }
    if (i + 1 < order.size() && entries_[order[i + 1]].step == entry.step) {
      continue;
    }
    std::ranges::stable_sort(numbers, {}, &Number::first);
    const auto same_name = [&](const Number& later, const Number& earlier) {
      const bool same = later.first == earlier.first;
      const auto bits = [](const Number& number) { return std::bit_cast<std::uint64_t>(number.second); };
      replaced += same && bits(later) != bits(earlier) ? 1 : 0;
      return same;
    };
    numbers.erase(numbers.begin(), std::unique(numbers.rbegin(), numbers.rend(), same_name).base());
    take(entry.step, numbers);
    numbers.clear();
  }
  return replaced;
}

std::optional<std::int64_t> global_step_of(std::string_view json) {
  std::optional<std::int64_t> step;
  text::JsonReader reader({.non_finite = true});
  const auto read = [&](std::string_view text) {
    (void)reader.read(text, [&](std::string_view key, text::JsonValue& value) {
      if (key == "global_step") {
        const auto number = value.number();
        step = number ? whole_number(*number) : std::nullopt;
        reader.leave();
      }
    });
  };
  if (const std::size_t last = json.find_last_not_of(" \t\n\r"); last != json.npos && json[last] == '}') {
    read(json);
    return step;
  }
  // Of a beginning, what follows the last comma is left out: digits may be missing there.
  const std::size_t comma = json.rfind(',');
  std::string beginning(json.substr(0, comma == json.npos ? 0 : comma));
  beginning.reserve(beginning.size() + 1 + Buffer::padding);
  read(beginning += '}');
  return step;
}

Outcome<TrainerLog> parse_trainer_log(std::string_view json, const std::function<bool()>* stop) {
  TrainerLog log;
  std::unordered_map<std::string, std::uint32_t> ids;  // of names
  std::vector<TrainerLog::Number> numbers;
  // An entry's step is one of its numbers, in most cases the last.
  const auto read_entry = [&](text::JsonValue& entry) {
    numbers.clear();
    std::optional<std::int64_t> step;
    entry.members([&](std::string_view key, text::JsonValue& value) {
      const auto number = value.number();
      const auto word = value.quoted_non_finite();
      if (number && key == "step") {
        step = whole_number(*number);
      } else if (number || word) {
        const auto [id, fresh] = ids.try_emplace(std::string(key), static_cast<std::uint32_t>(log.names.size()));
        if (fresh) {
          log.names.push_back(shown_name(key));
        }
        numbers.emplace_back(id->second, number ? number->real : *word);
      } else {
        ++log.texts;
      }
    });
    if (step) {
      log.add(*step, numbers);
    } else {
      log.without_step += numbers.empty() ? 0 : 1;
    }
  };
  text::JsonReader reader({.non_finite = true, .stop = stop});
  const auto error = reader.read(json, [&](std::string_view key, text::JsonValue& value) {
    if (key == "log_history") {
      log = {};
      ids.clear();
      value.items(read_entry);
    }
  });
  return error ? Outcome<TrainerLog>(wire::json_problem(*error, json)) : std::move(log);
}

}  // namespace smd::detail::layout
