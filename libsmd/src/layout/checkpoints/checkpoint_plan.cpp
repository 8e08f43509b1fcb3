// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_plan.hpp"

#include "layout/folder_walk.hpp"
#include "text/ascii.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/number.hpp"
#include "text/path.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace smd::detail::layout {

namespace {

bool matters(std::string_view name) noexcept {
  return is_checkpoint_file(name) || name == distributed_name || name == pipeline_name || is_beside_model(name);
}

/// Notes what a file means for its folder.
void take(CheckpointFolder& folder, storage::DirEntry file) {
  if (is_checkpoint_file(file.name) || file.name == distributed_name) {
    folder.files.push_back(std::move(file));
  } else if (file.name == pipeline_name) {
    folder.is_pipeline = true;
  } else if (is_beside_model(file.name)) {
    folder.beside.push_back(std::move(file.name));
  }
}

void sort(CheckpointFolder& folder) {
  std::ranges::sort(folder.files, [](const auto& a, const auto& b) { return a.name < b.name; });
  std::ranges::sort(folder.folders);
}

Outcome<CheckpointFolder> list_one(storage::Storage& storage, const std::string& path) {
  auto entries = storage.list(path);
  if (!entries) {
    return std::move(entries.problem());
  }
  CheckpointFolder folder;
  for (storage::DirEntry& entry : *entries) {
    if (entry.kind == storage::EntryKind::folder && !entry.name.ends_with(safetensors_ending)) {
      folder.folders.push_back(std::move(entry.name));
    } else {
      take(folder, std::move(entry));
    }
  }
  sort(folder);
  return folder;
}

/// The depth to which folders are listed: STEP/COMPONENT/FOLDER. Files in the last are named in a note, not read.
constexpr std::ptrdiff_t listed_levels = 3;
constexpr std::size_t most_noted_inner = 16;  ///< More folders in one that has no components are data.

/// Adds the folders in `path` to `found`, and so many levels of those in checkpoints' folders; in any if
/// `of_component`.
void list_inner(storage::Storage& storage, const std::string& path, std::ptrdiff_t levels, bool of_component,
                CheckpointFolders& found) {
  const std::vector<std::string> names = found.folders[path].folders;
  for (const std::string& name : names) {
    const std::string inner = text::path_in(path, name);
    auto folder = list_one(storage, inner);
    if (!folder) {
      // Else it was just removed, or would not be read.
      if (folder.problem().kind != ProblemKind::not_found && found.may_be_read(inner)) {
        found.notes.add(in_file(std::move(folder.problem()), inner));
      }
      continue;
    }
    const bool deeper = levels > 1 && !folder->folders.empty() &&
                        ((path.empty() && may_have_components(name, folder->is_pipeline)) ||
                         (folder->folders.size() <= most_noted_inner &&
                          (of_component || (is_checkpoint_folder(name) && !folder->files.empty()))));
    if (deeper || !folder->files.empty()) {
      found.folders.emplace(inner, *std::move(folder));
    }
    if (deeper) {
      list_inner(storage, inner, levels - 1, true, found);
    }
  }
}

/// Lists a store without folders: one listing has the names of all files.
Status list_objects(storage::Storage& storage, CheckpointFolders& found) {
  found.folders.try_emplace("");
  std::map<std::string, std::set<std::string>> inner;
  Status listed = storage.list_below({}, {}, [&](std::span<const std::string> names) {
    for (const std::string& name : names) {
      const std::string path(text::folder_of(name));
      const std::string leaf(text::leaf_of(name));
      if (std::ranges::count(name, '/') > listed_levels || !matters(leaf)) {
        continue;
      }
      take(found.folders[path], {leaf, storage::EntryKind::file});
      for (std::string one = path; !one.empty(); one = text::folder_of(one)) {
        inner[std::string(text::folder_of(one))].emplace(text::leaf_of(one));
      }
    }
  });
  for (const auto& [path, names] : inner) {
    found.folders[path].folders.assign(names.begin(), names.end());
  }
  for (auto& [path, folder] : found.folders) {
    sort(folder);
  }
  return listed;
}

/// Leaves out unfinished copies of folders that would be read, and what is in them.
void leave_out_copies(CheckpointFolders& found) {
  std::erase_if(found.folders, [&](const auto& one) {
    const std::string& path = one.first;
    const bool copy = is_name_of_copy(text::leaf_of(path)) && found.may_be_read(path);
    if (copy) {
      found.notes.add(
          make_problem(ProblemKind::remark, in_quotes(path) + " is left out: " + std::string(name_is_of_copy)));
    }
    return copy || found.find(text::folder_of(path)) == nullptr;  // folders come before what is in them
  });
}

}  // namespace

