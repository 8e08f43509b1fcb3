// SPDX-License-Identifier: Apache-2.0
#include "select/explanations.hpp"

#include "selection_support.hpp"

#include <doctest/doctest.h>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("why nothing is selected, with numbers") {
  const auto why = [](const std::string& path, const SelectionOptions& options) {
    NothingSelected result;
    (void)with_messages(path, options,
                        [&](smd::Trial& trial, Diagnostics&, Reported&) { result = why_nothing(trial, options); });
    return result;
  };
  using smd::Mode;
  SelectionOptions options = options_for("last", {Mode::global});
  options.collections = {"gradients"};
  NothingSelected reason = why(digits, options);
  CHECK(reason.tag == "TensorUnavailableForStep");
  CHECK(reason.text ==
        "4 tensors match, but were not saved at the steps asked for; saved at 6 steps, 0 to 31 (train 0 to 25)");
  options = options_for("40", {Mode::global});
  options.names = {"DigitNet_fc.bias"};
  CHECK(why(digits, options).text ==
        "'DigitNet_fc.bias' was not saved at the steps asked for; saved at 9 steps, 0 to 38 (train: 6 steps, 0 to 25; "
        "eval: 3 steps, 0 to 10)");
  options = options_for("all", {Mode::global});
  options.regexes = {"wieght"};
  reason = why(digits, options);
  CHECK(reason.tag == "TensorUnavailable");
  CHECK(reason.text == "no tensor matches 'wieght'; did you mean 'weight'?; 19 tensors were saved, smd-ls lists them");
  options.regexes = {"Digit*/weight"};
  CHECK(why(digits, options).text.find("not a glob: try '^Digit.*/weight$'") != std::string::npos);
  options.regexes = {"bias"};
  options.excludes = {"b"};
  CHECK(why(digits, options).text.starts_with("-x drops all 4 tensors selected"));
}
