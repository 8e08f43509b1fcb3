// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoints_layout.hpp"

#include "base/parallel.hpp"
#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/mapped.hpp"
#include "text/number.hpp"
#include "text/path.hpp"
#include "text/words.hpp"
#include "wire/first_bytes.hpp"
#include "wire/safetensors.hpp"

#include <smd/elements.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <variant>

namespace smd::detail::layout {

namespace {

using WallClock = std::chrono::system_clock;

/// When a file was written of which this is not known.
constexpr WallClock::time_point long_ago;

constexpr const char* ends_in_hole =
    "ends in a hole, which is read as zeros: it was not written to its end, or a copy left out zeros";

/// Returns whether a file of that age may still be written to, because it ends too soon. Some writers set its length
/// first.
bool may_grow(const TensorFileHeader& header, std::chrono::nanoseconds age) {
  return (header.header.cut || header.hole) && age < young;
}

/// Returns the files with names of files of tensors in a place and its folders, except those in trials of their own,
/// and in folders that are not read.
std::vector<std::string> candidates(const CheckpointFolders& folders, std::string_view place) {
  const bool components = may_have_components(place, folders.find("")->is_pipeline);
  std::vector<std::string> files;
  for (const auto& [path, folder] : folders.folders) {
    if (folders.may_be_read(path) &&
        (path.empty() || components || is_checkpoint_folder(path.substr(0, path.find('/'))))) {
      for (const storage::DirEntry& file : folder.files) {
        if (!tensor_ending(file.name).empty()) {
          files.push_back(text::path_in(path, file.name));
        }
      }
    }
  }
  return files;
}

/// Reports the problems of a file. `growing`: it may still be written to.
void tell_problems(const std::string& file, const TensorFileHeader& header, bool growing, bool named_alone,
                   const std::function<void(Problem)>& report) {
  const auto add = [&](Problem problem) {
    problem.file = problem.file.empty() ? file : problem.file;
    report(std::move(problem));
  };
  if (header.unreadable) {
    return add(header.unreadable->dangling ? damaged(header.unreadable->text)
               : header.unreadable->kind != ProblemKind::not_found
                   ? *header.unreadable
                   : make_problem(named_alone ? ProblemKind::not_found : ProblemKind::absent,
                                  "is no longer there: it was removed while the trial was read"));
  }
  for (Problem& problem : header.header.problems.all()) {
    if (!growing) {
      add(std::move(problem));
    }
  }
  if (header.header.cut) {
    Problem problem = *header.header.cut;
    problem.unfinished = true;
    problem.kind = growing ? ProblemKind::not_yet : problem.kind;
    problem.text += growing ? "" : ": it was not written, or not copied, to its end";
    add(std::move(problem));
  } else if (header.hole) {
    add(make_problem(growing ? ProblemKind::not_yet : ProblemKind::remark, ends_in_hole));
  }
}

Outcome<TrainerLog> read_log(storage::Storage& storage, const std::string& path, const std::function<bool()>* stop) {
  Buffer buffer;
  const auto text = read_json_text(storage, path, buffer);
  return text ? parse_trainer_log(*text, stop) : Outcome<TrainerLog>(text.problem());
}

/// Returns the bits of the losses up to a step, by step. The Trainer logs each once, while it may evaluate again after
/// the training, and adds a summary.
std::vector<std::pair<std::int64_t, std::uint64_t>> losses_of(const TrainerLog& log, std::int64_t last) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> losses;
  (void)log.for_each_step([&](std::int64_t step, std::span<const TrainerLog::Number> numbers) {
    for (const auto& [name, value] : numbers) {
      if (step <= last && log.names[name] == "train/loss") {
        losses.emplace_back(step, std::bit_cast<std::uint64_t>(value));
      }
    }
  });
  return losses;
}

/// The most tensor names that are kept between looks: they take some tens of megabytes.
constexpr std::size_t most_names_kept = 200'000;

class CheckpointLook {
 public:
  CheckpointLook(storage::Storage& storage, const LookRequest& request, const Opening& place,
                 const CheckpointListing* before)
      : storage_(storage),
        request_(request),
        place_(place),
        before_(before),
        listing_(before == nullptr ? std::make_shared<CheckpointListing>()
                                   : std::make_shared<CheckpointListing>(*before)),
        problems_(limits::problems_per_trial) {}

  Outcome<Found> look(std::shared_ptr<const CollectionsInfo> collections) && {
    if (auto planned = plan(); !planned) {
      return std::move(planned.problem());
    }
    Found found;
    if (nothing_new_) {
      found.collections = std::move(collections);
      found.listing = std::move(listing_);
      return found;
    }
    if (plan_.unit == StepUnit::epoch) {
      problems_.add(make_problem(ProblemKind::note, "steps are epochs here: names tell no steps"));
    }
    if (Status read = read_files(); !read) {
      return std::move(read.problem());
    }
    list_rows();
    if (request_.stopped()) {
      return stopped_problem();
    }
    found.afresh = before_ != nullptr && (request_.everything || !still_there());
    const std::uint64_t first_fresh = before_ == nullptr || found.afresh ? 0 : before_->next_id;
    FreshNames names = fill_rows(storage_, *listing_, first_fresh, found.loaded, problems_);
    found.news = !found.loaded.rows.empty();
    found.collections =
        collections_of(std::move(names), found.afresh ? nullptr : std::move(collections), !listing_->log_rows.empty());
    found.due = due_;
    listing_->waits = due_.has_value();
    list_facts();
    if (names_kept() > most_names_kept) {  // read again if anything changes
      listing_->headers = {};
      listing_->indexes = {};
    }
    listing_->notes = ProblemList(limits::problems_per_trial);
    listing_->notes.add(std::move(plan_.remarks));
    listing_->notes.add(std::move(problems_));
    found.listing = std::move(listing_);
    return found;
  }

