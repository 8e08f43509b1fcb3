// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/losses.hpp"
#include "framework/nothing_evaluated.hpp"
#include "framework/rule_run.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>

namespace smd::detail::rules {

namespace {

/// Returns the change in percent of the loss before: 0 between equal losses, including infinities; infinity for a
/// change from 0.
double percent_of(double from, double to, double change) {
  if (from == to) {
    return 0;
  }
  if (std::isinf(change) || (from == 0 && !std::isnan(change))) {
    return std::numeric_limits<double>::infinity();
  }
  return 100 * change / std::abs(from);
}

/// Returns `position - distance`. A log may have any 64-bit step numbers, so a result below their range becomes the
/// smallest. Precondition: the distance is not negative.
std::int64_t earlier(std::int64_t position, std::int64_t distance) {
  return std::max(position, std::numeric_limits<std::int64_t>::min() + distance) - distance;
}

/// Returns NaN if any value is. Precondition: at least one.
double median(std::vector<double> values) {
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  return values.size() % 2 == 1 ? *upper : std::midpoint(*std::max_element(values.begin(), upper), *upper);
}

class LossNotDecreasing final : public Rule {
 public:
  explicit LossNotDecreasing(const Parameters& parameters)
      : Rule(parameters),
        least_distance_(parameters.integer("num_steps")),
        least_decrease_(parameters.number("diff_percent")) {
    if (!parameters.boolean("use_losses_collection") && !has_lists()) {
      throw ConfigurationError(
          ConfigurationErrorKind::missing_parameter,
          "parameter 'collection_names' or 'tensor_regex' is needed when 'use_losses_collection' is False",
          "collection_names");
    }
    const std::optional<Mode> mode = parse_mode(parameters.text("mode"));
    one_row_ = mode == Mode::global;
    only_ = one_row_ ? std::nullopt : mode;
  }

  void begin() override {
    std::vector<std::string> collections = parameters().list("collection_names");
    const std::vector<std::string>& regex = parameters().list("tensor_regex");
    if (parameters().boolean("use_losses_collection") && knows_losses(base_trial())) {
      collections.emplace_back("losses");
    }
    const bool every = !has_lists() && collections.empty();
    const auto by_collection =
        collections.empty() ? std::nullopt : std::optional(select({.collections = std::move(collections)}));
    const auto others = every || !regex.empty() ? std::optional(select({.regex = regex, .all = every})) : std::nullopt;
    losses_ = Losses(by_collection, others);
  }

  void set_required_tensors(StepNeeds& step) override {
    if (!looks_at(step)) {
      return;
    }
    RuleRun& run = RuleAccess::context(step).run;
    const auto sides = std::exchange(sides_, selects_by_side() ? run.base().sides() : nullptr);
    if (sides && sides != sides_ && sides->differ(*sides_)) {
      run.ask_again();
    }
    for (const Unit& unit : units(step)) {
      losses_.need(step, unit);
      if (!base_trial().layout().has_modes) {
        continue;
      }
      std::set<std::int64_t>& asked = asked_[{row_of(unit), series(step, unit).front().step()}];
      if (const std::optional<Unit> before = reference(step, unit)) {
        if (asked.insert(position(*before)).second) {
          losses_.need(step, *before);
        }
        asked.erase(asked.begin(), asked.find(position(*before)));
      }
      asked.insert(position(unit));
    }
  }

  void summarize(RuleSummary& summary) override {
    const bool has_modes = base_trial().layout().has_modes;
    const bool seen = std::ranges::any_of(rows_, [](const auto& row) { return row.second.count > 0; });
    if (seen && has_modes) {
      summary.explain(
          fmt::format("no loss was saved at two steps of one mode that are num_steps ({}) apart", least_distance_));
    } else if (!seen && only_) {
      summary.explain((has_modes ? "no loss was saved at a step of mode " : "no loss has a name of side ") +
                      std::string(to_string(*only_)));
    }
    summarize_rows(summary);
  }

