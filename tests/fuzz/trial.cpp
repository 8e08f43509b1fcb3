// SPDX-License-Identifier: Apache-2.0
// A whole small trial, opened through the public interface. The first byte determines how its files are made from the
// input, the second what is done with it; then follow its files: name, newline, content, separator. seeds.py makes
// such inputs.
#include <smd/error.hpp>
#include <smd/evaluator.hpp>
#include <smd/reduction.hpp>
#include <smd/rule_registry.hpp>
#include <smd/trial.hpp>

#include "commands.hpp"
#include "every_rule.hpp"
#include "source.hpp"
#include "target.hpp"
#include "wire/framing.hpp"
#include "work_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

using namespace smd;

namespace {

constexpr std::string_view separator = "%%NEXT%%";

/// Corrects the checksums of lengths, so that the data after them are parsed.
std::string repaired(std::string_view events) {
  std::string result(events);
  std::size_t at = 0;
  while (result.size() - at >= 12) {
    std::string header;
    const std::string_view length = std::string_view(result).substr(at, 8);
    detail::wire::append_record(header, fuzz::bytes_of(length), detail::wire::Protection::checksum);
    std::memcpy(result.data() + at + 8, header.data() + header.size() - 4, 4);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, result.data() + at, sizeof bytes);
    if (bytes > result.size() - at) {
      break;
    }
    at = std::min<std::size_t>(result.size(), at + static_cast<std::size_t>(bytes) + 16);
  }
  return result;
}

void write_files(fuzz::Source& source, const fuzz::WorkFolder& folder, bool repair) {
  for (int files = 0; !source.empty() && files < 24; ++files) {
    fuzz::Source file(source.piece(separator));
    const std::string name(file.piece("\n"));
    const bool events = name.find("tfevents") != std::string::npos;
    (void)folder.write(name, events && repair ? repaired(file.rest()) : std::string(file.rest()));
  }
}

void check_value(const TensorValue& value) {
  const auto count = element_count(value.shape());
  SMD_REQUIRE(count.has_value());
  if (value.dtype() == Dtype::string) {
    SMD_REQUIRE(strings(value.view()).size() == *count);
  } else {
    SMD_REQUIRE(value.bytes().size() == *count * item_size(value.dtype()));
    const std::vector<Reduction> wanted = {{ReductionKind::mean}, {ReductionKind::max}, {ReductionKind::median}};
    SMD_REQUIRE(smd::reduce(value.view(), wanted).size() == wanted.size());
  }
}

/// Reads every record, whole and in blocks: both must agree.
void read_all(const Trial& trial) {
  std::vector<WantedValue> wanted;
  std::deque<std::string> names;
  trial.for_each_entry({.include_incomplete = true}, [&](const TensorEntry& entry) {
    if (entry.value) {
      wanted.push_back({*entry.value, entry.tensor});
    }
    for (const SavedReduction& saved : entry.reductions) {
      wanted.push_back({saved.place, names.emplace_back(reduction_tensor_name(saved.name, entry.tensor))});
    }
    return wanted.size() < 256;
  });
  std::size_t results = 0;
  ValueReader reader(trial);
  trial.read(wanted,
             [&](std::size_t i, ReadResult&& result) {
               SMD_REQUIRE(i == results++);
               SMD_REQUIRE(result.value.has_value() != result.problem.has_value());
               SMD_REQUIRE(!result.problem || !result.problem->text.empty());
               std::uint64_t bytes = 0;
               const auto problem = reader.read(wanted[i].place, wanted[i].name, [&](Extent& value) {
                 bytes = 0;
                 (void)value.for_each_block([&](std::span<const std::byte> block) { bytes += block.size(); });
               });
               SMD_REQUIRE(problem.has_value() == result.problem.has_value());
               if (result.value) {
                 check_value(*result.value);
                 SMD_REQUIRE(bytes == result.value->bytes().size());
               }
               return true;
             },
             {.jobs = 1});
  SMD_REQUIRE(results == wanted.size());
}

/// Performs every query.
void ask_all(const Trial& trial) {
  const auto steps = trial.steps(true);
  SMD_REQUIRE(std::is_sorted(steps.begin(), steps.end()));
  SMD_REQUIRE(trial.step_infos().size() == steps.size());
  for (const StepInfo& info : trial.step_infos()) {
    SMD_REQUIRE(trial.mode(info.step) == info.mode && trial.mode_step(info.step) == info.mode_step);
    (void)trial.has_passed_step(info.step);
  }
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    (void)trial.steps(mode);
  }
  for (const auto& [name, collection] : trial.collections()) {
    try {
      (void)trial.tensor_names({.collections = {name}});
    } catch (const InvalidArgument&) {
    }
  }
  const auto names = trial.tensor_names();
  SMD_REQUIRE(std::is_sorted(names.begin(), names.end()));
  SMD_REQUIRE(trial.summaries().size() == names.size());
  for (std::size_t i = 0; i < names.size() && i < 16; ++i) {
    const Tensor tensor = trial.tensor(names[i]);
    for (const GlobalStep step : tensor.steps(true)) {
      try {
        (void)tensor.shape(step);
        (void)tensor.reduction_values(step);
        (void)tensor.reduction_value(step, "mean");
      } catch (const Error& error) {
        SMD_REQUIRE(std::strlen(error.what()) != 0);
      }
    }
  }
}

