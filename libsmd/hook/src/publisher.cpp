// SPDX-License-Identifier: Apache-2.0
#include "publisher.hpp"

#include "base/buffer.hpp"
#include "file_text.hpp"
#include "layout/debugger/collections_file.hpp"
#include "layout/debugger/trial_paths.hpp"

#include <smd/limits.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace smd::detail::hook {

std::string collections_name(const std::string& worker_part) {
  return std::string(layout::collections_folder) + "/" + worker_part + std::string(layout::collections_suffix);
}

Outcome<CollectionMap> read_collections(Output& output, const std::string& worker_part) {
  const std::string name = collections_name(worker_part);
  auto there = output.exists(name);
  if (!there) {
    return std::move(there.problem());
  }
  if (!*there) {
    return CollectionMap();
  }
  auto file = output.open(name);
  if (!file) {
    return located(output, name, std::move(file.problem()));
  }
  if ((*file)->size() > limits::json_bytes) {
    return located(output, name, {ProblemKind::damaged, {}, {}, "longer than the limit (json_bytes)"});
  }
  std::vector<std::byte> memory(static_cast<std::size_t>((*file)->size()) + Buffer::padding);
  const auto text = std::span(memory).first(memory.size() - Buffer::padding);
  auto got = (*file)->read_at(0, text);
  if (!got) {
    return located(output, name, std::move(got.problem()));
  }
  ProblemList notes(limits::problems_per_file);
  auto parsed = layout::parse_collections_file(text.first(*got), notes);
  if (!parsed) {
    return located(output, name, std::move(parsed.problem()));
  }
  return std::move(parsed->collections);
}

std::optional<Problem> missing_lock(const HookConfig& config, const Output& output) {
  const bool appends = config.existing_step == ExistingStep::append;
  if (config.lock == LockPolicy::none || (config.lock == LockPolicy::if_possible && !appends)) {
    return std::nullopt;
  }
  const std::string why = output.why_no_lock();
  if (why.empty()) {
    return std::nullopt;
  }
  return Problem{ProblemKind::io,
                 output.root(),
                 {},
                 "cannot be locked (" + why +
                     "): what other processes save there at the same time could be lost; if there are none, save "
                     "without a lock (smd-save: --no-lock)"};
}

Publisher::Publisher(Output& output, const HookConfig& config, std::string worker_part)
    : output_(output), config_(config), worker_part_(std::move(worker_part)), sync_(config.sync == SyncPolicy::files) {}

Outcome<std::unique_ptr<OutputLock>> Publisher::lock() {
  if (config_.lock == LockPolicy::none || !output_.why_no_lock().empty()) {
    return std::unique_ptr<OutputLock>();
  }
  return output_.lock(config_.lock_timeout, config_.remote.stop);
}

Status Publisher::publish(StepWriter& step, std::int64_t number, std::optional<CollectionMap> changed) {
  if (changed) {
    unwritten_ = std::move(changed);
  }
  if (Status finished = step.finish(); !finished) {
    return finished;
  }
  const auto locked = lock();
  if (!locked) {
    return locked.problem();
  }
  if (Status events = step.publish_events(); !events) {
    if (events.problem().kind == ProblemKind::warning) {
      refused_.push_back({number, std::move(events.problem().text), events.problem().file.empty()});
      return ok();
    }
    return events;
  }
  if (unwritten_) {
    if (Status written = write_collections(*std::exchange(unwritten_, std::nullopt)); !written) {
      return written;
    }
  }
  return step.publish_index();
}

Status Publisher::publish_collections(CollectionMap collections) {
  const auto locked = lock();
  return locked ? write_collections(std::move(collections)) : locked.problem();
}

Status Publisher::write_collections(CollectionMap collections) {
  auto there = read_collections(output_, worker_part_);
  if (!there) {
    return std::move(there.problem());
  }
  layout::CollectionsUnion united;
  united.add(std::move(collections));
  united.add(std::move(*there));
  const std::size_t num_workers = config_.include_workers == IncludeWorkers::one ? 1 : config_.num_workers;
  return write_atomically(output_, collections_name(worker_part_), collections_text(united.take(), num_workers), sync_);
}

Status Publisher::publish_end_marker() { return write_atomically(output_, std::string(layout::end_marker), {}, sync_); }

std::optional<StepAlreadySaved> Publisher::take_refused() {
  if (refused_.empty()) {
    return std::nullopt;
  }
  const std::vector<Refused> refused = std::exchange(refused_, {});
  std::string message = refused.front().why;
  if (refused.size() > 1) {
    message += "; so it is with " + std::to_string(refused.size() - 1) + " more steps";
  }
  return StepAlreadySaved(message, config_.worker, GlobalStep(refused.front().step), refused.front().can_append);
}

}  // namespace smd::detail::hook