  void invoke_at_step(StepView& step) override {
    if (!looks_at(step)) {
      return;
    }
    for (const Unit& unit : units(step)) {
      if (!base_trial().layout().has_modes) {
        if (const std::optional<double> loss = losses_.loss(step, unit)) {
          zeros_.see(step, unit, *loss);
          observe(step, unit, *loss);
        }
        continue;
      }
      Row& row = rows_[row_of(unit)];
      if (const GlobalStep begin = series(step, unit).front().step(); row.begin != begin) {
        row = Row();
        row.begin = begin;
      }
      learn_reference(step, unit, row);
      if (const std::optional<double> loss = losses_.loss(step, unit)) {
        check(step, unit, row, *loss);
      } else {
        row.no_losses.insert(position(unit));
      }
    }
  }

 private:
  struct Loss {
    GlobalStep step;
    double value = 0;
  };
  /// Losses of one tensor, worker and mode, since mode steps last began again.
  struct Row {
    std::optional<GlobalStep> begin;      ///< Where mode steps began again.
    std::optional<std::int64_t> checked;  ///< Position of the last check.
    std::optional<Loss> low;              ///< The loss where the rise began, if the loss rose at the last check.
    std::map<std::int64_t, Loss> known;   ///< By position; losses that can no longer be a reference are dropped.
    std::set<std::int64_t> no_losses;     ///< Positions at which the rule was invoked and there was no loss.
    std::optional<std::int64_t> settled;  ///< Up to here, `known` has the newest loss, if there is any.
    std::uint64_t count = 0;              ///< Losses at steps at which the rule was invoked.
    std::uint64_t next_check = 0;         ///< Where steps have no modes: the count at which the next check is.
    std::uint64_t passed = 0;             ///< Likewise: the count at the last check; 0 if none was, or it triggered.
    std::vector<Loss> losses;             ///< The first and the newest; without modes, those between may be dropped.
  };
  using RowKey = std::tuple<std::string, std::string, Mode>;

  [[nodiscard]] bool has_lists() const {
    return !parameters().list("collection_names").empty() || !parameters().list("tensor_regex").empty();
  }
  /// If steps have no modes, `units` selects by names instead.
  [[nodiscard]] bool looks_at(const StepTensors& step) const {
    return !only_ || step.mode() == *only_ || selects_by_side();
  }
  [[nodiscard]] bool selects_by_side() const { return only_ && !base_trial().layout().has_modes; }
  [[nodiscard]] std::vector<Unit> units(const StepTensors& step) const {
    std::vector<Unit> units = losses_.units(step);
    if (sides_) {
      const Side wanted = *only_ == Mode::train ? Side::train : Side::eval;
      std::erase_if(units, [&](const Unit& unit) { return sides_->of(unit.tensor()) != wanted; });
    }
    return units;
  }
  [[nodiscard]] RowKey row_of(const Unit& unit) const {
    return {std::string(unit.tensor()), std::string(unit.worker()), one_row_ ? Mode::global : unit.mode()};
  }
  [[nodiscard]] std::int64_t position(const Unit& unit) const {
    return one_row_ ? unit.step().value : unit.mode_step().value;
  }

  /// Returns the units of the row up to `unit`, since mode steps last began again.
  [[nodiscard]] std::span<const Unit> series(const StepTensors& step, const Unit& unit) const {
    return one_row_ ? step.series_of_all_modes(unit) : step.series_since_restart(unit);
  }

  /// Returns the units that are far enough back to be the reference, ascending.
  [[nodiscard]] std::span<const Unit> far_enough(const StepTensors& step, const Unit& unit) const {
    const std::span<const Unit> all = series(step, unit);
    const std::int64_t latest = earlier(position(unit), least_distance_);
    const auto end = std::ranges::partition_point(all, [&](const Unit& other) { return position(other) <= latest; });
    return {all.begin(), end};
  }

  /// Returns the newest of these units that may have a loss; nullopt if none does.
  [[nodiscard]] std::optional<Unit> reference(const StepTensors& step, const Unit& unit) const {
    const std::span<const Unit> before = far_enough(step, unit);
    const auto found =
        std::find_if(before.rbegin(), before.rend(), [&](const Unit& other) { return losses_.possible(step, other); });
    return found == before.rend() ? std::nullopt : std::optional(*found);
  }

