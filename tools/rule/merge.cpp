// SPDX-License-Identifier: Apache-2.0
#include "merge.hpp"

#include <fmt/format.h>

#include "cli/errors.hpp"
#include "cli/line_file.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "parts_given.hpp"
#include "reports.hpp"
#include "result_line.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace smd::tool::rule {

namespace {

constexpr std::string_view what_lines = "the JSON lines that smd-rule --jsonl wrote";

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
    std::string line;
    while (file->next(line)) {
      if (line.empty()) {
        continue;
      }
      lines.end = file->end();
      std::variant<ForeignLine, OwnedRecord, PartLine> parsed = parse_result_line(line);
      if (const auto* const record = std::get_if<OwnedRecord>(&parsed)) {
        ++lines.records;
        add(record->view());
      } else if (auto* const part = std::get_if<PartLine>(&parsed)) {
        lines.part = std::move(*part);
        several_ = several_ || lines.part->several;
        given_.push_back(std::exchange(lines, {.file = path, .begin = file->end(), .end = file->end()}));
      } else {
        lines.foreign = true;
        if (++foreign_lines == 1) {
          foreign = fmt::format("{}: line {} (byte {})", path, file->number(), file->offset());
        }
      }
    }
    if (file->failed()) {
      messages_.fail("ReadError", single_quoted(path) + ": reading failed", ExitStatus::unreadable);
    }
    if (foreign) {
      messages_.fail(
          "Damaged",
          fmt::format("{}{}: no whole record of smd-rule: --merge takes what --jsonl wrote, without --columns",
                      *foreign, foreign_lines > 1 ? fmt::format(" and {} more", foreign_lines - 1) : ""),
          ExitStatus::damaged);
    }
    if (lines.records > 0) {
      given_.push_back(std::move(lines));
    }
  }

  /// @throws UsageError if findings are wanted that the files do not have.
  void check_findings() const {
    if (options_.findings_only && triggered_ && !findings_) {
      throw UsageError("the files have results and no findings: make them with -k or --findings");
    }
  }

  [[nodiscard]] std::vector<ResultLines> take() && { return std::move(given_); }
  [[nodiscard]] bool several_trials() const noexcept { return several_; }
  [[nodiscard]] std::size_t rule_width() const noexcept { return width_; }

 private:
  void add(const ReportRecord& record) {
    several_ = several_ || (first_trial_ && *first_trial_ != record.trial);
    if (!first_trial_) {
      first_trial_ = record.trial;
    }
    width_ = std::max(width_, display_width(printable(record.result.name, options_.output.terminal.ascii)));
    findings_ = findings_ || record.kind == RecordKind::finding;
    triggered_ = triggered_ || record.findings > 0;
  }

  const RuleCommandOptions& options_;
  Diagnostics& messages_;
  std::vector<ResultLines> given_;
  std::optional<std::string> first_trial_;
  bool several_ = false;
  bool findings_ = false;
  bool triggered_ = false;
  std::size_t width_ = 0;
};

/// Reports records, and combines the exit statuses that they imply.
class Replay {
 public:
  Replay(Reports& reports, Diagnostics& messages) : reports_(reports), messages_(messages) {}

  void lines(const ResultLines& lines) {
    std::optional<LineFile> file = LineFile::open(lines.file, what_lines, messages_);
    if (!file) {
      return;
    }
    file->seek(lines.begin);
    std::string line;
    while (file->end() < lines.end && file->next(line)) {
      const std::variant<ForeignLine, OwnedRecord, PartLine> parsed = parse_result_line(line);
      if (const auto* const record = std::get_if<OwnedRecord>(&parsed)) {
        show(record->view());
      }
    }
    if (lines.part) {
      messages_.raise(lines.part->status);
    }
  }

  /// Call it after the last record.
  void end() {
    if (any_result_ && !evaluated_here_) {  // if all rules are evaluated elsewhere, there is no result
      messages_.raise(ExitStatus::nothing_evaluated);
    }
  }

 private:
  void show(const ReportRecord& record) {
    if (record.kind == RecordKind::finding) {
      messages_.raise(ExitStatus::no);
      reports_.finding(record);
      return;
    }
    const RuleResult& result = record.result;
    any_result_ = true;
    evaluated_here_ = evaluated_here_ || !result.error_kind || !evaluated_elsewhere(*result.error_kind);
    messages_.raise(result_status(result));
    reports_.result(record);
  }

  Reports& reports_;
  Diagnostics& messages_;
  bool any_result_ = false;
  bool evaluated_here_ = false;  // whether one of the results was evaluated here
};

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
  survey.check_findings();
  Reports reports(options, survey.several_trials(), survey.rule_width(), messages);
  const std::vector<ResultLines> all = order_parts(std::move(survey).take(), messages);
  Replay replay(reports, messages);
  Progress progress("merging parts", all.size());
  for (const ResultLines& lines : all) {
    replay.lines(lines);
    progress.advance();
  }
  replay.end();
  if (all.empty()) {
    messages.warning("there is no result in what is given");
    messages.raise(ExitStatus::nothing_evaluated);
  }
  reports.close();
}

}  // namespace smd::tool::rule
