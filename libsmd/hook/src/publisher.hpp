// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/error.hpp>
#include <smd/hook_config.hpp>

#include "output.hpp"
#include "step_writer.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smd::detail::hook {

using CollectionMap = std::map<std::string, Collection>;

/// Returns the name of this worker's collections file.
[[nodiscard]] std::string collections_name(const std::string& worker_part);
/// Returns the collections in this worker's collections file; empty if the file does not exist.
[[nodiscard]] Outcome<CollectionMap> read_collections(Output& output, const std::string& worker_part);

/// Returns a problem if the configuration requires a lock that `output` does not have; else nullopt.
[[nodiscard]] std::optional<Problem> missing_lock(const HookConfig& config, const Output& output);

/// Publishes the files of a hook under the trial's lock: a step that another process saved in the meantime is found,
/// and what others added to the collections file is kept. Only the queue's thread calls it.
class Publisher {
 public:
  /// `output` and `config` must outlive this.
  Publisher(Output& output, const HookConfig& config, std::string worker_part);

  /// Publishes the step's event file, the collections if they have changed, and the index file. A step that another
  /// process saved in the meantime is left as it is and remembered for `take_refused`; that is no problem.
  Status publish(StepWriter& step, std::int64_t number, std::optional<CollectionMap> changed);
  Status publish_collections(CollectionMap collections);
  Status publish_end_marker();

  /// Returns the steps that were refused as one error, and forgets them; nullopt if there are none. Precondition: the
  /// queue is idle.
  [[nodiscard]] std::optional<StepAlreadySaved> take_refused();

 private:
  Outcome<std::unique_ptr<OutputLock>> lock();
  /// Precondition: the lock is held.
  Status write_collections(CollectionMap collections);

  Output& output_;
  const HookConfig& config_;
  std::string worker_part_;
  bool sync_;
  std::optional<CollectionMap> unwritten_;
  struct Refused {
    std::int64_t step;
    std::string why;
    bool can_append;
  };
  std::vector<Refused> refused_;
};

}  // namespace smd::detail::hook
