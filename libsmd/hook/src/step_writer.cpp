// SPDX-License-Identifier: Apache-2.0
#include "step_writer.hpp"

#include "base/parallel.hpp"
#include "layout/debugger/debugger_layout.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "text/escape.hpp"
#include "text/json.hpp"
#include "wire/framing.hpp"

#include <smd/limits.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

namespace smd::detail::hook {
namespace {

using nlohmann::json;

Outcome<std::string> read_whole(storage::Storage& trial, const std::string& name) {
  auto file = trial.open(name);
  if (!file) {
    return std::move(file.problem());
  }
  if ((*file)->size() > limits::json_bytes) {
    return Problem{ProblemKind::damaged, name, {}, "longer than the limit (json_bytes)"};
  }
  std::string text((*file)->size(), '\0');
  auto got = (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
  if (!got) {
    return std::move(got.problem());
  }
  text.resize(*got);
  return text;
}

/// @throws nlohmann::json::exception if the document does not have the form of an index file.
IndexContent parse_index(const json& document) {
  IndexContent content;
  const json& meta = document.at("meta");
  const auto mode = parse_mode(meta.at("mode").get_ref<const std::string&>());
  if (!mode) {
    throw json::other_error::create(501, "mode", &meta);
  }
  content.mode = *mode;
  content.mode_step = meta.at("mode_step").get<std::int64_t>();
  content.event_file = meta.value("event_file_name", "");
  const json none = json::array();
  const auto list = [&](const char* key) -> const json& {
    const auto found = document.find(key);
    return found == document.end() ? none : *found;
  };
  for (const json& entry : list("tensor_payload")) {
    content.records.push_back({entry.at("tensorname").get<std::string>(), entry.at("start_idx").get<std::uint64_t>(),
                               entry.at("length").get<std::uint64_t>()});
  }
  for (const json& entry : list("shape_payload")) {
    const auto name = entry.at("tensorname").get<std::string>();
    content.shapes.push_back({name, entry.value("originalname", name), entry.at("shape").get<Shape>()});
  }
  return content;
}

/// An index file of the trial.
struct IndexFile {
  std::string name;
  std::int64_t step = 0;
  std::string worker;
  bool readable = true;  ///< If false, the event file that it names is unknown.
};

/// Returns the first index file other than `except`, in any folder, that names the event file; else an index file that
/// cannot be opened, because it may name the event file; else nullopt. A damaged index file names nothing.
Outcome<std::optional<IndexFile>> find_naming(storage::Storage& trial, const std::string& event_name,
                                              const std::string& except) {
  const std::unique_ptr<layout::Layout> debugger = layout::debugger_layout();
  const StepRange all;
  layout::LookRequest request;
  request.ranges = std::span(&all, 1);
  request.now = std::chrono::steady_clock::now();
  request.jobs = default_jobs();
  const auto found = debugger->look(trial, request, nullptr, nullptr);
  if (!found) {
    return found.problem();
  }
  const layout::Listing& listing = *found->listing;
  const auto index_file = [&](const layout::StepPart& part, bool readable) {
    return IndexFile{listing.path(part), part.step, *listing.workers[part.worker], readable};
  };
  for (const layout::LoadedSteps::Row& one : found->loaded.rows) {
    const layout::StepRow& row = one.row;  // the debugger's layout has no sequences
    const std::string named = row.event_file == layout::no_id
                                  ? debugger->event_path(listing, row.file)
                                  : std::string(found->loaded.tables[one.tables].paths[row.event_file]);
    if (std::filesystem::path(named).lexically_normal() == event_name && listing.path(row.file) != except) {
      return std::optional(index_file(row.file, true));
    }
  }
  for (const layout::LoadedSteps::Failure& failure : found->loaded.failures) {
    const bool unknown = failure.problem.kind != ProblemKind::damaged && failure.problem.kind != ProblemKind::note;
    if (unknown && !failure.removed) {
      return std::optional(index_file(failure.file, false));
    }
  }
  return std::optional<IndexFile>();
}

/// Appends a record of an event file, which must fill its range.
Status copy_record(const storage::File& events, AtomicFile& to, const RecordEntry& entry) {
  const auto read = [&](std::uint64_t at, std::span<std::byte> into) { return events.read_at(entry.start + at, into); };
  std::array<std::byte, wire::header_bytes> header{};
  const auto got = read(0, header);
  if (!got) {
    return got.problem();
  }
  const auto payload = *got == header.size() ? wire::parse_header(header) : Outcome<std::uint64_t>(Problem{});
  const std::uint64_t end = to.size() + entry.length;
  if (payload && *payload + wire::frame_bytes == entry.length) {
    if (Status copied = append_blocks(to, entry.length, read); !copied) {
      return copied;
    }
  }
  return to.size() == end ? ok() : Status(damaged("no record fills the range that its index file names", entry.start));
}

/// Appends the records that an index file names, each once, and sets where they are now. Nothing else of the event file
/// is read.
Status carry_over(const storage::File& events, AtomicFile& to, std::vector<RecordEntry>& records) {
  std::vector<RecordEntry*> order;
  std::transform(records.begin(), records.end(), std::back_inserter(order), [](RecordEntry& entry) { return &entry; });
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->start < b->start; });
  RecordEntry last;
  std::uint64_t moved = 0;
  for (RecordEntry* const entry : order) {
    if (entry->length == 0 || entry->start != last.start || entry->length != last.length) {
      if (entry->start < last.start + last.length) {
        return damaged("its index file names records that overlap", entry->start);
      }
      last = *entry;
      moved = to.size();
      if (Status copied = copy_record(events, to, last); !copied) {
        return copied;
      }
    }
    entry->start = moved;
  }
  return ok();
}

}  // namespace

