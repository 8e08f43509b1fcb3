// SPDX-License-Identifier: Apache-2.0
// The small languages of options, selected by the first byte: steps, slices, bins, reductions, names of types and
// modes. Accepted input must be valid when applied; everything else is refused with a message.
#include <smd/collection.hpp>
#include <smd/error.hpp>
#include <smd/reduction.hpp>
#include <smd/step.hpp>

#include "cli/exit_status.hpp"
#include "draw/bins.hpp"
#include "reduce/partial.hpp"
#include "reduce/statistic.hpp"
#include "save/array.hpp"
#include "select/slice.hpp"
#include "select/step_spec.hpp"
#include "source.hpp"
#include "target.hpp"
#include "text/limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

using namespace smd;
using namespace smd::tool;

namespace {

void steps(fuzz::Source& source) {
  std::vector<std::int64_t> saved;
  const unsigned count = source.number() % 8;
  for (unsigned i = 0; i < count; ++i) {
    saved.push_back(i % 2 == 0 ? source.number<std::int64_t>() : source.number<std::uint8_t>());
  }
  std::sort(saved.begin(), saved.end());
  const StepSpec spec = StepSpec::parse(source.rest());
  const StepChoice choice = spec.choose(saved);
  SMD_REQUIRE(std::is_sorted(choice.indices.begin(), choice.indices.end()));
  SMD_REQUIRE(std::adjacent_find(choice.indices.begin(), choice.indices.end()) == choice.indices.end());
  SMD_REQUIRE(choice.indices.empty() || choice.indices.back() < saved.size());
  SMD_REQUIRE(!spec.all() || choice.indices.size() == saved.size());
  // The range to read must include all selected steps. A number that occurs several times is one step.
  std::vector<std::int64_t> distinct;
  std::unique_copy(saved.begin(), saved.end(), std::back_inserter(distinct));
  const StepNeed need = spec.need();
  for (const std::size_t index : choice.indices) {
    switch (need.kind) {
      case StepNeed::Kind::everything:
        break;
      case StepNeed::Kind::newest: {
        const auto after = std::upper_bound(distinct.begin(), distinct.end(), saved[index]);
        SMD_REQUIRE(static_cast<std::size_t>(distinct.end() - after) < need.count);
        break;
      }
      case StepNeed::Kind::oldest: {
        const auto place = std::lower_bound(distinct.begin(), distinct.end(), saved[index]);
        SMD_REQUIRE(static_cast<std::size_t>(place - distinct.begin()) < need.count);
        break;
      }
      case StepNeed::Kind::windows:
        SMD_REQUIRE(std::any_of(need.windows.begin(), need.windows.end(), [&](const StepRange& window) {
          const GlobalStep step(saved[index]);
          return step >= window.first && (!window.end || step < *window.end);
        }));
        break;
    }
  }
}

void slices(fuzz::Source& source) {
  Shape shape;
  const unsigned axes = source.number() % 6;
  std::uint64_t elements = 1;
  for (unsigned i = 0; i < axes; ++i) {
    shape.push_back(source.number() % 7);
    elements *= static_cast<std::uint64_t>(shape.back());
  }
  const SliceSpec spec = SliceSpec::parse(source.rest());
  const StridedPart part = spec.apply(shape);
  SMD_REQUIRE(part.shape.size() == part.strides.size() && part.shape.size() <= shape.size());
  const std::uint64_t count = element_count(part.shape).value();
  SMD_REQUIRE(count <= elements);
  std::int64_t first = part.offset;
  std::int64_t last = part.offset;
  for (std::size_t axis = 0; axis < part.shape.size() && count != 0; ++axis) {
    (part.strides[axis] < 0 ? first : last) += part.strides[axis] * (part.shape[axis] - 1);
  }
  SMD_REQUIRE(count == 0 || (first >= 0 && static_cast<std::uint64_t>(last) < elements));
}

void reductions(fuzz::Source& source) {
  const auto reduction = parse_reduction(source.rest());
  if (reduction) {
    SMD_REQUIRE(reduction->percent >= 0 && reduction->percent <= 100);
    SMD_REQUIRE(parse_reduction(to_string(*reduction)) == *reduction);
  }
  (void)tool::reduce::wanted_reductions({std::string(source.rest())}, false, {"mean", "odd name"});
  (void)parse_reduction_config(source.rest());
}

void partials(fuzz::Source& source) {
  const auto partial = tool::reduce::parse_partial(source.rest());
  if (partial) {
    const std::string text = to_text(*partial);
    const auto again = tool::reduce::parse_partial(text);
    SMD_REQUIRE(again && to_text(*again) == text);
  }
}

void others(fuzz::Source& source) {
  const auto mode = parse_mode(source.rest());
  SMD_REQUIRE(!mode || parse_mode(to_string(*mode)) == mode);
  const BinSpec bins = BinSpec::parse(source.rest());
  SMD_REQUIRE(bins.count >= 1 && bins.low.has_value() == bins.high.has_value());
  SMD_REQUIRE(!bins.low || (std::isfinite(*bins.low) && std::isfinite(*bins.high) && *bins.low <= *bins.high));
}

}  // namespace

SMD_FUZZ_ENTRY(specs)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  using Target = void (*)(fuzz::Source&);
  constexpr Target targets[] = {steps, slices, reductions, partials, others};
  try {
    targets[source.number() % std::size(targets)](source);
  } catch (const InvalidValue& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  } catch (const UsageError& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  } catch (const InvalidArgument& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  }
  return 0;
}
