// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::layout {

/// Distinguishes the workers of one run: a file that begins before the end of an earlier one of another process is that
/// of a concurrent worker. Files must be passed in the order of their first events.
class WorkersOfRun {
 public:
  /// Returns the worker of the next file: that of an earlier file of the same writer, else the lowest worker without a
  /// file that overlaps it.
  [[nodiscard]] std::uint32_t begin_file(std::string_view writer, double first_time);
  /// Ends a file. `last_time`: when its last event was written.
  void end_file(std::uint32_t worker, double last_time);

 private:
  std::map<std::string, std::uint32_t, std::less<>> worker_of_;  // by writer
  std::vector<double> last_times_;                               // by worker
};

}  // namespace smd::detail::layout
