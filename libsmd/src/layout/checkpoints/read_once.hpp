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

/// Caches what was read from files until they change. Copies share the values.
template <class T>
class ReadOnce {
 public:
  /// Drops all files except `paths`. Returns a function for each file that is new or has changed, which reads it with
  /// `read(path)`, a T. The caller must call them all, on any threads, before it uses the cache.
  /// `again`: false if the cache is up to date, so that only new files are read.
  template <class Read>
  [[nodiscard]] std::vector<std::function<void()>> update(storage::Storage& storage,
                                                          const std::vector<std::string>& paths, const Read& read,
                                                          bool again = true) {
    std::map<std::string, Known, std::less<>> next;
    std::vector<std::function<void()>> readings;
    for (const std::string& path : paths) {
      const auto [entry, added] = next.try_emplace(path);
      if (!added) {
        continue;
      }
      const auto known = known_.find(path);
      if (known != known_.end() && !again) {
        entry->second = known->second;
        continue;
      }
      entry->second.stamp = storage.file_stamp(path);
      if (known != known_.end() && entry->second.stamp && known->second.stamp == entry->second.stamp) {
        entry->second.value = known->second.value;
      } else {
        readings.push_back(
            [fresh = &*entry, read] { fresh->second.value = std::make_shared<const T>(read(fresh->first)); });
      }
    }
    known_ = std::move(next);  // does not move the entries, to which `readings` point
    return readings;
  }
  /// Null if the file was not among those of the last update.
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
  /// Makes the next update read a file again, even if its stamp is the same.
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
