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

class RawView : public ValueView, private BlockSink {
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

  void show(const ValueKey&, const TensorValue& value) override { write(value.view()); }
  void end_step() override { out_.flush(); }
  BlockSink* stream(const ValueKey&) override { return this; }

 private:
  static constexpr std::string_view instead = "-o DIR/ writes each to a file; or choose one by name, -s and -w";

  bool begin(Dtype dtype, const Shape& shape) override {
    dtype_ = dtype;
    shape_ = shape;
    return true;
  }
  bool block(std::span<const std::byte> bytes) override {
    if (dtype_ == Dtype::string) {
      write({dtype_, shape_, bytes});
    } else {
      out_.write(bytes);
    }
    return true;
  }

  void write(const TensorView& value) {
    if (value.dtype() != Dtype::string) {
      out_.write(value.bytes());
      return;
    }
    if (several_ || std::exchange(any_strings_, true)) {
      throw UsageError("-f raw shows the strings of one value only" +
                       (values_.empty() ? "" : ", and there are " + values_) + ": " + std::string(instead));
    }
    const std::vector<std::string_view> texts = strings(value);
    if (texts.size() == 1) {
      out_.write(texts.front());
    } else {
      out_.write(value.bytes());  // each after its length
    }
  }

  OutputFile& out_;
  std::optional<OneValue> one_;
  std::string values_;  // the first two announced
  bool several_ = false;
  bool any_strings_ = false;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
};

}  // namespace

std::unique_ptr<ValueView> make_raw_view(ViewContext context) { return std::make_unique<RawView>(context); }

}  // namespace smd::tool::tensor