 private:
  using Readings = std::vector<std::function<void()>>;
  using Tell = std::function<void(Problem)>;

  Status plan() {
    if (!place_.file.empty()) {
      note_change(place_.file, storage_.file_stamp(place_.file));
      if (Status read = do_all(readings_of({place_.file}, true)); !read) {
        return read;
      }
      plan_ = plan_single_file(place_.file, stated_by(place_.file));
      return ok();
    }
    auto folders = list_checkpoint_folders(storage_, place_.name);
    if (!folders) {
      return std::move(folders.problem());
    }
    auto seen = stamps(*folders);
    nothing_new_ = before_ != nullptr && !request_.everything && !before_->waits && seen && seen == before_->seen;
    if (nothing_new_) {
      return ok();
    }
    listing_->seen = std::move(seen);
    problems_.add(std::move(folders->notes));
    std::vector<std::string> states;
    for (const auto& [path, folder] : folders->folders) {
      if (folder.has_trainer_state() && path.find('/') == path.npos && (path.empty() || is_checkpoint_folder(path))) {
        states.push_back(text::path_in(path, trainer_state_name));
      }
    }
    const auto read_step = [this](const std::string& path) {
      TrainerStep state = read_trainer_step(storage_, path, age_of_file(path) < young);
      const auto known = before_ == nullptr ? nullptr : before_->steps.find(path);
      if (known && state.problem && state.problem->kind == ProblemKind::not_yet && !request_.as_it_stands) {
        state.step = known->step;  // it is written anew in place: what it said holds until all is there
      }
      return state;
    };
    if (Status read = do_all(listing_->steps.update(storage_, states, read_step)); !read) {
      return read;
    }
    for (const std::string& path : states) {
      last_state_ = std::max(last_state_, listing_->steps.find(path)->step.value_or(-1));
    }
    std::ranges::for_each(states, [this](const std::string& path) { tell_state(path); });
    // Those that may state the step of a checkpoint, or be none of tensors.
    std::vector<std::string> files = candidates(*folders, place_.name);
    std::erase_if(files, [](const std::string& file) { return file.ends_with(safetensors_ending); });
    std::ranges::transform(listing_->rows, std::back_inserter(files), &CheckpointRow::path);
    if (Status read = do_all(readings_of(files, true)); !read) {
      return read;
    }
    FileContents contents;
    contents.global_step = [this](const std::string& path) {
      const auto state = listing_->steps.find(path);
      return state ? state->step : std::nullopt;
    };
    contents.stated_step = [this](const std::string& path) { return stated_by(path); };
    contents.indexed_files = [this](const std::string& path) {
      const auto index =
          listing_->indexes.find_or_read(storage_, path, [this](const std::string& file) { return read_index(file); });
      const auto path_of = [&](const std::string& file) { return text::path_in(text::folder_of(path), file); };
      // One that cannot be read may still be written. Until then it belongs to the files that count.
      return *index ? mapped((**index).files, path_of) : mapped(listing_->rows, &CheckpointRow::path);
    };
    plan_ = plan_checkpoints(*folders, place_.name, contents);
    choose_other_state(std::move(states));
    listing_->steps_repeat = plan_.steps_repeat ? plan_.steps_repeat : listing_->steps_repeat;
    if (listing_->steps_repeat) {
      problems_.add(*listing_->steps_repeat);
    }
    return ok();
  }

  /// Chooses a state whose log may contradict the one that counts: it is of another run or attempt. Each log repeats
  /// those before it, so most need not be read. A job that ran into the folder of a longer one wrote its state later;
  /// where times are equal or unknown, one log is read. In folders of several runs the numbers are not the states'
  /// steps. The newest of such states has the most to compare.
  void choose_other_state(std::vector<std::string> states) {
    const auto written = [this](const std::string& path) { return storage_.written_at(path).value_or(long_ago); };
    const std::string counts = plan_.trainer_states.empty() ? std::string() : plan_.trainer_states.front();
    std::erase_if(states, [&](const std::string& path) {
      const auto step = listing_->steps.find(path)->step;
      const auto named = step_of_name(text::folder_of(path));
      return !step || path == counts || (written(path) < written(counts) && (!named || named->number == step));
    });
    const auto order = [&](const std::string& path) {
      return std::pair(written(path), listing_->steps.find(path)->step);
    };
    const auto newest = std::ranges::max_element(states, {}, order);
    other_state_ = newest == states.end() ? std::string() : *newest;
  }

  [[nodiscard]] StatedStep stated_by(const std::string& path) const {
    const auto header = listing_->headers.find(path);
    if (!header || !header->torch) {
      return {{}, {}, header && header->foreign};
    }
    return {listing_->steps_repeat ? std::nullopt : header->torch->step, header->torch->epoch, false};
  }

