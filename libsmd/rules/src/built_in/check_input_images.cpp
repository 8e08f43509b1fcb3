// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include <smd/elements.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace smd::detail::rules {

namespace {

/// How a value is divided into channels: `outer` blocks of `channels` runs of `inner` elements.
struct Layout {
  std::size_t outer = 1;
  std::size_t channels = 1;
  std::size_t inner = 1;
};

Layout layout_of(const TensorView& view, std::int64_t axis) {
  const auto axes = static_cast<std::int64_t>(view.shape().size());
  axis = axis < 0 ? axis + axes : axis;
  if (axis <= 0 || axis >= axes) {
    return {1, 1, static_cast<std::size_t>(view.size())};
  }
  Layout layout;
  for (std::int64_t i = 0; i < axes; ++i) {
    const auto dimension = static_cast<std::size_t>(view.shape()[static_cast<std::size_t>(i)]);
    (i < axis ? layout.outer : i == axis ? layout.channels : layout.inner) *= dimension;
  }
  return layout;
}

/// Uses lanes, so that the compiler can add several numbers at once.
template <class Elements>
double sum_of(const Elements& x, std::size_t first, std::size_t n) {
  std::array<double, 8> lanes{};
  const std::size_t end = first + n;
  std::size_t i = first;
  for (; i + lanes.size() <= end; i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] += static_cast<double>(x[i + lane]);
    }
  }
  double sum = 0;
  for (; i < end; ++i) {
    sum += static_cast<double>(x[i]);
  }
  for (const double lane : lanes) {
    sum += lane;
  }
  return sum;
}

class CheckInputImages final : public Rule {
 public:
  explicit CheckInputImages(const Parameters& parameters)
      : Rule(parameters),
        images_(select({.regex = {parameters.text("regex")}})),
        samples_(static_cast<std::uint64_t>(parameters.integer("threshold_samples"))) {}

  void set_required_tensors(StepNeeds& step) override { need_values(step, {images_}); }

  void invoke_at_step(StepView& step) override {
    std::map<std::string_view, Seen*> added;  // by tensor
    for (const Unit& unit : step.units(images_)) {
      const TensorValue* const value = step.value(unit);
      if (value == nullptr) {
        continue;
      }
      Seen& seen = seen_[{std::string(unit.tensor()), step.mode()}];
      if (add(seen, value->view())) {
        added[unit.tensor()] = &seen;
      }
    }
    for (const auto& [tensor, seen] : added) {
      if (seen->images >= samples_) {
        evaluate(step, tensor, *seen);
      }
    }
  }

  void summarize(RuleSummary& summary) override {
    std::uint64_t most = 0;
    for (const auto& [key, seen] : seen_) {
      most = std::max(most, seen.images);
    }
    if (summary.tensors_asked() > 0) {
      summary.explain(
          fmt::format("no tensor has threshold_samples ({}) images in one mode: at most {}", samples_, most));
    }
  }

 private:
  struct Seen {
    std::uint64_t images = 0;
    std::uint64_t pixels = 0;  ///< Pixels of each channel.
    std::vector<double> sums;  ///< By channel.
  };

  /// Adds a value. Returns false if it has another number of channels than those before.
  [[nodiscard]] bool add(Seen& seen, const TensorView& view) const {
    const Layout layout = layout_of(view, parameters().integer("channel"));
    if (seen.images == 0) {
      seen.sums.resize(layout.channels);
    } else if (seen.sums.size() != layout.channels) {
      return false;
    }
    visit_numbers(view, [&](const auto& x) {
      std::size_t first = 0;
      for (std::size_t i = 0; i < layout.outer; ++i) {
        for (double& sum : seen.sums) {
          sum += sum_of(x, first, layout.inner);
          first += layout.inner;
        }
      }
    });
    seen.images += view.shape().empty() ? 1 : static_cast<std::uint64_t>(view.shape()[0]);
    seen.pixels += std::uint64_t{layout.outer} * layout.inner;
    return true;
  }

  void evaluate(StepView& step, std::string_view tensor, const Seen& seen) const {
    step.evaluated();
    const double most = parameters().number("threshold_mean");
    std::optional<double> farthest;
    std::size_t channel = 0;
    for (std::size_t i = 0; i < seen.sums.size(); ++i) {
      const double mean = seen.sums[i] / static_cast<double>(seen.pixels);
      if (!std::isnan(mean) && (!farthest || std::abs(mean) > std::abs(*farthest))) {
        farthest = mean;
        channel = i;
      }
    }
    if (farthest && std::abs(*farthest) > most) {
      Finding finding = finding_of(tensor, "channel_mean", *farthest, ">", most);
      finding.message = fmt::format("{}: |channel_mean {:.6g}| > threshold {:.6g}", tensor, *farthest, most);
      finding.details = {{"channel", std::to_string(channel)}, {"images", std::to_string(seen.images)}};
      step.trigger(std::move(finding));
    }
  }

  SelectionId images_;
  std::uint64_t samples_;
  std::map<std::pair<std::string, Mode>, Seen> seen_;
};

}  // namespace

RuleDescription check_input_images_rule() {
  return {
      .name = "CheckInputImages",
      .summary = "input images are not centred: a channel's mean is far from zero",
      .condition =
          "per tensor and mode, over all steps so far and all workers, once there were threshold_samples images:\n"
          "the largest |mean of a channel| > threshold_mean\n"
          "Axis 0 counts images. Needs raw values.",
      .frameworks = "deep learning applications",
      .parameters = {{"threshold_mean", Type::number, "0.2",
                      "greatest tolerated distance of a channel's mean from zero"},
                     at_least(1, {"threshold_samples", Type::integer, "500", "images to see first"}),
                     {"regex", Type::pattern, ".*hybridsequential0_input_0", "tensors of images"},
                     {.name = "channel",
                      .type = ParameterType::integer,
                      .default_text = "1",
                      .help = "axis of the colour channel; negative from the end",
                      .not_zero = true}},
      .create = create<CheckInputImages>,
      .saves = saves_matching("input_image", &Parameters::text, "regex"),
  };
}

}  // namespace smd::detail::rules
