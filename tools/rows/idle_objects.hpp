// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace smd::tool {

/// Objects that are not in use at the moment, for threads that need one for each piece of their work. Thread-safe.
template <class Object>
class IdleObjects {
 public:
  /// Returns null if none is idle.
  [[nodiscard]] std::unique_ptr<Object> take() {
    const std::lock_guard lock(mutex_);
    if (objects_.empty()) {
      return nullptr;
    }
    std::unique_ptr<Object> object = std::move(objects_.back());
    objects_.pop_back();
    return object;
  }
  void put(std::unique_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    objects_.push_back(std::move(object));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Object>> objects_;
};

}  // namespace smd::tool