bool CheckpointFolder::has_trainer_state() const noexcept {
  return std::ranges::any_of(files, [](const auto& file) { return file.name == trainer_state_name; });
}

const CheckpointFolder* CheckpointFolders::find(std::string_view path) const {
  const auto found = folders.find(path);
  return found == folders.end() ? nullptr : &found->second;
}

bool CheckpointFolders::may_be_read(std::string_view path) const {
  const std::string_view outer = text::folder_of(path);
  const CheckpointFolder* const folder = find(outer);
  return outer.empty() || (outer.find('/') == outer.npos && is_checkpoint_folder(outer) && folder != nullptr &&
                           may_have_components(outer, folder->is_pipeline));
}

Outcome<CheckpointFolders> list_checkpoint_folders(storage::Storage& storage, std::string_view place) {
  CheckpointFolders found;
  if (storage.remote()) {
    if (Status listed = list_objects(storage, found); !listed) {
      return std::move(listed.problem());
    }
  } else {
    auto root = list_one(storage, {});
    if (!root) {
      return std::move(root.problem());
    }
    const bool of_components = may_have_components(place, root->is_pipeline);
    found.folders.emplace("", *std::move(root));
    list_inner(storage, {}, of_components ? listed_levels - 1 : listed_levels, of_components, found);
  }
  leave_out_copies(found);
  return found;
}

namespace {

/// A folder or a file that may be a checkpoint.
struct Candidate {
  Checkpoint checkpoint;
  std::string name;                          ///< Without shard numbers and endings.
  std::optional<NamedStep> number;           ///< Nullopt if it has no number, or has a label.
  std::optional<unsigned> label;             ///< As `label_of_name`.
  std::optional<NamedStep> labelled_number;  ///< The number of a candidate with a label.
  NamedStep named;                           ///< The number of its name, if that has one.

  /// Returns whether a file of tensors states the number, and its name has another.
  [[nodiscard]] bool stated_in_file() const { return number != named && checkpoint.trainer_state.empty(); }
  [[nodiscard]] bool has_index() const {
    return std::ranges::any_of(checkpoint.sets, [](const TensorSet& set) { return !set.index.empty(); });
  }
};

/// Returns the number of a checkpoint: the step that its trainer or the file itself states, else that of its name.
std::optional<NamedStep> number_of(const std::optional<std::int64_t>& state, const StatedStep& stated,
                                   const std::optional<NamedStep>& named) {
  if (state || stated.step) {
    return NamedStep{state ? *state : *stated.step, StepUnit::step};
  }
  return named || !stated.epoch ? named : std::optional(NamedStep{*stated.epoch, StepUnit::epoch});
}

void append(std::vector<TensorSet>& to, std::vector<TensorSet>&& sets) {
  std::move(sets.begin(), sets.end(), std::back_inserter(to));
}

class Planner {
 public:
  Planner(const CheckpointFolders& folders, std::string_view place, const FileContents& contents)
      : folders_(folders), place_(place), contents_(contents) {}

  CheckpointPlan plan() && {
    const CheckpointFolder& root = *folders_.find("");
    take_files(root);
    for (const std::string& name : root.folders) {
      if (const CheckpointFolder* const folder = folders_.find(name)) {
        take_folder(name, *folder, may_have_components(place_, root.is_pipeline));
      }
    }
    if (root.has_trainer_state()) {
      root_.checkpoint.trainer_state = trainer_state_name;
    }
    choose();
    name_components();
    name_stems();
    leave_out_inner();
    list_trainer_states();
    return std::move(plan_);
  }

 private:
  void remark(std::string text) { plan_.remarks.add(make_problem(ProblemKind::remark, std::move(text))); }
  void leave_out(std::string_view name, std::string_view why) {
    remark(in_quotes(name) + " is left out: " + std::string(why));
  }

