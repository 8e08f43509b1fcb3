// SPDX-License-Identifier: Apache-2.0
#include <smd/tensor.hpp>

#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/words.hpp"
#include "trial/trial_state.hpp"
#include "types/refuse.hpp"

#include <smd/error.hpp>
#include <smd/reduction.hpp>
#include <smd/value_reader.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace smd {

using detail::layout::StepRow;
using detail::trial::Item;
using detail::trial::no_id;
using detail::trial::Rows;
using detail::trial::ShapeList;
using detail::trial::Snapshot;
using detail::trial::Step;

namespace {

Rows rows_of(const Snapshot& snapshot, const Step& step) {
  return detail::mapped(snapshot.rows_of(step), [](const StepRow& row) { return &row; });
}

}  // namespace

/// A trial and a name in it. Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) Tensor::Impl {
  struct Query;

  std::shared_ptr<Trial::Impl> trial;
  std::string name;
};

/// One query, and the snapshot that answers it.
struct Tensor::Impl::Query {
  explicit Query(const Impl& of) : trial(of.trial), name(of.name), snapshot(of.trial->snapshot()) {}

  const std::shared_ptr<Trial::Impl>& trial;
  const std::string& name;
  const std::shared_ptr<const Snapshot> snapshot;
  const std::uint32_t id = snapshot->catalog.tensors().find(name);

  /// Returns the row for a step and worker. Without a worker, that of the first worker by name that has the requested
  /// data (`has(row)`), else of the first that saved anything of the tensor. @throws as `Tensor::value` if there is
  /// none.
  template <class Has>
  [[nodiscard]] const StepRow& row(StepKey step, const std::optional<std::string>& worker, const Has& has) const {
    const Rows all = rows_at(*snapshot, step);
    if (all.empty()) {
      detail::trial::throw_unavailable(*snapshot, step,
                                       detail::trial::unavailable_tag(*snapshot, step, snapshot->over()));
    }
    const Rows rows = rows_with(*snapshot, all, id);
    if (rows.empty()) {
      throw_not_at(step);
    }
    if (!worker) {
      const auto first = std::ranges::find_if(rows, [&](const StepRow* candidate) { return has(*candidate); });
      return first == rows.end() ? *rows.front() : **first;
    }
    std::vector<std::string> writers;
    std::string list;
    for (const StepRow* const candidate : rows) {
      const std::string_view writer = snapshot->worker(*candidate);
      if (writer == *worker) {
        return *candidate;
      }
      writers.emplace_back(writer);
      text::append_part(list, detail::printable(writer));
    }
    throw InvalidWorker("worker " + detail::in_quotes(*worker) + " did not save " + detail::in_quotes(name) + " at " +
                            detail::trial::describe(step) + "; these did: " + list,
                        *worker, std::move(writers));
  }

