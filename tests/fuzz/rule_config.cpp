// SPDX-License-Identifier: Apache-2.0
// Parses the input as rule configurations and makes the rules.
#include <smd/rule.hpp>
#include <smd/rule_config.hpp>

#include "source.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace smd;

SMD_FUZZ_ENTRY(rule_config)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  try {
    for (const RuleConfiguration& configuration : parse_rule_configurations(source.rest())) {
      if (configuration.error) {
        SMD_REQUIRE(std::strlen(configuration.error->what()) != 0);
      }
      try {
        const auto rule = make_rule(configuration);
        SMD_REQUIRE(rule != nullptr && !rule->name().empty());
        (void)rule->parameters().effective();
      } catch (const ConfigurationError& error) {
        SMD_REQUIRE(std::strlen(error.what()) != 0);
      }
    }
  } catch (const ConfigurationError& error) {
    SMD_REQUIRE(error.kind == ConfigurationErrorKind::bad_config && std::strlen(error.what()) != 0);
  }
  return 0;
}
