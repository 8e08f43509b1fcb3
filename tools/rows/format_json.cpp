// SPDX-License-Identifier: Apache-2.0
// json: one array of objects; jsonl: the same objects, one a line.
#include "cli/escape.hpp"
#include "rows/row_format.hpp"

namespace smd::tool {

namespace {

class JsonFormat : public RowFormat {
 public:
  explicit JsonFormat(FormatContext context)
      : context_(std::move(context)), lines_(context_.options.format == "jsonl") {
    for (const Column& column : context_.columns) {
      std::string& key = keys_.emplace_back(keys_.empty() ? "{" : ",");
      append_json(key, column.name);
      key += ':';
    }
  }

  void row(std::span<const Cell> cells) override {
    text_.clear();
    if (!lines_) {
      text_ += any_ ? ",\n" : "[\n";
    }
    any_ = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text_ += keys_[i];
      const auto* own = std::get_if<JsonCell>(&cells[i].value());
      if (own != nullptr && own->write != nullptr) {
        context_.out.write(text_);
        text_.clear();
        (*own->write)(context_.out);
      } else if (!append_json_cell(text_, cells[i], context_.options.precision, context_.options.nonfinite)) {
        context_.messages.warning_once("bytes that are not UTF-8 were replaced by U+FFFD");
      }
    }
    text_ += lines_ ? "}\n" : "}";
    context_.out.write(text_);
  }

  void end_step() override {
    if (lines_) {
      context_.out.flush();
    }
  }

  [[nodiscard]] bool rows_stand_alone() const override { return lines_; }

  void end() override {
    if (!lines_ && any_) {
      context_.out.write("\n]\n");
    } else if (!lines_) {
      context_.out.write_frame("[]\n");
    }
  }

 private:
  FormatContext context_;
  bool lines_;
  bool any_ = false;
  std::vector<std::string> keys_;
  std::string text_;
};

}  // namespace

std::unique_ptr<RowFormat> make_json_format(FormatContext context) {
  return std::make_unique<JsonFormat>(std::move(context));
}

}  // namespace smd::tool
