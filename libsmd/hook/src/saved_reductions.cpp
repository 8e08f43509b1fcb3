// SPDX-License-Identifier: Apache-2.0
#include "file_text.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"
#include "text/trim.hpp"

#include <smd/error.hpp>
#include <smd/hook_config.hpp>
#include <smd/reduction.hpp>

#include <algorithm>

namespace smd::detail::hook {

std::string plain_reduction_name(std::string_view name) {
  std::string plain(name);
  if (plain.ends_with("_norm")) {
    plain.resize(plain.size() - 5);
    if (plain != "l1" && plain != "l2" && plain != "abs_l1" && plain != "abs_l2") {
      plain = name;
    }
  }
  return plain;
}

bool can_be_saved(std::string_view plain) noexcept {
  if (plain.starts_with("abs_")) {
    plain.remove_prefix(4);
  }
  return std::any_of(reduction_table.begin(), reduction_table.end(), [plain](const ReductionFacts& facts) {
    return facts.name == plain && facts.saved_by != SavedBy::none;
  });
}

std::string reference_reduction_list(const std::vector<std::string>& names) {
  std::string list;
  const auto append = [&](bool abs, bool norm) {
    for (const std::string& name : names) {
      const std::string plain = plain_reduction_name(name);
      const bool is_abs = plain.starts_with("abs_");
      const bool is_norm = plain.ends_with("l1") || plain.ends_with("l2");
      if (is_abs != abs || is_norm != norm || plain.ends_with("median") || !can_be_saved(plain)) {
        continue;
      }
      list += (list.empty() ? "" : ",") + plain + (is_norm ? "_norm" : "");
    }
  };
  append(false, false);
  append(false, true);
  append(true, false);
  append(true, true);
  return list;
}

}  // namespace smd::detail::hook

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
  const std::string plain = detail::hook::plain_reduction_name(name);
  if (!detail::hook::can_be_saved(plain)) {
    refuse(name);
  }
  if (std::find(config.reductions.begin(), config.reductions.end(), plain) == config.reductions.end()) {
    config.reductions.push_back(plain);
  }
}

}  // namespace

ReductionConfig parse_reduction_config(std::string_view list, bool save_raw_tensor, bool save_shape) {
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

}  // namespace smd
