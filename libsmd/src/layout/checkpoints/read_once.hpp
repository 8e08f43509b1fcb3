// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// What was read of files, as long as they stay as they are. Copies share it.
template <class T>
class ReadOnce {
 public:
  /// Forgets all files but these, and returns the readings of those that are new or have changed, which may be called
  /// on many threads, before anything else is asked. `read(path)` returns a T.
  template <class Read>
  [[nodiscard]] std::vector<std::function<void()>> update(storage::Storage& storage,
                                                          const std::vector<std::string>& paths, const Read& read) {
    std::map<std::string, Known, std::less<>> next;
    std::vector<std::function<void()>> readings;
    for (const std::string& path : paths) {
      const auto [entry, added] = next.try_emplace(path);
      if (!added) {
        continue;
      }
      entry->second.stamp = storage.file_stamp(path);
      const auto known = known_.find(path);
      if (known != known_.end() && entry->second.stamp && known->second.stamp == entry->second.stamp) {
        entry->second.value = known->second.value;
      } else {
        readings.push_back(
            [fresh = &*entry, read] { fresh->second.value = std::make_shared<const T>(read(fresh->first)); });
      }
    }
    known_ = std::move(next);  // moves no entry
    return readings;
  }
  /// Null: not among those of the last update.
  [[nodiscard]] std::shared_ptr<const T> find(std::string_view path) const {
    const auto known = known_.find(path);
    return known == known_.end() ? nullptr : known->second.value;
  }
  template <class Take>
  void for_each(Take take) const {
    for (const auto& [path, known] : known_) {
      take(*known.value);
    }
  }
  /// What is still to be waited for is read again at the next update.
  void read_again(std::string_view path) {
    if (const auto known = known_.find(path); known != known_.end()) {
      known->second.stamp.reset();
    }
  }

 private:
  struct Known {
    std::optional<storage::FileStamp> stamp;
    std::shared_ptr<const T> value;
  };
  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace smd::detail::layout
