// SPDX-License-Identifier: Apache-2.0
#include "shard_row.hpp"

#include "cli/command_line.hpp"

#include <limits>

namespace smd::tool::reduce {

ShardLayout ShardLayout::of(const ShardLine& line) {
  ShardLayout layout;
  bool after = false;
  bool trial = false;
  for (const auto& [key, value] : line.items()) {
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
  if (!after || !trial || layout.reductions.empty() || !line.contains("partial") || !line.contains("count")) {
    throw InvalidValue("not a row of a shard: make shards with --shard and --jsonl, without --columns");
  }
  return layout;
}

Figure figure_of(const ShardLine& value) {
  switch (value.type()) {
    case ShardLine::value_t::null:
      return {};
    case ShardLine::value_t::boolean:
      return Figure(value.get<bool>());
    case ShardLine::value_t::number_integer:
      // `-0`, for which others than we may write `-0.0`: a zero of floating point.
      return value.get<std::int64_t>() == 0 ? Figure(-0.0) : Figure(value.get<std::int64_t>());
    case ShardLine::value_t::number_unsigned:
      return Figure(value.get<std::uint64_t>());
    case ShardLine::value_t::number_float:
      return Figure(value.get<double>());
    case ShardLine::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      constexpr double infinity = std::numeric_limits<double>::infinity();
      if (text == "NaN") {
        return Figure(std::numeric_limits<double>::quiet_NaN());
      }
      if (text == "Infinity" || text == "-Infinity") {
        return Figure(text.front() == '-' ? -infinity : infinity);
      }
      break;
    }
    case ShardLine::value_t::array:
      if (value.size() == 2 && !value[0].is_array() && !value[1].is_array()) {
        return Figure(std::complex<double>(figure_of(value[0]).number(), figure_of(value[1]).number()));
      }
      break;
    default:
      break;
  }
  throw InvalidValue("a figure is no number");
}

}  // namespace smd::tool::reduce
