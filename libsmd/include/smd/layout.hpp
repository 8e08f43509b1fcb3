// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <string_view>
#include <vector>

namespace smd {

/// What differs between the layouts in which a job's data are stored: all that a program need know of a layout.
struct LayoutTraits {
  std::string_view name;     ///< `debugger`, `tensorboard`, `wandb`, `checkpoints`, `metrics`; never freed.
  bool has_modes = false;    ///< Steps have modes; else all have `Mode::global`, and names tell what is training.
  bool marks_end = false;    ///< A job marks its end. If it does not mark steps, one that was killed does not.
  bool marks_steps = false;  ///< Index files mark steps, so that each is complete at some moment; else a step can grow.
  bool has_checksums = false;  ///< A changed element can be found.
  bool has_headers = false;    ///< Headers tell the type and shape of each value before it is read.
  bool has_system = false;     ///< Metrics of the machine are in a collection `system`, which no query has by default.
  bool is_saved = false;       ///< Hooks and smd-save write it.
};

/// Returns all layouts, in the order in which a folder is looked at.
[[nodiscard]] SMD_EXPORT std::vector<LayoutTraits> layouts();

}  // namespace smd
