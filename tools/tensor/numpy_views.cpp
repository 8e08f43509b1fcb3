// SPDX-License-Identifier: Apache-2.0
// For NumPy: npy, one array; npz, one array per value; --stack, the steps of a tensor joined on a new first axis.
#include "cli/mapped.hpp"
#include "npy.hpp"
#include "npz_writer.hpp"
#include "value_view.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace smd::tool::tensor {

namespace {

/// Writes one array, whose elements are those of all parts. @throws UsageError, whose text begins with `what`, if it is
/// of strings that NumPy has no place for.
void write_npy(OutputFile& out, const std::string& what, Dtype dtype, const Shape& shape,
               const std::vector<std::span<const std::byte>>& parts) {
  for (const std::span<const std::byte> part : parts) {
    refuse_if(!Elements(TensorView(dtype, {}, part)).utf8(), what + std::string(not_text));
  }
  const NpyType type = stacked_npy_type(dtype, parts);
  if (const std::string why = too_much_padding(type, dtype, shape, parts); !why.empty()) {
    throw UsageError(what + why);
  }
  out.write(npy_header(type, shape));
  for (const std::span<const std::byte> part : parts) {
    write_npy_elements(dtype, type, part, [&](std::span<const std::byte> bytes) { out.write(bytes); });
  }
}

/// npy: one array.
class NpyView : public ValueView {
 public:
  explicit NpyView(ViewContext context) : out_(context.out) {}

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override { one_.announce(key); }

  void show(const ValueKey& key, const TensorValue& value) override {
    write_npy(out_, "-f npy: " + value_name(key) + ": ", value.dtype(), value.shape(), {value.bytes()});
  }
  [[nodiscard]] bool streams() const override { return true; }
  void show_blocks(Extent& value) override {
    const NpyType type = npy_type(value.dtype());
    out_.write(npy_header(type, value.shape()));
    (void)value.for_each_block([&](std::span<const std::byte> block) {
      write_npy_elements(value.dtype(), type, block, [this](std::span<const std::byte> bytes) { out_.write(bytes); });
    });
  }

 private:
  OutputFile& out_;
  OneValue one_{"-f npy", "add --stack to join steps, or use -f npz"};
};

/// npz: one array per value, under the shortest key that is unique.
class NpzView : public ValueView {
 public:
  explicit NpzView(ViewContext context) : npz_(context.out, context.messages) {}

  [[nodiscard]] bool plans() const override { return true; }

  void announce(const ValueKey& key) override {
    const auto [place, first] = tensors_.try_emplace(key.tensor, Seen{key.step, Key::name});
    Seen& seen = place->second;
    if (!first) {
      // Entries come by step, so the same step again means another worker.
      seen.key = std::max(seen.key, seen.last == key.step ? Key::worker : Key::step);
    }
    seen.last = key.step;
    keys_.push_back(key);
  }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (!keys_.empty()) {
      keep_apart();
      keys_.clear();
    }
    npz_.add(name_of(key), value.dtype(), value.shape(), {value.bytes()});
  }

  void finish() override { npz_.finish(); }

 private:
  enum class Key : std::uint8_t { name, step, worker };
  struct Seen {
    GlobalStep last;
    Key key;
  };

  [[nodiscard]] std::string name_of(const ValueKey& key) const {
    std::string name(key.tensor);
    const Key needed = tensors_.at(key.tensor).key;
    name += needed == Key::name ? "" : "@" + std::to_string(key.step.value);
    if (needed == Key::worker) {
      name.append("@").append(key.worker);
    }
    return name;
  }

  // A tensor's name may equal the key of another tensor's step: the shorter form of the two is made longer. Repeated
  // while that makes other keys equal; it ends, since each form is made longer at most twice.
  void keep_apart() {
    bool again = std::ranges::any_of(
        tensors_, [](const auto& tensor) { return tensor.first.find('@') != std::string_view::npos; });
    while (std::exchange(again, false)) {
      std::map<std::string, std::string_view> taken;
      std::set<Seen*> longer;
      for (const ValueKey& key : keys_) {
        const auto [place, fresh] = taken.try_emplace(name_of(key), key.tensor);
        Seen& one = tensors_.at(key.tensor);
        Seen& other = tensors_.at(place->second);
        Seen& shorter = one.key < other.key ? one : other;
        if (!fresh && shorter.key != Key::worker && !longer.contains(&one) && !longer.contains(&other)) {
          longer.insert(&shorter);
        }
      }
      for (Seen* const seen : longer) {
        seen->key = seen->key == Key::name ? Key::step : Key::worker;
        again = true;
      }
    }
  }

  NpzWriter npz_;
  std::map<std::string_view, Seen> tensors_;
  std::vector<ValueKey> keys_;  // announced, and not kept apart yet
};

struct Series {
  std::vector<std::int64_t> steps;
  std::vector<TensorValue> values;
};

/// --stack: the steps of a tensor joined on a new first axis.
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
      refuse_if(series_.size() != 1, "-f npy holds one array, and " + std::to_string(series_.size()) +
                                         " tensors, workers or trials are selected: " +
                                         (context_.several_trials ? "choose one trial" : "use -f npz"));
      const Series& series = series_.begin()->second;
      write_npy(context_.out, "-f npy: ", series.values.front().dtype(), stacked_shape(series), parts_of(series));
      return;
    }
    NpzWriter npz(context_.out, context_.messages);
    for (const auto& [key, series] : series_) {
      const auto& [trial, tensor, worker] = key;
      std::string name(tensor);
      if (workers_.at({trial, tensor}) > 1) {
        name.append("@").append(worker);
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
    return mapped(series.values, [](const TensorValue& value) { return value.bytes(); });
  }

  ViewContext context_;
  std::map<SeriesKey, Series> series_;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> workers_;  // with series, by trial and tensor
};

}  // namespace

std::unique_ptr<ValueView> make_npy_view(ViewContext context) { return std::make_unique<NpyView>(context); }
std::unique_ptr<ValueView> make_npz_view(ViewContext context) { return std::make_unique<NpzView>(context); }
std::unique_ptr<ValueView> make_stack_view(ViewContext context) { return std::make_unique<StackView>(context); }

}  // namespace smd::tool::tensor
