// SPDX-License-Identifier: Apache-2.0
// What the first screen says, in sentences.
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "html.hpp"
#include "requests/requests.hpp"
#include "sections.hpp"
#include "text/loss_name.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_items = 6;
constexpr std::size_t most_losses_told = 4;

constexpr std::string_view loss_rule = "LossNotDecreasing";

// What a page says of a rule that found something. `{}` is the tensor.
struct RuleWords {
  std::string_view rule = {};
  bool grave = false;
  std::string_view words = {};  // of a rule that has none, its message
  bool on_losses = false;
};
constexpr std::array<RuleWords, 9> rule_words = {{
    {"AllZero", true, "{} is zero, all or nearly all of it"},
    {"DeadRelu", true, "units of {} are dead"},
    {"ExplodingTensor", true, "{} has NaN or infinities"},
    {"StalledTrainingRule", true, "training stands still"},
    {"VanishingGradient", true, "{} is vanishingly small"},
    {loss_rule, false, "{} does not fall any more", true},
    {"Overfit", false, "{} is too far above the loss of training", true},
    {"Overtraining", false, "{} no longer gets better by delta or more", true},
    {"WeightUpdateRatio", false, "updates of {} are too large or too small beside it"},
}};

RuleWords words_of(const RuleResult& result) {
  const auto* const found = std::ranges::find(rule_words, result.rule, &RuleWords::rule);
  return found == rule_words.end() ? RuleWords() : *found;
}

bool has_word(const std::string& name, std::initializer_list<std::string_view> known) {
  const std::vector<std::string> words = smd::text::split_words(name);
  return std::ranges::find_first_of(words, known) != words.end();
}

// Whether a gradient is that of a bias: `gradient/0.bias`, `grads/linear/b`, `gradients/dense/BiasAdd_grad:0`. What a
// model adds to scores of attention by position, as `attention_biases` and `rel_pos_bias`, does not count.
bool is_of_bias(const std::string& gradient) {
  const std::string name = gradient.substr(0, gradient.find(':'));
  return name.ends_with("/b") || name.ends_with(".b") ||
         (has_word(name, {"bias", "biases"}) && name.find("attention_bias") == name.npos &&
          !has_word(name, {"kernel", "rel", "relative", "table", "weight"}));
}

// The words for a result of a trial.
RuleWords words_of(const TrialReport& trial, std::size_t result) {
  RuleWords words = words_of(trial.results[result]);
  const auto of_bias = [](const auto& tensor) { return is_of_bias(tensor.first); };
  if (words.rule == "VanishingGradient" && std::ranges::all_of(trial.tallies[result].tensors(), of_bias)) {
    words.grave = false;
    words.words = "{} is vanishingly small, as is normal for a bias before a normalisation";
  }
  return words;
}

bool failed(const TrialFacts& facts) { return facts.exit_code.value_or(0) != 0; }

bool triggered(const RuleResult& result) {
  return result.status == RuleStatus::issues_found && !result.findings.empty();
}

bool is_loss(const std::string& name, const TensorHistory& history) {
  return history.role == Role::loss || (history.scalar() && smd::text::is_loss_name(name));
}

// Says which loss, or norm of gradients, is far beyond where it began at its last step. LossNotDecreasing follows no
// norms, and calls a loss good that falls to -1e17. What healthy runs log stays below 1e12, or begins as high: sums
// over data, returns of an environment, squares of prices, and gradients of float16 that a loss scale multiplies.
std::string exploded(const TrialReport& trial) {
  constexpr double most = 1e6;
  for (const auto& [name, history] : trial.histories.tensors) {
    const bool norm = has_word(name, {"gnorm", "gradnorm"}) ||
                      (has_word(name, {"grad", "gradient", "gradients", "grads"}) && has_word(name, {"norm"}));
    if (!is_loss(name, history) && !(norm && history.scalar())) {
      continue;
    }
    for (const auto& [worker, curve] : history.workers) {
      const double first = curve.facts().first.y;
      const double last = curve.facts().last.y;
      if (std::isfinite(last) && std::abs(last) > most * std::max(most, std::abs(first))) {
        return fmt::format("{} went from {} to {}", name, short_text(first), short_text(last));
      }
    }
  }
  return {};
}

