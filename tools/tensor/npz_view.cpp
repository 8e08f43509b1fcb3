// SPDX-License-Identifier: Apache-2.0
// npz: one array per value, under the shortest key that is unique for its tensor.
#include "npz_writer.hpp"
#include "value_view.hpp"

#include <map>

namespace smd::tool::tensor {

namespace {

class NpzView : public ValueView {
 public:
  explicit NpzView(ViewContext context) : npz_(context.out, context.messages) {}

  [[nodiscard]] bool plans() const override { return true; }

  void announce(const ValueKey& key) override {
    const auto [place, first] = tensors_.try_emplace(key.tensor, Seen{key.step, 0, Key::name});
    Seen& seen = place->second;
    if (!first) {
      // Entries come by step, so the same step again means another worker.
      seen.key = std::max(seen.key, seen.last == key.step ? Key::worker : Key::step);
    }
    seen.last = key.step;
    ++seen.values;
  }

  void show(const ValueKey& key, const TensorValue& value) override {
    std::string name(key.tensor);
    const Key needed = tensors_.at(key.tensor).key;
    if (needed != Key::name) {
      name += "@" + std::to_string(key.step.value);
    }
    if (needed == Key::worker) {
      name += "@";
      name += key.worker;
    }
    npz_.add(name, value.dtype(), value.shape(), {value.bytes()});
  }

  void finish() override { npz_.finish(); }

 private:
  enum class Key : std::uint8_t { name, step, worker };
  struct Seen {
    GlobalStep last;
    std::size_t values;
    Key key;
  };

  NpzWriter npz_;
  std::map<std::string_view, Seen> tensors_;
};

}  // namespace

std::unique_ptr<ValueView> make_npz_view(ViewContext context) { return std::make_unique<NpzView>(context); }

}  // namespace smd::tool::tensor