  [[nodiscard]] Readings readings_of(const std::vector<std::string>& files, bool again) {
    const pytorch::Stop stop = request_.stop == nullptr ? pytorch::Stop() : *request_.stop;
    const auto read = [this, stop](const std::string& path) {
      const auto age = [this](const std::string& file, WallClock::time_point at) { return age_of_file(file, at); };
      TensorFileHeader header = read_header(storage_, path, age, stop);
      const auto known = before_ == nullptr ? nullptr : before_->headers.find(path);
      // Its `.metadata` was there at the look before: the checkpoint is being removed, and was not cut short.
      if (header.header.cut && known && !known->header.cut && !storage_.file_stamp(path)) {
        header = {};
        header.unreadable = make_problem(ProblemKind::not_found, "");
      }
      return header;
    };
    return listing_->headers.update(storage_, files, read, again);
  }

  /// Reports why the log of a trainer_state.json cannot be used.
  void tell_state(const std::string& path) {
    const auto state = listing_->steps.find(path);
    if (!state->problem || (state->problem->kind == ProblemKind::not_found && !state->problem->dangling)) {
      return;  // it was removed with its checkpoint, whose files are reported
    }
    Problem problem = *state->problem;
    const auto named = step_of_name(text::folder_of(path));
    if (problem.dangling || (problem.kind == ProblemKind::not_yet && request_.as_it_stands && named &&
                             named->unit == StepUnit::step && named->number < last_state_)) {
      problem.kind = ProblemKind::damaged;
    } else if (problem.kind == ProblemKind::not_yet) {
      look_again_after(age_of_file(path));
      listing_->steps.read_again(path);
      tell_left_out(path, "its log");
    }
    problems_.add(in_file(std::move(problem), path));
  }

  /// Says what does not count because a file is young and ends too soon. A follower waits for it.
  void tell_left_out(const std::string& path, const char* what) {
    if (request_.as_it_stands) {
      problems_.add(
          make_problem(ProblemKind::remark, in_quotes(path) + " is not complete yet: " + what + " is left out"));
    }
  }

  /// Notes when a file came or changed.
  void note_change(const std::string& path, const std::optional<storage::FileStamp>& stamp) {
    const auto known = listing_->changes.find(path);
    if (known == listing_->changes.end() || known->second.stamp != stamp) {
      listing_->changes.insert_or_assign(path, FileChange{stamp, request_.now, before_ == nullptr});
    }
  }

  /// Returns the age of a file that was written at a time. The clock of the file's host may be wrong, so a follower
  /// counts from the look that saw the file come or change. It takes the written time only for files that its first
  /// look found, if they are older than `most_skew` by it.
  [[nodiscard]] std::chrono::nanoseconds age_of_file(const std::string& path, WallClock::time_point written) const {
    constexpr std::chrono::hours most_skew(1);
    std::optional<FileChange> last;
    if (const auto change = listing_->changes.find(path); change != listing_->changes.end()) {
      last = change->second;
    } else if (text::leaf_of(path) == distributed_name) {  // as old as the newest file beside it
      const std::string_view folder = text::folder_of(path);
      const auto end = listing_->changes.end();
      for (auto file = listing_->changes.lower_bound(folder); file != end && file->first.starts_with(folder); ++file) {
        if (text::folder_of(file->first) == folder && (!last || last->seen < file->second.seen)) {
          last = file->second;
        }
      }
    }
    const bool long_there =
        last && last->at_first_look && written != long_ago && WallClock::now() - written >= most_skew;
    return request_.as_it_stands || !last || long_there ? storage::age_of(written) : request_.now - last->seen;
  }
  [[nodiscard]] std::chrono::nanoseconds age_of_file(const std::string& path) const {
    return age_of_file(path, storage_.written_at(path).value_or(long_ago));
  }

  /// Makes a follower look again when a file of that age is no longer young.
  void look_again_after(std::chrono::nanoseconds age) {
    const auto given_up = request_.now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(young - age);
    due_ = std::min(due_.value_or(given_up), given_up);
  }

  /// Notes changes. Returns the stamps of all files that matter; of those that are not read, the names alone do.
  /// Nullopt if some file has no stamp.
  std::optional<std::map<std::string, storage::FileStamp>> stamps(const CheckpointFolders& folders) {
    std::map<std::string, storage::FileStamp> all;
    bool without_stamp = false;
    for (const auto& [path, folder] : folders.folders) {
      for (const storage::DirEntry& file : folder.files) {
        const std::string name = text::path_in(path, file.name);
        const auto stamp = folders.may_be_read(path) ? storage_.file_stamp(name) : storage::FileStamp();
        note_change(name, stamp);
        without_stamp = without_stamp || !stamp;
        all.emplace(name, stamp.value_or(storage::FileStamp()));
      }
    }
    std::erase_if(listing_->changes, [&](const auto& file) { return !all.contains(file.first); });
    return without_stamp ? std::nullopt : std::optional(std::move(all));
  }

  /// Returns the number of names in the headers and indexes that are kept for the next look.
  [[nodiscard]] std::size_t names_kept() const {
    std::size_t names = 0;
    listing_->headers.for_each([&](const TensorFileHeader& file) { names += file.header.entries.size(); });
    listing_->indexes.for_each([&](const Outcome<ShardIndex>& index) { names += index ? index->tensors.size() : 0; });
    return names;
  }