  /// Adds the reference to `row.known` if the rule was not invoked at its step. If the requested unit turns out to have
  /// no loss, looks at the units before it, each once.
  void learn_reference(StepView& step, const Unit& unit, Row& row) const {
    const std::span<const Unit> before = far_enough(step, unit);
    if (before.empty()) {
      return;
    }
    const std::optional<std::int64_t> settled = std::exchange(row.settled, position(before.back()));
    bool asked_for = true;  // the first one that may have a loss
    for (auto at = before.rbegin(); at != before.rend() && !(position(*at) <= settled); ++at) {
      const std::int64_t place = position(*at);
      if (row.known.contains(place)) {
        break;
      }
      if (!losses_.possible(step, *at)) {
        continue;
      }
      const bool requested = std::exchange(asked_for, false);
      if (row.no_losses.contains(place)) {
        continue;
      }
      if (const auto loss = requested ? losses_.loss(step, *at) : losses_.look_up(step, *at)) {
        row.known.emplace(place, Loss{at->step(), *loss});
        break;
      }
    }
    row.no_losses.erase(row.no_losses.begin(), row.no_losses.upper_bound(*row.settled));
  }

  void check(StepView& step, const Unit& unit, Row& row, double loss) {
    const std::int64_t here = position(unit);
    row.losses.push_back({unit.step(), loss});
    ++row.count;
    row.known.insert_or_assign(here, row.losses.back());
    auto old = row.known.upper_bound(earlier(here, least_distance_));
    if (old == row.known.begin()) {
      return;
    }
    --old;
    row.known.erase(row.known.begin(), old);
    if (row.checked && *row.checked > earlier(here, least_distance_)) {
      return;
    }
    row.checked = here;
    step.evaluated();
    const Loss before = old->second;
    if (loss > before.value) {
      check_rise(step, unit, row, before, loss);
      return;
    }
    row.low.reset();
    const double decrease = percent_of(before.value, loss, before.value - loss);
    if (decrease < least_decrease_ || std::isnan(loss)) {
      trigger(step, unit, "decrease_percent", decrease, "<", least_decrease_, before);
    }
  }

  /// Successive rises add up: a loss that creeps upwards is compared with the loss where the rise began.
  void check_rise(StepView& step, const Unit& unit, Row& row, const Loss& before, double loss) const {
    if (!row.low || before.value < row.low->value) {
      row.low = before;
    }
    const double increase = percent_of(row.low->value, loss, loss - row.low->value);
    if (const double most = parameters().number("increase_threshold_percent"); increase > most) {
      trigger(step, unit, "increase_percent", increase, ">", most, *row.low);
    }
  }

  /// Returns the number of losses at which the first check is, bounded because `num_steps` may be any number.
  [[nodiscard]] std::uint64_t fewest_observed() const {
    return static_cast<std::uint64_t>(4 * std::min(least_distance_, std::numeric_limits<std::int64_t>::max() / 4));
  }

  /// Steps without modes are no measure: one job logs each step and another every 500, and neighbouring losses of
  /// batches are noise. So the losses of a tensor are counted, and the median of the newest quarter is compared with
  /// that of the quarter before.
  void observe(StepView& step, const Unit& unit, double loss) {
    auto& [key, row] = *rows_.try_emplace(row_of(unit)).first;
    row.losses.push_back({unit.step(), loss});
    const std::uint64_t n = ++row.count;
    if (n < std::max(row.next_check, fewest_observed())) {
      return;
    }
    row.next_check = std::max(n + static_cast<std::uint64_t>(least_distance_), n * 5 / 4);
    step.evaluated();
    std::optional<Finding> finding = compare_quarters(key, row);
    row.passed = finding ? 0 : n;
    if (finding) {
      step.trigger(std::move(*finding));
    }
    row.losses.erase(row.losses.begin() + 1, row.losses.end() - static_cast<std::ptrdiff_t>(n - n / 2));
  }

