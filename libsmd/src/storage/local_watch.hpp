// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/local_storage.hpp"

#include <chrono>
#include <memory>

namespace smd::detail::storage {

/// Returns a watch that reports a possible change each `poll_interval`, which is enough for any storage.
[[nodiscard]] std::unique_ptr<Watch> polled_watch(std::chrono::milliseconds poll_interval);

[[nodiscard]] std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                                 std::chrono::milliseconds poll_interval, const WatchScope& scope);

}  // namespace smd::detail::storage