  [[nodiscard]] Outcome<ShardIndex> read_index(const std::string& path) const {
    Buffer buffer;
    const auto text = read_json_text(storage_, path, buffer);
    Outcome<ShardIndex> index = text ? parse_shard_index(*text) : text.problem();
    if (index) {
      index->memory = std::move(buffer);
    }
    return index;
  }

  Status read_files() {
    std::vector<std::string> files;
    std::vector<std::string> indexes;
    for (const Checkpoint& checkpoint : plan_.checkpoints) {
      for (const TensorSet& set : checkpoint.sets) {
        files.insert(files.end(), set.files.begin(), set.files.end());
        if (!set.index.empty()) {
          indexes.push_back(set.index);
        }
      }
    }
    Readings readings =
        listing_->indexes.update(storage_, indexes, [this](const std::string& path) { return read_index(path); });
    append(readings, readings_of(files, false));
    const auto read = [this](const std::string& path) {
      auto log = read_log(storage_, path, request_.stop);
      const auto known = before_ == nullptr ? nullptr : before_->logs.find(path);
      keeps_log_ = !log && known && *known && !request_.as_it_stands && age_of_file(path) < young;
      return keeps_log_ ? Outcome<TrainerLog>(*known) : std::move(log);
    };
    listing_->log_path.clear();
    for (const std::string& path : plan_.trainer_states) {
      append(readings, listing_->logs.update(storage_, {path}, read));
      if (Status done = do_all(std::exchange(readings, {})); !done) {
        return done;
      }
      const auto log = listing_->logs.find(path);
      if (*log) {
        listing_->log_path = path;
        break;
      }
      problems_.add(in_file(log->problem(), path));
    }
    return do_all(readings);
  }

  static void append(Readings& to, Readings&& more) { std::move(more.begin(), more.end(), std::back_inserter(to)); }

