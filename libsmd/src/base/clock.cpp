// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

namespace smd::detail {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept override {
    return std::chrono::steady_clock::now();
  }
  [[nodiscard]] double wall_seconds() const noexcept override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

const Clock& system_clock() noexcept {
  static const SystemClock clock;
  return clock;
}

}  // namespace smd::detail