/// Evaluates four of the rules; those that compare two trials compare this one with itself.
void evaluate_rules(const Trial& trial, unsigned number) {
  static const std::vector<fuzz::AskedRule> rules = fuzz::every_rule("other");
  Evaluator evaluator(trial, {.keep_going = true, .jobs = 1, .now = [] { return 1.7e9; }});
  constexpr std::size_t together = 4;
  for (std::size_t i = 0; i < together; ++i) {
    const fuzz::AskedRule& rule = rules[(number * together + i) % rules.size()];
    evaluator.add(make_rule(rule.name, rule.parameters), {}, std::vector<const Trial*>(rule.other_trials, &trial));
  }
  evaluator.run();
  SMD_REQUIRE(evaluator.results().size() == together);
}

struct Line {
  std::string command;
  std::vector<std::string> arguments;
};

/// Returns command lines of smd-rule: every rule at once, in each report format.
std::vector<Line> rule_lines() {
  std::vector<std::string> all = {"-j1", "--now", "1700000000"};
  for (const fuzz::AskedRule& rule : fuzz::every_rule(fuzz::empty_work_folder().path())) {
    all.insert(all.end(), {"-r", rule.name});
    for (const auto& [name, text] : rule.parameters) {
      all.insert(all.end(), {"-p", rule.name + "." + name + "=" + text});
    }
  }
  std::vector<Line> lines;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"-k"},
           {"-k", "--json"},
           {"--tsv"},
           {"-k", "-fsagemaker"},
           {"-k", "-fjunit"},
           {"-ftap"},
           {"-k", "-fgithub"},
           {"-s1:", "--jsonl"},
           {"--explain"},
       }) {
    lines.push_back({"smd-rule", all});
    lines.back().arguments.insert(lines.back().arguments.end(), more.begin(), more.end());
  }
  return lines;
}

std::vector<Line> all_lines() {
  std::vector<Line> lines = {
      {"smd-ls", {"-j1", "--json"}},
      {"smd-ls", {"-j1", "-l", "-f", "table"}},
      {"smd-ls", {"-j1", "--tree"}},
      {"smd-ls", {"-j1", "--steps", "-l"}},
      {"smd-ls", {"-j1", "--modes", "--csv"}},
      {"smd-ls", {"-j1", "--workers"}},
      {"smd-ls", {"-j1", "--collections", "--jsonl"}},
      {"smd-ls", {"-j1", "--locations", "--incomplete"}},
      {"smd-ls", {"-j1", "--check"}},
      {"smd-tensor", {"-j1", "-s:", "-e.", "--jsonl"}},
      {"smd-tensor", {"-j1", "-s:", "-e.", "--stat", "-ftable"}},
      {"smd-tensor", {"-j1", "-e.", "--hist"}},
      {"smd-tensor", {"-j1", "-e.", "--heatmap", "--ascii"}},
      {"smd-tensor", {"-j1", "-e.", "--matrix"}},
      {"smd-tensor", {"-j1", "-e.", "-s:", "--spark"}},
      {"smd-tensor", {"-j1", "-e.", "-ftable", "--slice", "0:2"}},
      {"smd-reduce", {"-j1", "-s:", "--json"}},
      {"smd-reduce", {"-j1", "-s:", "--by", "step", "-r", "min,median,std"}},
      {"smd-reduce", {"-j1", "-s:", "--pivot", "-r", "l2"}},
      {"smd-reduce", {"-j1", "-s:", "--hist", "--bins", "4", "--jsonl"}},
      {"smd-diff", {"-j1", "-s:", "--steps-b=:", "--all", "--json"}},
      {"smd-diff", {"-j1", "-s", "first,last", "--no-equal-nan", "--by", "step"}},
  };
  const std::vector<Line> rules = rule_lines();
  lines.insert(lines.end(), rules.begin(), rules.end());
  return lines;
}

void run_command(const Line& line, const std::string& path) {
  const tool::Command& command = fuzz::command_of(line.command);
  std::vector<std::string> arguments = line.arguments;
  arguments.push_back(path);
  tool::Diagnostics messages("smd-fuzz");
  const tool::Work work =
      command.setup(tool::CommandLine::parse(command.definition(), arguments));  // every line is valid
  try {
    const tool::ExitStatus status = work(messages);
    SMD_REQUIRE(static_cast<int>(status) <= 5);
  } catch (const tool::UsageError&) {
  } catch (const Error&) {
  }
}

}  // namespace

SMD_FUZZ_ENTRY(trial)(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Line> lines = all_lines();
  fuzz::Source source(data, size);
  const unsigned flags = source.number();
  const unsigned work = source.number();
  const fuzz::WorkFolder& folder = fuzz::empty_work_folder();
  write_files(source, folder, (flags & 1) != 0);
  if (work >= 64) {
    run_command(lines[work % lines.size()], folder.path());
    return 0;
  }
  try {
    if (work < 8) {
      const CheckReport report =
          check_trial(folder.path(), {.jobs = 1}, [](const Problem& problem) { SMD_REQUIRE(!problem.text.empty()); });
      SMD_REQUIRE(report.unprotected <= report.records);
      return 0;
    }
    const Trial trial = Trial::open(folder.path(), {.jobs = 1, .auto_refresh = (flags & 2) != 0});
    for (const Problem& problem : trial.problems()) {
      SMD_REQUIRE(!problem.text.empty());
    }
    if (work < 24) {
      ask_all(trial);
    } else if (work < 40) {
      read_all(trial);
    } else {
      evaluate_rules(trial, work);
    }
  } catch (const Error& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  }
  return 0;
}
