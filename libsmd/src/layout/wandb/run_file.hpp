// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/folder_walk.hpp"
#include "layout/forward_reader.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "wire/wandb_record.hpp"

#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Finds the run files of the W&B SDK, and reads the records of one.
namespace smd::detail::layout {

/// Returns whether a file is a run file, by its name: `run-ID.wandb`.
[[nodiscard]] bool is_run_file(std::string_view name) noexcept;
/// Returns whether a folder is that of one run, by its name: `run-TIME-ID`, or `offline-run-TIME-ID`.
[[nodiscard]] bool is_run_folder(std::string_view name) noexcept;

/// The run files in a folder, or, if it has none, in the folders of runs in it: one for each.
struct RunFiles {
  std::vector<std::string> paths;     ///< Relative to the folder, by time.
  std::vector<std::string> left_out;  ///< Further run files in the folder.
  bool one_run = true;                ///< All are of one run, which was resumed.
};
[[nodiscard]] RunFiles find_run_files(const Entries& entries,
                                      const std::function<Entries(const std::string& folder)>& list);

/// Reads the records of a run file from front to back, and checks them. One fault costs at most a block and a record.
class RunFileReader {
 public:
  enum class Found : std::uint8_t {
    record,
    problem,  ///< See `problem`; what follows may be a record.
    end,      ///< The file ends here, or inside a record that is not yet whole, or it was stopped within zeros or a
              ///< long record, or reading failed: see `failure`.
  };

  /// Reads from `offset`, where a chunk begins. `skipping`: as `skipping` returned when the file was read so far.
  /// `file` and `request`, which may stop it, must outlive this.
  RunFileReader(const storage::File& file, std::uint64_t offset, bool skipping, const LookRequest& request)
      : reader_(file, offset), request_(request), resume_(offset), skipping_(skipping) {}

  [[nodiscard]] Found next();
  /// Of the last record. Valid until `next`.
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return begin_; }
  [[nodiscard]] std::uint64_t length() const noexcept { return reader_.offset() - begin_; }
  /// Returns where to go on, when the file has grown.
  [[nodiscard]] std::uint64_t resume() const noexcept { return resume_; }
  [[nodiscard]] bool skipping() const noexcept { return skipping_; }
  [[nodiscard]] Problem& problem() noexcept { return problem_; }
  [[nodiscard]] const std::optional<Problem>& failure() const noexcept { return reader_.problem(); }

 private:
  /// Nullopt: it goes on.
  std::optional<Found> take_chunk(const wire::WandbChunk& chunk);
  Found tell(std::string text);

  ForwardReader reader_;
  const LookRequest& request_;
  std::uint64_t resume_;
  bool skipping_;                       ///< The rest of a record that is damaged.
  bool open_ = false;                   ///< A record has begun.
  std::optional<std::uint64_t> zeros_;  ///< Where zeros began that stand before what is read.
  std::uint64_t begin_ = 0;
  std::vector<std::byte> joined_;  ///< The payload so far, of several chunks.
  std::span<const std::byte> payload_;
  Problem problem_;
};

}  // namespace smd::detail::layout
