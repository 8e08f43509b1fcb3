// SPDX-License-Identifier: Apache-2.0
#include "reduce/saved_reductions.hpp"

#include <smd/reduction.hpp>

#include <algorithm>

namespace smd::detail::reduce {

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

}  // namespace smd::detail::reduce
