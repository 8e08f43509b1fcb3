// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::trial {

/// What a place holds, by the names of its files alone.
struct Recognised {
  enum class Kind : std::uint8_t {
    nothing,       ///< Nothing yet: a job that is starting, or no trial.
    debugger,      ///< A debugger trial.
    inner,         ///< Its folder `debug-output` is a debugger trial, or will be.
    tensorboard,   ///< One trial: a TensorBoard log directory.
    several_runs,  ///< A folder with one or more log directories below it.
    checkpoints,   ///< A checkpoint folder.
  };
  Kind kind = Kind::nothing;
  std::vector<std::string> runs;  ///< Of `several_runs`: the trials, relative to the place, in byte order.
};

/// Recognises what `storage` holds. `with_links` returns a storage of the same place that follows symbolic links;
/// called only if the place holds no debugger trial.
[[nodiscard]] Recognised recognise(storage::Storage& storage, const std::function<storage::Storage&()>& with_links);

/// Returns whether the folder `name` in `parent` is a part of a trial that `parent` holds.
[[nodiscard]] bool is_part_of_trial(storage::Storage& parent, std::string_view name);

/// Returns whether the folder `name` in `parent` is a checkpoint among others: it has a step, an epoch or a label, and
/// `parent` holds no trial of another layout.
[[nodiscard]] bool is_checkpoint_of_trial(storage::Storage& parent, std::string_view name);

/// Returns a message such as `holds 12 runs: exp1, exp2 …`, with advice.
[[nodiscard]] std::string say_several(const std::string& path, const std::vector<std::string>& runs);

}  // namespace smd::detail::trial
