// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/reduction.hpp>
#include <smd/reduction_config.hpp>

#include "reduce/saved_reductions.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"
#include "text/trim.hpp"

#include <algorithm>

namespace smd {
namespace {

[[noreturn]] void refuse(std::string_view name) {
  std::vector<std::string> known;
  std::string plain;
  for (const ReductionFacts& one : reduction_table) {
    if (one.saved_by != SavedBy::none) {
      known.emplace_back(one.name);
      known.push_back("abs_" + std::string(one.name));
      plain += std::string(one.name) + " ";
    }
  }
  plain.back() = ',';
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::vector<std::string> near = detail::nearest(name, names, 1);
  throw InvalidArgument(
      "'" + detail::printable(name) + "' is not a reduction that can be saved" +
      (near.empty() ? "; there are " + plain + " each also abs_" : "; did you mean '" + near.front() + "'?"));
}

void add(ReductionConfig& config, const std::string& name) {
  const std::string plain = detail::reduce::plain_reduction_name(name);
  if (!detail::reduce::can_be_saved(plain)) {
    refuse(name);
  }
  if (std::find(config.reductions.begin(), config.reductions.end(), plain) == config.reductions.end()) {
    config.reductions.push_back(plain);
  }
}

}  // namespace

ReductionConfig ReductionConfig::parse(std::string_view list, bool save_raw_tensor, bool save_shape) {
  ReductionConfig config{.save_raw_tensor = save_raw_tensor, .save_shape = save_shape};
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (const std::string_view name = text::trimmed(list.substr(0, comma)); !name.empty()) {
      add(config, std::string(name));
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return config;
}

ReductionConfig ReductionConfig::of(const std::vector<std::string>& reductions,
                                    const std::vector<std::string>& abs_reductions,
                                    const std::vector<std::string>& norms, const std::vector<std::string>& abs_norms,
                                    bool save_raw_tensor, bool save_shape) {
  ReductionConfig config{.save_raw_tensor = save_raw_tensor, .save_shape = save_shape};
  for (const auto* list : {&reductions, &norms}) {
    for (const std::string& name : *list) {
      add(config, name);
    }
  }
  for (const auto* list : {&abs_reductions, &abs_norms}) {
    for (const std::string& name : *list) {
      add(config, "abs_" + name);
    }
  }
  return config;
}

}  // namespace smd
