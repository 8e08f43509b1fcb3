// SPDX-License-Identifier: Apache-2.0
// npz: one array per value, under the shortest key that is unique.
#include "npz_writer.hpp"
#include "value_view.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace smd::tool::tensor {

namespace {

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
    if (needed != Key::name) {
      name += "@" + std::to_string(key.step.value);
    }
    if (needed == Key::worker) {
      name += "@";
      name += key.worker;
    }
    return name;
  }

  // A tensor's name may equal the key of another tensor's step: the shorter form of the two is made longer. Repeated
  // while that makes other keys equal; it ends, since each form is made longer at most twice.
  void keep_apart() {
    bool again = std::any_of(tensors_.begin(), tensors_.end(),
                             [](const auto& tensor) { return tensor.first.find('@') != std::string_view::npos; });
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

}  // namespace

std::unique_ptr<ValueView> make_npz_view(ViewContext context) { return std::make_unique<NpzView>(context); }

}  // namespace smd::tool::tensor