  /// Returns a problem if it was stopped: then some are not there.
  Status do_all(const Readings& readings) const {
    parallel_for(request_.jobs, readings.size(), 1, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t i = begin; i < end && !request_.stopped(); ++i) {
        readings[i]();
      }
    });
    return request_.stopped() ? Status(stopped_problem()) : ok();
  }
  static Problem stopped_problem() { return make_problem(ProblemKind::stopped, "reading was stopped"); }

  /// Lists all rows. A row that existed before keeps its id; others get new ones.
  void list_rows() {
    std::vector<CheckpointRow> rows;
    for (const Checkpoint& checkpoint : plan_.checkpoints) {
      const auto is_cut = [&](const CheckpointRow& row) {
        const auto header = listing_->headers.find(row.path);
        return header->header.cut || header->unreadable || may_grow(*header, age_of_file(row.path, header->written));
      };
      last_whole_ = std::ranges::any_of(named_rows(checkpoint), is_cut) ? last_whole_ : checkpoint.step;
    }
    if (before_ != nullptr) {
      for (const CheckpointRow& row : before_->rows) {
        known_.emplace(row.path, &row);
      }
    }
    std::vector<Completeness> found;
    for (Checkpoint& checkpoint : plan_.checkpoints) {
      const Completeness& state = found.emplace_back(completeness_of(checkpoint));
      choose_main_sets(checkpoint, state.settled);
    }
    listing_->whole.clear();
    for (std::size_t i = 0; i < found.size(); ++i) {
      add_rows_of(plan_.checkpoints[i], found[i], rows);
      if (found[i].was_whole || !(found[i].growing || found[i].partial)) {
        listing_->whole.insert(plan_.checkpoints[i].step);
      }
    }
    for (CheckpointRow& row : rows) {
      row.id = row.id == 0 ? listing_->next_id++ : row.id;
    }
    std::ranges::sort(rows, {}, &CheckpointRow::id);
    listing_->rows = std::move(rows);
    listing_->log_rows = listing_->log_path.empty() ? std::vector<LogRow>() : list_log();
    for (LogRow& row : listing_->log_rows) {
      const LogRow* const old = before_ == nullptr ? nullptr : before_->find_log_row(row.step);
      row.id = old != nullptr && old->numbers == row.numbers ? old->id : listing_->next_id++;
    }
  }

  /// Returns the previous look's row for the same file, or null if the file is new or has changed.
  [[nodiscard]] const CheckpointRow* known_row(const CheckpointRow& row) const {
    const auto known = known_.find(row.path);
    return known != known_.end() && known->second->same_file(row) ? known->second : nullptr;
  }

  /// Returns whether a file came or changed since the previous look.
  [[nodiscard]] bool has_changed(const std::string& path) const {
    const auto stamp_in = [&](const CheckpointListing& listing) {
      const auto change = listing.changes.find(path);
      return change == listing.changes.end() ? std::nullopt : change->second.stamp;
    };
    return before_ != nullptr && stamp_in(*before_) != stamp_in(*listing_);
  }

  struct Completeness {
    bool was_whole;  ///< All files were there at the look before, and none is new: some may be removed by now.
    bool growing;    ///< Some file may still be written.
    bool partial;    ///< Some file is missing.
    bool settled;    ///< It has the sets that it was written with: no index of shards is due, and nothing was removed.
  };

  /// Says what is wrong with the files of a checkpoint.
  Completeness completeness_of(const Checkpoint& checkpoint) {
    const auto is_new = [&](const CheckpointRow& row) {
      return known_row(row) == nullptr && !listing_->headers.find(row.path)->unreadable;
    };
    const auto has_new_index = [&](const TensorSet& set) { return has_changed(set.index); };
    const bool was_whole = listing_->whole.contains(checkpoint.step) &&
                           std::ranges::none_of(named_rows(checkpoint), is_new) &&
                           std::ranges::none_of(checkpoint.sets, has_new_index);
    const std::chrono::nanoseconds age = age_of_newest(checkpoint);
    const bool awaited = !request_.as_it_stands && age < young;
    bool growing = false;
    bool partial = false;
    const auto tell = [&](Problem problem) {
      problem.step = GlobalStep(checkpoint.step);
      problems_.add(std::move(problem));
    };
    for (const TensorSet& set : checkpoint.sets) {
      partial = tell_shards(set, was_whole, awaited, tell) || partial;
      for (const std::string& file : set.files) {
        growing = tell_problems_of(file, checkpoint.step, tell) || growing;
      }
    }
    if (partial && awaited) {
      growing = true;
      look_again_after(age);
    }
    if (growing && plan_.checkpoints.size() > 1) {
      tell_left_out(checkpoint.path, "the checkpoint");
    }
    const auto is_without_index = [](const TensorSet& set) { return set.of > 0 && set.index.empty(); };
    const bool lacked_index = listing_->lacking_index.erase(checkpoint.step) != 0;
    const bool lacks_index = awaited && std::ranges::any_of(checkpoint.sets, is_without_index);
    if (lacks_index) {
      look_again_after(age);
      listing_->lacking_index.insert(checkpoint.step);
    }
    const bool settled = !growing && !partial && !lacks_index && (lacked_index || !was_whole);
    return {was_whole, growing, partial, settled};
  }

  /// Appends the rows of a checkpoint to `all`. A new file or index may change the names in the others. A file that is
  /// removed from a whole checkpoint does not change them, because the others are likely being removed, too.
  void add_rows_of(const Checkpoint& checkpoint, const Completeness& state, std::vector<CheckpointRow>& all) const {
    for (CheckpointRow& row : named_rows(checkpoint)) {
      const CheckpointRow* const known = known_row(row);
      const bool renamed = !state.growing && listing_->beside.contains(row.prefix);
      if (known != nullptr && (state.growing || state.was_whole) && (!renamed || known->prefix == row.prefix)) {
        row = *known;
      } else if (known != nullptr && state.was_whole) {
        row.main = row.main && known->main;
        row.facts = known->facts;
      } else if (known != nullptr && known->same(row)) {
        row.id = known->id;
      }
      if (!state.growing || row.id != 0) {  // new files count when the checkpoint is whole
        all.push_back(std::move(row));
      }
    }
  }

  /// Chooses the main set of each folder of a checkpoint. `settled`: notes the others, for the names at all steps.
  void choose_main_sets(Checkpoint& checkpoint, bool settled) {
    for (auto set = checkpoint.sets.begin(); set != checkpoint.sets.end();) {
      const auto end = std::find_if(set, checkpoint.sets.end(), [folder = set->folder](const TensorSet& one) {
        return one.folder != folder;  // those of one folder are adjacent
      });
      const TensorSet* const main =
          main_set({set, end}, [this](const TensorSet& one) { return has_whole_index(one, *listing_); });
      for (; set != end; ++set) {
        set->main = &*set == main;
        set->own = set->main || main == nullptr;
        if (settled && !set->files.empty() && (main == nullptr || main->stem != set->stem)) {
          bool& further = listing_->beside[set->prefix()];
          further = further || main != nullptr;
        }
      }
    }
  }

  /// Returns the rows of a checkpoint, without ids, as a first look names them. A set that is alone has its prefix if
  /// it has that beside others, at another step: names are the same at every step.
  [[nodiscard]] std::vector<CheckpointRow> named_rows(const Checkpoint& checkpoint) const {
    std::vector<CheckpointRow> rows;
    for (const TensorSet& set : checkpoint.sets) {
      const auto beside = listing_->beside.find(set.prefix());
      const bool alone = beside == listing_->beside.end();
      const bool own = set.own && (alone || !beside->second);
      for (const std::string& file : set.files) {
        const auto header = listing_->headers.find(file);
        const bool facts = set.main && set.component.empty() && &file == &set.files.front();
        rows.push_back({checkpoint.step, file, set.main && alone ? set.component : set.prefix(), own, facts,
                        header->reading, header->stamp});
      }
    }
    return rows;
  }

  [[nodiscard]] std::chrono::nanoseconds age_of_newest(const Checkpoint& checkpoint) const {
    auto age = std::chrono::nanoseconds::max();
    for (const TensorSet& set : checkpoint.sets) {
      if (!set.index.empty()) {
        age = std::min(age, age_of_file(set.index));
      }
      for (const std::string& file : set.files) {
        age = std::min(age, age_of_file(file, listing_->headers.find(file)->written));
      }
    }
    return age;
  }

  /// Reports the problems of a set's shards and index. `was_whole`: those that are missing were removed. `awaited`:
  /// what is missing may still be written. Returns whether something is missing.
  bool tell_shards(const TensorSet& set, bool was_whole, bool awaited, const Tell& tell) {
    bool partial = false;
    const auto add = [&](Problem problem) {
      partial = true;
      problem.unfinished = true;
      problem.kind = awaited && problem.kind == ProblemKind::damaged ? ProblemKind::not_yet : problem.kind;
      tell(std::move(problem));
    };
    if (const auto index = listing_->indexes.find(set.index);
        index && !*index && !(was_whole && index->problem().kind == ProblemKind::not_found)) {
      add(in_file(index->problem(), set.index));
    }
    check_shards(set, *listing_, tell, was_whole ? [](const Problem&) {} : Tell(add));
    return partial;
  }

  /// Reports the problems of a file. Returns true if it may still be written to. If the trial is not followed, that
  /// ends once a later step is complete.
  bool tell_problems_of(const std::string& file, std::int64_t step, const Tell& tell) {
    const auto header = listing_->headers.find(file);
    const std::chrono::nanoseconds age = age_of_file(file, header->written);
    const bool named_alone = !place_.file.empty();
    const bool ended = request_.as_it_stands && (named_alone || step < last_whole_);
    const bool growing = may_grow(*header, age) && !ended;
    tell_problems(file, *header, growing, named_alone, tell);
    if (growing) {
      look_again_after(age);
      listing_->headers.read_again(file);
    }
    return growing;
  }

  /// Lists the numbers and texts beside the tensors of the last checkpoint.
  void list_facts() {
    const auto last = std::ranges::max_element(listing_->rows, {}, [](const CheckpointRow& row) {
      return row.facts ? std::optional(row.step) : std::nullopt;
    });
    const auto header = last == listing_->rows.end() ? nullptr : listing_->headers.find(last->path);
    if (!header || !header->torch || !last->facts) {
      return;
    }
    const auto extras = std::make_shared<Extras>();
    const auto json = [](const auto& value) { return text::json_text(nlohmann::json(value)); };
    for (const pytorch::Fact& fact : header->torch->facts) {
      const auto* const real = std::get_if<double>(&fact.value);
      extras->hyperparameters[fact.name] = real == nullptr || std::isfinite(*real)
                                               ? std::visit(json, fact.value)
                                               : std::string(text::word_of_non_finite(*real));
    }
    listing_->extras = extras;
  }

  std::vector<LogRow> list_log() {
    const std::string& path = listing_->log_path;
    const auto log = listing_->logs.find(path);
    if (keeps_log_) {
      look_again_after(age_of_file(path));
      listing_->logs.read_again(path);
    }
    const std::int64_t last = listing_->steps.find(path)->step.value_or(0);
    const auto other = other_state_.empty() ? TrainerLog() : read_log(storage_, other_state_, request_.stop);
    if (other && !std::ranges::includes(losses_of(**log, last), losses_of(*other, last))) {
      problems_.add(make_problem(ProblemKind::warning,
                                 "its log counts, as that of the greatest step, but " + in_quotes(other_state_) +
                                     " contradicts it: it is of another run, or attempt; open each folder by itself, "
                                     "or move away what is stale",
                                 path));
    }
    const auto remark = [&](std::uint64_t count, std::string_view what) {
      if (count != 0) {
        problems_.add(make_problem(ProblemKind::remark, std::string(what) + std::to_string(count), path));
      }
    };
    std::size_t replaced = 0;
    std::vector<LogRow> rows = list_log_rows(**log, replaced);
    remark((**log).without_step, "entries of its log without a whole step, which are left out: ");
    remark((**log).texts, "values of its log that are not numeric and left out: ");
    remark(replaced, "numbers of its log that later ones of the same name and step replaced: ");
    return rows;
  }

  /// Returns whether all rows of the look before still exist unchanged.
  [[nodiscard]] bool still_there() const {
    const auto kept = [&](const CheckpointRow& row) {
      return std::ranges::binary_search(listing_->rows, row.id, {}, &CheckpointRow::id);
    };
    const auto log_kept = [&](const LogRow& row) {
      const LogRow* const now = listing_->find_log_row(row.step);
      return now != nullptr && now->id == row.id;
    };
    return std::ranges::all_of(before_->rows, kept) && std::ranges::all_of(before_->log_rows, log_kept);
  }

  static std::shared_ptr<const CollectionsInfo> collections_of(FreshNames names,
                                                               std::shared_ptr<const CollectionsInfo> before,
                                                               bool has_log) {
    if (before && names.kinds.empty()) {
      return before;
    }
    const bool first = before == nullptr;
    auto info = first ? std::make_shared<CollectionsInfo>() : std::make_shared<CollectionsInfo>(*before);
    info->found = true;
    const bool numbers =
        (before && before->made_of_names.size() > collections_of_models) ||
        std::ranges::any_of(names.kinds, [](const auto& one) { return one.second == ValueKind::number; });
    info->made_of_names =
        std::span(collections_of_names).first(numbers ? collections_with_numbers : collections_of_models);
    CollectionMap collections([has_log, names = std::move(names), before = std::move(before)] {
      const std::vector<NamedValues> values = mapped(names.kinds, [&](const auto& one) {
        return NamedValues{std::string(names.texts.by_number[one.first]), one.second};
      });
      CollectionMap::Map map = *add_to_collections(before, values)->collections;
      if (const auto losses = map.find("losses");
          !has_log && losses != map.end() && losses->second.tensor_names.empty()) {
        map.erase(losses);  // no log, so nothing is known of losses
      }
      return map;
    });
    if (!first) {
      (void)*collections;  // made now: otherwise a chain of looks would be kept alive until the first access
    }
    info->collections = std::move(collections);
    return info;
  }

  storage::Storage& storage_;
  const LookRequest& request_;
  const Opening& place_;
  const CheckpointListing* before_;
  std::shared_ptr<CheckpointListing> listing_;
  CheckpointPlan plan_;
  ProblemList problems_;
  std::int64_t last_state_ = -1;  ///< The greatest step of a trainer_state.json,
  std::int64_t last_whole_ = -1;  ///< and of a checkpoint all of whose files are complete.
  std::optional<std::chrono::steady_clock::time_point> due_;
  bool nothing_new_ = false;
  std::string other_state_;  ///< The path of the state whose log is compared with the one that counts; or empty.
  bool keeps_log_ = false;   ///< The log is that of the look before: its file is written anew.
  std::unordered_map<std::string_view, const CheckpointRow*> known_;  ///< The rows of the look before, by path.
};