  /// Returns the position of the value (`reduction` empty) or of a saved reduction in the row's payload. Nullopt if the
  /// row does not have it.
  [[nodiscard]] std::optional<std::uint32_t> position(const StepRow& row, std::string_view reduction) const {
    for (const Item& item : snapshot->catalog.items(row).of(id)) {
      const bool wanted =
          item.reduction == no_id ? reduction.empty() : snapshot->catalog.reductions()[item.reduction] == reduction;
      if (wanted) {
        return item.position;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool has_value(const StepRow& row) const { return position(row, {}).has_value(); }

  /// Returns the shape that was saved without its tensor. Null if there is none.
  [[nodiscard]] const ShapeList::Saved* saved_shape(const StepRow& row) const {
    return snapshot->catalog.shapes(row).of(id);
  }

  /// Returns whether the row has a shape that was saved without its tensor, or a value, which has a shape.
  [[nodiscard]] bool has_shape(const StepRow& row) const { return saved_shape(row) != nullptr || has_value(row); }

  /// Calls `use(value)` with the open value (`reduction` empty) or a saved reduction, perhaps twice. @throws as
  /// `Tensor::value`.
  void read(const StepRow& row, StepKey step, std::string_view reduction,
            const std::function<void(Extent&)>& use) const {
    const std::optional<std::uint32_t> at = position(row, reduction);
    if (!at) {
      throw_not_saved(row, step, reduction.empty() ? "value" : reduction);
    }
    ValueReader reader{Trial(trial)};
    auto problem = reader.read(trial->records().place(*snapshot, row, *at),
                               reduction.empty() ? name : reduction_tensor_name(reduction, name), use);
    if (problem && (problem->kind == ProblemKind::absent || problem->kind == ProblemKind::not_yet)) {
      throw TensorUnavailableForStep(to_string(*problem), name, step, {}, *problem);
    }
    if (problem) {
      throw ReadError(*std::move(problem));
    }
  }

  [[nodiscard]] TensorValue value(const StepRow& row, StepKey step, std::string_view reduction) const {
    std::optional<TensorValue> value;
    read(row, step, reduction, [&](Extent& extent) { value = extent.value(); });
    return *std::move(value);
  }

  [[nodiscard]] Shape shape(const StepRow& row, StepKey step) const {
    if (auto entry = trial->records().entry(*snapshot, row, id); entry && entry->shape) {
      return *std::move(entry->shape);
    }
    Shape shape;
    read(row, step, {}, [&](Extent& extent) { shape = extent.shape(); });
    return shape;
  }

  /// Computes a reduction of the value. Precondition: the row has the value. @throws as `Tensor::reduction_value`.
  [[nodiscard]] TensorValue reduce(const StepRow& row, StepKey step, const std::string& reduction) const {
    const std::optional<Reduction> wanted = parse_reduction(reduction);
    if (!wanted) {
      throw InvalidArgument(detail::in_quotes(reduction) + " is not a reduction, and none of that name of " +
                            detail::in_quotes(name) + " was saved at " + detail::trial::describe(step));
    }
    Reducer reducer({&*wanted, 1});
    read(row, step, {}, [&](Extent& value) {
      reducer.clear();
      (void)reducer.add(value);
    });
    const ReducedValue result = reducer.result(*wanted);
    if (result.kind == ReducedValue::Kind::undefined) {
      throw InvalidArgument("there is no " + reduction + " of the value of " + detail::in_quotes(name) + " at " +
                            detail::trial::describe(step));
    }
    const bool complex = result.kind == ReducedValue::Kind::complex;
    const std::array<double, 2> numbers = {result.real, result.imaginary};
    const std::size_t size = complex ? sizeof numbers : sizeof(double);
    const std::shared_ptr<std::byte[]> bytes = std::make_shared<std::byte[]>(size);
    std::memcpy(bytes.get(), numbers.data(), size);
    return {complex ? Dtype::complex128 : Dtype::float64, {}, bytes, size};
  }

  [[nodiscard]] std::vector<ModeStep> steps(Mode mode, bool show_incomplete) const {
    std::vector<ModeStep> steps;
    for (const Step& step : snapshot->steps) {
      if (!show_incomplete && !snapshot->complete(step.number)) {
        continue;
      }
      for (const StepRow& row : snapshot->rows_of(step)) {
        if (mode == Mode::global) {
          if (has_tensor(*snapshot, row, id)) {
            steps.emplace_back(step.number);
            break;
          }
        } else if (row.mode == mode && has_tensor(*snapshot, row, id) &&
                   snapshot->global_steps(mode, row.mode_step).front() == step.number) {
          // If several global steps claim a mode step, the first counts, here as for values.
          steps.emplace_back(row.mode_step);
        }
      }
    }
    detail::sort_each_once(steps);  // several workers give a mode step more than once
    return steps;
  }

  /// Returns rows that have the requested data, one for each mode step of complete steps, of one worker or the first by
  /// name.
  template <class Has>
  [[nodiscard]] std::vector<std::pair<ModeStep, const StepRow*>> rows_of_mode(Mode mode,
                                                                              const std::optional<std::string>& worker,
                                                                              const Has& has) const {
    std::vector<std::pair<ModeStep, const StepRow*>> result;
    const auto add_first = [&](ModeStep step, const Rows& rows) {
      for (const StepRow* const row : rows_with(*snapshot, rows, id)) {
        if ((!worker || snapshot->worker(*row) == *worker) && has(*row)) {
          result.emplace_back(step, row);
          break;
        }
      }
    };
    if (mode != Mode::global) {
      for (const ModeStep step : steps(mode, false)) {
        add_first(step, rows_at(*snapshot, {mode, step}));
      }
      return result;
    }
    for (const Step& step : snapshot->steps) {  // the same without a lookup for each step
      if (snapshot->complete(step.number)) {
        add_first(ModeStep(step.number), rows_of(*snapshot, step));
      }
    }
    return result;
  }

  [[noreturn]] void throw_not_at(StepKey step) const {
    throw TensorUnavailableForStep(detail::in_quotes(name) + " was not saved at " + detail::trial::describe(step), name,
                                   step, {});
  }

  [[noreturn]] void throw_not_saved(const StepRow& row, StepKey step, std::string_view what) const {
    const std::optional<TensorEntry> entry = trial->records().entry(*snapshot, row, id);
    std::vector<std::string> saved = detail::mapped(entry->reductions, &SavedReduction::name);
    if (entry->shape) {
      saved.emplace_back("shape");
    }
    const std::string list = text::joined(saved, ", ", [](const auto& item) { return detail::printable(item); });
    throw TensorUnavailableForStep("no " + std::string(what) + " of " + detail::in_quotes(name) + " was saved at " +
                                       detail::trial::describe(step) + (list.empty() ? "" : "; saved instead: " + list),
                                   name, step, std::move(saved));
  }
};

Tensor Trial::tensor(std::string_view name) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const detail::layout::NameTable& tensors = snapshot->catalog.tensors();
  if (!was_saved(*snapshot, tensors.find(name))) {
    std::vector<std::string> nearest = detail::nearest(name, tensors.texts().by_number);
    const std::string others = text::joined(nearest, ", ", detail::in_quotes);
    throw TensorUnavailable(
        detail::in_quotes(name) + " was not saved" + (others.empty() ? "" : "; did you mean " + others + "?"),
        std::string(name), std::move(nearest));
  }
  return Tensor(std::make_shared<const Tensor::Impl>(Tensor::Impl{impl_, std::string(name)}));
}

const std::string& Tensor::name() const noexcept { return impl_->name; }

std::optional<std::string> Tensor::original_name() const {
  const Impl::Query query(*impl_);
  for (const Step& step : query.snapshot->steps) {
    for (const StepRow& row : query.snapshot->rows_of(step)) {
      if (const ShapeList::Saved* const saved = query.saved_shape(row)) {
        return saved->original == no_id ? query.name
                                        : std::string(query.snapshot->catalog.originals()[saved->original]);
      }
    }
  }
  return std::nullopt;
}

std::vector<GlobalStep> Tensor::steps(bool show_incomplete_steps) const {
  return detail::mapped(steps(Mode::global, show_incomplete_steps),
                        [](ModeStep step) { return GlobalStep(step.value); });
}

std::vector<ModeStep> Tensor::steps(Mode mode, bool show_incomplete_steps) const {
  return Impl::Query(*impl_).steps(mode, show_incomplete_steps);
}

TensorValue Tensor::value(StepKey step, const std::optional<std::string>& worker) const {
  const Impl::Query query(*impl_);
  return query.value(query.row(step, worker, [&](const StepRow& row) { return query.has_value(row); }), step, {});
}

std::map<ModeStep, TensorValue> Tensor::values(Mode mode, const std::optional<std::string>& worker) const {
  const Impl::Query query(*impl_);
  std::vector<ModeStep> steps;
  std::vector<WantedValue> wanted;
  const auto has = [&](const StepRow& row) { return query.has_value(row); };
  for (const auto& [step, row] : query.rows_of_mode(mode, worker, has)) {
    steps.push_back(step);
    wanted.push_back({query.trial->records().place(*query.snapshot, *row, *query.position(*row, {})), query.name});
  }
  std::map<ModeStep, TensorValue> values;
  Trial(impl_->trial).read(wanted, [&](std::size_t i, ReadResult&& result) {
    if (result.problem) {
      throw ReadError(std::move(*result.problem));
    }
    values.emplace_hint(values.end(), steps[i], std::move(*result.value));
    return true;
  });
  return values;
}

Shape Tensor::shape(StepKey step, const std::optional<std::string>& worker) const {
  const Impl::Query query(*impl_);
  return query.shape(query.row(step, worker, [&](const StepRow& row) { return query.has_shape(row); }), step);
}

std::map<ModeStep, Shape> Tensor::shapes(Mode mode, const std::optional<std::string>& worker) const {
  const Impl::Query query(*impl_);
  std::map<ModeStep, Shape> shapes;
  const auto has = [&](const StepRow& row) { return query.has_shape(row); };
  for (const auto& [step, row] : query.rows_of_mode(mode, worker, has)) {
    shapes.emplace(step, query.shape(*row, {mode, step}));
  }
  return shapes;
}

TensorValue Tensor::reduction_value(StepKey step, std::string_view reduction, bool abs,
                                    const std::optional<std::string>& worker) const {
  detail::refuse_if(reduction.empty(), "the name of a reduction is empty");
  const Impl::Query query(*impl_);
  const std::string stored = (abs ? "abs_" : "") + std::string(reduction);
  const StepRow& row = query.row(
      step, worker, [&](const StepRow& other) { return query.position(other, stored) || query.has_value(other); });
  return query.position(row, stored) || !query.has_value(row) ? query.value(row, step, stored)
                                                              : query.reduce(row, step, stored);
}

std::map<std::string, TensorValue> Tensor::reduction_values(StepKey step,
                                                            const std::optional<std::string>& worker) const {
  const Impl::Query query(*impl_);
  const auto items = [&](const StepRow& row) { return query.snapshot->catalog.items(row).of(query.id); };
  const StepRow& row = query.row(step, worker, [&](const StepRow& other) {
    return !items(other).empty() && items(other).back().reduction != no_id;  // reductions follow the value
  });
  std::map<std::string, TensorValue> values;
  for (const Item& item : items(row)) {
    if (item.reduction != no_id) {
      const std::string reduction(query.snapshot->catalog.reductions()[item.reduction]);
      values.emplace(reduction, query.value(row, step, reduction));
    }
  }
  return values;
}

std::vector<std::string> Tensor::workers(StepKey step) const {
  const Impl::Query query(*impl_);
  std::vector<std::string> workers =
      detail::mapped(rows_with(*query.snapshot, rows_at(*query.snapshot, step), query.id),
                     [&](const StepRow* row) { return std::string(query.snapshot->worker(*row)); });
  if (workers.empty()) {
    query.throw_not_at(step);
  }
  return workers;
}

std::vector<ModeStep> Tensor::prev_steps(StepKey step, std::optional<std::size_t> n) const {
  std::vector<ModeStep> steps = this->steps(step.mode);
  steps.erase(std::ranges::upper_bound(steps, ModeStep(step.number)), steps.end());
  steps.erase(steps.begin(),
              steps.end() - static_cast<std::ptrdiff_t>(std::min(n.value_or(steps.size()), steps.size())));
  return steps;
}

std::vector<TensorEntry> Tensor::entries() const {
  const Impl::Query query(*impl_);
  std::vector<TensorEntry> entries;
  for (const Step& step : query.snapshot->steps) {
    for (const StepRow* const row : rows_with(*query.snapshot, rows_of(*query.snapshot, step), query.id)) {
      entries.push_back(*query.trial->records().entry(*query.snapshot, *row, query.id));
    }
  }
  return entries;
}

}  // namespace smd
