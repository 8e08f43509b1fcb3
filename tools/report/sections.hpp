// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "figures.hpp"
#include "trial_report.hpp"

namespace smd::tool::report {

/// What the sections of a page are made of. Each is HTML without its heading, and empty if there is nothing to show.
struct PageContext {
  std::span<const TrialReport> trials;
  Figures& figures;
  std::string every;      ///< ` --every 2`, for commands that print statistics; or empty.
  std::string operands;   ///< The trials, as words of a shell.
  std::string selection;  ///< ` -s 5: -m train`, for all commands; or empty.
};

/// `smd-reduce run -s 5: -n loss -r mean`. `trial`: the only one; null: all of the page.
[[nodiscard]] std::string reduce_command(const PageContext& page, std::string_view of, std::string_view reductions,
                                         const TrialReport* trial = nullptr);
/// `-n loss`
[[nodiscard]] std::string name_option(std::string_view tensor);

/// Figures side by side where there is room; those after the first `shown` one click away. Empty ones are left out.
[[nodiscard]] std::string figure_grid(std::vector<std::string> figures, std::size_t shown, std::string_view what);
/// Names, the worst first: most findings, then NaN and infinities, then in byte order.
[[nodiscard]] std::vector<std::string> worst_first(const PageContext& page, std::vector<std::string> names);
/// Whether a tensor has NaN or infinities in any mode of any trial.
[[nodiscard]] bool not_finite(const PageContext& page, std::string_view tensor);

/// Tensors whose names begin with the same parts.
struct LayerGroup {
  std::string name;  ///< The common beginning; if names have no parts, the first and the last name.
  std::vector<std::string> tensors;
  bool by_name = true;  ///< Whether exactly these begin with the name.
};

/// Names grouped by their first parts, between `/` and `.`: by as many parts as leave few groups. Groups and names keep
/// the order in which they first come.
[[nodiscard]] std::vector<LayerGroup> layer_groups(const std::vector<std::string>& names);

/// A regular expression that finds this text.
[[nodiscard]] std::string escaped_pattern(std::string_view text);

/// Whether a trial is healthy, in a sentence.
struct Headline {
  std::string_view look;  ///< A class, and a sign that differs without colour.
  std::string text;
};
[[nodiscard]] Headline headline_of(const TrialReport& trial);
/// Whether what a rule found, by the place of its result, is grave, and not only worth a look.
[[nodiscard]] bool is_grave(const TrialReport& trial, std::size_t result);
/// Whether a rule looks at losses until the end of training; PoorWeightInitialization looks only at the first.
[[nodiscard]] bool follows_losses(const RuleResult& result);

/// A table of several trials; empty if there is one.
[[nodiscard]] std::string runs_section(const PageContext& page);
/// The answer on the first screen: is it healthy, what does the loss do, what is broken.
[[nodiscard]] std::string health_html(const PageContext& page);
[[nodiscard]] std::string trial_section(const PageContext& page);
[[nodiscard]] std::string rules_section(const PageContext& page);
/// The first figure, and the rest.
struct LossSection {
  std::string first = {};
  std::string rest = {};
};
[[nodiscard]] LossSection losses_section(const PageContext& page);
[[nodiscard]] std::string scalars_section(const PageContext& page);
[[nodiscard]] std::string media_section(const PageContext& page);
[[nodiscard]] std::string norms_section(const PageContext& page);
[[nodiscard]] std::string distributions_section(const PageContext& page);
[[nodiscard]] std::string activations_section(const PageContext& page);
[[nodiscard]] std::string workers_section(const PageContext& page);
[[nodiscard]] std::string tensors_section(const PageContext& page);
[[nodiscard]] std::string commands_section(const PageContext& page);

}  // namespace smd::tool::report