/// Reports what an unsafe load would call.
void tell_globals(const std::string& path, const pytorch::TorchFile& file, const std::function<void(Problem)>& report) {
  for (const pytorch::ListedGlobal& global : file.globals) {
    const std::string text = "would be called by an unsafe load: " + printable(global.name);
    if (global.dangerous) {
      report({ProblemKind::damaged, path, global.offset, text});
    } else {
      report({ProblemKind::remark, {}, {}, printable(path) + ": byte " + std::to_string(global.offset) + ": " + text});
    }
  }
}

/// Warns of scales of channels that are not finite. What cannot be read is reported with the checksums.
void tell_scales(const pytorch::TorchFile& torch, const storage::File& file,
                 const std::function<void(Problem)>& report) {
  for (const pytorch::ChannelScales& scales : torch.scales) {
    const auto begin = torch.source->find(file, scales.offset);
    const auto bytes = begin ? pytorch::read_bytes(file, *begin, scales.length) : begin.problem();
    const std::array sizes = {static_cast<std::int64_t>(scales.length / item_size(scales.dtype))};
    if (bytes && !std::ranges::all_of(to_doubles({scales.dtype, sizes, std::as_bytes(std::span(*bytes))}),
                                      [](double scale) { return std::isfinite(scale); })) {
      report(make_problem(ProblemKind::warning,
                          "tensor " + in_quotes(scales.tensor) +
                              ": the scale of a channel is not finite: none of its integers stands for a number"));
    }
  }
}

