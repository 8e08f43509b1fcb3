// SPDX-License-Identifier: Apache-2.0
// --matrix: bare numbers for programs that read tables of them. Tabs between, commas with --csv.
#include "cli/escape.hpp"
#include "rows/elements.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

class MatrixView : public ValueView {
 public:
  explicit MatrixView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override { one_.announce(key); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const Elements elements(value.view());
    warn_unless_utf8(elements, key, context_.messages);
    const bool csv = context_.options.output.format == "csv";
    const bool terminal = context_.out.is_terminal();
    const bool ascii = context_.options.output.terminal.ascii;
    const Shape& shape = value.shape();
    const std::uint64_t columns = shape.empty() ? 1 : static_cast<std::uint64_t>(shape.back());
    const std::uint64_t rows = shape.size() < 2 ? 1 : static_cast<std::uint64_t>(shape[shape.size() - 2]);
    const std::uint64_t size = value.view().size();
    std::string text;
    std::string line;
    for (std::uint64_t place = 0; place < size; ++place) {
      text.clear();
      append_text(text, elements.cell(place), context_.options.output.precision);
      if (terminal) {
        csv ? append_csv_shown(line, text, ascii) : append_tsv_shown(line, text, ascii);
      } else {
        csv ? append_csv(line, text) : append_tsv(line, text);
      }
      if ((place + 1) % columns != 0) {
        line += csv ? ',' : '\t';
        continue;
      }
      line += '\n';
      // A blank line between planes of the last two axes.
      if (place + 1 != size && (place + 1) / columns % rows == 0) {
        line += '\n';
      }
      context_.out.write(line);
      line.clear();
    }
  }

 private:
  ViewContext context_;
  OneValue one_{"--matrix", "choose one by name, -s and -w"};
};

}  // namespace

std::unique_ptr<ValueView> make_matrix_view(ViewContext context) { return std::make_unique<MatrixView>(context); }

}  // namespace smd::tool::tensor