StepWriter::StepWriter(Output& output, StepOfWorker step, ExistingStep existing, bool sync)
    : output_(output),
      step_(std::move(step)),
      append_(existing == ExistingStep::append),
      sync_(sync),
      event_name_(layout::event_path(step_.step, step_.worker_part)),
      index_name_(layout::index_path(step_.step, step_.worker_part)) {
  content_.mode = step_.mode;
  content_.mode_step = step_.mode_step;
}

Outcome<IndexContent> StepWriter::existing(storage::Storage& trial) {
  auto text = read_whole(trial, index_name_);
  if (!text) {
    return located(output_, index_name_, std::move(text.problem()));
  }
  const auto refused = [this](std::string why) {
    return located(output_, index_name_, {ProblemKind::damaged, {}, {}, std::move(why)});
  };
  text::JsonDocument<json> document;
  IndexContent there;
  try {
    if (text::parse_json(*text, document)) {
      return refused("not an index file that more can be appended to");
    }
    there = parse_index(*document);
  } catch (const json::exception&) {
    return refused("not an index file that more can be appended to");
  }
  if (there.mode != step_.mode || there.mode_step != step_.mode_step) {
    return Problem{ProblemKind::warning,
                   {},
                   {},
                   "step " + std::to_string(step_.step) + " is there as " + std::string(to_string(there.mode)) +
                       " step " + std::to_string(there.mode_step) + ", not " + std::string(to_string(step_.mode)) +
                       " step " + std::to_string(step_.mode_step)};
  }
  if (!there.records.empty() && there.event_file != event_name_) {
    return refused("its event file has an unusual name, which appending would change");
  }
  return there;
}

Outcome<std::unique_ptr<storage::Storage>> StepWriter::look() {
  auto there = output_.exists(index_name_);
  if (!there) {
    return std::move(there.problem());
  }
  if (!*there) {
    return std::unique_ptr<storage::Storage>();
  }
  if (!append_) {
    return Problem{ProblemKind::warning,
                   {},
                   {},
                   "step " + std::to_string(step_.step) + " of worker '" +
                       printable(layout::worker_name(step_.worker_part)) +
                       "' has been saved before; nothing is changed"};
  }
  return output_.reader();
}

Status StepWriter::check_existing() {
  auto trial = look();
  if (!trial) {
    return std::move(trial.problem());
  }
  if (*trial == nullptr) {
    return output_.reads_back() ? ok() : check_events_unnamed();
  }
  auto there = existing(**trial);
  if (!there) {
    return std::move(there.problem());
  }
  if (output_.reads_back()) {
    return ok();  // `publish_events` joins it, under the lock
  }
  joined_ = true;
  Status joined = join(**trial, std::move(*there));
  return joined ? check_events_unnamed() : joined;
}