/// Checks what is no tensor's value.
void check_torch_file(storage::Storage& storage, const std::string& path, const TensorFileHeader& header,
                      const std::function<void(Problem)>& report) {
  tell_globals(path, *header.torch, report);
  std::vector<std::string_view> parts;
  const wire::FileTensors& tensors = header.header.entries;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].part) {
      parts.push_back(tensors.name(i));
    }
  }
  if (!parts.empty()) {
    report(make_problem(ProblemKind::remark, printable(path) + ": " + text::counted(parts.size(), "tensor") +
                                                 (parts.size() == 1 ? " is one process's part of a larger one: "
                                                                    : " are one process's parts of larger ones: ") +
                                                 text::first_names(parts)));
  }
  const auto file = header.torch->source ? storage.open(path) : Problem();
  if (!file) {
    return;
  }
  std::vector<Problem> problems;
  const auto add = [&](Problem problem) { problems.push_back(std::move(problem)); };
  tell_scales(*header.torch, **file, add);
  header.torch->source->verify_others(**file, {}, add);
  if (const Status same = header.torch->source->unchanged(**file); !same) {
    problems = {same.problem()};
  }
  for (Problem& problem : problems) {
    report(in_file(std::move(problem), path));
  }
}

/// Returns whether a file is, or was to be, one of PyTorch, by its first bytes. `path`: relative to the walk's folder.
bool stands_for_checkpoint(FolderWalk& folder, const std::string& path) {
  const auto first = read_first_bytes(folder.storage(), folder.path_of(path));
  return first &&
         (wire::looks_like_safetensors(*first) || wire::may_stand_for_checkpoint(wire::known_file(*first, path)));
}

class CheckpointsLayout final : public Layout {
 public:
  explicit CheckpointsLayout(Opening place) : place_(std::move(place)) {}

