// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/trial.hpp>

#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace smd {

/// Turns the refreshing of trials by queries (`TrialOptions::auto_refresh`) off or on for as long as it lives, for all
/// threads, then back to what it was. Guards of one trial end in the reverse order of their making. Keeps what it needs
/// of the trials alive.
class SMD_EXPORT RefreshGuard {
 public:
  RefreshGuard(const RefreshGuard&) = delete;
  RefreshGuard& operator=(const RefreshGuard&) = delete;
  ~RefreshGuard();

 protected:
  RefreshGuard(bool refresh, std::initializer_list<std::reference_wrapper<const Trial>> trials);

 private:
  std::vector<std::pair<std::shared_ptr<Trial::Impl>, bool>> before_;
};

/// While one lives, queries answer from what is known: all of them see the trials as they were at the last refresh.
class SMD_EXPORT NoRefresh final : public RefreshGuard {
 public:
  explicit NoRefresh(const Trial& trial) : RefreshGuard(false, {trial}) {}
  NoRefresh(std::initializer_list<std::reference_wrapper<const Trial>> trials) : RefreshGuard(false, trials) {}
};

/// While one lives, queries look for what is new first.
class SMD_EXPORT Refresh final : public RefreshGuard {
 public:
  explicit Refresh(const Trial& trial) : RefreshGuard(true, {trial}) {}
  Refresh(std::initializer_list<std::reference_wrapper<const Trial>> trials) : RefreshGuard(true, trials) {}
};

}  // namespace smd
