// SPDX-License-Identifier: Apache-2.0
// npy: one array.
#include "npy.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

class NpyView : public ValueView {
 public:
  explicit NpyView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override { one_.announce(key); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const NpyType type = value.dtype() == Dtype::string ? type_of_text(key, value) : npy_type(value.dtype());
    context_.out.write(npy_header(type, value.shape()));
    write(value.dtype(), type, value.bytes());
  }
  [[nodiscard]] bool streams() const override { return true; }
  void show_blocks(const ValueKey& key, Extent& value) override {
    if (value.dtype() == Dtype::string) {
      if (const std::optional<TensorValue> whole = value.value()) {
        show(key, *whole);
      }
      return;
    }
    const NpyType type = npy_type(value.dtype());
    context_.out.write(npy_header(type, value.shape()));
    (void)value.for_each_block([&](std::span<const std::byte> bytes) { write(value.dtype(), type, bytes); });
  }

 private:
  /// The width of strings varies.
  [[nodiscard]] static NpyType type_of_text(const ValueKey& key, const TensorValue& value) {
    const std::string name = value_name(key);
    if (!Elements(value.view()).utf8()) {
      throw UsageError("-f npy: " + name + ": " + std::string(not_text));
    }
    NpyType type = npy_type(value.view());
    if (const std::string why = too_much_padding(type, value.dtype(), value.shape(), {value.bytes()}); !why.empty()) {
      throw UsageError("-f npy: " + name + ": " + why);
    }
    return type;
  }

  void write(Dtype dtype, const NpyType& type, std::span<const std::byte> bytes) {
    const ByteWriter to_output = [this](std::span<const std::byte> part) { context_.out.write(part); };
    write_npy_elements(dtype, type, bytes, to_output);
  }

  ViewContext context_;
  OneValue one_{"-f npy", "add --stack to join steps, or use -f npz"};
};

}  // namespace

std::unique_ptr<ValueView> make_npy_view(ViewContext context) { return std::make_unique<NpyView>(context); }

}  // namespace smd::tool::tensor
