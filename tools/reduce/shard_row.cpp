// SPDX-License-Identifier: Apache-2.0
#include "shard_row.hpp"

#include "cli/command_line.hpp"

#include <nlohmann/json.hpp>

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

}  // namespace smd::tool::reduce
