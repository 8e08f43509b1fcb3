// SPDX-License-Identifier: Apache-2.0
#include "rows/best_and_last.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace smd::tool {

namespace {

BestAndLast best_and_last(const std::vector<ScalarValue>& values, bool least = true, bool doubts_zero = false) {
  BestAndLast all(least, doubts_zero);
  for (const ScalarValue& value : values) {
    all.add(value);
  }
  return all;
}

}  // namespace

TEST_CASE("the best is the first of equal values, and finite") {
  const std::vector<ScalarValue> values = {{0, 3}, {1, -INFINITY}, {2, 1}, {3, 1}, {4, 3}, {5, NAN}};
  CHECK(best_and_last(values).best()->step == 2);
  CHECK(best_and_last(values, false).best()->step == 0);
  CHECK(best_and_last(values).last()->step == 5);
  CHECK_FALSE(best_and_last({{0, NAN}, {1, INFINITY}}).best());
  CHECK_FALSE(best_and_last({}).last());
}

TEST_CASE("the first worker counts, unless the value of another one is not finite") {
  // At each step the values of worker_0 and worker_1; at step 3 worker_0 has none.
  BestAndLast all = best_and_last({{0, 9}, {0, 1}, {1, 6}, {1, 7}, {2, 5}, {2, NAN}, {3, 8}});
  CHECK(all.best()->step == 1);
  CHECK(all.best()->number == 6);
  CHECK(all.last()->number == 8);
  all.add({2, 0});  // late
  CHECK(all.best()->number == 6);
  all.add({4, 5});
  all.add({4, INFINITY});
  all.add({4, NAN});
  CHECK(all.best()->number == 6);
  CHECK(all.last()->number == INFINITY);
}

TEST_CASE("the last value is not finite if the newest one of any worker is not") {
  BestAndLast all = best_and_last({{0, 2}, {0, 3}, {1, NAN}, {2, 1}});
  all.add_newest({2, 1});
  CHECK(all.last()->step == 2);
  all.add_newest({1, NAN});
  CHECK(all.last()->step == 1);
  CHECK(all.best()->number == 1);
}

TEST_CASE("0 after positive values or NaN is not the best if it may stand for NaN") {
  const std::vector<ScalarValue> zeros = {{0, 2}, {1, 1}, {2, 0}, {3, 0}};
  CHECK(best_and_last(zeros, true, true).best()->step == 1);
  CHECK(best_and_last(zeros, true, true).doubted_zero());
  CHECK(best_and_last(zeros, true, true).last()->number == 0);
  CHECK(best_and_last(zeros).best()->step == 2);
  CHECK_FALSE(best_and_last(zeros).doubted_zero());
  CHECK(best_and_last({{0, 0}, {1, 1}}, true, true).best()->step == 0);
  CHECK(best_and_last({{0, -1}, {1, 0}}, true, true).best()->step == 0);
  CHECK_FALSE(best_and_last({{0, -1}, {1, 0}}, true, true).doubted_zero());
  CHECK_FALSE(best_and_last({{0, NAN}, {1, 0}}, true, true).best());
  CHECK(best_and_last({{0, NAN}, {1, 0}}, true, true).doubted_zero());
  CHECK_FALSE(best_and_last({{0, 0}, {0, NAN}, {1, 0}}, true, true).best());  // NaN of another worker
  CHECK(best_and_last({{0, 0}, {1, 0}}, true, true).doubted_zero());
  CHECK_FALSE(best_and_last({{0, 0}, {1, 0}}, true, true).best());  // all are 0
  CHECK(best_and_last({{0, 0}, {1, 0}}).best()->step == 0);
  CHECK_FALSE(best_and_last({{0, 0}, {1, 0}}).doubted_zero());
  CHECK_FALSE(best_and_last({{0, 0}, {1, 1}}, true, true).doubted_zero());
  CHECK_FALSE(best_and_last({{0, 0}, {1, -1}}, true, true).doubted_zero());
  CHECK_FALSE(best_and_last({}, true, true).doubted_zero());
}

}  // namespace smd::tool
