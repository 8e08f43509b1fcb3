// SPDX-License-Identifier: Apache-2.0
// raw: the elements' bytes and nothing else; several values follow one another.
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

class RawView : public ValueView, private BlockSink {
 public:
  explicit RawView(ViewContext context) : out_(context.out) {}

  void show(const ValueKey& /*key*/, const TensorValue& value) override { out_.write(value.bytes()); }
  void end_step() override { out_.flush(); }
  BlockSink* stream(const ValueKey& /*key*/) override { return this; }

 private:
  bool begin(Dtype /*dtype*/, const Shape& /*shape*/) override { return true; }
  bool block(std::span<const std::byte> bytes) override {
    out_.write(bytes);
    return true;
  }

  OutputFile& out_;
};

}  // namespace

std::unique_ptr<ValueView> make_raw_view(ViewContext context) { return std::make_unique<RawView>(context); }

}  // namespace smd::tool::tensor
