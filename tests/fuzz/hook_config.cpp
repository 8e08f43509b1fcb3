// SPDX-License-Identifier: Apache-2.0
// Parses the input as a hook's configuration. The first byte selects the framework whose built-in collections it has.
#include <smd/error.hpp>
#include <smd/hook_config.hpp>

#include "source.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace smd;

SMD_FUZZ_ENTRY(hook_config)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  const auto framework = static_cast<Framework>(source.number() % 4);
  try {
    const HookConfig config = HookConfig::parse(source.rest(), "config.json", framework);
    for (const Collection& collection : config.collections) {
      SMD_REQUIRE(!collection.name.empty());
    }
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, INT64_MAX, INT64_MIN}) {
      for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
        (void)config.save_config.should_save_step(mode, step);
      }
    }
  } catch (const InvalidArgument& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  }
  return 0;
}
