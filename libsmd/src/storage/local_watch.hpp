// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/descriptor.hpp"
#include "storage/local_storage.hpp"
#include "storage/storage.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace smd::detail::storage {

/// Reports a possible change each `poll_interval`, which is enough for any storage. Watches that receive events derive
/// from it.
class PolledWatch : public Watch {
 public:
  explicit PolledWatch(std::chrono::milliseconds poll_interval);

  bool wait_until(std::chrono::steady_clock::time_point deadline) override;
  void wake() noexcept override;
  [[nodiscard]] std::string method() const override { return "polling"; }

 protected:
  /// Returns a descriptor that is readable when there are events; -1 if there is none.
  [[nodiscard]] virtual int events() const noexcept { return -1; }
  /// Reads the pending events. Returns whether there may be something new.
  virtual bool take_events() { return false; }
  /// Called before each possible change is reported.
  virtual void look() {}

 private:
  [[nodiscard]] int timeout(std::chrono::steady_clock::duration left) const noexcept;

  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point next_look_;
  Descriptor wake_;
  std::atomic<bool> woken_ = false;
};

[[nodiscard]] std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                                 std::chrono::milliseconds poll_interval, const WatchScope& scope);

}  // namespace smd::detail::storage
