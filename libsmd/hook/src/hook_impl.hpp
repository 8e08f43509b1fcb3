// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook.hpp>

#include "base/clock.hpp"
#include "output.hpp"
#include "publisher.hpp"
#include "saving_plan.hpp"
#include "step_file.hpp"
#include "write_queue.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smd {

namespace detail::hook {
/// @throws InvalidArgument for what cannot be saved.
void check_value(std::string_view name, const TensorView& value);
/// @throws InvalidArgument for what no hook can be made by.
void check_config(const HookConfig& config);
}  // namespace detail::hook

/// What the training thread has of a hook. Files belong to the queue's thread: they are only touched within its tasks.
struct __attribute__((visibility("hidden"))) Hook::Impl {
  /// `output` and `tensorboard`: where files go, so that tests can stand between. Null: nowhere.
  Impl(HookConfig in_config, std::unique_ptr<detail::hook::Output> output,
       std::unique_ptr<detail::hook::Output> tensorboard, const detail::Clock& clock);

  void throw_failure() const;
  /// Whether what is saved is written: not in a dry run.
  [[nodiscard]] bool writes() const noexcept { return output != nullptr; }
  /// Before anything is saved at the step: is it there already? Makes the step's file, to be.
  void begin_file();
  /// `owned`: the same value, if its elements may be kept instead of copied; else null.
  void save(std::string_view name, const TensorView& value, const TensorValue* owned = nullptr);
  bool save_planned(std::string_view name, const TensorView& value, const TensorValue* owned,
                    const std::vector<std::string>& also);
  void save_reductions(std::string_view name, const TensorView& value, const std::vector<std::string>& reductions);
  void save_shape(std::string_view name, const Shape& shape, std::string_view original_name);
  void export_value(std::string_view name, const TensorView& value, const detail::hook::Plan& plan);
  void export_event(std::string event);
  void end_step();
  void go_to(std::int64_t step, Mode mode, std::int64_t mode_step);
  /// For steps that others have saved meanwhile; after `drain`. @throws StepAlreadySaved.
  void throw_refused();
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
  bool offered = false;                      // something was, at this step
  bool ever_offered = false;                 // something was, at any step
  std::int64_t last_saved = -1;              // the largest step of which this hook saved something
  bool closed = false;
  // Shared with the tasks that fill and finish them.
  std::shared_ptr<detail::hook::StepFile> file;
  std::shared_ptr<detail::hook::AtomicFile> tensorboard_file;
  std::optional<detail::hook::Publisher> publisher;  // none: nothing is written
  detail::hook::WriteQueue queue;                    // last: its thread is gone before anything that it uses
};

}  // namespace smd
