// SPDX-License-Identifier: Apache-2.0
#include "built_in/classes.hpp"

#include <smd/elements.hpp>

#include <span>
#include <utility>

namespace smd::detail::rules {

namespace {

/// Returns the position of the one in each row; empty if any row is not one-hot (zeros and a single one).
std::vector<std::uint32_t> ones_of_rows(const TensorView& view) {
  const auto columns = static_cast<std::size_t>(view.shape().back());
  std::vector<std::uint32_t> ones;
  visit_numbers(view, [&](const auto& x) {
    for (std::size_t start = 0; start + columns <= x.size(); start += columns) {
      std::size_t found = columns;
      for (std::size_t i = 0; i < columns; ++i) {
        if (x[start + i] == 1 && found == columns) {
          found = i;
        } else if (x[start + i] != 0) {
          ones.clear();
          return;
        }
      }
      if (found == columns) {
        ones.clear();
        return;
      }
      ones.push_back(static_cast<std::uint32_t>(found));
    }
  });
  return ones;
}

}  // namespace

Classes Classes::of_labels(const TensorView& view) {
  if (view.shape().size() == 2 && view.shape()[1] > 1) {
    if (std::vector<std::uint32_t> ones = ones_of_rows(view); !ones.empty()) {
      Classes classes(view, ones.size());
      classes.by_row_ = true;
      classes.rows_ = std::move(ones);
      return classes;
    }
  }
  return of_elements(view);
}

Classes Classes::of_elements(const TensorView& view) { return {view, view.size()}; }

Classes Classes::of_arg_max(const TensorView& view) {
  const auto columns = view.shape().empty() ? std::size_t{1} : static_cast<std::size_t>(view.shape().back());
  Classes classes(view, columns == 0 ? 0 : view.size() / columns);
  classes.by_row_ = true;
  classes.rows_.reserve(classes.size_);
  const auto is_nan = [](auto number) { return std::isnan(static_cast<double>(number)); };
  visit_numbers(view, [&](const auto& x) {
    for (std::size_t start = 0; start + columns <= x.size(); start += columns) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < columns; ++i) {
        if (x[start + i] > x[start + best] || (is_nan(x[start + best]) && !is_nan(x[start + i]))) {
          best = i;
        }
      }
      classes.rows_.push_back(static_cast<std::uint32_t>(best));
    }
  });
  return classes;
}

void Classes::read(std::size_t first, std::size_t n, double* classes) const {
  if (by_row_) {
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(first), n, classes);
    return;
  }
  copy_as_doubles(view_, first, std::span(classes, n));
  std::transform(classes, classes + n, classes, class_of);
}

}  // namespace smd::detail::rules
