// SPDX-License-Identifier: Apache-2.0
#include "array_text.hpp"

#include "cli/text.hpp"

#include <algorithm>
#include <string>

namespace smd::tool::tensor {

namespace {

class Printer {
 public:
  Printer(const Elements& elements, const ArrayTextOptions& options, const std::function<void(std::string_view)>& print)
      : elements_(elements),
        shape_(elements.view().shape()),
        options_(options),
        print_(print),
        dots_(options.ascii ? "..." : "…"),
        // Integers and the like are aligned at their ends, fractions at their points.
        by_point_(is_floating(elements.view().dtype())) {}

  void print() {
    if (shape_.empty()) {
      print_(element_text(elements_.cell(0), options_.precision, options_.ascii));
      return;
    }
    if (elements_.view().size() == 0) {
      print_("[]");
      return;
    }
    measure_axis(0, 0);
    print_axis(0, 0, 0);
    print_(line_);
  }

 private:
  [[nodiscard]] std::string word(std::uint64_t place) const {
    return element_text(elements_.cell(place), options_.precision, options_.ascii);
  }

  // Everything before the point or the exponent, or all of it.
  static std::size_t left_part(const std::string& text) { return std::min(text.find_first_of(".e"), text.size()); }

  void measure(const std::string& text) {
    if (by_point_) {
      left_ = std::max(left_, left_part(text));
      right_ = std::max(right_, text.size() - left_part(text));
    } else {
      left_ = std::max(left_, display_width(text));
    }
  }

  [[nodiscard]] std::string padded(std::string text) const {
    if (elements_.view().dtype() == Dtype::string) {
      text.append(left_ - display_width(text), ' ');
    } else if (by_point_) {
      text.insert(0, left_ - left_part(text), ' ');
      text.append(left_ + right_ - text.size(), ' ');
    } else {
      text.insert(0, left_ - text.size(), ' ');
    }
    return text;
  }

  // Calls visit(i) for the places on an axis that are shown, and gap() where some are left out.
  template <class Visit, class Gap>
  void for_each_on_axis(std::size_t axis, Visit&& visit, Gap&& gap) const {
    const std::int64_t size = shape_[axis];
    const bool cut = !options_.full && elements_.view().size() > shown_whole && size > 2 * shown_edge;
    for (std::int64_t i = 0; i < size; ++i) {
      if (cut && i == shown_edge) {
        gap();
        i = size - shown_edge;
      }
      visit(i);
    }
  }

  // The place of an element, or of the part of one axis less, in the part at `place`.
  [[nodiscard]] std::uint64_t inner_place(std::size_t axis, std::uint64_t place, std::int64_t i) const {
    return place * static_cast<std::uint64_t>(shape_[axis]) + static_cast<std::uint64_t>(i);
  }

  void measure_axis(std::size_t axis, std::uint64_t place) {
    const auto measure_part = [&](std::int64_t i) {
      const std::uint64_t inner = inner_place(axis, place, i);
      if (axis + 1 == shape_.size()) {
        measure(word(inner));
      } else {
        measure_axis(axis + 1, inner);
      }
    };
    for_each_on_axis(axis, measure_part, [] {});
  }

  void flush() {
    line_.erase(line_.find_last_not_of(' ') + 1);
    print_(line_);
    line_.clear();
  }

  // `closing`: brackets that will follow the last element of this axis on its line.
  void print_axis(std::size_t axis, std::uint64_t place, std::size_t closing) {
    const bool innermost = axis + 1 == shape_.size();
    const std::size_t room = options_.width > closing + 1 ? options_.width - closing - 1 : 1;
    std::size_t used = axis + 1;
    bool first = true;
    // Goes on where so many columns fit: on a new line for a part, and for an element that does not fit on this one.
    const auto next = [&](std::size_t columns) {
      if (!first && (!innermost || used + 1 + columns > room)) {
        flush();
        for (std::size_t inner = axis + 2; inner < shape_.size(); ++inner) {
          print_("");
        }
        line_.assign(axis + 1, ' ');
        used = axis + 1;
      } else if (!first) {
        line_ += ' ';
        ++used;
      }
      used += columns;
      first = false;
    };
    const auto print_part = [&](std::int64_t i) {
      const std::uint64_t inner = inner_place(axis, place, i);
      next(left_ + right_);
      if (innermost) {
        line_ += padded(word(inner));
      } else {
        print_axis(axis + 1, inner, closing + 1);
      }
    };
    line_ += '[';
    for_each_on_axis(axis, print_part, [&] {
      next(display_width(dots_));
      line_ += dots_;
    });
    line_ += ']';
  }

  const Elements& elements_;
  std::span<const std::int64_t> shape_;
  ArrayTextOptions options_;
  const std::function<void(std::string_view)>& print_;
  std::string dots_;
  bool by_point_;
  std::size_t left_ = 0;
  std::size_t right_ = 0;
  std::string line_;
};

constexpr std::int64_t most_empty_arrays = 4096;

// How many innermost arrays an array without elements has: the product of the sizes before the first 0.
std::int64_t empty_arrays(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size == 0 || count > most_empty_arrays || size > most_empty_arrays) {
      return size == 0 ? count : most_empty_arrays + 1;
    }
    count *= size;
  }
  return count;
}

}  // namespace

std::string element_text(const Cell& cell, int precision, bool ascii) {
  std::string text;
  append_text(text, cell, precision);
  return std::holds_alternative<std::string_view>(cell.value()) ? "'" + printable(text, ascii) + "'" : text;
}

void print_array(const Elements& elements, const ArrayTextOptions& options,
                 const std::function<void(std::string_view line)>& print) {
  Printer(elements, options, print).print();
}

void write_json_value(OutputFile& out, const Elements& elements, int precision, NonFinite style) {
  const std::span<const std::int64_t> shape = elements.view().shape();
  if (elements.view().size() == 0 && empty_arrays(shape) > most_empty_arrays) {
    out.write("[]");
    return;
  }
  std::string text;
  std::uint64_t next = 0;
  const auto write_axis = [&](const auto& self, std::size_t axis) -> void {
    if (axis == shape.size()) {
      text.clear();
      append_json_cell(text, elements.cell(next++), precision, style);
      out.write(text);
      return;
    }
    out.put('[');
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      if (i != 0) {
        out.put(',');
      }
      self(self, axis + 1);
    }
    out.put(']');
  };
  write_axis(write_axis, 0);
}

}  // namespace smd::tool::tensor
