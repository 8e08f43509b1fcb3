// SPDX-License-Identifier: Apache-2.0
#include <smd/tensor.hpp>

#include "text/escape.hpp"
#include "trial/tensor_impl.hpp"
#include "trial/trial_impl.hpp"

#include <smd/error.hpp>
#include <smd/reduction.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace smd {

using detail::trial::Item;
using detail::trial::no_id;

Tensor::Tensor(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
Tensor::Tensor(const Tensor&) = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(const Tensor&) = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;
Tensor::~Tensor() = default;

const Tensor::Impl::StepRow& Tensor::Impl::row(const Snapshot& snapshot, StepKey step,
                                               const std::optional<std::string>& worker, const Has& has) const {
  const Rows all = rows_at(snapshot, step);
  if (all.empty()) {
    detail::trial::throw_unavailable(step, detail::trial::unavailable_tag(snapshot, step, snapshot.ended));
  }
  const Rows rows = rows_with(snapshot, all, id(snapshot));
  if (rows.empty()) {
    throw_not_at(step);
  }
  if (!worker) {
    const auto first =
        std::find_if(rows.begin(), rows.end(), [&](const StepRow* candidate) { return has(*candidate); });
    return first == rows.end() ? *rows.front() : **first;
  }
  std::vector<std::string> writers;
  for (const StepRow* const candidate : rows) {
    if (snapshot.worker(*candidate) == *worker) {
      return *candidate;
    }
    writers.emplace_back(snapshot.worker(*candidate));
  }
  std::string list;
  for (const std::string& writer : writers) {
    list += (list.empty() ? "" : ", ") + detail::printable(writer);
  }
  throw InvalidWorker("worker '" + detail::printable(*worker) + "' did not save '" + detail::printable(name) + "' at " +
                          detail::trial::describe(step) + "; these did: " + list,
                      *worker, std::move(writers));
}

void Tensor::Impl::throw_not_at(StepKey step) const {
  throw TensorUnavailableForStep("'" + detail::printable(name) + "' was not saved at " + detail::trial::describe(step),
                                 name, step, {});
}

std::optional<std::uint32_t> Tensor::Impl::position(const Snapshot& snapshot, const StepRow& row,
                                                    std::string_view reduction) const {
  for (const Item& item : snapshot.catalog.items(row).of(id(snapshot))) {
    const bool wanted =
        item.reduction == no_id ? reduction.empty() : snapshot.catalog.reductions()[item.reduction] == reduction;
    if (wanted) {
      return item.position;
    }
  }
  return std::nullopt;
}

std::optional<Place> Tensor::Impl::place(const Snapshot& snapshot, const StepRow& row,
                                         std::string_view reduction) const {
  const std::optional<std::uint32_t> at = position(snapshot, row, reduction);
  return at ? std::optional(trial->records().place(snapshot, row, *at)) : std::nullopt;
}

bool Tensor::Impl::has_shape(const Snapshot& snapshot, const StepRow& row) const {
  const detail::trial::ShapeList* const shapes = snapshot.catalog.shapes(row);
  return (shapes != nullptr && shapes->of(id(snapshot)) != nullptr) || position(snapshot, row, {}).has_value();
}

void Tensor::Impl::throw_not_saved(const Snapshot& snapshot, const StepRow& row, StepKey step,
                                   std::string_view what) const {
  const std::optional<TensorEntry> entry = trial->records().entry(snapshot, row, id(snapshot));
  std::vector<std::string> saved;
  for (const SavedReduction& reduction : entry->reductions) {
    saved.push_back(reduction.name);
  }
  if (entry->shape) {
    saved.emplace_back("shape");
  }
  std::string list;
  for (const std::string& item : saved) {
    list += (list.empty() ? "; saved instead: " : ", ") + detail::printable(item);
  }
  throw TensorUnavailableForStep("no " + std::string(what) + " of '" + detail::printable(name) + "' was saved at " +
                                     detail::trial::describe(step) + list,
                                 name, step, std::move(saved));
}

void Tensor::Impl::read(const Snapshot& snapshot, const StepRow& row, StepKey step, std::string_view reduction,
                        const std::function<void(Extent&)>& use) const {
  const std::optional<Place> at = place(snapshot, row, reduction);
  if (!at) {
    throw_not_saved(snapshot, row, step, reduction.empty() ? "value" : reduction);
  }
  ValueReader reader{Trial(trial)};
  if (auto problem = reader.read(*at, reduction.empty() ? name : reduction_tensor_name(reduction, name), use)) {
    throw_problem(*std::move(problem), step);
  }
}

TensorValue Tensor::Impl::value(const Snapshot& snapshot, const StepRow& row, StepKey step,
                                std::string_view reduction) const {
  std::optional<TensorValue> value;
  read(snapshot, row, step, reduction, [&](Extent& extent) { value = extent.value(); });
  return *std::move(value);
}

Shape Tensor::Impl::shape(const Snapshot& snapshot, const StepRow& row, StepKey step) const {
  Shape shape;
  read(snapshot, row, step, {}, [&](Extent& extent) { shape = extent.shape(); });
  return shape;
}

void Tensor::Impl::throw_problem(Problem problem, StepKey step) const {
  if (problem.kind == ProblemKind::absent || problem.kind == ProblemKind::not_yet) {
    throw TensorUnavailableForStep(to_string(problem), name, step, {}, problem);
  }
  throw ReadError(std::move(problem));
}

TensorValue Tensor::Impl::reduce(const Snapshot& snapshot, const StepRow& row, StepKey step,
                                 const std::string& reduction) const {
  const std::optional<Reduction> wanted = parse_reduction(reduction);
  if (!wanted) {
    throw InvalidArgument("'" + detail::printable(reduction) + "' is not a reduction, and none of that name of '" +
                          detail::printable(name) + "' was saved at " + detail::trial::describe(step));
  }
  Reducer reducer({&*wanted, 1});
  read(snapshot, row, step, {}, [&](Extent& value) {
    reducer.clear();
    (void)reducer.add(value);
  });
  const ReducedValue result = reducer.result(*wanted);
  if (result.kind == ReducedValue::Kind::undefined) {
    throw InvalidArgument("there is no " + reduction + " of the value of '" + detail::printable(name) + "' at " +
                          detail::trial::describe(step));
  }
  const bool complex = result.kind == ReducedValue::Kind::complex;
  const std::array<double, 2> numbers = {result.real, result.imaginary};
  const std::size_t size = complex ? sizeof numbers : sizeof(double);
  const std::shared_ptr<std::byte[]> bytes = std::make_shared<std::byte[]>(size);
  std::memcpy(bytes.get(), numbers.data(), size);
  return {complex ? Dtype::complex128 : Dtype::float64, {}, bytes, size};
}

std::vector<ModeStep> Tensor::Impl::steps(const Snapshot& snapshot, Mode mode, bool show_incomplete) const {
  const std::uint32_t tensor = id(snapshot);
  std::vector<ModeStep> steps;
  for (const detail::trial::Step& step : snapshot.steps) {
    if (!show_incomplete && !snapshot.complete(step.number)) {
      continue;
    }
    for (const StepRow& row : snapshot.rows_of(step)) {
      if (mode == Mode::global) {
        if (has_tensor(snapshot, row, tensor)) {
          steps.emplace_back(step.number);
          break;
        }
      } else if (row.mode == mode && has_tensor(snapshot, row, tensor) &&
                 snapshot.global_steps(mode, row.mode_step).front() == step.number) {
        // If several global steps claim a mode step, the first counts, here as for values.
        steps.emplace_back(row.mode_step);
      }
    }
  }
  std::sort(steps.begin(), steps.end());  // several workers give a mode step more than once
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::vector<std::pair<ModeStep, const Tensor::Impl::StepRow*>> Tensor::Impl::rows_of_mode(
    const Snapshot& snapshot, Mode mode, const std::optional<std::string>& worker, const Has& has) const {
  std::vector<std::pair<ModeStep, const StepRow*>> result;
  const std::uint32_t tensor = id(snapshot);
  const auto add_first = [&](ModeStep step, const Rows& rows) {
    for (const StepRow* const row : rows_with(snapshot, rows, tensor)) {
      if ((!worker || snapshot.worker(*row) == *worker) && has(*row)) {
        result.emplace_back(step, row);
        break;
      }
    }
  };
  if (mode != Mode::global) {
    for (const ModeStep step : steps(snapshot, mode, false)) {
      add_first(step, rows_at(snapshot, {mode, step}));
    }
    return result;
  }
  Rows rows;
  for (const detail::trial::Step& step : snapshot.steps) {  // the same without a lookup for each step
    if (snapshot.complete(step.number)) {
      rows.clear();
      for (const StepRow& row : snapshot.rows_of(step)) {
        rows.push_back(&row);
      }
      add_first(ModeStep(step.number), rows);
    }
  }
  return result;
}

const std::string& Tensor::name() const noexcept { return impl_->name; }

std::optional<std::string> Tensor::original_name() const {
  const auto snapshot = impl_->trial->snapshot();
  const std::uint32_t id = impl_->id(*snapshot);
  for (const detail::trial::Step& step : snapshot->steps) {
    for (const auto& row : snapshot->rows_of(step)) {
      const detail::trial::ShapeList* const shapes = snapshot->catalog.shapes(row);
      const detail::trial::ShapeList::Saved* const saved = shapes == nullptr ? nullptr : shapes->of(id);
      if (saved != nullptr) {
        return saved->original == no_id ? impl_->name : std::string(snapshot->catalog.originals()[saved->original]);
      }
    }
  }
  return std::nullopt;
}

std::vector<GlobalStep> Tensor::steps(bool show_incomplete_steps) const {
  std::vector<GlobalStep> steps;
  for (const ModeStep step : this->steps(Mode::global, show_incomplete_steps)) {
    steps.emplace_back(step.value);
  }
  return steps;
}

std::vector<ModeStep> Tensor::steps(Mode mode, bool show_incomplete_steps) const {
  return impl_->steps(*impl_->trial->snapshot(), mode, show_incomplete_steps);
}

TensorValue Tensor::value(StepKey step, const std::optional<std::string>& worker) const {
  const auto snapshot = impl_->trial->snapshot();
  const auto has = [&](const auto& row) { return impl_->position(*snapshot, row, {}).has_value(); };
  return impl_->value(*snapshot, impl_->row(*snapshot, step, worker, has), step, {});
}

std::map<ModeStep, TensorValue> Tensor::values(Mode mode, const std::optional<std::string>& worker) const {
  const auto snapshot = impl_->trial->snapshot();
  std::vector<ModeStep> steps;
  std::vector<WantedValue> wanted;
  const auto has = [&](const auto& row) { return impl_->position(*snapshot, row, {}).has_value(); };
  for (const auto& [step, row] : impl_->rows_of_mode(*snapshot, mode, worker, has)) {
    steps.push_back(step);
    wanted.push_back({*impl_->place(*snapshot, *row, {}), impl_->name});
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
  const auto snapshot = impl_->trial->snapshot();
  const auto has = [&](const auto& row) { return impl_->has_shape(*snapshot, row); };
  const auto& row = impl_->row(*snapshot, step, worker, has);
  if (const std::optional<TensorEntry> entry = impl_->trial->records().entry(*snapshot, row, impl_->id(*snapshot));
      entry->shape) {
    return *entry->shape;
  }
  return impl_->shape(*snapshot, row, step);
}

std::map<ModeStep, Shape> Tensor::shapes(Mode mode, const std::optional<std::string>& worker) const {
  const auto snapshot = impl_->trial->snapshot();
  std::map<ModeStep, Shape> shapes;
  const auto has = [&](const auto& row) { return impl_->has_shape(*snapshot, row); };
  for (const auto& [step, row] : impl_->rows_of_mode(*snapshot, mode, worker, has)) {
    if (const std::optional<TensorEntry> entry = impl_->trial->records().entry(*snapshot, *row, impl_->id(*snapshot));
        entry->shape) {
      shapes.emplace(step, *entry->shape);
    } else {
      shapes.emplace(step, impl_->shape(*snapshot, *row, {mode, step}));
    }
  }
  return shapes;
}

TensorValue Tensor::reduction_value(StepKey step, std::string_view reduction, bool abs,
                                    const std::optional<std::string>& worker) const {
  const auto snapshot = impl_->trial->snapshot();
  const std::string stored = (abs ? "abs_" : "") + std::string(reduction);
  const auto has = [&](const auto& row) {
    return impl_->position(*snapshot, row, stored) || impl_->position(*snapshot, row, {});
  };
  const auto& row = impl_->row(*snapshot, step, worker, has);
  if (impl_->position(*snapshot, row, stored) || !impl_->position(*snapshot, row, {})) {
    return impl_->value(*snapshot, row, step, stored);
  }
  return impl_->reduce(*snapshot, row, step, stored);
}

std::map<ReductionKey, TensorValue> Tensor::reduction_values(StepKey step,
                                                             const std::optional<std::string>& worker) const {
  const auto snapshot = impl_->trial->snapshot();
  const auto has_any = [&](const auto& row) {
    const auto items = snapshot->catalog.items(row).of(impl_->id(*snapshot));
    return !items.empty() && items.back().reduction != no_id;  // reductions follow the value
  };
  const auto& row = impl_->row(*snapshot, step, worker, has_any);
  std::map<ReductionKey, TensorValue> values;
  for (const Item& item : snapshot->catalog.items(row).of(impl_->id(*snapshot))) {
    if (item.reduction != no_id) {
      const std::string reduction(snapshot->catalog.reductions()[item.reduction]);
      values.emplace(reduction, impl_->value(*snapshot, row, step, reduction));
    }
  }
  return values;
}

std::vector<std::string> Tensor::workers(StepKey step) const {
  const auto snapshot = impl_->trial->snapshot();
  std::vector<std::string> workers;
  for (const auto* row : rows_with(*snapshot, rows_at(*snapshot, step), impl_->id(*snapshot))) {
    workers.emplace_back(snapshot->worker(*row));
  }
  if (workers.empty()) {
    impl_->throw_not_at(step);
  }
  return workers;
}

std::vector<ModeStep> Tensor::prev_steps(StepKey step, std::optional<std::size_t> n) const {
  std::vector<ModeStep> steps = this->steps(step.mode);
  steps.erase(std::upper_bound(steps.begin(), steps.end(), ModeStep(step.number)), steps.end());
  steps.erase(steps.begin(),
              steps.end() - static_cast<std::ptrdiff_t>(std::min(n.value_or(steps.size()), steps.size())));
  return steps;
}

std::vector<TensorEntry> Tensor::entries() const {
  const auto snapshot = impl_->trial->snapshot();
  const std::uint32_t id = impl_->id(*snapshot);
  std::vector<TensorEntry> entries;
  for (const detail::trial::Step& step : snapshot->steps) {
    std::vector<const detail::layout::StepRow*> rows;
    for (const auto& row : snapshot->rows_of(step)) {
      rows.push_back(&row);
    }
    for (const auto* row : rows_with(*snapshot, rows, id)) {
      entries.push_back(*impl_->trial->records().entry(*snapshot, *row, id));
    }
  }
  return entries;
}

}  // namespace smd