// Says which loss ended while other scalars of its worker, which began before, went on. A job may log nothing in place
// of NaN. Not so of a loss that another one followed, as in a new stage of training. In a log directory each series may
// have a unit of its own: a scalar that goes four times as far counts batches, and the loss epochs. But not if both
// begin at one step and are logged every so many steps, and no loss goes that far, as that of a second stage does.
std::string ended_loss(const TrialReport& trial) {
  const double most = trial.facts.layout == "tensorboard" ? 4 : INFINITY;
  for (const auto& [name, history] : trial.histories.tensors) {
    for (const auto& [worker, curve] : history.workers) {
      const CurveFacts& loss = curve.facts();
      const double end = loss.last.x;
      if (loss.counts.points < 3 || !is_loss(name, history)) {
        continue;
      }
      bool followed = false;
      bool far_loss = false;
      double went_on = end;
      double went_far = end;
      for (const auto& [other, of_other] : trial.histories.tensors) {
        const auto found = of_other.workers.find(worker);
        const CurveFacts& its = found == of_other.workers.end() ? loss : found->second.facts();
        const double last = its.last.x;
        const bool far = last >= most * end;
        far_loss = far_loss || (far && is_loss(other, of_other));
        const bool other_unit = far && (its.first.x != loss.first.x || its.widest != loss.widest || loss.widest <= 1);
        if (last - end <= 3 * loss.widest || other_unit || other.starts_with("system/")) {
          continue;
        }
        const bool began_later = its.first.x >= end;
        followed = followed || (began_later && is_loss(other, of_other));
        double& until = far ? went_far : went_on;
        const auto later = [end](const ChartPoint& point) { return point.x > end; };
        if (!began_later && last > until &&
            std::ranges::count_if(found->second.chart_curve({}, 1024).points, later) >= 3) {
          until = last;
        }
      }
      went_on = far_loss ? went_on : std::max(went_on, went_far);
      if (went_on > end && !followed) {
        return fmt::format("{} has no value after step {:.0f}; the run goes on to step {:.0f}", name, end, went_on);
      }
    }
  }
  return {};
}

// What a loss did that LossNotDecreasing, which has these parameters, did not evaluate. Of two or three values, a small
// rise may be noise.
std::string_view remarkable(const CurveFacts& loss, const Parameters& rule) {
  const double first = loss.first.y;
  const double last = loss.last.y;
  if (loss.counts.points < 4) {
    return loss.counts.points > 1 && first > 0 && last > 2 * first ? "rose" : "";
  }
  const auto above_first = [&](double percent) { return last > first + percent / 100 * std::abs(first); };
  return above_first(rule.number("increase_threshold_percent")) ? "rose"
         : above_first(-rule.number("diff_percent"))            ? "did not fall"
                                                                : "";
}

// Says which number is a loss by its name or collection, or that none is, if rules were to follow losses and none was
// evaluated; or which loss rose or did not fall, if LossNotDecreasing was not evaluated; else nothing.
std::string unjudged_loss(const TrialReport& trial) {
  std::vector<std::string_view> rules;  // that could not be evaluated
  bool any_evaluated = false;
  bool may_rise = false;
  for (const RuleResult* const result : trial.all_results()) {
    if (follows_losses(*result) && result->status == RuleStatus::not_evaluated) {
      add_once(rules, std::string_view(result->name));
      may_rise = may_rise || result->rule == loss_rule;
    } else {
      any_evaluated = any_evaluated || follows_losses(*result);
    }
  }
  if (rules.empty()) {
    return {};
  }
  const std::string but = fmt::format(", but {} could not be evaluated", fmt::join(rules, ", "));
  for (const auto& [name, history] : trial.histories.tensors) {
    if (!any_evaluated && is_loss(name, history)) {
      return fmt::format("{} was saved{}", name, but);
    }
  }
  const Parameters parameters = make_rule(loss_rule)->parameters();  // the defaults
  for (const LossFacts& loss : losses_of(trial)) {
    if (const std::string_view did = remarkable(loss.facts, parameters); may_rise && !did.empty()) {
      return fmt::format("{} {}{}", loss.name(), did, but);
    }
  }
  std::vector<std::string> unknown = trial.facts.scalars;
  std::erase_if(unknown, [&](const std::string& name) {  // but for those with a word that often means a loss
    return trial.history(name) == nullptr ||
           !has_word(name, {"ce", "cost", "criterion", "crossentropy", "elbo", "err", "error", "mae", "mse",
                            "objective", "perplexity", "ppl", "rmse", "xent"});
  });
  return may_rise && !any_evaluated && !unknown.empty() && trial.facts.layout != "checkpoints"
             ? fmt::format("no loss is known by its name ({}); -r {} -p tensor_regex=PATTERN says which it is",
                           text::listed(unknown, 3), loss_rule)
             : std::string();
}

