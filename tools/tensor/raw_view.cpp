// SPDX-License-Identifier: Apache-2.0
// raw: the elements' bytes and nothing else; several values of numbers follow one another. A single string is written
// as its content: a saved picture becomes a picture file. Several strings of one value are each preceded by their
// length in 4 bytes; those of several values would be one file of which nothing can be told apart.
#include "value_view.hpp"

#include "cli/text.hpp"

#include <optional>
#include <utility>

namespace smd::tool::tensor {

namespace {

class RawView : public ValueView {
 public:
  explicit RawView(ViewContext context) : out_(context.out) {
    if (context.several_trials) {
      one_.emplace("-f raw of several trials", instead);
    }
  }

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override {
    if (one_) {
      one_->announce(key);
    } else if (values_.empty()) {
      values_ = value_name(key);
    } else if (!several_) {
      values_ += " and " + value_name(key) + " of " + single_quoted(key.worker);
      several_ = true;
    }
  }

  void show(const ValueKey&, const TensorValue& value) override {
    if (value.dtype() == Dtype::string) {
      if (several_ || std::exchange(any_strings_, true)) {
        throw UsageError("-f raw shows the strings of one value only" +
                         (values_.empty() ? "" : ", and there are " + values_) + ": " + std::string(instead));
      }
      const std::vector<std::string_view> texts = strings(value.view());
      if (texts.size() == 1) {
        out_.write(texts.front());
        return;
      }
    }
    out_.write(value.bytes());  // of several strings, each after its length
  }
  void end_step() override { out_.flush(); }
  [[nodiscard]] bool streams() const override { return true; }
  void show_blocks(const ValueKey& key, Extent& value) override {
    if (value.dtype() != Dtype::string) {
      (void)value.for_each_block([this](std::span<const std::byte> bytes) { out_.write(bytes); });
    } else if (const std::optional<TensorValue> whole = value.value()) {
      show(key, *whole);
    }
  }

 private:
  static constexpr std::string_view instead = "-o DIR/ writes each to a file; or choose one by name, -s and -w";

  OutputFile& out_;
  std::optional<OneValue> one_;
  std::string values_;  // the first two announced
  bool several_ = false;
  bool any_strings_ = false;
};

}  // namespace

std::unique_ptr<ValueView> make_raw_view(ViewContext context) { return std::make_unique<RawView>(context); }

}  // namespace smd::tool::tensor
