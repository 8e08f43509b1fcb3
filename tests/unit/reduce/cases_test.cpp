// SPDX-License-Identifier: Apache-2.0
// Compares every reduction with exact arithmetic, with every instruction set of this machine.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <cmath>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "each_instruction_set.hpp"
#include "values.hpp"

namespace {

using smd::Dtype;

struct Case {
  Dtype dtype;
  std::string_view elements;
  int repeat;
  int omit;
  std::uint64_t ddof;
  const char* answers;
};
constexpr Case cases[] = {
#include "reduction_cases.inc"
};

std::vector<std::byte> bytes_of(const Case& item) {
  std::vector<std::byte> once;
  for (std::size_t i = 0; i < item.elements.size(); i += 2) {
    once.push_back(static_cast<std::byte>(std::stoi(std::string(item.elements.substr(i, 2)), nullptr, 16)));
  }
  std::vector<std::byte> all;
  for (int k = 0; k < item.repeat; ++k) {
    all.insert(all.end(), once.begin(), once.end());
  }
  return all;
}

void compare(const std::string& name, const std::string& answer, const smd::ReducedValue& value) {
  CAPTURE(name);
  CAPTURE(answer);
  const std::string got = smd::to_string(value);
  CAPTURE(got);
  using Kind = smd::ReducedValue::Kind;
  if (answer == "-") {
    CHECK(value.kind == Kind::undefined);
    return;
  }
  CHECK(value.kind != Kind::undefined);
  const bool digits = answer.find_first_not_of("-0123456789") == std::string::npos;
  CHECK((value.kind == Kind::integer) == digits);
  if (value.kind == Kind::integer) {
    CHECK(got == answer);
    return;
  }
  const double expected = std::strtod(answer.c_str(), nullptr);
  const smd::Reduction reduction = smd::parse_reduction(name).value();
  const bool exact = smd::needs_values(reduction) || reduction.kind == smd::ReductionKind::min ||
                     reduction.kind == smd::ReductionKind::max || name == "sum" || name == "mean";
  CHECK(smd_test::ulps(value.real, expected) <= (exact ? 0 : 1));
}

}  // namespace

TEST_CASE("reductions of embedded arrays are exact before rounding") {
  std::size_t turn = 0;
  smd_test::with_each_instruction_set([&] {
    for (const Case& item : cases) {
      CAPTURE(item.elements);
      ++turn;
      const std::vector<std::byte> bytes = bytes_of(item);
      const auto count = static_cast<std::int64_t>(bytes.size() / smd::item_size(item.dtype));
      const smd::TensorView view(item.dtype, {&count, 1}, bytes);
      std::vector<smd::Reduction> wanted;
      std::vector<std::string> names;
      std::vector<std::string> answers;
      std::istringstream pairs(item.answers);
      for (std::string pair; pairs >> pair;) {
        const std::size_t equals = pair.find('=');
        names.push_back(pair.substr(0, equals));
        answers.push_back(pair.substr(equals + 1));
        wanted.push_back(smd::parse_reduction(names.back()).value());
      }
      REQUIRE(!wanted.empty());
      const smd::ReduceOptions options = {item.omit != 0, item.ddof};
      const std::vector<smd::ReducedValue> together = smd::reduce(view, wanted, options);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        compare(names[i], answers[i], together[i]);
        // Alone, a reduction may run other loops than together with others. By turns: there are many cases.
        if ((turn + i) % 3 == 0) {
          compare(names[i], answers[i], smd::reduce(view, std::span(&wanted[i], 1), options).front());
        }
      }
    }
  });
}
