// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/step.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace smd {

/// When tensors are saved in one mode: at the steps in `save_steps`, and at multiples of `save_interval` from
/// `start_step` (inclusive) to `end_step` (exclusive; not set: no end). These are mode steps.
struct SaveConfigMode {
  std::int64_t save_interval = 500;
  std::vector<std::int64_t> save_steps = {};
  std::int64_t start_step = 0;
  std::optional<std::int64_t> end_step = {};

  /// Returns whether to save at a mode step. With an interval below 1 only the steps in `save_steps` are saved.
  [[nodiscard]] SMD_EXPORT bool should_save_step(std::int64_t step) const noexcept;

  bool operator==(const SaveConfigMode&) const = default;
};

/// A `SaveConfigMode` for each mode.
class SMD_EXPORT SaveConfig {
 public:
  /// The default for every mode: every 500th step.
  SaveConfig() = default;
  /// Uses `all` for every mode.
  SaveConfig(const SaveConfigMode& all);  // NOLINT(google-explicit-constructor): configures all modes alike
  /// Modes that are not named use `fallback`, as the reference uses its default.
  SaveConfig(const std::map<Mode, SaveConfigMode>& modes,  // NOLINT(google-explicit-constructor): likewise
             const SaveConfigMode& fallback = {});

  [[nodiscard]] const SaveConfigMode& mode(Mode mode) const noexcept;
  void set_mode(Mode mode, const SaveConfigMode& config);
  [[nodiscard]] bool should_save_step(Mode in_mode, std::int64_t step) const noexcept {
    return mode(in_mode).should_save_step(step);
  }
  /// Returns the configuration of all four modes.
  [[nodiscard]] std::map<Mode, SaveConfigMode> modes() const;

  bool operator==(const SaveConfig&) const = default;

 private:
  std::array<SaveConfigMode, 4> modes_;  // by the mode's number, starting at 1
};

}  // namespace smd