  /// Returns the finding if the median of the newest quarter triggers beside that of the quarter before.
  [[nodiscard]] std::optional<Finding> compare_quarters(const RowKey& key, const Row& row) const {
    const std::uint64_t n = row.count;
    const std::span<const Loss> newer = std::span(row.losses).last(n - 3 * n / 4);
    const std::span<const Loss> older = std::span(row.losses).last(n - n / 2).first(3 * n / 4 - n / 2);
    const double old = median(mapped(older, &Loss::value));
    const double now = median(mapped(newer, &Loss::value));
    const double decrease = old == now ? 0 : 100 * (old - now) / std::abs(old);  // from 0: infinite
    if (!(decrease < least_decrease_) && !std::isnan(now)) {
      return std::nullopt;
    }
    Finding finding = finding_of(std::get<0>(key), "decrease_percent", decrease, "<", least_decrease_);
    finding.worker = std::get<1>(key);
    finding.details = {{"old", fmt::format("{}", old)},
                       {"old_first_step", fmt::format("{}", older.front().step.value)},
                       {"old_last_step", fmt::format("{}", older.back().step.value)},
                       {"new", fmt::format("{}", now)},
                       {"new_first_step", fmt::format("{}", newer.front().step.value)},
                       {"new_last_step", fmt::format("{}", newer.back().step.value)}};
    finding.message = fmt::format("{}, from a median of {:.6g} (steps {} to {}) to {:.6g} (steps {} to {})",
                                  finding_text(finding), old, older.front().step.value, older.back().step.value, now,
                                  newer.front().step.value, newer.back().step.value);
    return finding;
  }

  /// Returns whether the newest quarter of losses, of which none was dropped yet, is above the first half of them, or
  /// has NaN.
  [[nodiscard]] static bool is_above_first_half(const Row& row) {
    const std::vector<double> losses = mapped(row.losses, &Loss::value);
    const auto half = static_cast<std::ptrdiff_t>(losses.size() / 2);
    const double now = median({losses.end() - half / 2, losses.end()});
    return std::isnan(now) || now > median({losses.begin(), losses.begin() + half});
  }

  /// Returns whether most of the newest losses, which no check may have compared, are far above all of the quarter
  /// before, and nearer to the first loss than to these. If they are tenfold, nearer on a logarithmic scale is enough,
  /// because losses fall by orders of magnitude. Noise, single spikes and restarts of the learning rate do not count.
  /// Precondition: at least four times as many losses as `newest`.
  [[nodiscard]] bool explodes(const Row& row) const {
    const std::uint64_t n = row.count;
    const std::vector<double> half = mapped(std::span(row.losses).last(n - n / 2), &Loss::value);
    const auto newer = half.begin() + static_cast<std::ptrdiff_t>(3 * n / 4 - n / 2);
    const double old = median({half.begin(), newer});
    const double most = *std::max_element(half.begin(), newer);
    const double rise = std::abs(most) * parameters().number("increase_threshold_percent") / 100;
    const double first = row.losses.front().value;
    const double tenfold = old > 0 ? std::max(10 * most, std::sqrt(old * first)) : first;
    const double nearer = std::min(std::midpoint(old, first), tenfold);
    const double far = std::max(most + std::max(3 * (most - old), rise), nearer);
    return std::count_if(half.end() - newest, half.end(), [far](double loss) { return loss > far; }) > newest / 2;
  }

  /// Returns the first loss after the last check that is NaN or infinite, unless that check saw one already; of a log
  /// that is too short for a check, the newest loss if it is. Null if there is no such loss.
  [[nodiscard]] static const Loss* no_number_of(const Row& row, bool too_few) {
    if (too_few) {
      return std::isfinite(row.losses.back().value) ? nullptr : &row.losses.back();
    }
    const auto found =
        std::find_if(row.known.lower_bound(row.checked.value_or(std::numeric_limits<std::int64_t>::min())),
                     row.known.end(), [](const auto& loss) { return !std::isfinite(loss.second.value); });
    return found == row.known.end() || found->first == row.checked ? nullptr : &found->second;
  }

