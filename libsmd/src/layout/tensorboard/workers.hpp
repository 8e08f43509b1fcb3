// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::layout {

/// Tells the writers of one run apart: a file that begins before the end of an earlier one, and is of another process,
/// is written by a concurrent worker. Files are given in the order of their first events.
class WorkersOfRun {
 public:
  /// The worker of the next file: that of an earlier file of the same writer, else the lowest none of whose files
  /// overlaps it.
  [[nodiscard]] std::uint32_t begin_file(std::string_view writer, double first_time);
  /// When the last event of that file was written.
  void end_file(std::uint32_t worker, double last_time);

 private:
  std::map<std::string, std::uint32_t, std::less<>> worker_of_;  // by writer
  std::vector<double> last_times_;                               // by worker
};

}  // namespace smd::detail::layout
