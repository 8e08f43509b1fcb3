// SPDX-License-Identifier: Apache-2.0
#include "step_writer.hpp"

#include <smd/hook.hpp>

#include "base/parallel.hpp"
#include "layout/debugger/debugger_layout.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/name_table.hpp"
#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/mapped.hpp"
#include "wire/framing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace smd::detail::hook {
namespace {

using nlohmann::json;

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
  const auto list = [&](const char* key) -> const json& { return document.contains(key) ? document.at(key) : none; };
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
std::optional<IndexFile> find_naming(Output& output, const std::string& event_name, const std::string& except) {
  const auto trial = or_throw(output.reader());
  const std::unique_ptr<layout::Layout> debugger = layout::debugger_layout();
  const StepRange all;
  layout::LookRequest request;
  request.ranges = std::span(&all, 1);
  request.now = std::chrono::steady_clock::now();
  request.jobs = default_jobs();
  const auto found = debugger->look(*trial, request, nullptr, nullptr);
  if (!found) {
    throw ReadError(located(output, found.problem().file, found.problem()));
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
      return index_file(row.file, true);
    }
  }
  for (const layout::LoadedSteps::Failure& failure : found->loaded.failures) {
    const bool unknown = failure.problem.kind != ProblemKind::damaged && failure.problem.kind != ProblemKind::note;
    if (unknown && !failure.removed) {
      return index_file(failure.file, false);
    }
  }
  return std::nullopt;
}

/// Appends a record of an event file, which must fill its range.
void copy_record(const storage::File& events, AtomicFile& to, const RecordEntry& entry) {
  const auto read = [&](std::uint64_t at, std::span<std::byte> into) { return events.read_at(entry.start + at, into); };
  std::array<std::byte, wire::header_bytes> header{};
  const std::size_t got = or_throw(read(0, header));
  const auto payload = got == header.size() ? wire::parse_header(header) : Outcome<std::uint64_t>(Problem{});
  const std::uint64_t end = to.size() + entry.length;
  if (payload && *payload + wire::frame_bytes == entry.length) {
    append_blocks(to, entry.length, read);
  }
  if (to.size() != end) {
    throw ReadError(damaged("no record fills the range that its index file names", entry.start));
  }
}

/// Appends the records that an index file names, each once, and sets where they are now. Nothing else of the event file
/// is read.
void carry_over(const storage::File& events, AtomicFile& to, std::vector<RecordEntry>& records) {
  std::vector<RecordEntry*> order = mapped(records, [](RecordEntry& entry) { return &entry; });
  std::ranges::sort(order, {}, &RecordEntry::start);
  RecordEntry last;
  std::uint64_t moved = 0;
  for (RecordEntry* const entry : order) {
    if (entry->length == 0 || entry->start != last.start || entry->length != last.length) {
      if (entry->start < last.start + last.length) {
        throw ReadError(damaged("its index file names records that overlap", entry->start));
      }
      last = *entry;
      moved = to.size();
      copy_record(events, to, last);
    }
    entry->start = moved;
  }
}

}  // namespace

StepWriter::StepWriter(Output& output, StepOfWorker step, ExistingStep existing, bool sync)
    : output_(output),
      step_(std::move(step)),
      append_(existing == ExistingStep::append),
      sync_(sync),
      event_name_(layout::event_path(step_.step, step_.worker_part)),
      index_name_(layout::index_path(step_.step, step_.worker_part)),
      content_{.mode = step_.mode, .mode_step = step_.mode_step} {}

void StepWriter::refuse(const std::string& why, bool can_append) const {
  throw StepAlreadySaved("step " + std::to_string(step_.step) + why, layout::worker_name(step_.worker_part),
                         GlobalStep(step_.step), can_append);
}

IndexContent StepWriter::existing() {
  const auto damage = [this](std::string why) {
    return ReadError(located(output_, index_name_, damaged(std::move(why))));
  };
  const std::string text = read_text(output_, index_name_);
  text::JsonDocument<json> document;
  IndexContent there;
  try {
    if (text::parse_json(text, document)) {
      throw damage("not an index file that more can be appended to");
    }
    there = parse_index(*document);
  } catch (const json::exception&) {
    throw damage("not an index file that more can be appended to");
  }
  if (there.mode != step_.mode || there.mode_step != step_.mode_step) {
    refuse(" is there as " + std::string(to_string(there.mode)) + " step " + std::to_string(there.mode_step) +
               ", not " + std::string(to_string(step_.mode)) + " step " + std::to_string(step_.mode_step),
           true);
  }
  if (!there.records.empty() && there.event_file != event_name_) {
    throw damage("its event file has an unusual name, which appending would change");
  }
  return there;
}

