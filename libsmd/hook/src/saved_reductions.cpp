// SPDX-License-Identifier: Apache-2.0
#include "file_text.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/trim.hpp"
#include "text/words.hpp"

#include <smd/error.hpp>
#include <smd/hook_config.hpp>
#include <smd/reduction.hpp>

#include <algorithm>
#include <utility>

namespace smd::detail::hook {

std::string plain_reduction_name(std::string_view name) {
  const bool norm = name == "l1_norm" || name == "l2_norm" || name == "abs_l1_norm" || name == "abs_l2_norm";
  return std::string(name.substr(0, norm ? name.rfind('_') : name.npos));
}

bool can_be_saved(std::string_view plain) noexcept {
  if (plain.starts_with("abs_")) {
    plain.remove_prefix(4);
  }
  return std::ranges::any_of(all_reductions(), [plain](const ReductionFacts& facts) {
    return facts.name == plain && facts.saved_by != SavedBy::none;
  });
}

std::string reference_reduction_list(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& [abs, norm] : {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
    for (const std::string& name : names) {
      const std::string plain = plain_reduction_name(name);
      const bool is_abs = plain.starts_with("abs_");
      const bool is_norm = plain.ends_with("l1") || plain.ends_with("l2");
      if (is_abs != abs || is_norm != norm || plain.ends_with("median") || !can_be_saved(plain)) {
        continue;
      }
      text::append_part(list, plain + (is_norm ? "_norm" : ""), ",");
    }
  }
  return list;
}

}  // namespace smd::detail::hook

namespace smd {
namespace {

[[noreturn]] void refuse(std::string_view name) {
  std::vector<std::string> known;
  std::string plain;
  for (const ReductionFacts& one : all_reductions()) {
    if (one.saved_by != SavedBy::none) {
      known.emplace_back(one.name);
      known.push_back("abs_" + std::string(one.name));
      plain += std::string(one.name) + " ";
    }
  }
  plain.back() = ',';
  const std::string near = detail::did_you_mean(detail::nearest(name, known, 1));
  throw InvalidArgument(detail::in_quotes(name) + " is not a reduction that can be saved" +
                        (near.empty() ? "; there are " + plain + " each also abs_" : near));
}

}  // namespace

ReductionConfig parse_reduction_config(std::string_view list, bool save_raw_tensor, bool save_shape) {
  ReductionConfig config{.save_raw_tensor = save_raw_tensor, .save_shape = save_shape};
  for (const std::string& name : text::list_items(list)) {
    const std::string plain = detail::hook::plain_reduction_name(name);
    if (!detail::hook::can_be_saved(plain)) {
      refuse(name);
    }
    detail::add_once(config.reductions, plain);
  }
  return config;
}

}  // namespace smd
