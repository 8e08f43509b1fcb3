// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial/trial_impl.hpp"

#include <smd/tensor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// A trial and a name in it, with the building blocks of `Tensor`'s queries. Hidden: otherwise it would be exported
/// with its class.
struct __attribute__((visibility("hidden"))) Tensor::Impl {
  using StepRow = detail::layout::StepRow;
  using Snapshot = detail::trial::Snapshot;
  using Rows = std::vector<const StepRow*>;

  std::shared_ptr<Trial::Impl> trial;
  std::string name;

  [[nodiscard]] std::uint32_t id(const Snapshot& snapshot) const noexcept {
    return snapshot.catalog.tensors().find(name);
  }

  /// Returns whether a row has the requested data.
  using Has = std::function<bool(const StepRow&)>;

  /// Returns the row for a step and worker. Without a worker, that of the first worker by name that has the requested
  /// data, else of the first that saved anything of the tensor. @throws as `Tensor::value` if there is none.
  [[nodiscard]] const StepRow& row(const Snapshot& snapshot, StepKey step, const std::optional<std::string>& worker,
                                   const Has& has) const;
  /// Calls `use(value)` with the open value (`reduction` empty) or a saved reduction, perhaps twice. @throws as
  /// `Tensor::value`.
  void read(const Snapshot& snapshot, const StepRow& row, StepKey step, std::string_view reduction,
            const std::function<void(Extent&)>& use) const;
  [[nodiscard]] TensorValue value(const Snapshot& snapshot, const StepRow& row, StepKey step,
                                  std::string_view reduction) const;
  [[nodiscard]] Shape shape(const Snapshot& snapshot, const StepRow& row, StepKey step) const;
  /// Computes a reduction of the value. Precondition: the row has the value. @throws as `Tensor::reduction_value`.
  [[nodiscard]] TensorValue reduce(const Snapshot& snapshot, const StepRow& row, StepKey step,
                                   const std::string& reduction) const;
  [[noreturn]] void throw_problem(Problem problem, StepKey step) const;
  /// Returns the position of the value (`reduction` empty) or of a saved reduction in the row's payload. Nullopt if the
  /// row does not have it.
  [[nodiscard]] std::optional<std::uint32_t> position(const Snapshot& snapshot, const StepRow& row,
                                                      std::string_view reduction) const;
  [[nodiscard]] std::optional<Place> place(const Snapshot& snapshot, const StepRow& row,
                                           std::string_view reduction) const;
  [[nodiscard]] std::vector<ModeStep> steps(const Snapshot& snapshot, Mode mode, bool show_incomplete) const;
  /// Returns rows that have the requested data, one for each mode step of complete steps, of one worker or the first by
  /// name.
  [[nodiscard]] std::vector<std::pair<ModeStep, const StepRow*>> rows_of_mode(const Snapshot& snapshot, Mode mode,
                                                                              const std::optional<std::string>& worker,
                                                                              const Has& has) const;
  /// Returns whether the row has a shape that was saved without its tensor, or a value, which has a shape.
  [[nodiscard]] bool has_shape(const Snapshot& snapshot, const StepRow& row) const;
  [[noreturn]] void throw_not_at(StepKey step) const;
  [[noreturn]] void throw_not_saved(const Snapshot& snapshot, const StepRow& row, StepKey step,
                                    std::string_view what) const;
};

}  // namespace smd
