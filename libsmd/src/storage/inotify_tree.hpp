// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/descriptor.hpp"
#include "storage/local_storage.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace smd::detail::storage {

/// inotify watches on a trial's root, its `index`, its `collections` and every folder beneath these. Follows folders
/// that come and go.
class InotifyTree {
 public:
  explicit InotifyTree(std::shared_ptr<LocalRoot> root);

  /// Readable when something happened; -1 when there is no watching here.
  [[nodiscard]] int fd() const noexcept { return inotify_.get(); }
  /// Why there is no watching; empty if there is.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }
  /// Takes in what happened.
  /// @return whether there may be something new for a reader.
  bool take_events();
  /// Starts afresh on the root as it is now.
  void rebuild();

 private:
  bool add(const std::string& folder);
  void give_up(std::string why);

  std::shared_ptr<LocalRoot> root_;
  Descriptor inotify_;
  std::unordered_map<int, std::string> folders_;  // By watch descriptor.
  std::string why_not_;
};

}  // namespace smd::detail::storage
