// SPDX-License-Identifier: Apache-2.0
#include "hook/src/write_queue.hpp"

#include <doctest/doctest.h>

#include <latch>
#include <numeric>
#include <vector>

namespace smd::detail::hook {
namespace {

std::string filled(WriteQueue& queue, std::size_t bytes) {
  std::string buffer = queue.take_buffer(bytes);
  CHECK(buffer.empty());
  CHECK(buffer.capacity() >= bytes);
  buffer.append(bytes, 'x');
  return buffer;
}

TEST_CASE("tasks are done in order, whichever caller starts the thread") {
  std::vector<int> done;
  std::latch started(1);
  {
    WriteQueue queue(1 << 20);
    const auto push = [&](int number, std::size_t bytes) {
      queue.push(bytes, [&done, number] { done.push_back(number); });
    };
    queue.start();  // nothing waits: nothing happens
    queue.push(0, [&started] { started.count_down(); });
    queue.start();
    started.wait();
    for (int i = 0; i < 50; ++i) {
      push(i, i % 10 == 9 ? 300'000 : 10);  // more than is waited for, and more than there is room for
    }
    queue.drain();
    CHECK(done.size() == 50);
    push(50, 10);
  }  // what nobody started is done at the end
  std::vector<int> all(51);
  std::iota(all.begin(), all.end(), 0);
  CHECK(done == all);
}

TEST_CASE("memory given back is used for what it fits") {
  WriteQueue queue(1 << 20);
  std::string large = filled(queue, 500'000);
  std::string small = filled(queue, 100'000);
  const char* const large_at = large.data();
  const char* const small_at = small.data();
  queue.give_back(std::move(large));
  queue.give_back(std::move(small));
  small = filled(queue, 90'000);
  CHECK(small.data() == small_at);
  std::string other = filled(queue, 90'000);  // the large one is kept for what needs it
  CHECK(other.data() != large_at);
  large = filled(queue, 400'000);
  CHECK(large.data() == large_at);
}

TEST_CASE("memory that is kept is bounded, and makes room for what is used now") {
  WriteQueue queue(1 << 20);
  for (int i = 0; i < 3; ++i) {
    queue.give_back(std::string(400'000, 'x'));  // the third is one too many
  }
  // Neither fits; one of them goes.
  std::string larger = filled(queue, 600'000);
  const char* const at = larger.data();
  queue.give_back(std::move(larger));
  CHECK(filled(queue, 600'000).data() == at);
}

}  // namespace
}  // namespace smd::detail::hook
