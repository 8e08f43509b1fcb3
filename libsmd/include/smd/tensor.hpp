// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/export.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

class Trial;

/// What a value is that stands in a file without a record around it, or in no file at all.
struct BareValue {
  Dtype dtype = Dtype::float32;
  Shape shape = {};  ///< Of a number: none, it is a scalar.
  /// The value itself, already read: the bytes of its element, little endian, from the low end. The byte range is not
  /// used.
  std::optional<std::uint64_t> number = {};
  double wall_time = 0;  ///< Seconds since 1970 at which it was written.
  /// The element type as the file names it, if it is one that the library does not read: `F4`. Then `dtype` means
  /// nothing, and reading the value is refused. Empty: `dtype` is the type.
  std::string unread_type = {};

  bool operator==(const BareValue&) const = default;
};

/// Which elements of a record's tensor are the value.
enum class RecordPart : std::uint8_t {
  all,
  images,  ///< Encoded pictures: without width and height, which come first.
  clips,   ///< Encoded sounds, from a tensor of sounds and labels: without the labels.
};

/// Where one value lies: a file, relative to the trial, and a byte range in it.
struct TensorLocation {
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  /// Null: the range is a whole record, which tells type and shape itself. Else the range holds the elements alone.
  std::shared_ptr<const BareValue> bare = {};
  RecordPart part = RecordPart::all;  ///< Of a record.

  bool operator==(const TensorLocation& other) const {
    const bool same = bare == other.bare || (bare && other.bare && *bare == *other.bare);
    return same && part == other.part && offset == other.offset && length == other.length && file == other.file;
  }
};

/// A number that the job computed and saved in place of, or beside, a value.
struct SavedReduction {
  std::string name;  ///< As saved: `mean`, `abs_l2`, or a name that the library does not know.
  TensorLocation location;
};

/// What was saved of one tensor at one step by one worker.
struct TensorEntry {
  std::string_view tensor;  ///< Borrowed from the trial's catalog: valid while a `Trial` or `Tensor` of it lives.
  std::string_view worker;  ///< Likewise.
  GlobalStep step;
  Mode mode = Mode::global;
  ModeStep mode_step;
  std::optional<TensorLocation> value;       ///< Where the value lies, if it was saved.
  std::vector<SavedReduction> reductions;    ///< By name, byte order.
  std::optional<Shape> shape;                ///< If the shape was saved by itself.
  std::optional<std::string> original_name;  ///< The framework's own name, saved with the shape.
};

/// Names a saved reduction: `{"mean", true}`, or as it is stored: `"abs_mean"`.
struct ReductionKey {
  std::string name;  ///< `mean`, without `abs_`.
  bool abs = false;

  template <std::convertible_to<std::string_view> Text>
  ReductionKey(const Text& stored) {  // NOLINT(google-explicit-constructor): a stored name names a reduction
    const std::string_view text = stored;
    abs = text.starts_with("abs_");
    name = text.substr(abs ? 4 : 0);
  }
  ReductionKey(std::string_view in_name, bool in_abs) : name(in_name), abs(in_abs) {}

  /// `abs_mean`
  [[nodiscard]] std::string stored() const { return (abs ? "abs_" : "") + name; }

  auto operator<=>(const ReductionKey&) const = default;
};

/// A named series of values in a trial. A light handle: it shares the trial's data and may outlive the `Trial`.
/// Safe for concurrent use. Every query sees the trial as it is at the time (see `Trial::refresh`).
///
/// Where no worker is given, the first by name that saved the tensor at that step answers. Steps that no index file
/// names raise `StepUnavailable` or `StepNotYetAvailable`; a damaged record raises `ReadError`.
class SMD_EXPORT Tensor {
 public:
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();

  [[nodiscard]] const std::string& name() const noexcept;
  /// The framework's own name, if it was saved with a shape.
  [[nodiscard]] std::optional<std::string> original_name() const;

  /// Steps at which anything of the tensor was saved, ascending; complete ones only unless asked otherwise.
  [[nodiscard]] std::vector<GlobalStep> steps(bool show_incomplete_steps = false) const;
  /// The same within a mode, as mode steps. `Mode::global` counts global steps.
  [[nodiscard]] std::vector<ModeStep> steps(Mode mode, bool show_incomplete_steps = false) const;

  /// The value at a step. Reads its record by range; memory is the value's bytes plus at most 64 MiB.
  /// @throws TensorUnavailableForStep if no value was saved then, StepUnavailable, StepNotYetAvailable, InvalidWorker,
  ///         ReadError.
  [[nodiscard]] TensorValue value(StepKey step, const std::optional<std::string>& worker = {}) const;

  /// All values of a mode, by mode step. Steps without a value are left out. Reads in parallel; holds all of them.
  /// @throws ReadError at the first one that cannot be read.
  [[nodiscard]] std::map<ModeStep, TensorValue> values(Mode mode = Mode::global,
                                                       const std::optional<std::string>& worker = {}) const;

  /// The shape saved by itself, else that of the value. @throws as `value`.
  [[nodiscard]] Shape shape(StepKey step, const std::optional<std::string>& worker = {}) const;
  /// Shapes at all steps of a mode that have one.
  [[nodiscard]] std::map<ModeStep, Shape> shapes(Mode mode = Mode::global,
                                                 const std::optional<std::string>& worker = {}) const;

  /// A reduction (`min max mean std variance sum prod l1 l2`, any other that `parse_reduction` knows, or any other name
  /// that the job used): the saved one, in the type and shape in which it was saved, if there is one; else computed of
  /// the value, as `Reducer` does, and given as a float64 scalar (mean and sum of complex numbers as complex128;
  /// integers beyond 2^53 are rounded). Median and percentiles hold the value in memory; all others need 64 MiB at
  /// most.
  /// @throws TensorUnavailableForStep if neither it nor the value was saved then; InvalidArgument for an unknown name
  ///         that was not saved where the value was, or where there is no answer (strings; min of no elements); and as
  ///         `value`.
  [[nodiscard]] TensorValue reduction_value(StepKey step, std::string_view reduction, bool abs = false,
                                            const std::optional<std::string>& worker = {}) const;
  /// All reductions saved at a step, as the reference: none is computed. Empty if none. Asked by name and abs:
  /// `values.at({"mean", true})`, or `values.at("abs_mean")`. @throws as `value`.
  [[nodiscard]] std::map<ReductionKey, TensorValue> reduction_values(
      StepKey step, const std::optional<std::string>& worker = {}) const;

  /// Workers that saved anything of the tensor at a step, by name.
  /// @throws TensorUnavailableForStep if none did, whether the step exists or not.
  [[nodiscard]] std::vector<std::string> workers(StepKey step) const;

  /// Up to `n` steps of the tensor in a mode before and including `step`, the latest last; without `n` all of them.
  [[nodiscard]] std::vector<ModeStep> prev_steps(StepKey step, std::optional<std::size_t> n = {}) const;

  /// Everything saved of the tensor, by step and then worker, incomplete steps included.
  [[nodiscard]] std::vector<TensorEntry> entries() const;

 private:
  friend class Trial;
  struct Impl;
  explicit Tensor(std::shared_ptr<const Impl> impl) noexcept;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace smd
