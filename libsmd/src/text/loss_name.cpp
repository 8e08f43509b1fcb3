// SPDX-License-Identifier: Apache-2.0
#include "text/loss_name.hpp"

#include "text/pattern.hpp"

#include <mutex>

namespace smd::text {

namespace {

/// Matches names of losses, but not of properties of a loss: its scale, weight, norm, ….
constexpr std::string_view loss_pattern =
    R"((?i)^(?!(?:.*[/_.\- ])?(?:scaler?|weights?|coeff?|lambda|ppl|vs|ratio|norm|time|count)(?:$|[/_.\- ])))"
    R"(.*(?:loss(?:es)?|nll)(?![a-z]))";

}  // namespace

bool is_loss_name(std::string_view name) {
  static std::mutex mutex;  // no thread_local: its destructor would end the process if memory runs out
  static detail::Pattern losses = [] {
    detail::Pattern pattern;
    (void)pattern.compile(loss_pattern);
    return pattern;
  }();
  const std::lock_guard lock(mutex);
  return losses.search(name) == detail::Pattern::Answer::yes;
}

}  // namespace smd::text
