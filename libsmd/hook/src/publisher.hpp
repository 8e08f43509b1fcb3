// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook.hpp>

#include "output.hpp"
#include "step_writer.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smd::detail::hook {

using CollectionMap = std::map<std::string, Collection>;

/// Returns the name of this worker's collections file.
[[nodiscard]] std::string collections_name(const std::string& worker_part);
/// Returns the collections in this worker's collections file; empty if the file does not exist. @throws ReadError.
[[nodiscard]] CollectionMap read_collections(Output& output, const std::string& worker_part);

/// @throws WriteError if the configuration requires a lock that `output` does not have.
void require_lock(const HookConfig& config, const Output& output);

/// Publishes the files of a hook under the trial's lock: a step that another process saved in the meantime is found,
/// and what others added to the collections file is kept. Only the queue's thread calls it. The calls throw ReadError.
class Publisher {
 public:
  /// `output` and `config` must outlive this.
  Publisher(Output& output, const HookConfig& config, std::string worker_part);

  /// Publishes the step's event file, the collections if they have changed, and the index file. A step that another
  /// process saved in the meantime is left as it is and remembered for `take_refused`; that is no problem.
  void publish(StepWriter& step, std::optional<CollectionMap> changed);
  void publish_collections(CollectionMap collections);
  void publish_end_marker();

  /// Returns the steps that were refused as one error, and forgets them; nullopt if there are none. Precondition: the
  /// queue is idle.
  [[nodiscard]] std::optional<StepAlreadySaved> take_refused();

 private:
  OutputLock lock();
  /// Precondition: the lock is held.
  void write_collections(CollectionMap collections);

  Output& output_;
  const HookConfig& config_;
  std::string worker_part_;
  bool sync_;
  std::optional<CollectionMap> unwritten_;
  std::vector<StepAlreadySaved> refused_;
};

}  // namespace smd::detail::hook
