// SPDX-License-Identifier: Apache-2.0
// raw: the elements' bytes and nothing else; several values follow one another. Of a string, what it holds: a picture
// is the file it was.
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

class RawView : public ValueView, private BlockSink {
 public:
  explicit RawView(ViewContext context) : out_(context.out) {}

  void show(const ValueKey& key, const TensorValue& value) override { write(key, value.view()); }
  void end_step() override { out_.flush(); }
  BlockSink* stream(const ValueKey& key) override {
    key_ = key;
    return this;
  }

 private:
  bool begin(Dtype dtype, const Shape& shape) override {
    dtype_ = dtype;
    shape_ = shape;
    return true;
  }
  bool block(std::span<const std::byte> bytes) override {
    if (dtype_ == Dtype::string) {
      write(key_, {dtype_, shape_, bytes});
    } else {
      out_.write(bytes);
    }
    return true;
  }

  void write(const ValueKey& key, const TensorView& value) {
    if (value.dtype() != Dtype::string) {
      out_.write(value.bytes());
      return;
    }
    const std::vector<std::string_view> texts = strings(value);
    if (texts.size() != 1) {
      throw UsageError("-f raw: " + value_name(key) + " holds " + std::to_string(texts.size()) +
                       " strings, whose bounds would be lost: choose one, as --slice 0");
    }
    out_.write(texts.front());
  }

  OutputFile& out_;
  ValueKey key_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
};

}  // namespace

std::unique_ptr<ValueView> make_raw_view(ViewContext context) { return std::make_unique<RawView>(context); }

}  // namespace smd::tool::tensor