// Says that weights are 0, died out or blew up, which no rule evaluates; or that no tensor of checkpoints is known as a
// weight by its name. What an optimizer keeps of weights, and masks, may be 0; of a LoRA adapter, half is at first.
std::string unjudged_weights(const TrialReport& trial) {
  constexpr double most_change = 1e4;  // of the norm of all weights
  const auto passed = std::ranges::find(trial.passed_over, "WeightUpdateRatio", &RuleResult::rule);
  const bool unknown =
      trial.facts.layout == "checkpoints" && passed != trial.passed_over.end() && !trial.facts.has_weights;
  std::vector<CurveFacts> norms;
  for (const auto& [name, history] : trial.histories.tensors) {
    if (history.role == (unknown ? Role::other : Role::weight) && !history.scalar() &&
        !has_word(name, {"adam", "avg", "mask", "masks", "momentum", "mu", "nu", "optim", "optimizer"})) {
      for (const auto& [mode, series] : history.modes) {
        norms.push_back(series.of(Measure::l2).facts());
      }
    }
  }
  std::erase_if(norms, [](const CurveFacts& norm) { return norm.counts.points == 0; });
  const auto all = static_cast<std::ptrdiff_t>(norms.size());
  const auto zeros = std::ranges::count_if(norms, [](const CurveFacts& norm) { return norm.last.y == 0; });
  if (zeros > 0 && (unknown ? zeros == all : 2 * zeros > all)) {
    return fmt::format("all elements of {} {} are 0", zeros == all ? "all" : "most", unknown ? "tensors" : "weights");
  }
  if (unknown) {
    return norms.empty() || trial.facts.steps < 2
               ? ""
               : "no weight is known by its name; -r UnchangedTensor -p tensor_regex=PATTERN says which do not change";
  }
  const double first = std::sqrt(sum_of(norms, [](const CurveFacts& norm) { return norm.first.y * norm.first.y; }));
  const double last = std::sqrt(sum_of(norms, [](const CurveFacts& norm) { return norm.last.y * norm.last.y; }));
  return first > 0 && (last > most_change * first || last < first / most_change)
             ? fmt::format("the norm of all weights went from {} to {}", short_text(first), short_text(last))
             : std::string();
}

// ` of worker_2`, if the trial has other workers.
std::string of_worker(const Finding& finding) {
  return finding.worker && finding.several_workers ? " of " + *finding.worker : std::string();
}

// The tensor that a finding is about. Overtraining names a pair by its validation loss and may mean the training loss.
std::string tensor_html(const Finding& finding) {
  const std::string worker = of_worker(finding);
  const auto training = std::ranges::find(finding.details, "training", &std::pair<std::string, std::string>::first);
  if (finding.check == "train" && training != finding.details.end()) {
    return name_html(training->second + worker);
  }
  return name_html(finding.tensor.value_or("") + worker) + (finding.check == "train" ? " in training" : "");
}

// The rules that found something grave, or else something worth a look.
void add_triggered(std::vector<std::string>& items, const TrialReport& trial, bool grave) {
  for (std::size_t i = 0; i < trial.results.size(); ++i) {
    const RuleResult& result = trial.results[i];
    if (!triggered(result) || is_grave(trial, i) != grave) {
      continue;
    }
    const Finding& first = result.findings.front();
    const std::string_view words = words_of(trial, i).words;
    const std::string link = fmt::format("<a href=\"#{}\">{}</a>", rule_anchor(0, i), name_html(result.name));
    const std::string from = first.step ? fmt::format(", from step {} on", first.step->value) : std::string();
    items.push_back(words.empty()
                        ? fmt::format("{}{}: {}", link, from, name_html(shown_message(first)))
                        : fmt::format("{}: {}{} ({} {})", link, fmt::format(fmt::runtime(words), tensor_html(first)),
                                      from, name_html(first.check), short_text(first.value)));
  }
}

std::string step_text(const ChartPoint& point) { return fmt::format("{:.0f}", point.x); }