Status StepWriter::join(storage::Storage& trial, IndexContent there) {
  joined_events_ = !there.records.empty();
  if (joined_events_) {
    auto events = trial.open(event_name_);
    if (!events) {
      return located(output_, event_name_, std::move(events.problem()));
    }
    AtomicFile joined(output_, event_name_);
    if (Status opened = joined.open(); !opened) {
      return opened;
    }
    if (Status copied = carry_over(**events, joined, there.records); !copied) {
      return located(output_, event_name_, std::move(copied.problem()));
    }
    for (RecordEntry& entry : content_.records) {
      entry.start += joined.size();
    }
    if (events_) {
      if (Status added = events_->copy_to(joined); !added) {
        return added;
      }
    }
    events_.emplace(std::move(joined));
  }
  // If a name occurs twice, the later entry counts.
  there.event_file = events_ ? event_name_ : "";
  std::move(content_.records.begin(), content_.records.end(), std::back_inserter(there.records));
  std::move(content_.shapes.begin(), content_.shapes.end(), std::back_inserter(there.shapes));
  content_ = std::move(there);
  return ok();
}

Status StepWriter::add_record(std::string tensor, const WriteRecord& write_record) {
  if (!events_) {
    events_.emplace(output_, event_name_);
    if (Status opened = events_->open(); !opened) {
      return opened;
    }
  }
  content_.event_file = event_name_;
  const std::uint64_t start = events_->size();
  if (Status written = write_record([this](std::string_view piece) { return events_->write(piece); }); !written) {
    return written;
  }
  content_.records.push_back({std::move(tensor), start, events_->size() - start});
  return ok();
}

Status StepWriter::finish() {
  // A file that may be appended to is not finished yet.
  return events_ && !append_ ? events_->finish(sync_) : ok();
}

Status StepWriter::publish_events() {
  auto trial = joined_ ? Outcome<std::unique_ptr<storage::Storage>>(nullptr) : look();
  if (!trial) {
    return std::move(trial.problem());
  }
  if (*trial != nullptr) {
    auto there = existing(**trial);
    if (!there) {
      return std::move(there.problem());
    }
    if (Status joined = join(**trial, std::move(*there)); !joined) {
      return joined;
    }
  }
  if (!events_) {
    return ok();
  }
  if (output_.reads_back()) {  // else `check_existing` has checked this
    if (Status unnamed = check_events_unnamed(); !unnamed) {
      return unnamed;
    }
  }
  return append_ ? events_->commit(sync_) : events_->publish(sync_);
}

Status StepWriter::check_events_unnamed() {
  auto there = joined_events_ ? Outcome<bool>(false) : output_.exists(event_name_);
  if (!there) {
    return std::move(there.problem());
  }
  if (!*there) {
    return ok();
  }
  auto trial = output_.reader();
  if (!trial) {
    return std::move(trial.problem());
  }
  auto naming = find_naming(**trial, event_name_, index_name_);
  if (!naming) {
    return located(output_, naming.problem().file, std::move(naming.problem()));
  }
  if (!*naming) {
    return ok();  // a writer was killed before it wrote the index file
  }
  const IndexFile& index = **naming;
  const std::string of_whom =
      "step " + std::to_string(step_.step) + " of worker '" + printable(layout::worker_name(step_.worker_part)) + "'";
  const std::string file = "'" + printable(index.name) + "'";
  Problem refused{ProblemKind::warning, index.name, {}, {}};
  if (!index.readable) {
    refused.text = of_whom + ": the event file '" + printable(event_name_) + "' is there, and whether it is that of " +
                   file + " cannot be read; nothing is changed";
  } else if (index.step == step_.step && index.worker == layout::worker_name(step_.worker_part)) {
    refused.text = of_whom + " has been saved before, as " + file + "; nothing is changed";
  } else {
    refused.text = of_whom + ": the event file '" + printable(event_name_) + "' holds what " + file +
                   " names, of step " + std::to_string(index.step) + "; nothing is changed";
  }
  return refused;
}

Status StepWriter::publish_index() { return write_atomically(output_, index_name_, index_text(content_), sync_); }

}  // namespace smd::detail::hook
