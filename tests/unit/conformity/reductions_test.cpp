// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"

#include <smd/reduction.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

// Compares Tensor::reduction_value of every recorded value with exact arithmetic. records_test.cpp checks that saved
// reductions are returned bit for bit.
namespace smd::test {
namespace {

// The scale of rounding errors of a reduction: the magnitude of what was added.
double scale_of(const std::string& name, const Json& exact, double expected) {
  const char* const whole = name == "mean" ? "abs_mean" : name == "sum" ? "abs_sum" : nullptr;
  return whole != nullptr && exact.contains(whole) ? recorded_number(exact.at(whole)) : std::abs(expected);
}

}  // namespace

TEST_CASE("reductions that were not saved are computed from the value, as in exact arithmetic") {
  std::size_t compared = 0;
  for_each_trial([&](const Recorded& trial, const Trial& opened) {
    for_each_record(trial, [&](const std::string& tensor, const Json& record) {
      if (!record.contains("numpy")) {
        return;
      }
      const Tensor handle = opened.tensor(tensor);
      const GlobalStep step(record.at("global_step"));
      const std::string worker = right(record, "worker");
      const auto saved = handle.reduction_values(step, worker);
      const Json& exact = record.at("exact");
      const Json& numpy = record.at("numpy");
      Json expected_values = exact;
      expected_values.update(numpy);
      for (const auto& [name_key, answer] : expected_values.items()) {
        const auto& name = name_key;
        if (saved.contains(name) || !parse_reduction(name)) {
          continue;
        }
        double expected = recorded_number(answer);
        const bool finite_overflow = numpy.at("nan") == 0 && numpy.at("neginf") > 0 && numpy.at("posinf") == 0;
        if (finite_overflow && (name == "mean" || name == "sum")) {
          expected = -HUGE_VAL;  // recorded as NaN if the finite numbers overflow before they are combined with the
                                 // infinity
        }
        CAPTURE(tensor);
        CAPTURE(name);
        if (record.at("numpy").at("count") == 0 &&
            (name == "min" || name == "max" || name == "abs_min" || name == "abs_max")) {
          CHECK_THROWS_AS((void)handle.reduction_value(step, name, false, worker), InvalidArgument);
          continue;
        }
        const bool abs = name.starts_with("abs_");
        const TensorValue value = handle.reduction_value(step, abs ? name.substr(4) : name, abs, worker);
        REQUIRE(value.dtype() == Dtype::float64);
        REQUIRE(value.shape().empty());
        double actual = 0;
        std::memcpy(&actual, value.bytes().data(), sizeof actual);
        CAPTURE(actual);
        CAPTURE(expected);
        if (std::isnan(expected) || std::isinf(expected)) {
          CHECK((std::isnan(expected) ? std::isnan(actual) : actual == expected));
        } else {
          CHECK(std::abs(actual - expected) <= 1e-12 * scale_of(name, exact, expected));
        }
        ++compared;
      }
    });
  });
  CHECK(compared > 10000);
}

}  // namespace smd::test
