// SPDX-License-Identifier: Apache-2.0
// pgm: two axes as an 8-bit grey image, least to greatest finite element; NaN is black.
#include "plane_picture.hpp"
#include "value_view.hpp"

#include <cmath>

namespace smd::tool::tensor {

namespace {

class PgmView : public ValueView {
 public:
  explicit PgmView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override { one_.announce(key); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const Shape& shape = value.shape();
    if (!is_real(value.dtype())) {
      throw UsageError("-f pgm: " + value_name(key) + " is of type " + std::string(to_string(value.dtype())) +
                       ", not of real numbers");
    }
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0) {
      throw UsageError("-f pgm: " + value_name(key) + " has shape " + to_string(shape) +
                       "; an image needs two axes, not empty: choose them with --slice");
    }
    const Elements elements(value.view());
    const GreyScale scale(elements);
    context_.out.write("P5\n" + std::to_string(shape[1]) + " " + std::to_string(shape[0]) + "\n255\n");
    for (std::uint64_t place = 0; place < value.view().size(); ++place) {
      const double level = scale.level(elements.number(place));
      context_.out.put(static_cast<char>(std::isnan(level) ? 0 : std::lround(level * 255)));
    }
  }

 private:
  ViewContext context_;
  OneValue one_{"-f pgm", "choose one by name, -s and -w"};
};

}  // namespace

std::unique_ptr<ValueView> make_pgm_view(ViewContext context) { return std::make_unique<PgmView>(context); }

}  // namespace smd::tool::tensor
