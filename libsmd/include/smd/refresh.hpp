// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/trial.hpp>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace smd {

namespace detail {

template <class T>
concept RefersToTrial = std::convertible_to<T, const Trial&>;
template <class T>
concept PointsToTrial = !RefersToTrial<T> && requires(T pointer) {
  { *pointer } -> std::convertible_to<const Trial&>;
};

}  // namespace detail

/// Any range of trials: of `Trial`, of references (`std::reference_wrapper`) or of pointers, including smart pointers,
/// none null.
template <class R>
concept TrialRange = std::ranges::input_range<R> &&(detail::RefersToTrial<std::ranges::range_reference_t<R>> ||
                                                    detail::PointsToTrial<std::ranges::range_reference_t<R>>);

/// Turns automatic refreshing of trials (`TrialOptions::auto_refresh`) off or on for its lifetime, in all threads, and
/// restores the earlier state when it is destroyed. Guards of one trial must be destroyed in the reverse order of
/// construction. Keeps the parts of the trials that it needs alive.
class SMD_EXPORT RefreshGuard {
 public:
  RefreshGuard(const RefreshGuard&) = delete;
  RefreshGuard& operator=(const RefreshGuard&) = delete;
  ~RefreshGuard();

 protected:
  RefreshGuard(bool refresh, std::span<const Trial* const> trials);

  template <TrialRange Trials>
  static std::vector<const Trial*> pointers(Trials&& trials) {
    std::vector<const Trial*> all;
    for (auto&& one : trials) {
      if constexpr (detail::RefersToTrial<decltype(one)>) {
        const Trial& trial = one;
        all.push_back(&trial);
      } else {
        const Trial& trial = *one;
        all.push_back(&trial);
      }
    }
    return all;
  }

 private:
  std::vector<std::pair<std::shared_ptr<Trial::Impl>, bool>> before_;
};

/// During its lifetime queries do not refresh: all of them see the trials as they were at the last refresh.
class SMD_EXPORT NoRefresh final : public RefreshGuard {
 public:
  explicit NoRefresh(const Trial& trial) : RefreshGuard(false, std::vector{&trial}) {}
  NoRefresh(std::initializer_list<std::reference_wrapper<const Trial>> trials)
      : RefreshGuard(false, pointers(trials)) {}
  template <TrialRange Trials>
  explicit NoRefresh(Trials&& trials) : RefreshGuard(false, pointers(std::forward<Trials>(trials))) {}
};

/// During its lifetime queries refresh first.
class SMD_EXPORT Refresh final : public RefreshGuard {
 public:
  explicit Refresh(const Trial& trial) : RefreshGuard(true, std::vector{&trial}) {}
  Refresh(std::initializer_list<std::reference_wrapper<const Trial>> trials) : RefreshGuard(true, pointers(trials)) {}
  template <TrialRange Trials>
  explicit Refresh(Trials&& trials) : RefreshGuard(true, pointers(std::forward<Trials>(trials))) {}
};

/// During its lifetime, queries of the thread that constructed it do not refresh these trials; other threads' queries
/// are not affected. Objects must be destroyed in the constructing thread, in the reverse order of construction, and
/// before the trials.
class SMD_EXPORT NoRefreshInThread {
 public:
  explicit NoRefreshInThread(std::span<const Trial* const> trials);
  NoRefreshInThread(const NoRefreshInThread&) = delete;
  NoRefreshInThread& operator=(const NoRefreshInThread&) = delete;
  ~NoRefreshInThread();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd
