// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parallel.hpp"
#include "storage/storage.hpp"

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
  /// Reads files that are new or have changed, on at most `jobs` threads, and forgets all others than these.
  /// `read(path)` returns a T.
  template <class Read>
  void update(storage::Storage& storage, const std::vector<std::string>& paths, unsigned jobs, Read&& read) {
    std::map<std::string, Known, std::less<>> next;
    std::vector<std::pair<const std::string, Known>*> fresh;
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
        fresh.push_back(&*entry);
      }
    }
    parallel_for(jobs, fresh.size(), 1, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t i = begin; i < end; ++i) {
        fresh[i]->second.value = std::make_shared<const T>(read(fresh[i]->first));
      }
    });
    known_ = std::move(next);
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