  /// Returns the sets of a folder's files, by stem.
  std::vector<TensorSet> sets_of(const std::string& folder, std::string_view component,
                                 const CheckpointFolder& contents) {
    std::map<std::tuple<std::string, std::string, std::uint32_t>, TensorSet> sets;
    const auto set_of = [&](std::string_view stem, std::string_view ending, std::uint32_t of) -> TensorSet& {
      TensorSet empty = {folder, std::string(component), std::string(stem), std::string(ending), of};
      return sets.try_emplace({empty.stem, empty.ending, of}, std::move(empty)).first->second;
    };
    for (const storage::DirEntry& file : contents.files) {
      const TensorFileName name = split_tensor_file_name(file.name);
      const std::string path = text::path_in(folder, file.name);
      if (file.name.ends_with(distributed_ending)) {
        set_of(distributed_name, {}, 0).files = {text::path_in(folder, distributed_name)};
      } else if (!tensor_ending(file.name).empty() && !contents_.stated_step(path).foreign) {
        set_of(name.stem, name.ending, name.of).files.push_back(path);
      }
    }
    for (const storage::DirEntry& file : contents.files) {
      if (is_shard_index(file.name)) {
        const TensorFileName name = split_tensor_file_name(file.name);
        const std::string path = text::path_in(folder, file.name);
        std::vector<TensorSet*> own;  // by the number of shards
        for (auto& [key, set] : sets) {
          if (set.stem == name.stem && set.ending == name.ending) {
            own.push_back(&set);
          }
        }
        (own.empty() ? set_of(name.stem, name.ending, 0) : owner_of(path, std::move(own))).index = path;
      }
    }
    std::vector<TensorSet> all;
    for (const auto& [key, set] : sets) {
      const bool again = set.ending != safetensors_ending && std::ranges::any_of(sets, [&set = set](const auto& other) {
                           return other.second.ending == safetensors_ending && !other.second.files.empty() &&
                                  other.second.stem == newer_stem(set.stem);
                         });
      if (again) {
        leave_out(set.stem, "the same set is there as safetensors, which counts");
      } else {
        all.push_back(set);
      }
    }
    return all;
  }

  /// Returns which of the sets of its stem an index belongs to: the one that has most of its files, or else the one
  /// with the most shards. `sets`: by the number of shards.
  TensorSet& owner_of(const std::string& index, std::vector<TensorSet*> sets) const {
    if (sets.size() > 1) {
      const std::vector<std::string> files = contents_.indexed_files(index);
      const std::set<std::string_view> named(files.begin(), files.end());
      std::ranges::stable_sort(sets, {}, [&](const TensorSet* set) {
        return std::ranges::count_if(set->files, [&](const auto& file) { return named.contains(file); });
      });
    }
    return *sets.back();
  }

  /// Returns what the first file of a checkpoint's main set states.
  [[nodiscard]] StatedStep stated_by(const std::vector<TensorSet>& sets) const {
    const auto component =
        std::ranges::find_if(sets, [](const TensorSet& set) { return !set.component.empty(); });  // they come last
    const TensorSet* const main =
        main_set({sets.begin(), component}, [](const TensorSet& set) { return !set.index.empty(); });
    return main != nullptr ? contents_.stated_step(main->files.front()) : StatedStep();
  }

  std::optional<std::int64_t> step_of_state(const std::string& path) const {
    return path.empty() ? std::nullopt : contents_.global_step(path);
  }

  /// Adds the files in the place itself: each set is a candidate by its own name; sets without number and label belong
  /// to the place.
  void take_files(const CheckpointFolder& root) {
    for (TensorSet& set : sets_of({}, {}, root)) {
      Candidate candidate;
      const bool whole = set.ending != safetensors_ending && set.of == 0 && !set.files.empty();
      candidate.name = whole ? text::leaf_of(set.files.front()) : std::string_view(set.stem);
      candidate.label = label_of_name(set.stem);
      const std::optional<NamedStep> named = step_of_name(set.stem);
      if (!candidate.label && !named) {
        root_.checkpoint.sets.push_back(std::move(set));
        continue;
      }
      candidate.number = number_of({}, stated_by({set}), named);
      candidate.named = named.value_or(NamedStep());
      candidate.checkpoint.path = set.files.empty() ? set.index : set.files.front();
      candidate.checkpoint.sets.push_back(std::move(set));
      take(std::move(candidate));
    }
  }

  /// Adds a candidate. The number of one with a label does not count.
  void take(Candidate&& candidate) {
    if (candidate.label) {
      candidate.labelled_number = std::exchange(candidate.number, std::nullopt);
    }
    (candidate.number ? numbered_ : labelled_).push_back(std::move(candidate));
  }