// `val/loss was least at step 18 (0.188) and has risen by 266 % since`
std::string loss_item(const LossFacts& of) {
  const CurveFacts& facts = of.facts;
  const std::string loss = name_html(of.tensor) + of.mode;
  const std::string last = fmt::format("{} at step {}", short_text(facts.last.y), step_text(facts.last));
  if (facts.counts.points == 1) {
    return fmt::format("{} was {}", loss, last);
  }
  if (!facts.least) {
    return fmt::format("{} has no least value that counts; it is {}", loss, last);
  }
  const double least = facts.least->y;
  const std::string was = fmt::format("{} was least at step {} ({:.3g})", loss, step_text(*facts.least), least);
  if (!std::isfinite(facts.last.y) || facts.last.y < least) {  // less: a 0 that may stand for NaN
    return fmt::format("{} and is {}", was, last);
  }
  if (facts.last.y > least) {
    const double percent = least > 0 ? 100 * (facts.last.y - least) / least : 0;
    return percent >= 1 ? fmt::format("{} and has risen by {:.0f} % since, to {:.3g}", was, percent, facts.last.y)
                        : fmt::format("{}, and is {}", was, last);
  }
  if (facts.first.y == least) {
    return fmt::format("{} is {}, as at the start", loss, last);
  }
  return facts.least->x == facts.last.x ? fmt::format("{} fell from {:.3g} at step {} to its least, {}", loss,
                                                      facts.first.y, step_text(facts.first), last)
                                        : fmt::format("{}, and is again {}", was, last);
}

// A loss as the worker saved it that a finding is about; else as it is.
LossFacts of_finding(const LossFacts& loss, const TrialReport& trial) {
  const auto& workers = trial.history(loss.tensor)->workers;
  for (const RuleResult& result : trial.results) {
    const Finding first = triggered(result) ? result.findings.front() : Finding();
    const std::string worker = of_worker(first);
    const auto curve = workers.find({first.worker.value_or(""), first.mode});
    const bool same_mode = loss.mode.empty() || loss.mode.find(mode_text(first.mode)) != std::string::npos;
    if (first.tensor == loss.tensor && same_mode && !worker.empty() && curve != workers.end()) {
      return {loss.tensor + worker, loss.mode, curve->second.facts()};
    }
  }
  return loss;
}

// The first items, and how many more there are.
std::string first_items(std::vector<std::string> items, std::string_view rest) {
  if (items.empty()) {
    return {};
  }
  if (items.size() > most_items) {
    items[most_items] = fmt::format("<a href=\"{}\">and {} more</a>", rest, items.size() - most_items);
    items.resize(most_items + 1);
  }
  return list_html(items);
}

std::string card_html(std::string_view look, std::string_view headline) {
  return fmt::format("<div class=\"health {}\">\n<p class=\"headline\">{}</p>\n", look, name_html(headline));
}

// What is grave, what is worth a look, and what is not known, each by what it is with the trials concerned. Their
// losses are in the table.
std::string several_html(const PageContext& page) {
  using Trials = std::map<std::string, std::vector<std::string>>;
  Trials bad;
  Trials look;
  Trials unknown;
  std::vector<std::string> good;
  for (std::size_t i = 0; i < page.trials.size(); ++i) {
    const TrialReport& trial = page.trials[i];
    const std::string name = name_html(trial.label);
    const Headline headline = headline_of(trial);
    for (std::size_t rule = 0; rule < trial.results.size(); ++rule) {
      const RuleResult& result = trial.results[rule];
      if (triggered(result)) {
        const auto& step = result.findings.front().step;
        (is_grave(trial, rule) ? bad : look)[fmt::format("<strong>{}</strong>", name_html(result.name))].push_back(
            fmt::format("<a href=\"#{}\">{}</a>{}", rule_anchor(i, rule), name,
                        step ? fmt::format(" from step {}", step->value) : std::string()));
      }
    }
    if (const auto first = first_not_finite(trial)) {
      bad["NaN or infinities"].push_back(fmt::format("{} from step {}", name, first->step.value));
    }
    if (failed(trial.facts)) {
      look[fmt::format("Exit code {}", *trial.facts.exit_code)].push_back(name);
    }
    if (headline.look == "unknown") {
      unknown[name_html(headline.text)].push_back(name);
    } else if (headline.look == "good") {
      good.push_back(name);
    }
  }
  std::string out;
  const auto put = [&](std::string_view look_of, std::string_view title, const Trials& trials) {
    const std::vector<std::string> items = mapped(
        trials, [](const auto& group) { return fmt::format("{}: {}", group.first, text::listed(group.second, 30)); });
    out += items.empty() ? std::string() : card_html(look_of, title) + first_items(items, "#rules") + "</div>\n";
  };
  put("bad", "Grave", bad);
  put("look", "Worth a look", look);
  put("unknown", "Not known", unknown);
  if (!good.empty()) {
    out += card_html("good", "No sign of trouble") + fmt::format("<p>{}</p>\n</div>\n", fmt::join(good, ", "));
  }
  return out;
}

}  // namespace

