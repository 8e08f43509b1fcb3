// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook.hpp>

#include "base/clock.hpp"
#include "output.hpp"
#include "publisher.hpp"
#include "saving_plan.hpp"
#include "step_writer.hpp"
#include "wire/encode.hpp"
#include "wire/framing.hpp"
#include "write_queue.hpp"

#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace smd {

namespace detail::hook {
/// Passes the bytes of a tensor's elements to `take`, piece by piece.
using GiveElements = std::function<void(const std::function<void(std::span<const std::byte> piece)>& take)>;

/// @throws InvalidArgument for an invalid configuration.
void check_config(const HookConfig& config);
}  // namespace detail::hook

/// The state of a hook. It belongs to the training thread, except the files, which only the queue's tasks use.
struct __attribute__((visibility("hidden"))) Hook::Impl {
  /// `output` and `tensorboard` are where files go (tests pass their own); null: nothing is written.
  Impl(HookConfig in_config, std::unique_ptr<detail::hook::Output> output,
       std::unique_ptr<detail::hook::Output> tensorboard, const detail::Clock& clock);

  /// @throws InvalidArgument if the trial's job has ended and this hook would begin another in its place. Logs a
  /// warning if the hook only adds to what is there.
  void refuse_ended(bool saved_before) const;
  /// @throws InvalidArgument in a forked child.
  void refuse_child() const;
  /// @throws what stops all saving: a failure to write, InvalidArgument in a forked child or if the hook is closed.
  void throw_failure() const;
  [[nodiscard]] std::int64_t mode_step(Mode of) const { return mode_steps.at(static_cast<std::size_t>(of)); }
  /// Returns whether anything is written: not in a dry run, nor by a disabled hook.
  [[nodiscard]] bool writes() const noexcept { return output != nullptr; }
  /// Checks that the step may be saved and makes its StepWriter. Called before anything is saved at the step.
  void begin_file();
  /// `owned` is the same value if its elements may be shared instead of copied; else null.
  void save(std::string_view name, const TensorView& value, const TensorValue* owned = nullptr);
  /// As `save`, but `elements` supplies the elements later, in the queue's thread, which also computes checksums, so
  /// that the caller does not wait for a pass over them. `kept_bytes` of them stay in memory until then.
  void save_later(std::string_view name, const detail::wire::TensorExtent& value, std::uint64_t kept_bytes,
                  detail::hook::GiveElements elements);
  bool save_planned(std::string_view name, const TensorView& value, const TensorValue* owned,
                    const std::vector<std::string>& also);
  bool save_planned(std::string_view name, const detail::wire::TensorExtent& value, ReadElements read,
                    const std::vector<std::string>& also);
  /// Returns what to save of a tensor that is offered now; null if nothing.
  const detail::hook::SavingPlan* plan_of_offered(std::string_view name, const detail::wire::TensorExtent& value,
                                                  const std::vector<std::string>& also);
  [[nodiscard]] detail::wire::Protection protection() const noexcept {
    return config.checksum ? detail::wire::Protection::checksum : detail::wire::Protection::unprotected;
  }
  [[nodiscard]] detail::wire::EventHeader event_header(std::string_view name) const;
  void save_reductions(std::string_view name, const TensorView& value, const std::vector<std::string>& reductions);
  void save_shape(std::string_view name, const Shape& shape, std::string_view original_name);
  void export_value(std::string_view name, const TensorView& value, const detail::hook::SavingPlan& plan);
  void end_step();
  void go_to(std::int64_t step, Mode mode, std::int64_t mode_step);
  /// Precondition: `drain` has returned. @throws StepAlreadySaved if another process has saved one of the steps in the
  /// meantime.
  void throw_refused();
  /// Returns whether this process was forked from the one that made the hook: the thread that writes is not here.
  [[nodiscard]] bool is_of_parent() const noexcept { return ::getpid() != made_in; }
  void close();

  const HookConfig config;
  const detail::Clock& clock;
  const std::unique_ptr<detail::hook::Output> output;
  const std::unique_ptr<detail::hook::Output> tensorboard;
  const std::string worker_part;
  detail::hook::Collections collections;
  std::int64_t step = 0;
  Mode mode = Mode::global;
  std::array<std::int64_t, 5> mode_steps{};  // by the mode's number
  bool offered = false;                      // save_… was called at this step
  bool ever_offered = false;                 // save_… was called at any step
  std::int64_t last_saved = -1;              // the largest step of which this hook saved something
  std::set<std::int64_t> own;                // the steps that it saved; only with `append_own`
  bool said_not_finite = false;              // elements that are not finite are left out of a histogram
  bool closed = false;
  const pid_t made_in = ::getpid();
  // Shared with the queue's tasks, which fill and finish them.
  std::shared_ptr<detail::hook::StepWriter> file;
  std::shared_ptr<detail::hook::AtomicFile> tensorboard_file;
  std::optional<detail::hook::Publisher> publisher;  // nullopt: nothing is written
  detail::hook::WriteQueue queue;                    // last: its thread ends before what it uses is destroyed
};

}  // namespace smd