  /// `component`: without number and label, the folder is a component of the place itself.
  void take_folder(const std::string& name, const CheckpointFolder& folder, bool component) {
    const std::optional<NamedStep> named = step_of_name(name);
    Candidate candidate;
    candidate.name = name;
    candidate.label = label_of_name(name);
    if (!candidate.label && !named) {
      if (component) {
        append(root_.checkpoint.sets, sets_of(name, text::path_in(name, ""), folder));
      }
      return;  // else it is a trial of its own
    }
    candidate.checkpoint.path = name;
    if (folder.has_trainer_state()) {
      candidate.checkpoint.trainer_state = text::path_in(name, trainer_state_name);
    }
    append(candidate.checkpoint.sets, sets_of(name, "", folder));
    candidate.number =
        number_of(step_of_state(candidate.checkpoint.trainer_state), stated_by(candidate.checkpoint.sets), named);
    candidate.named = named.value_or(NamedStep());
    const bool components = may_have_components(name, folder.is_pipeline);
    for (const std::string& inner : folder.folders) {
      const std::string path = text::path_in(name, inner);
      if (const CheckpointFolder* const part = components ? folders_.find(path) : nullptr) {
        append(candidate.checkpoint.sets, sets_of(path, text::path_in(inner, ""), *part));
      }
    }
    const bool has_log = !candidate.checkpoint.trainer_state.empty();
    if (!candidate.checkpoint.sets.empty() || (has_log && candidate.label)) {
      take(std::move(candidate));
    } else if (has_log) {
      logs_alone_.push_back(std::move(candidate.checkpoint.trainer_state));
    }
  }

  void choose() {
    const Candidate* labelled = nullptr;
    if (!numbered_.empty()) {
      choose_numbered();
      std::string last;
      for (const TensorSet& set : root_.checkpoint.sets) {
        const std::string& name = set.folder.empty() ? set.stem : set.folder;
        if (name != std::exchange(last, name)) {
          leave_out(name, "its name has no number");
        }
      }
    } else if (!root_.checkpoint.sets.empty()) {
      root_.labelled_number = number_of({}, stated_by(root_.checkpoint.sets), step_of_name(place_));
      name_series();
      choose_alone(root_);
    } else if (!labelled_.empty()) {
      Candidate& best = *std::ranges::min_element(labelled_, {}, [](const auto& one) {
        return std::tuple(one.checkpoint.sets.empty(), *one.label, std::string_view(one.name), !one.has_index());
      });
      if (!best.checkpoint.sets.empty() || (logs_alone_.empty() && root_.checkpoint.trainer_state.empty())) {
        labelled = &best;
        choose_alone(best);
      }
    }
    for (const Candidate& candidate : labelled_) {
      if (&candidate != labelled) {
        leave_out(candidate.name, "its name is a label and no number");
      }
    }
  }

  /// Says that files of the place are no steps if they may be meant so: only the numbers behind a word differ, and the
  /// word tells of saving or counting, or three numbers are round. `fp16` and `fp32`, `resnet18` and `resnet50`, `v1`
  /// and `v2` are no series.
  void name_series() {
    constexpr std::array<std::string_view, 11> words = {"checkpoint", "iteration", "snapshot", "chkpt", "ckpt", "ckp",
                                                        "save",       "iter",      "it",       "ep",    "e"};
    std::map<std::string_view, std::vector<std::string_view>> series;  // by the word
    for (const TensorSet& set : root_.checkpoint.sets) {
      const auto word = std::string_view(set.stem).substr(0, set.stem.find_last_not_of("0123456789") + 1);
      const bool numbered = word.size() < set.stem.size() && !word.empty() && text::is_letter(word.back());
      if (numbered && set.folder.empty() && !root_.labelled_number) {
        series[word].push_back(set.stem);
      }
    }
    for (const auto& [word, stems] : series) {
      const bool known = std::ranges::find(words, text::split_words(word).back()) != words.end();
      const auto round = std::ranges::count_if(stems, [](std::string_view stem) { return stem.ends_with('0'); });
      if (stems.front() != stems.back() && (known || round >= 3)) {
        remark(text::first_names(stems) +
               " are read as one checkpoint: their numbers are no steps, as that of 'step-10' would be");
      }
    }
  }

  void choose_alone(Candidate& candidate) {
    Checkpoint& checkpoint = candidate.checkpoint;
    const auto step = step_of_state(checkpoint.trainer_state);
    const NamedStep number = step ? NamedStep{*step, StepUnit::step} : candidate.labelled_number.value_or(NamedStep{});
    checkpoint.step = number.number;
    plan_.unit = number.unit;
    plan_.checkpoints.push_back(std::move(checkpoint));
  }

