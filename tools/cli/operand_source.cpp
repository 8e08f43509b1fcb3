// SPDX-License-Identifier: Apache-2.0
#include "cli/operand_source.hpp"

#include <smd/error.hpp>
#include <smd/limits.hpp>

#include "cli/errors.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace smd::tool {

namespace {

constexpr int look_for_stop_ms = 100;
/// The most operands that are read ahead, so that the total is known early.
constexpr std::size_t most_listed = 100'000;

/// Whether reading standard input would not block: bytes, its end or an error are there.
bool input_is_ready(int timeout_ms) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, timeout_ms) != 0 && input.revents != 0;
}

}  // namespace

OperandSource::OperandSource(std::span<const std::string> operands, bool null_separated)
    : given_(operands), separator_(null_separated ? '\0' : '\n'), ended_(operands.empty() || operands.back() != "-") {
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
    if (operands[i] == "-") {
      throw UsageError("'-' must be the last operand");
    }
  }
  if (!ended_) {
    given_ = given_.first(given_.size() - 1);
  }
}

OperandSource OperandSource::of(std::vector<std::string> operands) {
  OperandSource source({}, false);
  source.own_ = std::move(operands);
  source.given_ = source.own_;
  return source;
}

const std::string* OperandSource::peek(const std::stop_token& stop) {
  if (at_ < given_.size()) {
    return &given_[at_];
  }
  while (waiting_ == 0 && !ended_) {
    while (stop.stop_possible() && !input_is_ready(look_for_stop_ms)) {
      if (stop.stop_requested()) {
        return nullptr;
      }
    }
    read_list();
  }
  while (!ended_ && waiting_ < most_listed && input_is_ready(0)) {
    read_list();
  }
  if (!first_ && waiting_ > 0) {
    const auto end = std::find(ahead_.begin(), ahead_.end(), separator_);
    first_.emplace(ahead_.begin(), end);
    ahead_.erase(ahead_.begin(), end + 1);
  }
  return first_ ? &*first_ : nullptr;
}

std::optional<std::string> OperandSource::next(const std::stop_token& stop) {
  if (peek(stop) == nullptr) {
    return std::nullopt;
  }
  if (at_ < given_.size()) {
    return given_[at_++];
  }
  --waiting_;
  return std::exchange(first_, std::nullopt);
}

std::optional<std::size_t> OperandSource::total() const noexcept {
  return ended_ ? std::optional(given_.size() + listed_count_) : std::nullopt;
}

void OperandSource::read_list() {
  std::array<char, 16384> block;
  ssize_t got = -1;
  do {
    got = read(STDIN_FILENO, block.data(), block.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    throw ReadError({ProblemKind::io, {}, {}, "standard input: " + std::generic_category().message(errno)});
  }
  const auto end_item = [this] {
    if (unfinished_ > 0) {
      ahead_.push_back(separator_);
      ++waiting_;
      ++listed_count_;
    }
    unfinished_ = 0;
  };
  if (got == 0) {
    ended_ = true;
    end_item();
    return;
  }
  if (unfinished_ > limits::json_bytes) {
    throw UsageError("standard input: a line is longer than 256 MiB: this is no list");
  }
  for (const char byte : std::string_view(block.data(), static_cast<std::size_t>(got))) {
    if (byte == separator_) {
      end_item();
    } else {
      ahead_.push_back(byte);
      ++unfinished_;
    }
  }
}

}  // namespace smd::tool
