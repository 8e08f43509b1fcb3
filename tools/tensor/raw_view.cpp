// SPDX-License-Identifier: Apache-2.0
// raw: the elements' bytes and nothing else; several values follow one another. A single string is written as its
// content: a saved picture becomes a picture file. Several strings are each preceded by their length in 4 bytes.
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

class RawView : public ValueView, private BlockSink {
 public:
  explicit RawView(ViewContext context) : out_(context.out) {}

  void show(const ValueKey&, const TensorValue& value) override { write(value.view()); }
  void end_step() override { out_.flush(); }
  BlockSink* stream(const ValueKey&) override { return this; }

 private:
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
    const std::vector<std::string_view> texts = strings(value);
    if (texts.size() == 1) {
      out_.write(texts.front());
    } else {
      out_.write(value.bytes());  // each after its length
    }
  }

  OutputFile& out_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
};

}  // namespace

std::unique_ptr<ValueView> make_raw_view(ViewContext context) { return std::make_unique<RawView>(context); }

}  // namespace smd::tool::tensor
