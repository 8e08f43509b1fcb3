// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <span>
#include <string>

#include "cli/diagnostics.hpp"
#include "select/step_spec.hpp"

namespace smd::tool {

// A job restarted without its checkpoint counts its mode steps anew. If several global steps claim a mode step, it
// means the first one. In mode `global` no step repeats. Only the part of the trial that was read counts.

/// Notes that a mode step was saved more than once.
void note_repeated(const Trial& trial, Mode mode, ModeStep number, Diagnostics& messages);

/// Whether a SPEC asks for `last`, or -1.
[[nodiscard]] bool asks_for_last(const StepSpec& spec);

/// Notes that the job counted anew after `last`, the global step that the mode's last step means, if it saved one of
/// `own` since. `own`: the global steps to choose from, ascending.
void note_saved_since(const Trial& trial, Mode mode, GlobalStep last, std::span<const GlobalStep> own,
                      Diagnostics& messages);

/// Text to follow the name of a tensor that no step of the mode has: it was not saved, or only at steps whose numbers
/// earlier ones have. `own`: the global steps at which it was saved, ascending.
[[nodiscard]] std::string not_saved_in(const Trial& trial, Mode mode, std::span<const GlobalStep> own);

}  // namespace smd::tool