bool is_grave(const TrialReport& trial, std::size_t result) { return words_of(trial, result).grave; }

bool follows_losses(const RuleResult& result) { return words_of(result).on_losses; }

Headline headline_of(const TrialReport& trial) {
  if (!trial.unread.empty()) {
    return {"unknown", "Not read: " + trial.unread};
  }
  const auto count = [&](const auto& value, auto member) {
    return static_cast<std::size_t>(std::ranges::count(trial.results, value, member));
  };
  const std::size_t found = count(RuleStatus::issues_found, &RuleResult::status);
  const std::size_t errors = count(RuleStatus::error, &RuleResult::status);
  const std::size_t evaluated = trial.results.size() - errors - count(RuleStatus::not_evaluated, &RuleResult::status);
  std::size_t grave = 0;
  for (std::size_t i = 0; i < trial.results.size(); ++i) {
    grave += trial.results[i].status == RuleStatus::issues_found && is_grave(trial, i) ? 1 : 0;
  }
  const std::string looked = counted(evaluated, "rule");
  if (grave > 0) {
    return {"bad", fmt::format("{} of {} found something grave{}", grave, looked,
                               found == grave ? "" : fmt::format(", {} more something worth a look", found - grave))};
  }
  if (first_not_finite(trial)) {
    return {"bad", "NaN or infinities were saved"};
  }
  if (found > 0) {
    return {"look", fmt::format("{} of {} found something worth a look", found, looked)};
  }
  if (failed(trial.facts)) {
    return {"look", fmt::format("The job failed with exit code {}, and no rule found why", *trial.facts.exit_code)};
  }
  if (errors > 0) {
    return {"unknown", fmt::format("Not sure: {} could not be evaluated", counted(errors, "rule"))};
  }
  if (!trial.facts.problems.empty()) {
    return {"unknown", "Not sure: " + text::listed(trial.facts.problems, 1)};
  }
  if (!trial.facts.incomplete.empty()) {
    return {"unknown", "Not sure: " + trial.facts.incomplete};
  }
  if (const std::size_t warned = count(true, &RuleResult::doubtful); warned > 0) {
    return {"unknown", fmt::format("Not sure: {} of {} {} a warning, none found anything", warned,
                                   counted(trial.results.size(), "rule"), warned == 1 ? "has" : "have")};
  }
  if (evaluated == 0) {
    return {"unknown", "Not evaluated: no rule had anything to evaluate"};
  }
  for (const std::string& text :
       {trial.facts.lost_loss, exploded(trial), ended_loss(trial), unjudged_weights(trial), unjudged_loss(trial)}) {
    if (!text.empty()) {
      return {"unknown", "Not sure: " + text};
    }
  }
  return {"good", fmt::format("No sign of trouble: {} looked, none found anything", looked)};
}

std::string health_html(const PageContext& page) {
  if (page.trials.size() > 1) {
    return several_html(page);
  }
  const TrialReport& trial = page.trials.front();
  const Headline headline = headline_of(trial);
  std::string out = card_html(headline.look, headline.text);
  std::vector<std::string> broken;
  add_triggered(broken, trial, true);
  if (const auto first = first_not_finite(trial)) {
    const auto tensors = std::ranges::count_if(trial.histories.tensors,
                                               [](const auto& one) { return one.second.first_not_finite.has_value(); });
    broken.push_back(fmt::format("NaN or infinities are in {}, first in {} at step {}",
                                 counted(static_cast<std::size_t>(tensors), "tensor"), name_html(first->tensor),
                                 first->step.value));
  }
  std::ranges::transform(trial.facts.problems, std::back_inserter(broken), name_html);
  std::vector<std::string> remarkable;
  add_triggered(remarkable, trial, false);
  std::vector<LossFacts> of_losses = losses_of(trial);
  of_losses.resize(std::min(of_losses.size(), most_losses_told));
  const std::vector<std::string> losses =
      mapped(of_losses, [&](const LossFacts& loss) { return loss_item(of_finding(loss, trial)); });
  const std::string_view rest = trial.results.empty() ? "#trial" : "#rules";
  out += first_items(broken, rest);
  out += broken.empty() || remarkable.empty() ? "" : "<p>Worth a look:</p>\n";
  out += first_items(remarkable, rest) + first_items(losses, "#losses");
  return out + "</div>\n";
}

}  // namespace smd::tool::report
