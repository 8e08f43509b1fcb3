// SPDX-License-Identifier: Apache-2.0
// --stack: the steps of a tensor joined on a new first axis.
#include "cli/text.hpp"
#include "npz_writer.hpp"
#include "value_view.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace smd::tool::tensor {

namespace {

struct Series {
  std::vector<std::int64_t> steps;
  std::vector<TensorValue> values;
};

class StackView : public ValueView {
 public:
  explicit StackView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }

  // Values are held until all are there: how many can be read decides the first axis.
  void show(const ValueKey& key, const TensorValue& value) override {
    const auto [place, is_new] = series_.try_emplace({key.trial, key.tensor, key.worker});
    Series& series = place->second;
    workers_[{key.trial, key.tensor}] += is_new ? 1 : 0;
    if (!series.values.empty() &&
        (series.values.front().dtype() != value.dtype() || series.values.front().shape() != value.shape())) {
      const TensorValue& first = series.values.front();
      throw UsageError("--stack: " + value_name(key) + " is " + std::string(to_string(value.dtype())) + " " +
                       to_string(value.shape()) + ", but at step " + std::to_string(series.steps.front()) + " " +
                       std::string(to_string(first.dtype())) + " " + to_string(first.shape()));
    }
    series.steps.push_back(key.step.value);
    series.values.push_back(value);
  }

  void finish() override {
    if (context_.options.output.format == "npy") {
      write_npy();
      return;
    }
    NpzWriter npz(context_.out, context_.messages);
    for (const auto& [key, series] : series_) {
      const auto& [trial, tensor, worker] = key;
      std::string name(tensor);
      if (workers_.at({trial, tensor}) > 1) {
        name += "@";
        name += worker;
      }
      npz.add(name, series.values.front().dtype(), stacked_shape(series), parts_of(series));
      const std::int64_t count = static_cast<std::int64_t>(series.steps.size());
      npz.add(name + "@steps", Dtype::int64, std::span(&count, 1), {std::as_bytes(std::span(series.steps))});
    }
    npz.finish();
  }

 private:
  using SeriesKey = std::tuple<std::string_view, std::string_view, std::string_view>;  // trial, tensor, worker

  static Shape stacked_shape(const Series& series) {
    Shape shape = series.values.front().shape();
    shape.insert(shape.begin(), static_cast<std::int64_t>(series.values.size()));
    return shape;
  }

  static std::vector<std::span<const std::byte>> parts_of(const Series& series) {
    std::vector<std::span<const std::byte>> parts;
    for (const TensorValue& value : series.values) {
      parts.push_back(value.bytes());
    }
    return parts;
  }

  void write_npy() {
    if (series_.size() != 1) {
      throw UsageError("-f npy holds one array, and " + std::to_string(series_.size()) +
                       " tensors, workers or trials are selected: use -f npz");
    }
    const Series& series = series_.begin()->second;
    const Dtype dtype = series.values.front().dtype();
    const std::vector<std::span<const std::byte>> parts = parts_of(series);
    const NpyType type = stacked_npy_type(dtype, parts);
    const Shape shape = stacked_shape(series);
    const auto is_text = [](const TensorValue& value) { return Elements(value.view()).utf8(); };
    if (!std::all_of(series.values.begin(), series.values.end(), is_text)) {
      throw UsageError("-f npy: " + std::string(not_text));
    }
    if (const std::string why = too_much_padding(type, dtype, shape, parts); !why.empty()) {
      throw UsageError("-f npy: " + why);
    }
    context_.out.write(npy_header(type, shape));
    for (const std::span<const std::byte> part : parts) {
      write_npy_elements(dtype, type, part, [&](std::span<const std::byte> bytes) { context_.out.write(bytes); });
    }
  }

  ViewContext context_;
  std::map<SeriesKey, Series> series_;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> workers_;  // with series, by trial and tensor
};

}  // namespace

std::unique_ptr<ValueView> make_stack_view(ViewContext context) { return std::make_unique<StackView>(context); }

}  // namespace smd::tool::tensor
