// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/step.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// What is saved of a collection's tensors: reductions, the tensor itself, its shape.
struct ReductionConfig {
  bool save_raw_tensor = false;
  bool save_shape = false;
  std::vector<std::string> reductions = {};  ///< As written: `min`, `abs_mean`, `l2_norm`, ….

  /// Parses a comma-separated list: `min,abs_mean,l1,abs_l2_norm,median`. Names are those that a job can save
  /// (`ReductionFacts::saved_by`), each also with `abs_`; norms also as `l1_norm`. Ignores blanks around names,
  /// empty names, and repetitions of a name.
  /// @throws InvalidArgument for any other name, with a similar name or all.
  [[nodiscard]] SMD_EXPORT static ReductionConfig parse(std::string_view list, bool save_raw_tensor = false,
                                                        bool save_shape = false);
  /// Makes a configuration from the reference's four lists: reductions and norms, and the same of absolute values
  /// (`abs_reductions` without `abs_`). @throws InvalidArgument as `parse`.
  [[nodiscard]] SMD_EXPORT static ReductionConfig of(const std::vector<std::string>& reductions,
                                                     const std::vector<std::string>& abs_reductions = {},
                                                     const std::vector<std::string>& norms = {},
                                                     const std::vector<std::string>& abs_norms = {},
                                                     bool save_raw_tensor = false, bool save_shape = false);

  bool operator==(const ReductionConfig&) const = default;
};

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

/// A named set of tensors, as the job configured it: the tensors that it lists, and those whose names match a pattern.
/// In a trial, if the workers' files differ, names and patterns are the union of theirs. In a hook, fields that are not
/// set, and modes that `save_config` does not name, take the hook's values.
struct Collection {
  std::string name = {};
  std::vector<std::string> tensor_names = {};   ///< Tensors listed by name, in byte order.
  std::vector<std::string> include_regex = {};  ///< Patterns of Python's `re.search`, in the order written.
  std::optional<ReductionConfig> reduction_config = {};
  std::map<Mode, SaveConfigMode> save_config = {};  ///< The modes that are configured; empty if none.
  std::optional<bool> save_histogram = {};

  bool operator==(const Collection&) const = default;
};

/// A collection on the writing side.
using CollectionConfig = Collection;

}  // namespace smd
