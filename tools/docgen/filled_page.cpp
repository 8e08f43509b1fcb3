// SPDX-License-Identifier: Apache-2.0
#include <smd/version.hpp>

#include "facts.hpp"
#include "pages.hpp"
#include "roff.hpp"
#include "rules.hpp"
#include "slots.hpp"

namespace smd::docgen {

namespace {

std::string limit_list() {
  Roff list;
  list.macro(".Bl -tag -width Ds");
  for (const Limit& limit : limits()) {
    list.macro(".It Li " + roff_word(limit.name));
    list.prose(limit.value + ": " + std::string(limit.of) + ".");
  }
  list.macro(".El");
  return list.text();
}

}  // namespace

std::string filled_page(std::string_view page) {
  return filled(page, {{"DATE", std::string(manual_date)},
                       {"VERSION", std::string(version())},
                       {"LIMITS", limit_list()},
                       {"RULES", rule_sections()}});
}

}  // namespace smd::docgen
