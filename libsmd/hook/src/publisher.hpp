// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/error.hpp>
#include <smd/hook_config.hpp>

#include "output.hpp"
#include "step_file.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smd::detail::hook {

using CollectionMap = std::map<std::string, Collection>;

/// This worker's collections file.
[[nodiscard]] std::string collections_name(const std::string& worker_part);
/// Returns the collections in this worker's collections file; empty if the file does not exist.
[[nodiscard]] Outcome<CollectionMap> read_collections(Output& output, const std::string& worker_part);

/// Why a hook of this configuration must not write there, for want of locks; nothing if it may.
[[nodiscard]] std::optional<Problem> missing_lock(const HookConfig& config, const Output& output);

/// Puts what a hook has made in its place, while processes that do the same are kept out: so a step that others have
/// saved meanwhile is noticed, and what they have put in the collections file stays there. Belongs to the queue's
/// thread.
class Publisher {
 public:
  /// Both outlive it.
  Publisher(Output& output, const HookConfig& config, std::string worker_part);

  /// The step's events, the collections if they have changed, the index file. A step that is refused because it was
  /// saved meanwhile is remembered, and no problem.
  Status publish(StepFile& step, std::int64_t number, std::optional<CollectionMap> changed);
  Status publish_collections(CollectionMap collections);
  Status publish_end_marker();

  /// The steps that were refused, as one error; once. Not while the queue runs.
  [[nodiscard]] std::optional<StepAlreadySaved> take_refused();

 private:
  Outcome<std::unique_ptr<OutputLock>> lock();
  /// While others are kept out.
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