  /// Returns the first of the newest losses that are all one number, if they are at least ten and a tenth of all while
  /// those before hardly ever repeat; else null. 0 and a millionth of the first loss or less are not meant: all may be
  /// learnt. Nor are logs that keep so few digits of this number, fewer than six, that small changes do not show.
  [[nodiscard]] static const Loss* frozen_since(const Row& row) {
    const std::vector<double> losses = mapped(row.losses, &Loss::value);
    const double now = losses.empty() ? 0 : losses.back();
    const auto other = std::find_if(losses.rbegin(), losses.rend(), [now](double loss) { return loss != now; });
    std::vector<double> before(losses.begin(), other.base());
    const double last_digit = std::pow(10, std::floor(std::log10(std::abs(now))) - 4);
    const bool is_rounded = std::ranges::all_of(before, [last_digit](double loss) {
      constexpr double float_precision = 1e-7;
      return !(std::abs(std::round(loss / last_digit) * last_digit - loss) > float_precision * std::abs(loss));
    });
    const std::ptrdiff_t repeated = before.end() - std::unique(before.begin(), before.end());
    const auto fewest = std::max<std::size_t>(10, row.count / 10);
    const bool is_floor = now == 0 || std::abs(now) <= 1e-6 * std::abs(losses.front());
    const bool is_frozen = losses.size() - before.size() >= fewest && 20 * repeated < std::ssize(before);
    return is_frozen && !is_floor && !is_rounded ? &row.losses[before.size()] : nullptr;
  }

  /// Warns, once no further step will come, of losses after the last check that would trigger (where steps have modes,
  /// only of those that are no numbers, because single losses are noise), of losses that rise but are too few for a
  /// check, and of newest losses that explode or are all one number.
  void summarize_rows(RuleSummary& summary) const {
    constexpr std::uint64_t fewest_that_rise = 8;  // two in a quarter
    const RuleRun& run = RuleAccess::run(summary);
    std::vector<std::string> few;
    const bool has_modes = base_trial().layout().has_modes;
    for (const auto& [key, row] : rows_) {
      const auto& [tensor, worker, mode] = key;
      const std::string name = run.shown(worker, tensor);
      const bool too_few = !has_modes && row.count < fewest_observed();
      const bool has_rest = too_few ? row.count >= fewest_that_rise && is_above_first_half(row)
                                    : row.passed != 0 && row.passed != row.count;
      const std::optional<Finding> finding = run.whole() && has_rest ? compare_quarters(key, row) : std::nullopt;
      const Loss* const no_number = no_number_of(row, too_few);
      const bool is_best = contains(text::split_words(tensor), "best");  // so far: constant by design
      if (finding && !too_few) {
        summary.warn(fmt::format("the last check was before the newest {} of {} values; with them, {}",
                                 row.count - row.passed, row.count, printable(run.shown(worker, finding->message))));
      } else if (finding && !(finding->value >= -parameters().number("increase_threshold_percent"))) {
        summary.warn(fmt::format(
            "{} values are too few for a check, which needs {} (4 * num_steps), but the newest rise or are NaN: {}",
            row.count, fewest_observed(), printable(run.shown(worker, finding->message))));
      } else if (run.whole() && no_number != nullptr) {
        summary.warn(fmt::format("{} is {} at step {}, and no check looked at it", printable(name), no_number->value,
                                 no_number->step.value));
      } else if (run.whole() && row.count >= 4 * newest && explodes(row)) {
        summary.warn(fmt::format("{}: of the {} values from step {} on, most are far above those before",
                                 printable(name), newest, row.losses.end()[-newest].step.value));
      } else if (const Loss* const frozen = run.whole() && !is_best ? frozen_since(row) : nullptr; frozen != nullptr) {
        summary.warn(fmt::format("{} is exactly {} from step {} on; has training stopped, or is the loss clipped?",
                                 printable(name), frozen->value, frozen->step.value));
      }
      if (too_few) {
        few.push_back(fmt::format("{} ({})", name, row.count));
      }
    }
    if (few.empty()) {
      return;
    }
    std::string text = fmt::format("{} fewer than the {} values (4 * num_steps) from which on losses are compared: {}",
                                   few.size() == 1 ? "1 loss has" : fmt::format("{} losses have", few.size()),
                                   fewest_observed(), first_names({few.begin(), few.end()}));
    if (summary.steps_evaluated() == 0) {
      summary.explain(std::move(text));
    } else {
      summary.note(std::move(text));
    }
  }

