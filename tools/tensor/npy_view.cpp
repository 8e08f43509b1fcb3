// SPDX-License-Identifier: Apache-2.0
// npy: one array.
#include "npy.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

class NpyView : public ValueView, private BlockSink {
 public:
  explicit NpyView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override { one_.announce(key); }

  void show(const ValueKey& key, const TensorValue& value) override {
    name_ = value_name(key);
    begin(value.dtype(), value.shape());
    block(value.bytes());
  }
  BlockSink* stream(const ValueKey& key) override {
    name_ = value_name(key);
    return this;
  }

 private:
  bool begin(Dtype dtype, const Shape& shape) override {
    dtype_ = dtype;
    shape_ = shape;
    if (dtype != Dtype::string) {  // the width of strings is not known yet
      type_ = npy_type(dtype);
      context_.out.write(npy_header(type_, shape));
    }
    return true;
  }

  bool block(std::span<const std::byte> bytes) override {
    if (dtype_ == Dtype::string) {
      if (!Elements(TensorView(dtype_, shape_, bytes)).utf8()) {
        throw UsageError("-f npy: " + name_ + ": " + std::string(not_text));
      }
      type_ = npy_type(TensorView(dtype_, shape_, bytes));
      if (const std::string why = too_much_padding(type_, dtype_, shape_, {bytes}); !why.empty()) {
        throw UsageError("-f npy: " + name_ + ": " + why);
      }
      context_.out.write(npy_header(type_, shape_));
    }
    const ByteWriter write = [this](std::span<const std::byte> part) { context_.out.write(part); };
    write_npy_elements(dtype_, type_, bytes, write);
    return true;
  }

  ViewContext context_;
  OneValue one_{"-f npy", "add --stack to join steps, or use -f npz"};
  std::string name_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
  NpyType type_;
};

}  // namespace

std::unique_ptr<ValueView> make_npy_view(ViewContext context) { return std::make_unique<NpyView>(context); }

}  // namespace smd::tool::tensor