  [[nodiscard]] bool rows_name_seen_files() const noexcept override { return true; }
  [[nodiscard]] storage::WatchScope watched() const override { return {{""}, false}; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return CheckpointLook(storage, request, place_, static_cast<const CheckpointListing*>(before))
        .look(std::move(collections));
  }
  /// Reads every file of tensors and trainer_state.json, also those that are left out, verifies the checksums of what
  /// is no tensor, and lists what unsafe loads would call. Problems that the look reported are reported again.
  void check_names(storage::Storage& storage, const Listing& listing, const std::unordered_set<std::string>& /*used*/,
                   const std::function<void(Problem)>& report) const override {
    const auto& own = static_cast<const CheckpointListing&>(listing);
    const bool alone = !place_.file.empty();
    const auto check = [&](const std::string& file, bool beside) {
      const auto known = own.headers.find(file);
      const auto age = [](const std::string&, WallClock::time_point written) { return storage::age_of(written); };
      const TensorFileHeader read = known ? TensorFileHeader() : read_header(storage, file, age);
      const TensorFileHeader& header = known ? *known : read;
      const auto is_it = [&](const CheckpointRow& row) { return row.path == file; };
      if (!beside) {  // the look has no row of a file that may still be written to
        const bool growing = may_grow(header, storage::age_of(header.written)) && std::ranges::none_of(own.rows, is_it);
        tell_problems(file, header, growing, alone, report);
      }
      const auto opened = storage.open(file);
      if (opened && !header.hole && (*opened)->ends_in_hole()) {
        report(make_problem(ProblemKind::remark, ends_in_hole, file));
      }
      if (header.torch) {
        check_torch_file(storage, file, header, report);
      } else if (opened) {  // it may be a plain pickle
        tell_globals(file, pytorch::read_torch_file({**opened, 0, (*opened)->size()}), report);
      }
    };
    const auto folders = alone ? Outcome(CheckpointFolders()) : list_checkpoint_folders(storage, place_.name);
    if (!folders) {
      return;  // reported by the look
    }
    std::vector<std::string> files = alone ? std::vector<std::string>() : candidates(*folders, place_.name);
    for (const CheckpointRow& row : own.rows) {
      if (alone || text::leaf_of(row.path) == distributed_name) {
        files.push_back(row.path);
      }
    }
    for (const std::string& file : files) {
      check(file, false);
    }
    for (const auto& [path, folder] : folders->folders) {
      if (!folders->may_be_read(path)) {
        continue;
      }
      for (const std::string& name : folder.beside) {
        check(text::path_in(path, name), true);
      }
      if (!folder.has_trainer_state() || !(path.empty() || is_checkpoint_folder(path))) {
        continue;
      }
      const std::string file = text::path_in(path, trainer_state_name);
      auto log = read_log(storage, file, nullptr);
      if (!log && log.problem().kind == ProblemKind::damaged) {
        report(in_file(std::move(log.problem()), file));
      }
    }
  }

 private:
  Opening place_;
};

}  // namespace

const LogRow* CheckpointListing::find_log_row(std::int64_t step) const noexcept {
  const auto row = std::ranges::lower_bound(log_rows, step, {}, &LogRow::step);
  return row == log_rows.end() || row->step != step ? nullptr : &*row;
}

std::string CheckpointListing::path(const StepPart& file) const {
  const auto row = std::ranges::lower_bound(rows, file.id, {}, &CheckpointRow::id);
  if (row != rows.end() && row->id == file.id) {
    return row->path;
  }
  const LogRow* const logged = find_log_row(file.step);
  return logged != nullptr && logged->id == file.id ? log_path : std::string();
}

std::unique_ptr<Layout> checkpoints_layout(const Opening& what) { return std::make_unique<CheckpointsLayout>(what); }

std::optional<Held> holds_checkpoints(FolderWalk& folder) {
  // Files whose names alone tell come first: no other is opened then.
  const auto holds_files = [&](const Entries& entries, const std::string& path) {
    const auto by_name = [](const storage::DirEntry& entry) {
      return is_checkpoint_file(entry.name) && !entry.name.ends_with(doubtful_ending);
    };
    const auto by_first_bytes = [&](const storage::DirEntry& entry) {
      return entry.kind == storage::EntryKind::file && tensor_ending(entry.name) == doubtful_ending &&
             stands_for_checkpoint(folder, text::path_in(path, entry.name));
    };
    return std::ranges::any_of(entries, by_name) || std::ranges::any_of(entries, by_first_bytes);
  };
  const auto holds_components = [&](const std::string& name) {
    const Entries& entries = folder.below(name);
    return std::ranges::any_of(entries, [&](const storage::DirEntry& entry) {
      const std::string path = text::path_in(name, entry.name);
      const auto is_log = [](const storage::DirEntry& file) { return file.name == trainer_state_name; };
      return entry.kind == storage::EntryKind::folder && !is_name_of_copy(entry.name) &&
             !(is_checkpoint_folder(entry.name) && std::ranges::any_of(folder.below(path), is_log)) &&
             holds_files(folder.below(path), path);
    });
  };
  const bool of_components = may_have_components(folder.name(), folder.has(pipeline_name));
  const auto is_checkpoint = [&](const storage::DirEntry& entry) {
    return entry.kind == storage::EntryKind::folder && is_checkpoint_folder(entry.name) &&
           (holds_files(folder.below(entry.name), entry.name) ||
            (may_have_components(entry.name, false) && holds_components(entry.name)));
  };
  if (!holds_files(folder.entries(), {}) && !(of_components && holds_components({})) &&
      std::ranges::none_of(folder.entries(), is_checkpoint)) {
    return std::nullopt;
  }
  return Held{.reads_below = [of_components](std::string_view below) {
    const std::size_t slash = below.find('/');
    const std::string_view name = below.substr(0, slash);
    return slash == below.npos ? of_components || is_checkpoint_folder(name)
                               : may_have_components(name, false) && below.find('/', slash + 1) == below.npos;
  }};
}

bool is_tensor_file(const Opening& what, std::span<const std::byte> first) {
  const std::string_view name = what.file;
  const wire::KnownFile* const known = wire::known_file(first, name);
  const bool unclear = known == nullptr || known->kind == wire::FileKind::empty || known->kind == wire::FileKind::text;
  const bool unknown = unclear && !tensor_ending(name).empty() && !is_doubtful(name);
  return wire::looks_like_safetensors(first) || unknown || (known != nullptr && known->kind == wire::FileKind::pytorch);
}

}  // namespace smd::detail::layout
