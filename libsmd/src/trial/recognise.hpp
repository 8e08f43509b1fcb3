// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::trial {

/// What lies at a place, by the names of its files alone.
struct Recognised {
  enum class Kind : std::uint8_t {
    nothing,       ///< So far: a job that is starting, or no trial.
    debugger,      ///< A debugger trial.
    inner,         ///< Its folder `debug-output` is one, or will be.
    tensorboard,   ///< One trial: a TensorBoard log directory.
    several_runs,  ///< A folder with several of them below.
    checkpoints,   ///< A checkpoint folder.
  };
  Kind kind = Kind::nothing;
  std::vector<std::string> runs;  ///< Several: the trials, relative to the place, in byte order.
};

/// `storage` is a place. `with_links` is the same place, where symbolic links are followed if there are such; called
/// only if it is no debugger trial.
[[nodiscard]] Recognised recognise(storage::Storage& storage, const std::function<storage::Storage&()>& with_links);

/// Whether a folder is a part of the trial that the folder around it is: `parent` is the folder around, `name` the
/// folder's in it.
[[nodiscard]] bool is_part_of_trial(storage::Storage& parent, std::string_view name);

/// The same of a checkpoint: `name` tells a step or is a label, and the folder around it is no other trial.
[[nodiscard]] bool is_checkpoint_of_trial(storage::Storage& parent, std::string_view name);

/// `holds 12 runs: exp1, exp2 …`, and what to do.
[[nodiscard]] std::string say_several(const std::string& path, const std::vector<std::string>& runs);

}  // namespace smd::detail::trial
