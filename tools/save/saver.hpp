// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <smd/hook.hpp>
#include <string>
#include <variant>
#include <vector>

#include "array.hpp"
#include "cli/diagnostics.hpp"
#include "cli/interruption.hpp"
#include "options.hpp"

namespace smd::tool::save {

/// The step, mode and worker of a tensor value.
struct StepToSave {
  std::int64_t step = 0;
  Mode mode = Mode::global;
  std::optional<std::int64_t> mode_step;
  std::string worker;  ///< Empty: the default one.
};

/// Saves tensors in the order in which they are given, with a hook for each worker. Consecutive tensors of one worker
/// and step are written together, when the next step begins.
class Saver {
 public:
  /// Makes the trial; if its tensors come in lines, only with --init: else the first tensor makes it. Borrows its
  /// arguments.
  /// @throws as `Hook` does. What is wrong with the configuration, a collection, or one of `names`, which are those of
  /// tensors to come, is found before anything is made.
  Saver(const SaveOptions& options, const HookConfig& config, const std::vector<std::string>& names,
        Diagnostics& messages);

  /// @throws Error.
  void save(const StepToSave& place, const std::string& tensor, const std::variant<TensorValue, StoredArray>& value,
            const std::vector<std::string>& collections);
  /// Lets the step be written now. More of it joins it, if the configuration allows that.
  void end_step();
  /// Writes what is left. @return false, after a message, if another process saved one of the steps in the meantime.
  /// @throws WriteError.
  bool close();
  /// Reports that the step was saved before; `where` comes before the text.
  void refuse(const StepAlreadySaved& error, const std::string& where);
  /// Prints a note if the configuration wanted none of the lines, or at mode steps that this command counted itself:
  /// a job that runs a command for each step would never reach an interval. A single step may well be left out.
  void note_nothing_saved();
  /// How many tensors were saved: values, reductions or shapes.
  [[nodiscard]] std::uint64_t saved() const noexcept { return saved_; }

 private:
  /// The hook of a worker. Warns if a new one saves nothing, and says why.
  Hook& hook_of(const std::string& worker);
  std::int64_t mode_step_of(const StepToSave& place);

  const SaveOptions& options_;
  Diagnostics& messages_;
  const HookConfig& config_;
  std::map<std::string, Hook> hooks_;
  /// The mode steps of the trial at the start and of what was saved since.
  bool trial_read_ = false;
  std::map<Mode, std::int64_t> next_;
  std::map<std::pair<Mode, std::int64_t>, std::int64_t> known_;
  std::map<std::string, std::set<std::string>> names_;  ///< By worker: the tensors of its step.
  bool told_twice_ = false;
  std::uint64_t saved_ = 0;
  std::optional<std::string> refused_at_;  ///< Where the last tensor of which a note tells was not saved.
};

/// Saves what standard input lists, one object a line, as the lines come. An error in a line is reported with the
/// line's number and affects only that line. A stop ends the input after the last whole line that came.
/// @return how many lines could not be saved. @throws ReadError if standard input cannot be read, WriteError.
[[nodiscard]] std::uint64_t save_lines(const SaveOptions& options, Saver& saver, const Interruption& interruption,
                                       Diagnostics& messages);

/// Saves the numbers that the pattern of --lines finds in the lines of standard input, as the lines come.
/// A line on which the pattern takes too many steps is reported, and affects only that line.
/// @return how many steps and lines could not be saved; nullopt if no line gave a number. @throws ReadError,
/// WriteError.
[[nodiscard]] std::optional<std::uint64_t> save_log(const SaveOptions& options, Saver& saver,
                                                    const Interruption& interruption, Diagnostics& messages);

/// Passes on what is left of standard input after an error, so that the program that writes it goes on.
void pass_on_the_rest(Diagnostics& messages);

}  // namespace smd::tool::save