  void choose_numbered() {
    std::ranges::sort(numbered_, {}, [](const Candidate& one) {
      return std::tuple(one.number->number, one.number != one.named, UINT64_MAX - version_of_name(one.name),
                        std::string_view(one.name), !one.has_index());
    });
    // Three files whose names have other numbers state one step: it counts from anew in each epoch, or not at all. One
    // of two may be a copy.
    const auto is_again = [this](std::size_t i) {
      const Candidate& a = numbered_[i - 1];
      const Candidate& b = numbered_[i];
      return a.number == b.number && a.stated_in_file() && b.stated_in_file() && a.named != b.named;
    };
    std::size_t again = 2;
    while (again < numbered_.size() && !(is_again(again - 1) && is_again(again))) {
      ++again;
    }
    const auto other_unit = [this](const Candidate& one) {
      return one.named.unit != numbered_.front().named.unit || !one.checkpoint.trainer_state.empty();
    };
    if (again < numbered_.size() && std::ranges::none_of(numbered_, other_unit)) {
      plan_.steps_repeat = make_problem(
          ProblemKind::remark,
          fmt::format("{} and {} both state step {}: the numbers in names count", in_quotes(numbered_[again - 1].name),
                      in_quotes(numbered_[again].name), numbered_[again].number->number));
      for (Candidate& candidate : numbered_) {
        candidate.number = candidate.named;
      }
      return choose_numbered();
    }
    const bool steps =
        std::ranges::any_of(numbered_, [](const Candidate& one) { return one.number->unit == StepUnit::step; });
    plan_.unit = steps ? StepUnit::step : StepUnit::epoch;
    for (Candidate& candidate : numbered_) {
      if (candidate.number->unit != plan_.unit) {
        leave_out(candidate.name, "its name tells an epoch, and those of others steps");
      } else if (!plan_.checkpoints.empty() && plan_.checkpoints.back().step == candidate.number->number) {
        leave_out(candidate.name, "step " + std::to_string(candidate.number->number) + " is that of " +
                                      in_quotes(plan_.checkpoints.back().path));
      } else {
        candidate.checkpoint.step = candidate.number->number;
        plan_.checkpoints.push_back(std::move(candidate.checkpoint));
      }
    }
  }

  /// Leaves the checkpoint's step out of its components' names, which are then the same at every step. What is of
  /// another step keeps it.
  void name_components() {
    std::vector<std::string_view> others;
    for (Checkpoint& checkpoint : plan_.checkpoints) {
      for (TensorSet& set : checkpoint.sets) {
        const std::string_view name = set.component.empty() ? std::string_view() : text::leaf_of(set.folder);
        const std::string_view word = name.substr(0, name.find_last_not_of("0123456789-_.=") + 1);
        const auto named = step_of_name(name);
        if (!named || word.empty() || word.ends_with("model")) {
          continue;  // Numbers alone, and those of models, tell components apart.
        }
        const std::string shorter = text::path_in(word, "");
        const auto taken = [&](const TensorSet& one) { return one.component == shorter && one.folder != set.folder; };
        if (named->unit == plan_.unit && named->number == checkpoint.step) {
          set.component = std::ranges::any_of(checkpoint.sets, taken) ? set.component : shorter;
        } else if (others.empty() || others.back() != set.folder) {
          others.push_back(set.folder);
        }
      }
    }
    if (!others.empty()) {
      remark("folders in checkpoints are of other steps, and their tensors' names keep these: " +
             text::first_names(others));
    }
  }

  /// Leaves the number of a checkpoint's folder out of the stems of its files, too. A word that has another number at
  /// some step, none, or one twice (`net_1`, `net_01`) keeps its numbers: they tell files apart.
  void name_stems() {
    using Sets = std::map<std::string, std::vector<TensorSet*>>;  // by component and word
    Sets numbered;
    Sets others;
    for (Checkpoint& checkpoint : plan_.checkpoints) {
      const auto named = step_of_name(checkpoint.path.empty() ? place_ : std::string_view(checkpoint.path));
      std::set<std::string> here;
      for (TensorSet& set : checkpoint.sets) {
        const std::string_view stem = set.stem;
        const auto number = text::parsed<std::int64_t>(stem.substr(stem.find_last_not_of("0123456789") + 1));
        const auto word = set.component + std::string(stem.substr(0, stem.find_last_not_of("0123456789-_.=") + 1));
        const bool same = named && number == named->number && word != set.component && here.insert(word).second;
        (same ? numbered : others)[word].push_back(&set);
      }
    }
    for (const auto& [word, sets] : numbered) {
      for (TensorSet* const set : sets) {
        set->stem = others.contains(word) ? set->stem : word.substr(set->component.size());
      }
    }
  }

