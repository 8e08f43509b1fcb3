// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

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

}  // namespace smd