  static void trigger(StepView& step, const Unit& unit, const char* check, double value, const char* relation,
                      double threshold, const Loss& reference) {
    Finding finding = finding_of(unit, check, value, relation, threshold);
    finding.details = {{"reference_step", fmt::format("{}", reference.step.value)},
                       {"reference_loss", fmt::format("{}", reference.value)}};
    step.trigger(std::move(finding));
  }

  static constexpr int newest = 5;

  std::int64_t least_distance_;
  double least_decrease_;
  bool one_row_ = false;
  std::optional<Mode> only_;
  Losses losses_;
  ZeroLosses zeros_;
  /// Positions, by rows and where mode steps began again; used by planning, which runs ahead.
  std::map<std::pair<RowKey, GlobalStep>, std::set<std::int64_t>> asked_;
  std::map<RowKey, Row> rows_;
  std::shared_ptr<const Sides> sides_;  // of the names known so far, if the rule selects by them
};

}  // namespace

RuleDescription loss_not_decreasing_rule() {
  return {
      .name = "LossNotDecreasing",
      .summary = "the loss does not decrease by enough in a number of steps",
      .condition =
          "per tensor, worker and mode, with old = the loss at the newest step <= p - num_steps, and at least "
          "num_steps after the last check:\n"
          "new > old: 100 * (new - low) / |low| > increase_threshold_percent, with low = the least old of this check "
          "and the checks directly before it at which the loss rose too\n"
          "else: 100 * (old - new) / |old| < diff_percent, or new is NaN\n"
          "A tensor's loss is its one element; of a collection's tensor, the mean (the saved one is enough). Steps p "
          "are mode steps, and where these begin again, after a restart, so does the rule; with mode GLOBAL, global "
          "steps of all modes in one row.\n"
          "Where steps have no modes (log directories, checkpoints), per tensor and worker, when n losses were seen, "
          "first at n = 4 * num_steps, then at max(n + num_steps, n * 5 / 4): 100 * (old - new) / |old| < "
          "diff_percent, or new is NaN, with new = the median of the newest quarter of the n losses and old = that of "
          "the quarter before.",
      .frameworks = "all",
      .collections = {"losses"},
      .parameters = {{"collection_names", Type::list, no_default,
                      "collections whose tensors are losses, of any number of elements"},
                     {"tensor_regex", Type::pattern_list, no_default, "tensors of one element that are losses too"},
                     {"use_losses_collection", Type::boolean, "True",
                      "look at the collection losses too; if the trial does not define it and no list is given, at "
                      "every tensor of one element. False needs a list"},
                     at_least(1, {"num_steps", Type::integer, "10",
                                  "least distance of the two losses, in steps; where steps have no modes, a quarter of "
                                  "the fewest losses that are compared"}),
                     within(0, 100,
                            {"diff_percent", Type::number, "0.1",
                             "a loss that did not rise (where steps have no modes: any) triggers if it fell by less "
                             "percent than this"}),
                     within(0, 100,
                            {"increase_threshold_percent", Type::number, "5",
                             "a loss that rose by more percent than this triggers; rises in succession add up. Where "
                             "steps have no modes, it only decides which rises that no check sees give a warning"}),
                     one_of({"EVAL", "TRAIN", "GLOBAL"},
                            {"mode", Type::text, no_default,
                             "only steps of this mode; GLOBAL: all modes in one row; not given: each mode by itself. "
                             "In a log directory: only tensors whose names say so"})},
      .create = create<LossNotDecreasing>,
      .saves =
          [](const Parameters& parameters) {
            Collections all = selected(parameters, "loss_not_decreasing");
            if (parameters.boolean("use_losses_collection")) {
              all.push_back(collection_of("losses"));
            }
            return only_in_mode(parameters, std::move(all));
          },
  };
}

}  // namespace smd::detail::rules
