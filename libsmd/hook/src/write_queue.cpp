// SPDX-License-Identifier: Apache-2.0
#include "write_queue.hpp"

#include <smd/hook.hpp>

#include "types/outcome.hpp"

#include <iterator>
#include <new>
#include <system_error>
#include <utility>

namespace smd::detail::hook {
namespace {

/// Once this many bytes wait, the thread starts without a call of `start`.
constexpr std::size_t worth_starting = std::size_t{256} << 10;

/// A buffer that is too large by no more than this is used anyway, not kept for a larger task.
constexpr std::size_t negligible = std::size_t{4} << 10;

}  // namespace

WriteQueue::WriteQueue(std::size_t most_bytes) : most_bytes_(most_bytes) {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {  // no thread: see `push`
  }
}

WriteQueue::~WriteQueue() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void WriteQueue::push(std::size_t bytes, Task task) {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) {
    Waiting next{0, std::move(task)};
    run(next, lock);
    return;
  }
  const auto room = [&] { return failure_ || bytes_ == 0 || bytes_ + bytes <= most_bytes_; };
  if (!room()) {
    if (set_started()) {
      changed_.notify_one();
    }
    room_.wait(lock, room);
  }
  bytes_ += bytes;
  waiting_.push_back({bytes, std::move(task)});
  const bool tell = bytes_ >= worth_starting && set_started();
  lock.unlock();  // first: the thread would wake only to wait for this
  if (tell) {
    changed_.notify_one();
  }
}

bool WriteQueue::set_started() { return !waiting_.empty() && !std::exchange(started_, true); }

void WriteQueue::start() {
  std::unique_lock lock(mutex_);
  const bool tell = set_started();
  lock.unlock();
  if (tell) {
    changed_.notify_one();
  }
}

void WriteQueue::drain() {
  start();
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return waiting_.empty() && !busy_; });
}

std::optional<Problem> WriteQueue::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void WriteQueue::throw_failure() const {
  if (auto problem = failure()) {
    throw WriteError(std::move(*problem));
  }
}

std::string WriteQueue::take_buffer(std::size_t bytes) {
  std::string buffer;
  std::unique_lock lock(mutex_);
  const auto fits = buffers_.lower_bound(bytes);
  if (fits != buffers_.end() && fits->first <= 2 * bytes + negligible) {  // larger ones stay for larger tasks
    buffer_bytes_ -= fits->first;
    buffer = std::move(fits->second);
    buffers_.erase(fits);
  } else if (!buffers_.empty() && buffer_bytes_ + bytes > most_bytes_) {
    // No buffer fits. Drops the largest, so that the new one can be kept when it is given back.
    const auto largest = std::prev(buffers_.end());
    buffer_bytes_ -= largest->first;
    buffers_.erase(largest);
  }
  lock.unlock();
  buffer.reserve(bytes);
  return buffer;
}

void WriteQueue::give_back(std::string buffer) {
  buffer.clear();
  const std::size_t bytes = buffer.capacity();
  const std::lock_guard lock(mutex_);
  if (buffer_bytes_ + bytes <= most_bytes_) {
    buffer_bytes_ += bytes;
    buffers_.emplace(bytes, std::move(buffer));
  }
}

void WriteQueue::run(Waiting& next, std::unique_lock<std::mutex>& lock) {
  if (failure_) {
    next.task = nullptr;
    return;
  }
  lock.unlock();
  std::optional<Problem> problem;
  try {
    next.task();
  } catch (ReadError& error) {
    problem = std::move(error.problem);
  } catch (const std::bad_alloc&) {
    problem = make_problem(ProblemKind::io, "memory ran out while writing");
  }
  next.task = nullptr;
  lock.lock();
  if (problem) {
    failure_ = std::move(problem);
  }
}

void WriteQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return over_ || started_; });
    if (waiting_.empty()) {
      return;
    }
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    run(next, lock);
    busy_ = false;
    bytes_ -= next.bytes;
    started_ = !waiting_.empty();
    room_.notify_all();
  }
}

}  // namespace smd::detail::hook
