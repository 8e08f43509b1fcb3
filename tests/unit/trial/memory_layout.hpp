// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "scripted_trial.hpp"
#include "storage/storage.hpp"

#include <smd/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smd::test {

/// A trial in memory, in a layout as unlike the debugger's as the interface allows: it has no index files, knows its
/// steps only by reading a log from front to back, and keeps values in all three ways. The log grows while it is
/// followed, and a restart takes back what it said. Stored names begin with `run/`, which the records do not bear.
///
/// The files: `log`, one line for each value; `elements`, bare float32 elements at odd offsets; `records`, framed.
class MemoryTrial {
 public:
  static constexpr const char* worker_0 = "worker_0";

  /// A number that the catalog holds.
  MemoryTrial& number(std::int64_t step, const std::string& name, double value, Dtype dtype = Dtype::float32,
                      const std::string& worker = worker_0);
  /// Bare elements.
  MemoryTrial& elements(std::int64_t step, const std::string& name, const std::vector<float>& values, Shape shape = {},
                        const std::string& worker = worker_0);
  /// A framed record.
  MemoryTrial& record(std::int64_t step, const std::string& name, const std::vector<float>& values,
                      const std::string& worker = worker_0);
  /// The job begins again at a step: what was saved from there on no longer counts.
  MemoryTrial& restart(std::int64_t step);
  MemoryTrial& end();

  /// The bytes of a file; to damage them, or to see whether they are read.
  [[nodiscard]] std::string& file(const std::string& name) { return (*files_)[name]; }
  /// How many lines of the log looks have read so far.
  [[nodiscard]] std::size_t lines_read() const { return *lines_read_; }

  /// Opens it; `script` has the clock, and says what happens while somebody waits.
  [[nodiscard]] Trial open(Script& script, TrialOptions options = {}) const;

 private:
  using Files = std::map<std::string, std::string, std::less<>>;

  void line(std::int64_t step, const std::string& name, const std::string& worker, const std::string& rest);

  std::shared_ptr<Files> files_ = std::make_shared<Files>();
  std::shared_ptr<std::size_t> lines_read_ = std::make_shared<std::size_t>(0);
};

}  // namespace smd::test
