// SPDX-License-Identifier: Apache-2.0
#include "operands/operands.hpp"

#include "support/temp_dir.hpp"
#include "unit/select/selection_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

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
  const std::vector<std::string> operands = {"a", "b", "c"};
  Diagnostics messages("test");
  CHECK(all_operands(operands, false, messages) == operands);
  const std::vector<std::string> misplaced = {"-", "a"};
  CHECK_THROWS_AS(static_cast<void>(operand_source(misplaced, false, messages)), UsageError);
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

  const std::vector<std::string> paths = {"-", "x"};
  OperandSource literal = OperandSource::of(paths);
  CHECK(literal.total() == 2);
  CHECK(literal.next() == "-");
  CHECK(literal.next() == "x");
  CHECK_FALSE(literal.next());
}

namespace {

std::vector<std::string> numbers(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(std::to_string(i));
  }
  return all;
}

VisitPlan with_jobs(unsigned jobs) { return {.doing = "testing", .jobs = jobs}; }

}  // namespace

TEST_CASE("what visits show comes in the order of operands, whatever the number of threads") {
  const std::vector<std::string> operands = numbers(500);
  for (const unsigned jobs : {1U, 2U, 7U, 32U}) {
    CAPTURE(jobs);
    Diagnostics messages("test");
    OperandSource source(operands, false);
    std::vector<std::string> shown;
    const std::size_t count = visit_in_turn(source, with_jobs(jobs), messages, [&](const Visit& visit) -> Show {
      return [&shown, operand = visit.operand] {
        shown.push_back(operand);
        return true;
      };
    });
    CHECK(count == operands.size());
    CHECK(shown == operands);
  }
}

TEST_CASE("a visit that holds too much waits for its turn, and then shows as it goes") {
  const std::vector<std::string> operands = numbers(100);
  Diagnostics messages("test");
  OperandSource source(operands, false);
  std::vector<std::string> shown;
  visit_in_turn(source, with_jobs(8), messages, [&](const Visit& visit) -> Show {
    visit.turn.wait();
    CHECK(visit.turn.mine());
    shown.push_back(visit.operand);
    return [] { return true; };
  });
  CHECK(shown == operands);
}

TEST_CASE("few visits run ahead of the one whose turn it is") {
  const std::vector<std::string> operands = numbers(1000);
  Diagnostics messages("test");
  OperandSource source(operands, false);
  std::atomic<std::size_t> begun = 0;
  std::size_t shown = 0;
  std::size_t most_ahead = 0;
  visit_in_turn(source, with_jobs(4), messages, [&](const Visit&) -> Show {
    ++begun;
    return [&] {
      most_ahead = std::max<std::size_t>(most_ahead, begun - shown);
      ++shown;
      return true;
    };
  });
  CHECK(shown == 1000);
  CHECK(most_ahead <= 4 * 8 + 4);  // eight for each thread, and those being shown while others begin
}

TEST_CASE("what shows that further operands are of no use ends the visits") {
  const std::vector<std::string> operands = numbers(1000);
  for (const unsigned jobs : {1U, 4U}) {
    CAPTURE(jobs);
    Diagnostics messages("test");
    OperandSource source(operands, false);
    std::size_t shown = 0;
    const std::size_t count = visit_in_turn(source, with_jobs(jobs), messages,
                                            [&](const Visit&) -> Show { return [&shown] { return ++shown < 10; }; });
    CHECK(shown == 10);
    CHECK(count == 10);
  }
}

TEST_CASE("what a visit throws is thrown in its turn") {
  const std::vector<std::string> operands = numbers(100);
  for (const unsigned jobs : {1U, 4U}) {
    CAPTURE(jobs);
    Diagnostics messages("test");
    OperandSource source(operands, false);
    std::size_t shown = 0;
    const auto visit = [&](const Visit& one) -> Show {
      if (one.operand == "17") {
        messages.raise(ExitStatus::damaged);
        throw std::runtime_error("seventeen");
      }
      return [&shown] {
        ++shown;
        return true;
      };
    };
    CHECK_THROWS_WITH_AS(visit_in_turn(source, with_jobs(jobs), messages, visit), "seventeen", std::runtime_error);
    CHECK(shown == 17);
    CHECK(messages.status() == ExitStatus::damaged);
  }
}

TEST_CASE("a visit sees the status of its own messages; all of them count") {
  const std::vector<std::string> operands = numbers(50);
  for (const unsigned jobs : {1U, 4U}) {
    CAPTURE(jobs);
    Diagnostics messages("test");
    OperandSource source(operands, false);
    std::atomic<bool> mixed = false;
    visit_in_turn(source, with_jobs(jobs), messages, [&](const Visit& visit) -> Show {
      mixed = mixed || messages.status() != ExitStatus::yes;
      if (visit.operand == "3") {
        messages.raise(ExitStatus::unreadable);
        mixed = mixed || messages.status() != ExitStatus::unreadable;
      }
      return [] { return true; };
    });
    CHECK_FALSE(mixed);
    CHECK(messages.status() == ExitStatus::unreadable);
  }
}

TEST_CASE("the last operands share the threads") {
  const std::vector<std::string> operands = numbers(2);
  Diagnostics messages("test");
  OperandSource source(operands, false);
  std::vector<unsigned> jobs;
  visit_in_turn(source, with_jobs(8), messages, [&](const Visit& visit) -> Show {
    return [&jobs, given = visit.jobs] {
      jobs.push_back(given);
      return true;
    };
  });
  CHECK(jobs == std::vector<unsigned>{4, 8});  // two are left, then one
}

TEST_CASE("a path that has come meanwhile is not suggested for itself") {
  const smd::test::TempDir dir;
  const std::string run = dir.make_dir("run");
  CHECK(meant_instead(run, "a hint").empty());
  CHECK(meant_instead(run + "1", "a hint") == "; did you mean '" + run + "'?");
}
