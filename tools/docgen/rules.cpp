// SPDX-License-Identifier: Apache-2.0
#include "docgen.hpp"

#include <smd/rule_registry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace smd::docgen {

namespace {

std::vector<RuleDescription> builtin_rules() {
  std::vector<RuleDescription> rules = rule_descriptions();
  std::erase_if(rules, [](const RuleDescription& rule) { return !rule.plugin.empty(); });
  return rules;
}

/// Returns `Float, default 10.0, >= 1`.
std::string facts_of(const ParameterSpec& parameter) {
  std::string text(to_string(parameter.type));
  if (parameter.required) {
    text += ", required";
  } else if (parameter.default_text) {
    text += ", default " + *parameter.default_text;
  }
  const std::string range = range_text(parameter);
  return range.empty() ? text : text + ", " + range;
}

/// Returns what a rule reads by default, and for which models it is useful.
std::string scope_of(const RuleDescription& rule) {
  std::string text = "Alias " + rule.alias + ". For " + rule.frameworks + ".";
  if (!rule.collections.empty()) {
    text += rule.collections.size() == 1 ? " Collection " : " Collections ";
    text += fmt::format("{}.", fmt::join(rule.collections, ", "));
  }
  return rule.other_trials > 0 ? text + " Needs another trial." : text;
}

/// Returns a text for a cell of a Markdown table, or for running text.
std::string markdown(std::string_view text) { return with_backslashes(text, "|<*_"); }

std::string anchor(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

}  // namespace

std::vector<RuleWords> rule_words() {
  std::vector<RuleWords> words;
  for (const RuleDescription& rule : builtin_rules()) {
    RuleWords word = {{rule.name, rule.alias}, {}};
    for (const ParameterSpec& parameter : rule.parameters) {
      word.parameters.push_back(parameter.name);
    }
    for (const char* const common : {"start_step", "end_step"}) {
      if (std::ranges::find(word.parameters, common) == word.parameters.end()) {
        word.parameters.emplace_back(common);
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::string rule_sections() {
  Roff page;
  for (const RuleDescription& rule : builtin_rules()) {
    page.macro(".Ss " + roff_word(rule.name));
    std::string text = as_sentence(rule.summary) + " " + scope_of(rule) + "\n\nCondition: ";
    tool::append_replaced(text, rule.condition, {{'\n', "\n\n"}});  // each line is a paragraph
    page.prose(text);
    if (!rule.parameters.empty()) {
      page.macro(".Bl -tag -width Ds");
      for (const ParameterSpec& parameter : rule.parameters) {
        page.macro(".It Cm " + roff_word(parameter.name) + " Pq " + roff_word(facts_of(parameter)));
        page.prose(as_sentence(parameter.help));
      }
      page.macro(".El");
    }
    if (const std::string_view choice = rule_choice(rule.name); !choice.empty()) {
      page.macro(".Pp");
      page.prose(choice);
    }
  }
  return page.text();
}

std::string rule_chapters() {
  const std::vector<RuleDescription> rules = builtin_rules();
  std::string text = "| Rule | Alias | For | Triggered when |\n|---|---|---|---|\n";
  for (const RuleDescription& rule : rules) {
    text += "| [" + rule.name + "](#" + anchor(rule.name) + ") | `" + rule.alias + "` | " + markdown(rule.frameworks) +
            " | " + markdown(rule.summary) + " |\n";
  }
  for (const RuleDescription& rule : rules) {
    text += "\n### " + rule.name + "\n\n" + markdown(as_sentence(rule.summary) + " " + scope_of(rule)) + "\n\n";
    text += "```\n" + rule.condition + "\n```\n\n";
    if (!rule.parameters.empty()) {
      text += "| Parameter | | |\n|---|---|---|\n";
      for (const ParameterSpec& parameter : rule.parameters) {
        text +=
            "| `" + parameter.name + "` | " + markdown(facts_of(parameter)) + " | " + markdown(parameter.help) + " |\n";
      }
    }
    if (const std::string_view choice = rule_choice(rule.name); !choice.empty()) {
      text += "\n" + markdown(choice) + "\n";
    }
  }
  return text;
}

// Prose about the rules that is in no table: the choices made where AWS's descriptions are silent or contradict
// themselves, and their consequences for results.

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 17> choices = {{
    {"DeadRelu",
     "A node is an element rather than a channel, because the layout is not recorded; a dead channel has only dead "
     "elements, so nothing is missed. With one sample in a batch every silent node counts as dead: give more samples "
     "or raise the threshold."},
    {"PoorWeightInitialization",
     "The variances are those of activation inputs, which is what the parameter selects, and the ratio is the largest "
     "over the smallest. steps counts steps that were analysed, not numbers of steps."},
    {"SaturatedActivation",
     "Nodes and samples are counted as by DeadRelu. An input exactly on a bound is saturated. The default pattern "
     "stands even if collection_names is given."},
    {"WeightUpdateRatio",
     "AWS does not say how the ratio is taken: it is that of Euclidean norms, relative to the weights before. Weights "
     "do not move between evaluation steps, so those are left out."},
    {"AllZero",
     "The threshold is reached at equality. Without collection_names and tensor_regex it is an error, although a "
     "sentence of AWS's falls back to all tensors."},
    {"ClassImbalance",
     "A class that was never seen is unknown to the rule. Counts go on growing after a result; labels of training and "
     "of validation are counted apart. The PyTorch hook saves labels and scores of a cross entropy as "
     "CrossEntropyLoss_input_1 and CrossEntropyLoss_input_0: use argmax."},
    {"LossNotDecreasing",
     "A loss that rose is evaluated by increase_threshold_percent, one that did not by diff_percent: with the defaults "
     "a rise of 3 percent passes, while a fall of 0.05 percent triggers. Rises in succession add up: a loss that rises "
     "by 3 percent at every check triggers at the second. Set increase_threshold_percent close to 0 to forbid rises. "
     "Where steps have no modes, losses are counted instead: one job logs each step and another every 500, and "
     "neighbouring losses of batches are noise, so medians of quarters are compared."},
    {"Overfit",
     "Losses are compared as means over phases: validation steps up to the next training step, against the training "
     "steps before them. Consecutive phases count, so a good one starts over."},
    {"Overtraining",
     "What AWS calls a step is taken to be one phase of validation, as in Overfit; both sides are watched."},
    {"SimilarAcrossRuns",
     "AWS gives no tolerance: it is that of numpy.isclose, which absorbs sums in another order. The rule is triggered "
     "by difference, although its name suggests the contrary."},
    {"StalledTrainingRule",
     "Times are those written in the records, because they survive copying. A job is stopped only where training "
     "stands still at the end of what was saved, and only by a request on the command line: of a gap after which "
     "training went on, and of what a file of configurations asks for, the result says that nothing was stopped."},
    {"TensorVariance", "One element has variance 0, and so falls under any positive min_threshold."},
    {"UnchangedTensor",
     "All values of the window are compared with the newest, not neighbours with each other: a slow drift is a change. "
     "Weights stand still between evaluation steps, so the rule is triggered there if a phase has num_steps of them."},
    {"CheckInputImages",
     "The mean is taken for each channel. The default pattern is MXNet's; the PyTorch hook calls a model's input "
     "MODEL_input_0."},
    {"NLPSequenceRatio", "The ratio is a percentage in the sequence, as AWS explains it elsewhere."},
    {"Confusion",
     "Both statistics divide by the sum of the column: of all that were predicted as a class, how many are. The "
     "formula that AWS prints for the diagonal would trigger on a perfect prediction. A class that has labels and is "
     "never predicted has no column; none of its labels is right, so its share is 0: else predicting the commonest "
     "class for everything would pass."},
    {"TreeDepth",
     "XGBoost numbers nodes in the order of creation, so for lopsided trees this is a lower bound of the true depth; "
     "AWS defines it so."},
}};

}  // namespace

std::string_view rule_choice(std::string_view rule) noexcept {
  for (const auto& [name, text] : choices) {
    if (name == rule) {
      return text;
    }
  }
  return {};
}

}  // namespace smd::docgen
