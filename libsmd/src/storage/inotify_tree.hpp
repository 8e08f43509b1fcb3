// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/descriptor.hpp"
#include "storage/local_storage.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smd::detail::storage {

/// inotify watches on a trial's root, the folders of a scope and every folder beneath these. Follows folders that come
/// and go.
class InotifyTree {
 public:
  InotifyTree(std::shared_ptr<LocalRoot> root, const WatchScope& scope);

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
  [[nodiscard]] bool matters(std::string_view folder) const noexcept;
  void give_up(std::string why);

  std::shared_ptr<LocalRoot> root_;
  std::vector<std::string> scope_;
  std::uint32_t events_;
  Descriptor inotify_;
  std::unordered_map<int, std::string> folders_;  // By watch descriptor.
  std::string why_not_;
};

}  // namespace smd::detail::storage
