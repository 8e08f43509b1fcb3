// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <doctest/doctest.h>

#include <sched.h>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace smd::detail;

TEST_CASE("the default number of jobs is the number of permitted CPUs") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(default_jobs() == static_cast<unsigned>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
    }
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(default_jobs() == 1);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("parallel_for covers everything once, in pieces of the grain") {
  for (const unsigned jobs : {1u, 2u, 3u, 8u, 100u}) {
    for (const std::size_t count : {0, 1, 7, 64, 1000}) {
      for (const std::size_t grain : {0, 1, 3, 64, 5000}) {
        CAPTURE(jobs);
        CAPTURE(count);
        CAPTURE(grain);
        std::vector<std::atomic<int>> seen(count);
        std::atomic<bool> sound{true};
        parallel_for(jobs, count, grain, [&](std::size_t begin, std::size_t end, unsigned worker) {
          if (begin >= end || end > count || worker >= jobs ||
              (jobs > 1 && end - begin > std::max<std::size_t>(grain, 1))) {
            sound = false;
            return;
          }
          for (std::size_t at = begin; at < end; ++at) {
            ++seen[at];
          }
        });
        CHECK(sound);
        CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
      }
    }
  }
}

TEST_CASE("one job, or one piece, runs in the calling thread") {
  const auto here = std::this_thread::get_id();
  int calls = 0;
  parallel_for(1, 100, 10, [&](std::size_t begin, std::size_t end, unsigned worker) {
    ++calls;
    CHECK(begin == 0);
    CHECK(end == 100);
    CHECK(worker == 0);
    CHECK(std::this_thread::get_id() == here);
  });
  parallel_for(8, 10, 10, [&](std::size_t, std::size_t, unsigned) {
    ++calls;
    CHECK(std::this_thread::get_id() == here);
  });
  CHECK(calls == 2);
}

TEST_CASE("an exception of a worker ends parallel_for and reaches the caller") {
  for (const unsigned jobs : {1u, 4u}) {
    std::atomic<int> calls{0};
    CHECK_THROWS_AS(parallel_for(jobs, 100'000, 1,
                                 [&](std::size_t begin, std::size_t, unsigned) {
                                   ++calls;
                                   if (jobs == 1 || begin == 10) {
                                     throw std::bad_alloc();
                                   }
                                 }),
                    std::bad_alloc);
    CHECK(calls >= 1);
  }
}

TEST_CASE("parallel_ordered consumes in order, in the calling thread") {
  const auto here = std::this_thread::get_id();
  for (const unsigned jobs : {1u, 2u, 5u, 50u}) {
    for (const std::size_t window : {0, 1, 4, 1000}) {
      for (const std::size_t count : {0, 1, 2, 3000}) {
        CAPTURE(jobs);
        CAPTURE(window);
        CAPTURE(count);
        std::size_t next = 0;
        bool sound = true;
        std::atomic<bool> workers_sound{true};
        parallel_ordered(
            jobs, count, window,
            [&](std::size_t index, unsigned worker) {
              if (worker >= jobs) {
                workers_sound = false;
              }
              return std::make_unique<std::string>(std::to_string(index));
            },
            [&](std::size_t index, std::unique_ptr<std::string>&& value) {
              sound = sound && index == next && *value == std::to_string(index) && std::this_thread::get_id() == here;
              ++next;
              return true;
            });
        CHECK(next == count);
        CHECK(sound);
        CHECK(workers_sound);
      }
    }
  }
}

TEST_CASE("at most a window of values is unfinished at a time") {
  std::atomic<int> alive{0};
  std::atomic<int> most{0};
  struct Token {
    std::atomic<int>* count;
    explicit Token(std::atomic<int>& n) : count(&n) {}
    Token(Token&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    ~Token() {
      if (count != nullptr) {
        --*count;
      }
    }
  };
  parallel_ordered(
      4, 5000, 6,
      [&](std::size_t, unsigned) {
        const int now = ++alive;
        int before = most.load();
        while (now > before && !most.compare_exchange_weak(before, now)) {
        }
        return Token(alive);
      },
      [&](std::size_t, Token&&) { return true; });
  CHECK(alive == 0);
  CHECK(most <= 6);
}

TEST_CASE("parallel_ordered ends early when the consumer returns false") {
  for (const unsigned jobs : {1u, 4u}) {
    std::atomic<std::size_t> produced{0};
    std::size_t consumed = 0;
    parallel_ordered(
        jobs, 1'000'000, 8,
        [&](std::size_t index, unsigned) {
          ++produced;
          return index;
        },
        [&](std::size_t, std::size_t&&) { return ++consumed < 10; });
    CHECK(consumed == 10);
    CHECK(produced < 1000);
  }
}

TEST_CASE("exceptions of producer and consumer reach the caller, and values are consumed in order up to them") {
  for (const unsigned jobs : {1u, 2u, 4u}) {
    CHECK_THROWS_AS(parallel_ordered(
                        jobs, 1000, 8,
                        [&](std::size_t index, unsigned) -> int {
                          if (index == 100) {
                            throw std::bad_alloc();
                          }
                          return 0;
                        },
                        [](std::size_t index, int&&) {
                          CHECK(index < 100);
                          return true;
                        }),
                    std::bad_alloc);
    CHECK_THROWS_AS(parallel_ordered(
                        jobs, 1000, 8, [](std::size_t, unsigned) { return 0; },
                        [](std::size_t index, int&&) -> bool {
                          if (index == 5) {
                            throw std::runtime_error("enough");
                          }
                          return true;
                        }),
                    std::runtime_error);
  }
}
