// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "storage/local_storage.hpp"

namespace smd::detail::storage {

[[nodiscard]] std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                                 std::chrono::milliseconds poll_interval, const WatchScope& scope);

}  // namespace smd::detail::storage
