// SPDX-License-Identifier: Apache-2.0
// tsv, csv: one row per element. json, jsonl: one object per value, with nested arrays.
#include "common/row_writer.hpp"
#include "common/text.hpp"
#include "value_json.hpp"
#include "value_view.hpp"

#include <array>
#include <variant>

namespace smd::tool::tensor {

namespace {

constexpr std::array<Column, 9> columns = {{{"tensor"},
                                            {"step", Align::right},
                                            {"mode"},
                                            {"mode_step", Align::right},
                                            {"worker"},
                                            {"dtype", Align::left, false, true},
                                            {"shape", Align::left, false, true},
                                            {"index", Align::right, true, false},
                                            {"value", Align::right}}};

class RowsView : public ValueView {
 public:
  explicit RowsView(ViewContext context)
      : context_(context),
        rows_(context.out, context.options.output, columns, false, context.messages),
        by_element_(!context.options.output.json() && (rows_.wants("index") || rows_.wants("value"))) {
    rows_.set_trial(context.trial.name());
  }

  void show(const ValueKey& key, const TensorValue& value) override {
    const Elements elements(value.view());
    const ShapeCell shape{value.shape()};
    const auto row = [&](Cell index, Cell element) {
      rows_.row({key.tensor, key.step.value, mode_text(key.mode), key.mode_step.value, key.worker,
                 to_string(value.dtype()), shape, index, element});
    };
    if (!by_element_) {
      const std::function<void(OutputFile&)> write = [&](OutputFile& out) { write_value(out, key, elements); };
      row(Cell(), JsonCell{&write});
      return;
    }
    bool utf8 = true;
    if (value.shape().empty()) {
      row(Cell(), sound(elements.cell(0), utf8));
      warn_unless(utf8, key);
      return;
    }
    const std::uint64_t size = value.view().size();
    std::vector<std::int64_t> index(value.shape().size(), 0);
    for (std::uint64_t place = 0; place < size; ++place) {
      print_index(index);
      row(index_text_, sound(elements.cell(place), utf8));
      advance(index, value.shape());
    }
    warn_unless(utf8, key);
  }

  void finish() override { rows_.finish(); }

 private:
  void write_value(OutputFile& out, const ValueKey& key, const Elements& elements) {
    const OutputOptions& output = context_.options.output;
    warn_unless(write_json_value(out, elements, output.precision, output.nonfinite), key);
  }

  /// The element; in place of text that is not UTF-8 its copy with U+FFFD for each byte that is no part of it.
  Cell sound(const Cell& element, bool& utf8) {
    const std::string_view* const text = std::get_if<std::string_view>(&element.value());
    if (text == nullptr || is_utf8(*text)) {
      return element;
    }
    utf8 = false;
    sound_text_.clear();
    for (std::string_view rest = *text; !rest.empty();) {
      const CodePoint point = decode_utf8(rest);
      append_utf8(sound_text_, point.valid ? point.value : U'\uFFFD');
      rest.remove_prefix(point.size);
    }
    return sound_text_;
  }

  void warn_unless(bool utf8, const ValueKey& key) {
    if (!utf8) {
      context_.messages.warning(value_name(key) + ": not all text is UTF-8; U+FFFD stands for other bytes");
    }
  }

  void print_index(const std::vector<std::int64_t>& index) {
    index_text_.clear();
    char text[number_chars];
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      if (axis != 0) {
        index_text_ += ',';
      }
      index_text_.append(text, write_number(text, index[axis]));
    }
  }

  static void advance(std::vector<std::int64_t>& index, const Shape& shape) {
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) {
        return;
      }
      index[axis] = 0;
    }
  }

  ViewContext context_;
  RowWriter rows_;
  bool by_element_;  // else one row per value
  std::string index_text_;
  std::string sound_text_;
};

}  // namespace

std::unique_ptr<ValueView> make_rows_view(ViewContext context) { return std::make_unique<RowsView>(context); }

}  // namespace smd::tool::tensor
