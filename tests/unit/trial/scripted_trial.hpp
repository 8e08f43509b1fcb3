// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "support/fake_clock.hpp"
#include "trial/trial_state.hpp"
#include "trial_support.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smd::test {

/// A directory to which things happen at moments of a hand-wound clock: a wait winds it to the next of them, or to its
/// deadline. Nothing sleeps. A wait that would never end is a failure.
class Script {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// What happens so long after the start; in order.
  void at(std::chrono::milliseconds when, std::function<void()> what) { events_.emplace_back(start_ + when, what); }

  [[nodiscard]] Time after(std::chrono::milliseconds when) const { return start_ + when; }
  [[nodiscard]] std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - start_);
  }
  [[nodiscard]] const FakeClock& clock() const { return clock_; }
  /// The next listing that has a file of that name misses it: so it may be where files are renamed into a folder while
  /// it is read.
  void miss_once(std::string leaf) { missed_.push_back(std::move(leaf)); }
  /// What happens as soon as a listing has shown a file of that name: before anyone can read it.
  void when_listed(std::string leaf, std::function<void()> what) { listed_.emplace_back(std::move(leaf), what); }
  /// A listing, as it is seen.
  void list(std::vector<detail::storage::DirEntry>& entries) {
    for (auto name = missed_.begin(); name != missed_.end();) {
      const auto seen = std::find_if(entries.begin(), entries.end(),
                                     [&](const detail::storage::DirEntry& entry) { return entry.name == *name; });
      if (seen == entries.end()) {
        ++name;
      } else {
        entries.erase(seen);
        name = missed_.erase(name);
      }
    }
    const auto shown = std::find_if(listed_.begin(), listed_.end(), [&](const auto& event) {
      return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == event.first; });
    });
    if (shown != listed_.end()) {
      const std::function<void()> what = std::move(shown->second);
      listed_.erase(shown);
      what();
    }
  }
  /// From now on the end marker has a time: so long ago, and another one at each call.
  void mark(std::chrono::milliseconds ago = {}) {
    marked_ = std::chrono::system_clock::now() - ago + std::chrono::milliseconds(++marks_);
  }
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> marked() const { return marked_; }
  /// How often somebody waited.
  [[nodiscard]] int waits() const { return waits_; }

  bool wait_until(Time deadline) {
    ++waits_;
    if (next_ < events_.size() && events_[next_].first <= deadline) {
      clock_.advance(std::max(events_[next_].first - clock_.now(), Time::duration::zero()));
      events_[next_++].second();
      return true;
    }
    if (deadline == Time::max()) {
      throw std::runtime_error("this wait never ends");
    }
    clock_.advance(std::max(deadline - clock_.now(), Time::duration::zero()));
    return false;
  }

  [[nodiscard]] Trial open(const std::string& path, TrialOptions options = {});

 private:
  FakeClock clock_;
  Time start_ = clock_.now();
  std::vector<std::pair<Time, std::function<void()>>> events_;
  std::size_t next_ = 0;
  std::vector<std::string> missed_;
  std::vector<std::pair<std::string, std::function<void()>>> listed_;
  int waits_ = 0;
  std::optional<std::chrono::system_clock::time_point> marked_;
  int marks_ = 0;
};

class ScriptedWatch final : public detail::storage::Watch {
 public:
  explicit ScriptedWatch(Script& script) : script_(script) {}
  bool wait_until(Script::Time deadline) override { return script_.wait_until(deadline); }
  void wake() noexcept override {}
  [[nodiscard]] std::string method() const override { return "script"; }

 private:
  Script& script_;
};

/// A local directory, but for the watch.
class ScriptedStorage final : public detail::storage::Storage {
 public:
  template <class T>
  using Outcome = detail::Outcome<T>;

  ScriptedStorage(std::unique_ptr<Storage> local, Script& script) : local_(std::move(local)), script_(script) {}
  Outcome<std::vector<detail::storage::DirEntry>> list(std::string_view folder) override {
    auto entries = local_->list(folder);
    if (entries) {
      script_.list(*entries);
    }
    return entries;
  }
  bool exists(std::string_view name) override { return local_->exists(name); }
  std::optional<std::chrono::system_clock::time_point> written_at(std::string_view /*name*/) override {
    return script_.marked();
  }
  Outcome<std::unique_ptr<detail::storage::File>> open(std::string_view name) override { return local_->open(name); }
  bool read_once(std::string_view name, std::uint64_t offset, std::span<std::byte> into) override {
    return local_->read_once(name, offset, into);
  }
  Outcome<std::unique_ptr<detail::storage::Folder>> open_folder(std::string_view name) override {
    return local_->open_folder(name);
  }
  std::unique_ptr<detail::storage::Watch> watch(std::chrono::milliseconds,
                                                const detail::storage::WatchScope&) override {
    return std::make_unique<ScriptedWatch>(script_);
  }
  detail::Status revisit() override { return local_->revisit(); }
  [[nodiscard]] std::uint64_t generation() const noexcept override { return local_->generation(); }
  [[nodiscard]] unsigned parallelism() const noexcept override { return 1; }
  [[nodiscard]] const std::string& root() const noexcept override { return local_->root(); }

 private:
  std::unique_ptr<Storage> local_;
  Script& script_;
};

inline Trial Script::open(const std::string& path, TrialOptions options) {
  options.auto_refresh = false;
  return detail::TrialAccess::open(
      path, options,
      {.clock = &clock_,
       .open = [this](const std::string& place) -> detail::Outcome<std::unique_ptr<detail::storage::Storage>> {
         auto local = detail::storage::open_local(place);
         if (!local) {
           return std::move(local.problem());
         }
         return std::unique_ptr<detail::storage::Storage>(std::make_unique<ScriptedStorage>(*std::move(local), *this));
       }});
}

}  // namespace smd::test
