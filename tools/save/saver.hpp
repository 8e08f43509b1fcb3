// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <smd/hook.hpp>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"

namespace smd::tool::save {

/// Where a tensor belongs.
struct Place {
  std::int64_t step = 0;
  Mode mode = Mode::global;
  std::optional<std::int64_t> mode_step;
  std::string worker;  ///< Empty: the default one.
};

/// Saves tensors as they come, a hook for each worker. Tensors of one worker and step that follow each other make one
/// step, which is written when another begins.
class Saver {
 public:
  /// Makes the trial. Borrows all. @throws as `Hook`.
  Saver(const SaveOptions& options, const HookConfig& config, Diagnostics& messages);

  /// @throws Error.
  void save(const Place& place, const std::string& tensor, const TensorValue& value,
            const std::vector<std::string>& collections);
  /// Writes all that is left. @return false, after a message, if another process has saved a step meanwhile that was in
  /// the making here. @throws WriteError.
  bool close();
  /// A message: the step was saved before.
  void refuse(const StepAlreadySaved& error);
  /// Notes it if nothing of all that came was wanted at steps that were counted here: a job that saves each step by a
  /// command of its own would never reach an interval. At steps with numbers of the job's it is as was asked for.
  void note_nothing_saved();
  /// Tensors saved, in whichever form.
  [[nodiscard]] std::uint64_t saved() const noexcept { return saved_; }

 private:
  Hook& hook_of(const std::string& worker);
  /// Says why a hook saves nothing, if it does not.
  void warn_of_silence(const std::string& worker, const Hook& hook);
  /// Once, when something is saved.
  void warn_of_end();
  std::int64_t mode_step_of(const Place& place);

  const SaveOptions& options_;
  Diagnostics& messages_;
  const HookConfig& config_;
  std::map<std::string, Hook> hooks_;
  /// Numbers within the modes, of the trial as it was and of what came since.
  bool trial_read_ = false;
  std::map<Mode, std::int64_t> next_;
  std::map<std::pair<Mode, std::int64_t>, std::int64_t> known_;
  bool end_looked_for_ = false;
  std::uint64_t saved_ = 0;
  std::string refused_at_;  ///< The last step of which something was not saved, if its number was counted here.
};

}  // namespace smd::tool::save
