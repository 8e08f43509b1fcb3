// SPDX-License-Identifier: Apache-2.0
#include "publisher.hpp"

#include "base/buffer.hpp"
#include "file_text.hpp"
#include "layout/debugger/collections_file.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "text/limits.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace smd::detail::hook {

std::string collections_name(const std::string& worker_part) {
  return std::string(layout::collections_folder) + "/" + worker_part + std::string(layout::collections_suffix);
}

CollectionMap read_collections(Output& output, const std::string& worker_part) {
  const std::string name = collections_name(worker_part);
  if (!or_throw(output.exists(name))) {
    return {};
  }
  std::string text = read_text(output, name);
  const std::size_t size = text.size();
  text.append(Buffer::padding, '\0');
  ProblemList notes(limits::problems_per_file);
  auto parsed = layout::parse_collections_file(std::as_bytes(std::span(text)).first(size), notes);
  if (!parsed) {
    throw ReadError(located(output, name, std::move(parsed.problem())));
  }
  return std::move(parsed->collections);
}

void require_lock(const HookConfig& config, const Output& output) {
  const bool appends = config.existing_step == ExistingStep::append;
  const std::string why = output.why_no_lock();
  if (config.lock == LockPolicy::none || (config.lock == LockPolicy::if_possible && !appends) || why.empty()) {
    return;
  }
  throw WriteError(
      make_problem(ProblemKind::io,
                   "cannot be locked (" + why +
                       "): what other processes save there at the same time could be lost; if there are none, save "
                       "without a lock (smd-save: --no-lock)",
                   output.root()));
}

Publisher::Publisher(Output& output, const HookConfig& config, std::string worker_part)
    : output_(output), config_(config), worker_part_(std::move(worker_part)), sync_(config.sync == SyncPolicy::files) {}

OutputLock Publisher::lock() {
  const bool locks = config_.lock != LockPolicy::none && output_.why_no_lock().empty();
  return locks ? or_throw(output_.lock(config_.lock_timeout, config_.remote.stop)) : nullptr;
}

void Publisher::publish(StepWriter& step, std::optional<CollectionMap> changed) {
  if (changed) {
    unwritten_ = std::move(changed);
  }
  step.finish();
  const auto locked = lock();
  try {
    step.publish_events();
  } catch (const StepAlreadySaved& refused) {
    refused_.push_back(refused);
    return;
  }
  if (unwritten_) {
    write_collections(*std::exchange(unwritten_, std::nullopt));
  }
  step.publish_index();
}

void Publisher::publish_collections(CollectionMap collections) {
  const auto locked = lock();
  write_collections(std::move(collections));
}

void Publisher::write_collections(CollectionMap collections) {
  layout::CollectionsUnion united;
  united.add(std::move(collections));
  united.add(read_collections(output_, worker_part_));
  const std::size_t num_workers = config_.include_workers == IncludeWorkers::one ? 1 : config_.num_workers;
  write_atomically(output_, collections_name(worker_part_), collections_text(united.take(), num_workers), sync_);
}

void Publisher::publish_end_marker() { write_atomically(output_, std::string(layout::end_marker), {}, sync_); }

std::optional<StepAlreadySaved> Publisher::take_refused() {
  if (refused_.empty()) {
    return std::nullopt;
  }
  const std::vector<StepAlreadySaved> refused = std::exchange(refused_, {});
  const StepAlreadySaved& first = refused.front();
  std::string message = first.what();
  if (refused.size() > 1) {
    message += "; so it is with " + std::to_string(refused.size() - 1) + " more steps";
  }
  return StepAlreadySaved(message, first.worker, first.step, first.can_append);
}

}  // namespace smd::detail::hook
