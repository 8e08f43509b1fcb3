// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/descriptor.hpp"
#include "storage/local_storage.hpp"
#include "storage/storage.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smd::detail::storage {

/// inotify watches on a trial's root, the folders of a scope and every folder beneath them. Follows folders that are
/// made and removed.
class InotifyTree {
 public:
  InotifyTree(std::shared_ptr<LocalRoot> root, const WatchScope& scope);

  /// Returns a descriptor that is readable when there are events; -1 if nothing is watched.
  [[nodiscard]] int fd() const noexcept { return inotify_.get(); }
  /// Returns why nothing is watched; empty if folders are watched.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }
  /// Reads the pending events.
  /// @return whether there may be something new for a reader.
  bool take_events();
  /// Drops all watches and watches the root as it is now.
  void rebuild();

 private:
  bool add(const std::string& folder);
  [[nodiscard]] bool matters(std::string_view folder) const noexcept;
  void give_up(std::string why);

  std::shared_ptr<LocalRoot> root_;
  std::vector<std::string> scope_;
  std::uint32_t events_;
  Descriptor inotify_;
  std::unordered_map<int, std::string> folders_;  // By watch descriptor.
  std::string why_not_;
};

/// Reports a possible change each `poll_interval`, which is enough for any storage. Watches that receive events derive
/// from it.
class PolledWatch : public Watch {
 public:
  /// `method`: see Watch::method.
  PolledWatch(std::chrono::milliseconds poll_interval, std::string method);

  bool wait_until(std::chrono::steady_clock::time_point deadline) override;
  void wake() noexcept override;
  [[nodiscard]] std::string method() const override { return method_; }

 protected:
  /// Returns a descriptor that is readable when there are events; -1 if there is none.
  [[nodiscard]] virtual int events() const noexcept { return -1; }
  /// Reads the pending events. Returns whether there may be something new.
  virtual bool take_events() { return false; }
  /// Called before each possible change is reported.
  virtual void look() {}

 private:
  [[nodiscard]] int timeout(std::chrono::steady_clock::duration left) const noexcept;
  bool changed(std::chrono::steady_clock::time_point now);
  void drain_wake() noexcept;

  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point next_look_;
  std::string method_;
  Descriptor wake_;
  std::atomic<bool> woken_ = false;
};

[[nodiscard]] std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                                 std::chrono::milliseconds poll_interval, const WatchScope& scope);

}  // namespace smd::detail::storage
