// SPDX-License-Identifier: Apache-2.0
// -f svg: how much the trials differ, over A's steps.
#include "columns.hpp"
#include "rows/curves.hpp"

#include <fmt/format.h>

#include <array>

namespace smd::tool::diff {

namespace {

class PictureView : public DiffView {
 public:
  PictureView(OutputFile& out, const DiffCommandOptions& options, std::span<const std::string> operands,
              Diagnostics& messages)
      : out_(out), options_(options), messages_(messages) {
    curves_.set_trial(operands.size() > 1 ? fmt::format("a: {}, b: {}", operands.front(), operands.back())
                                          : operands.front());
  }

  void row(const DiffRow& row) override {
    any_row_ = true;
    if (!row.step) {  // a step of B only
      return;
    }
    const Difference none;
    const Difference& of = row.statistics ? *row.statistics : none;
    // No norms are computed for equal bytes.
    const bool zero = row.state == State::equal && of.l2_diff == 0.0;
    const std::array<std::optional<double>, 3> numbers = {of.max_abs, of.l2_diff, zero ? of.l2_diff : of.rel_l2};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Curves::Point point = {.tensor = options_.by.tensor ? row.tensor : "",
                                   .worker = options_.by.worker ? row.worker : "",
                                   .reduction = i,
                                   .step = row.step->value,
                                   .mode_step = row.step->value};
      if (numbers[i]) {
        curves_.add(point, *numbers[i]);
      } else {
        curves_.skip(point);
      }
    }
  }

  void finish() override {
    const std::array<std::string, 3> names = {"max_abs", "l2_diff", "rel_l2"};
    const std::vector<Chart> charts = curves_.take_charts(names, options_.picture.scale);
    if (charts.empty() && any_row_) {  // the status alone, that the two are not the same, has another reason
      say_nothing_drawn(messages_);
    }
    write_charts(out_, charts, options_.picture, "choose tensors with -n or -e");
  }

 private:
  OutputFile& out_;
  const DiffCommandOptions& options_;
  Diagnostics& messages_;
  bool any_row_ = false;
  Curves curves_;
};

}  // namespace

std::unique_ptr<DiffView> make_picture_view(OutputFile& out, const DiffCommandOptions& options,
                                            std::span<const std::string> operands, Diagnostics& messages) {
  return std::make_unique<PictureView>(out, options, operands, messages);
}

}  // namespace smd::tool::diff
