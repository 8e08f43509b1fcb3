// SPDX-License-Identifier: Apache-2.0
#include "reports.hpp"

#include "cli/exit_status.hpp"
#include "cli/line_file.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace smd::tool::rule {

namespace {

constexpr std::string_view what_lines = "the JSON lines that smd-rule --jsonl wrote";

/// Lines of a file that belong together: a part, or results of no part.
struct ResultLines {
  std::string file;
  std::uint64_t begin = 0;  ///< Bytes of the file, half open.
  std::uint64_t end = 0;
  std::uint64_t records = 0;
  bool foreign = false;  ///< Whether lines that are no results, already reported, are among them.
  std::optional<PartLine> part = {};
};

/// What reports must know before the first record, found in a first reading.
class Survey {
 public:
  Survey(const RuleCommandOptions& options, Diagnostics& messages) : options_(options), messages_(messages) {}

  void read(const std::string& path) {
    std::optional<LineFile> file = LineFile::open(path, what_lines, messages_);
    if (file && !file->can_seek()) {
      messages_.fail("ReadError", single_quoted(path) + " is a pipe: --merge reads twice, and takes files",
                     ExitStatus::unreadable);
      return;
    }
    if (!file) {
      return;
    }
    ResultLines lines{.file = path};
    std::optional<std::string> foreign;  // the first line of the file that smd-rule did not write
    std::size_t foreign_lines = 0;
    file->for_each(messages_, [&](const std::string& line) {
      lines.end = file->end();
      std::variant<ForeignLine, OwnedRecord, PartLine> parsed = parse_result_line(line);
      if (const auto* const record = std::get_if<OwnedRecord>(&parsed)) {
        ++lines.records;
        add(record->view());
      } else if (auto* const part = std::get_if<PartLine>(&parsed)) {
        lines.part = std::move(*part);
        several_trials = several_trials || lines.part->several;
        given.push_back(std::exchange(lines, {.file = path, .begin = file->end(), .end = file->end()}));
      } else {
        lines.foreign = true;
        if (++foreign_lines == 1) {
          foreign = fmt::format("{}: line {} (byte {})", path, file->number(), file->offset());
        }
      }
    });
    if (foreign) {
      messages_.fail(
          "Damaged",
          fmt::format("{}{}: no whole record of smd-rule: --merge takes what --jsonl wrote, without --columns",
                      *foreign, foreign_lines > 1 ? fmt::format(" and {} more", foreign_lines - 1) : ""),
          ExitStatus::damaged);
    }
    if (lines.records > 0) {
      given.push_back(std::move(lines));
    }
  }

  std::vector<ResultLines> given;
  bool several_trials = false;
  bool findings = false;   ///< The files have some.
  bool triggered = false;  ///< Some result had findings.
  std::size_t rule_width = 0;

 private:
  void add(const ReportRecord& record) {
    if (!first_trial_) {
      first_trial_ = record.trial;
    }
    several_trials = several_trials || *first_trial_ != record.trial;
    rule_width = std::max(rule_width, display_width(printable(record.result.name, options_.output.terminal.ascii)));
    findings = findings || record.kind == RecordKind::finding;
    triggered = triggered || record.findings > 0;
  }

