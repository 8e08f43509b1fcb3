// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "report.hpp"

namespace smd::tool::rule {

/// Standard output (or -o) and all --report files: each record goes to all of them.
class Reports : public ReportSink {
 public:
  /// Makes the files, so that what cannot be written is known before work is done. `rule_width`: the longest rule's
  /// name. `part`: what reports are of, if not of the whole.
  /// @throws UsageError, OutputError.
  Reports(const RuleCommandOptions& options, bool several_trials, std::size_t rule_width, Diagnostics& messages,
          const std::optional<PartLine>& part = {});
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  ~Reports() override;

  /// Goes where findings are wanted.
  void finding(const ReportRecord& record) override;
  void result(const ReportRecord& record) override;
  /// More may be long in coming.
  void flush();
  /// After the last record: puts all files in their places. @throws OutputError.
  void close();

 private:
  struct Destination {
    OutputOptions options;
    OutputFile out;
    bool findings;  ///< Wanted as they are made,
    bool results;   ///< and these.
    std::unique_ptr<Report> report = nullptr;
  };
  std::deque<Destination> destinations_;
};

}  // namespace smd::tool::rule