bool StepWriter::is_there() {
  const bool there = or_throw(output_.exists(index_name_));
  if (there && !append_) {
    refuse(of_worker() + " has been saved before; nothing is changed", true);
  }
  return there;
}

void StepWriter::check_existing() {
  if (is_there()) {
    IndexContent there = existing();
    if (!output_.reads_back()) {
      joined_ = true;
      join(std::move(there));
    }
  }
  if (!output_.reads_back()) {  // else `publish_events` joins and checks, under the lock
    check_events_unnamed();
  }
}

void StepWriter::join(IndexContent there) {
  // What was saved with the earlier value of a tensor does not describe the new one.
  std::set<std::string_view> again;
  for (const RecordEntry& entry : content_.records) {
    if (!layout::parse_stored_name(entry.tensor).reduction) {
      again.insert(entry.tensor);
    }
  }
  std::erase_if(there.records, [&](const RecordEntry& entry) {
    const layout::StoredName name = layout::parse_stored_name(entry.tensor);
    return name.reduction && again.contains(name.tensor);
  });
  std::erase_if(there.shapes, [&](const ShapeEntry& entry) { return again.contains(entry.tensor); });
  joined_events_ = !there.records.empty();
  if (joined_events_) {
    AtomicFile joined(output_, event_name_);
    joined.write({});  // the file must be there, even if no record has a byte
    try {
      carry_over(*or_throw(output_.open(event_name_)), joined, there.records);
    } catch (const ReadError& error) {
      throw ReadError(located(output_, event_name_, error.problem));
    }
    for (RecordEntry& entry : content_.records) {
      entry.start += joined.size();
    }
    if (events_) {
      events_->copy_to(joined);
    }
    events_.emplace(std::move(joined));
  }
  // If a name occurs twice, the later entry counts.
  there.event_file = events_ ? event_name_ : "";
  std::move(content_.records.begin(), content_.records.end(), std::back_inserter(there.records));
  std::move(content_.shapes.begin(), content_.shapes.end(), std::back_inserter(there.shapes));
  content_ = std::move(there);
}

void StepWriter::add_record(std::string tensor, const WriteRecord& write_record) {
  if (!events_) {
    events_.emplace(output_, event_name_);
  }
  content_.event_file = event_name_;
  const std::uint64_t start = events_->size();
  write_record([this](std::string_view piece) { events_->write(piece); });
  content_.records.push_back({std::move(tensor), start, events_->size() - start});
}

void StepWriter::finish() {
  if (events_ && !append_) {  // a file that may be appended to is not finished yet
    events_->finish(sync_);
  }
}

void StepWriter::publish_events() {
  if (!joined_ && is_there()) {
    join(existing());
  }
  if (!events_) {
    return;
  }
  if (output_.reads_back()) {  // else `check_existing` has checked this
    check_events_unnamed();
  }
  if (append_) {
    events_->finish(sync_);
  }
  events_->publish(sync_);
}

void StepWriter::check_events_unnamed() {
  if (joined_events_ || !or_throw(output_.exists(event_name_))) {
    return;
  }
  const std::optional<IndexFile> index = find_naming(output_, event_name_, index_name_);
  if (!index) {
    return;  // a writer was killed before it wrote the index file
  }
  const std::string file = in_quotes(index->name);
  const std::string events = of_worker() + ": the event file " + in_quotes(event_name_) + " ";
  if (!index->readable) {
    refuse(events + "is there, and whether it is that of " + file + " cannot be read; nothing is changed", false);
  }
  if (index->step == step_.step && index->worker == layout::worker_name(step_.worker_part)) {
    refuse(of_worker() + " has been saved before, as " + file + "; nothing is changed", false);
  }
  refuse(events + "holds what " + file + " names, of step " + std::to_string(index->step) + "; nothing is changed",
         false);
}

std::string StepWriter::of_worker() const { return " of worker " + in_quotes(layout::worker_name(step_.worker_part)); }

void StepWriter::publish_index() { write_atomically(output_, index_name_, index_text(content_), sync_); }

}  // namespace smd::detail::hook