  const RuleCommandOptions& options_;
  Diagnostics& messages_;
  std::optional<std::string> first_trial_;
};

/// Passes on the records of some lines.
template <class Take>
void replay(const ResultLines& lines, Diagnostics& messages, const Take& take) {
  std::optional<LineFile> file = LineFile::open(lines.file, what_lines, messages);
  if (!file) {
    return;
  }
  file->seek(lines.begin);
  std::string line;
  while (file->end() < lines.end && file->next(line)) {
    const std::variant<ForeignLine, OwnedRecord, PartLine> parsed = parse_result_line(line);
    if (const auto* const record = std::get_if<OwnedRecord>(&parsed)) {
      take(record->view());
    }
  }
  if (lines.part) {
    messages.raise(lines.part->status);
  }
}

std::string name_of(const Shard& shard) { return fmt::format("part {} of {}", shard.index, shard.count); }

void check_same_whole(const ResultLines& one, const ResultLines& first) {
  const PartLine& part = *one.part;
  const PartLine& other = *first.part;
  refuse_if(part.shard.count != other.shard.count,
            fmt::format("{}: {}, but {} is {}", one.file, name_of(part.shard), first.file, name_of(other.shard)));
  refuse_if(part.trials != other.trials || part.whole != other.whole,
            one.file + ": a part of other trials, or by other rules, than " + first.file);
}

/// Reports the first missing parts for which there are trials, and how many trials are left out.
void report_missing(const std::vector<ResultLines>& parts, Diagnostics& messages) {
  const PartLine& any = *parts.front().part;
  std::vector<bool> there(any.shard.count);
  for (const ResultLines& one : parts) {
    there[one.part->shard.index - 1] = true;
  }
  std::vector<std::uint64_t> missing;
  std::size_t trials = 0;
  for (std::uint64_t i = 0; i < any.shard.count; ++i) {
    const auto [begin, end] = Shard{i + 1, any.shard.count}.range(any.trials);
    if (!there[i] && begin != end) {
      trials += end - begin;
      missing.push_back(i + 1);
    }
  }
  if (missing.empty()) {
    return;
  }
  messages.fail("NotFound",
                fmt::format("no results of {}: nothing is known of {}", parts_text(missing, any.shard.count),
                            counted(trials, "trial")),
                ExitStatus::unreadable);
}

/// Puts parts in the order of the trials of the whole, and reports what is wrong with them. If there are parts, lines
/// that belong to no part are dropped; without any part, the lines stay as they are.
/// @throws UsageError if parts are of different wholes, or one is given twice.
std::vector<ResultLines> order_parts(std::vector<ResultLines> given, Diagnostics& messages) {
  if (std::ranges::none_of(given, [](const ResultLines& one) { return one.part.has_value(); })) {
    return given;
  }
  std::vector<ResultLines> parts;
  for (ResultLines& one : given) {
    if (!one.part) {
      messages.fail("Damaged",
                    fmt::format("{}: no line says of which part the last {}, which count{} for nothing: the command "
                                "that wrote it was ended, or was given no --shard",
                                one.file, counted(one.records, "record", "is", "are"), one.records == 1 ? "s" : ""),
                    ExitStatus::damaged);
      continue;
    }
    if (!one.foreign && one.records != one.part->records) {
      messages.fail("Damaged",
                    fmt::format("{}: {} had {}, of which {} are there", one.file, name_of(one.part->shard),
                                counted(one.part->records, "record"), one.records),
                    ExitStatus::damaged);
    }
    parts.push_back(std::move(one));
  }
  for (const ResultLines& one : parts) {
    check_same_whole(one, parts.front());
  }
  std::ranges::stable_sort(parts, {}, [](const ResultLines& lines) { return lines.part->shard.index; });
  const auto twice = std::ranges::adjacent_find(parts, {}, [](const ResultLines& lines) { return lines.part->shard; });
  if (twice != parts.end()) {
    throw UsageError(fmt::format("{} is given twice: in {} and in {}", name_of(twice->part->shard), twice->file,
                                 std::next(twice)->file));
  }
  report_missing(parts, messages);
  return parts;
}

}  // namespace

void merge_results(const std::vector<std::string>& files, const RuleCommandOptions& options, Diagnostics& messages) {
  Survey survey(options, messages);
  {
    Progress progress("reading parts", files.size());
    for (const std::string& file : files) {
      survey.read(file);
      progress.advance();
    }
  }
  refuse_if(options.findings_only && survey.triggered && !survey.findings,
            "the files have results and no findings: make them with -k or --findings");
  Reports reports(options, survey.several_trials, survey.rule_width, messages);
  const std::vector<ResultLines> all = order_parts(std::move(survey.given), messages);
  bool any_result = false;
  bool evaluated_here = false;  // whether one of the results was evaluated here
  Progress progress("merging parts", all.size());
  for (const ResultLines& lines : all) {
    replay(lines, messages, [&](const ReportRecord& record) {
      const RuleResult& result = record.result;
      if (record.kind == RecordKind::finding) {
        messages.raise(ExitStatus::no);
      } else {
        any_result = true;
        evaluated_here = evaluated_here || !result.error_kind || !evaluated_elsewhere(*result.error_kind);
        messages.raise(result_status(result));
      }
      reports.take(record);
    });
    progress.advance();
  }
  if (any_result && !evaluated_here) {  // if all rules are evaluated elsewhere, there is no result
    messages.raise(ExitStatus::nothing_evaluated);
  }
  if (all.empty()) {
    messages.warning("there is no result in what is given");
    messages.raise(ExitStatus::nothing_evaluated);
  }
  reports.close();
}

}  // namespace smd::tool::rule