  /// Names the folders in those of checkpoints, and of components, whose files are not read: by names alone.
  void leave_out_inner() {
    std::set<std::string_view> read;
    for (const Checkpoint& checkpoint : plan_.checkpoints) {
      read.insert(checkpoint.path);
    }
    const auto of_tensors = [](const storage::DirEntry& file) {
      return file.name.ends_with(distributed_ending) || (!tensor_ending(file.name).empty() && !is_doubtful(file.name));
    };
    const bool of_components = read.contains("") && may_have_components(place_, folders_.find("")->is_pipeline);
    std::vector<std::string_view> others;
    for (const auto& [path, folder] : folders_.folders) {
      const std::string_view outer = std::string_view(path).substr(0, path.find('/'));
      if (!folders_.may_be_read(path) &&
          (read.contains(outer) || (of_components && text::folder_of(path) == outer && !is_checkpoint_folder(outer))) &&
          folders_.find(text::folder_of(path))->folders.size() <= most_noted_inner &&
          std::ranges::any_of(folder.files, of_tensors)) {
        others.push_back(path);
      }
    }
    if (!others.empty()) {
      remark("folders in checkpoints are not read: " + text::first_names(others) + "; name one to read it");
    }
  }

  /// Lists the states of the place itself and of the chosen checkpoints, that with the greatest step first.
  void list_trainer_states() {
    std::vector<std::string>& states = plan_.trainer_states;
    states.push_back(root_.checkpoint.trainer_state);
    std::ranges::transform(plan_.checkpoints, std::back_inserter(states), &Checkpoint::trainer_state);
    states.insert(states.end(), logs_alone_.begin(), logs_alone_.end());
    const auto step_of = [this](const std::string& path) { return step_of_state(path); };
    std::erase_if(states, [&](const std::string& path) { return !step_of(path); });
    std::ranges::stable_sort(states, std::greater(), step_of);
    if (!states.empty() && plan_.unit == StepUnit::epoch) {
      leave_out(states.front(), "its log counts steps, and checkpoints epochs");
      states.clear();
    }
  }

  const CheckpointFolders& folders_;
  std::string_view place_;
  const FileContents& contents_;
  Candidate root_;
  std::vector<Candidate> numbered_;
  std::vector<Candidate> labelled_;
  std::vector<std::string> logs_alone_;  ///< Of checkpoints without tensors and labels.
  CheckpointPlan plan_;
};

}  // namespace

CheckpointPlan plan_checkpoints(const CheckpointFolders& folders, std::string_view place,
                                const FileContents& contents) {
  return Planner(folders, place, contents).plan();
}

CheckpointPlan plan_single_file(const std::string& file, const StatedStep& stated) {
  const TensorFileName name = split_tensor_file_name(file);
  const NamedStep number = number_of({}, stated, step_of_name(name.stem)).value_or(NamedStep{});
  CheckpointPlan plan;
  plan.unit = number.unit;
  plan.checkpoints.push_back({number.number, file, {{.stem = std::string(name.stem), .files = {file}}}, {}});
  return plan;
}

const TensorSet* main_set(std::span<const TensorSet> sets, const std::function<bool(const TensorSet&)>& has_index) {
  std::vector<const TensorSet*> candidates = mapped(sets, [](const TensorSet& set) { return &set; });
  std::erase_if(candidates, [](const TensorSet* set) { return set->files.empty(); });
  const auto without_index = [&](const TensorSet* set) { return !has_index(*set); };
  if (!std::ranges::all_of(candidates, without_index) && candidates.size() > 1) {
    std::erase_if(candidates, without_index);
  }
  if (candidates.size() <= 1) {
    return candidates.empty() ? nullptr : candidates.front();
  }
  const TensorSet* const best = *std::ranges::min_element(candidates, {}, [](const TensorSet* set) {
    return std::tuple(rank_of_model(set->stem), set->stem.size(), std::string_view(set->stem), set->of == 0);
  });
  return rank_of_model(best->stem) == no_model ? nullptr : best;
}

}  // namespace smd::detail::layout
