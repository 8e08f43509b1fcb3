// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/place.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

class Trial;

/// A reduction that the job computed and saved instead of, or beside, a value.
struct SavedReduction {
  std::string name;  ///< As saved: `mean`, `abs_l2`, or a name that the library does not know.
  Place place;
};

/// What was saved of one tensor at one step by one worker.
struct TensorEntry {
  std::string_view tensor;  ///< Borrowed from the trial's catalog: valid while a `Trial` or `Tensor` of it lives.
  std::string_view worker;  ///< Borrowed, as `tensor`.
  GlobalStep step;
  Mode mode = Mode::global;
  ModeStep mode_step;
  bool superseded = false;                   ///< A later value replaced this one: see `TrialOptions::superseded`.
  std::optional<Place> value;                ///< Where the value is, if it was saved.
  std::vector<SavedReduction> reductions;    ///< By name, byte order.
  std::optional<Shape> shape;                ///< The shape, if it was saved without the elements.
  std::optional<std::string> original_name;  ///< The framework's own name, if saved, and not the tensor's.
};

/// Selects tensors that meet every given condition. `names`, `regex` and `collections` are one condition, as in rules:
/// if any of them is given, one of them must select the tensor.
struct TensorQuery {
  std::optional<StepKey> step = {};           ///< Only tensors saved at this step.
  std::optional<Mode> mode = {};              ///< Only tensors saved in this mode.
  std::vector<std::string> names = {};        ///< Exact names; names that were not saved are ignored.
  std::vector<std::string> regex = {};        ///< Found anywhere in the name, as Python `re.search`.
  std::vector<std::string> collections = {};  ///< Members, by name or by the collection's own patterns.
  std::vector<std::string> exclude = {};      ///< Drop names in which one of these patterns is found.
  bool superseded = false;                    ///< Only tensors with superseded values, whatever the trial shows.
};

/// What arrived between two refreshes of a trial whose files grow, as a range of arrival numbers, both ends included.
struct Arrivals {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;

  bool operator==(const Arrivals&) const = default;
};

/// Selects entries by tensor, step, mode and worker.
struct EntryQuery {
  std::vector<std::string> tensors = {};              ///< Exact names; empty: all.
  std::optional<std::vector<GlobalStep>> steps = {};  ///< Ascending; nullopt: all steps in range.
  std::optional<Mode> mode = {};                      ///< Only steps of this mode; `global` or nullopt: all.
  std::vector<std::string> workers = {};              ///< Empty: all. See also `first_worker_only`.
  bool first_worker_only = false;                     ///< Per tensor and step, only the first worker by name.
  bool include_incomplete = false;
  bool superseded = false;  ///< The superseded values, whatever the trial shows.
  Arrivals arrivals = {};   ///< Only what arrived then, as `FollowEvent::arrivals` gives it.
};

/// A named series of values in a trial. A light handle, which shares the trial's data and may outlive the `Trial`. Safe
/// for concurrent use. Every query sees the trial's state at the time of the call (see `Trial::refresh`).
///
/// Without a worker, a query uses the first worker by name that saved what is asked for at that step. It throws
/// `StepUnavailable` or `StepNotYetAvailable` for a step that no index file names, and `ReadError` for a damaged
/// record.
class SMD_EXPORT Tensor {
 public:
  [[nodiscard]] const std::string& name() const noexcept;
  /// Returns the framework's own name, if it was saved with a shape, else nullopt; it may be that of the tensor.
  [[nodiscard]] std::optional<std::string> original_name() const;

  /// Returns the steps at which anything of the tensor was saved, ascending; only complete ones unless asked otherwise.
  [[nodiscard]] std::vector<GlobalStep> steps(bool show_incomplete_steps = false) const;
  /// As above, within a mode and as mode steps. `Mode::global` counts global steps.
  [[nodiscard]] std::vector<ModeStep> steps(Mode mode, bool show_incomplete_steps = false) const;

  /// Returns the value at a step. Takes the value's bytes plus at most 64 MiB of memory. @throws InvalidWorker,
  /// ReadError, StepUnavailable, StepNotYetAvailable, and TensorUnavailableForStep if no value was saved then.
  [[nodiscard]] TensorValue value(StepKey step, const std::optional<std::string>& worker = {}) const;

  /// Returns all values of a mode, by mode step, without steps that have none; none for an unknown worker. Reads in
  /// parallel; holds all values in memory. @throws ReadError at the first one that cannot be read.
  [[nodiscard]] std::map<ModeStep, TensorValue> values(Mode mode = Mode::global,
                                                       const std::optional<std::string>& worker = {}) const;

  /// Returns the shape that was saved by itself, else the value's shape. @throws as `value`.
  [[nodiscard]] Shape shape(StepKey step, const std::optional<std::string>& worker = {}) const;
  /// Returns the shapes at all steps of a mode that have one; none for an unknown worker.
  [[nodiscard]] std::map<ModeStep, Shape> shapes(Mode mode = Mode::global,
                                                 const std::optional<std::string>& worker = {}) const;

  /// Returns a reduction: one that `parse_reduction` knows, or one that the job saved under another name. If it was
  /// saved, returns the saved one, in the type and shape in which it was saved. Else computes it from the value, as
  /// `Reducer` does, and returns it as a float64 scalar (mean and sum of complex numbers as complex128; integers beyond
  /// 2^53 are rounded). Median and percentiles hold the value in memory; all others take at most 64 MiB.
  /// @throws TensorUnavailableForStep if neither it nor the value was saved then; InvalidArgument if the value was
  ///         saved, but the name is unknown or the reduction is undefined (strings; min of no elements); and as
  ///         `value`.
  [[nodiscard]] TensorValue reduction_value(StepKey step, std::string_view reduction, bool abs = false,
                                            const std::optional<std::string>& worker = {}) const;
  /// Returns all reductions that were saved at a step, by their stored names: `values.at("abs_mean")`. Computes none,
  /// as the reference. @throws as `value`.
  [[nodiscard]] std::map<std::string, TensorValue> reduction_values(
      StepKey step, const std::optional<std::string>& worker = {}) const;

  /// Returns the workers that saved anything of the tensor at a step, by name.
  /// @throws TensorUnavailableForStep if no worker did, whether or not the step exists.
  [[nodiscard]] std::vector<std::string> workers(StepKey step) const;

  /// Returns the last `n` (default: all) steps of the tensor up to and including `step`, in its mode, ascending.
  [[nodiscard]] std::vector<ModeStep> prev_steps(StepKey step, std::optional<std::size_t> n = {}) const;

  /// Returns everything saved of the tensor, by step and then worker, including incomplete steps.
  [[nodiscard]] std::vector<TensorEntry> entries() const;

 private:
  friend class Trial;
  struct Impl;
  explicit Tensor(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

}  // namespace smd
