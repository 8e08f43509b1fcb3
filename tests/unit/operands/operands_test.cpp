// SPDX-License-Identifier: Apache-2.0
#include "operands/operands.hpp"

#include "unit/select/selection_support.hpp"

#include <doctest/doctest.h>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("trials that cannot be opened cost only themselves") {
  const auto open = [](const std::string& path) {
    return with_messages(path, {}, [](smd::Trial&, Diagnostics&, Reported&) { FAIL("opened"); });
  };
  CHECK(open("/no/such/trial").status == ExitStatus::unreadable);
  CHECK(open("/no/such/trial").messages.starts_with("test: NotFound: "));
  const smd::test::TempDir empty;
  CHECK(open(empty.path()).status == ExitStatus::unreadable);
  CHECK(open(empty.path()).messages.starts_with("test: MissingCollectionFiles: "));
  CHECK(open(empty.path()).messages.find("smd-wait") != std::string::npos);
}

TEST_CASE("operands as they stand") {
  std::vector<std::string> seen;
  const auto visit = [&](const std::string& operand) {
    seen.push_back(operand);
    return seen.size() < 2;
  };
  const std::vector<std::string> operands = {"a", "b", "c"};
  Diagnostics messages("test");
  for_each_operand(operands, false, messages, visit);
  CHECK(seen == std::vector<std::string>{"a", "b"});
  const std::vector<std::string> misplaced = {"-", "a"};
  CHECK_THROWS_AS(for_each_operand(misplaced, false, messages, visit), UsageError);
  CHECK(may_be_several(operands));
  CHECK(may_be_several(std::vector<std::string>{"-"}));
  CHECK_FALSE(may_be_several(std::vector<std::string>{"a"}));
}

TEST_CASE("operands one after another, with their number") {
  const std::vector<std::string> operands = {"a", "b"};
  OperandSource source(operands, false);
  CHECK(source.total() == 2);
  REQUIRE(source.peek() != nullptr);
  CHECK(*source.peek() == "a");
  CHECK(source.next() == "a");
  CHECK(source.next() == "b");
  CHECK(source.peek() == nullptr);
  CHECK_FALSE(source.next());
  CHECK(source.total() == 2);
  const std::vector<std::string> list = {"a", "-"};
  CHECK_FALSE(OperandSource(list, false).total());  // standard input may list any number

  OperandSource literal = OperandSource::of({"-", "x"});
  CHECK(literal.total() == 2);
  CHECK(literal.next() == "-");
  CHECK(literal.next() == "x");
  CHECK_FALSE(literal.next());
}
