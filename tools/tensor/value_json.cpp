// SPDX-License-Identifier: Apache-2.0
#include "value_json.hpp"

#include <string>

namespace smd::tool::tensor {

namespace {

constexpr std::int64_t most_empty_arrays = 4096;

class Writer {
 public:
  Writer(OutputFile& out, const Elements& elements, int precision, NonFinite style)
      : out_(out), elements_(elements), precision_(precision), style_(style) {}

  void write() {
    if (elements_.view().size() == 0 && empty_arrays() > most_empty_arrays) {
      out_.write("[]");
    } else {
      write_axis(0);
    }
  }

 private:
  // How many innermost arrays there would be: the product of the sizes before the first 0.
  [[nodiscard]] std::int64_t empty_arrays() const {
    std::int64_t count = 1;
    for (const std::int64_t size : elements_.view().shape()) {
      if (size == 0 || count > most_empty_arrays || size > most_empty_arrays) {
        return size == 0 ? count : most_empty_arrays + 1;
      }
      count *= size;
    }
    return count;
  }

  void write_axis(std::size_t axis) {
    const std::span<const std::int64_t> shape = elements_.view().shape();
    if (axis == shape.size()) {
      text_.clear();
      append_json_cell(text_, elements_.cell(next_++), precision_, style_);
      out_.write(text_);
      return;
    }
    out_.put('[');
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      if (i != 0) {
        out_.put(',');
      }
      write_axis(axis + 1);
    }
    out_.put(']');
  }

  OutputFile& out_;
  const Elements& elements_;
  int precision_;
  NonFinite style_;
  std::string text_;
  std::uint64_t next_ = 0;
};

}  // namespace

void write_json_value(OutputFile& out, const Elements& elements, int precision, NonFinite style) {
  Writer(out, elements, precision, style).write();
}

}  // namespace smd::tool::tensor
