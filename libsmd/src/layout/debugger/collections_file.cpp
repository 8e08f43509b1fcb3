// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/collections_file.hpp"

#include "base/parallel.hpp"
#include "layout/debugger/debugger_layout.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/debugger/whole_file.hpp"
#include "layout/folder_walk.hpp"
#include "text/escape.hpp"
#include "text/json_reader.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "text/path.hpp"
#include "text/trim.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <string_view>
#include <utility>

namespace smd::detail::layout {

namespace {

using text::JsonValue;

/// A collection whose file is not read to its end: the last value of a repeated key counts, as in the reference.
struct Draft {
  std::optional<std::string> name;
  Collection collection;
  std::string wrong_names;  ///< What is wrong with `tensor_names`; empty if nothing is.
  std::string wrong_patterns;
};

/// What a file holds. Nullopt: not an object.
struct Drafts {
  std::optional<std::map<std::string, std::optional<Draft>>> collections;
  bool has_workers = false;
  std::optional<std::int64_t> workers;
};

/// Reads a list of texts. Returns what is wrong with it; empty if nothing is.
std::string read_texts(JsonValue& value, std::size_t longest, std::vector<std::string>& texts) {
  texts.clear();
  std::size_t refused = 0;
  const bool is_list = value.items([&](JsonValue& item) {
    if (const auto text = item.text(); text && text->size() <= longest) {
      texts.emplace_back(*text);
    } else {
      ++refused;
    }
  });
  return !is_list && !value.is_null() ? "is not a list"
         : refused == 0               ? std::string()
                                      : "holds " + std::to_string(refused) +
                              (refused == 1 ? " entry that is no text" : " entries that are no texts") +
                              " of at most " + std::to_string(longest / 1024) + " KiB";
}

std::optional<ReductionConfig> reductions_of(JsonValue& value) {
  ReductionConfig config;
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "save_raw_tensor") {
      config.save_raw_tensor = member.boolean().value_or(false);
    } else if (key == "save_shape") {
      config.save_shape = member.boolean().value_or(false);
    } else if (key == "reductions") {
      config.reductions = text::list_items(member.text().value_or(std::string_view()), {});
    }
  });
  return is_object ? std::optional(std::move(config)) : std::nullopt;
}

std::optional<SaveConfigMode> mode_config_of(JsonValue& value) {
  const SaveConfigMode fallback;
  SaveConfigMode config;
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "save_interval") {
      config.save_interval = member.integer().value_or(fallback.save_interval);
    } else if (key == "start_step") {
      config.start_step = member.integer().value_or(fallback.start_step);
    } else if (key == "end_step") {
      config.end_step = member.integer();
    } else if (key == "save_steps") {
      config.save_steps.clear();
      member.items([&](JsonValue& item) {
        if (const auto step = item.integer()) {
          config.save_steps.push_back(*step);
        }
      });
    }
  });
  return is_object ? std::optional(std::move(config)) : std::nullopt;
}

std::map<Mode, SaveConfigMode> modes_of(JsonValue& value) {
  std::map<Mode, SaveConfigMode> modes;
  value.members([&](std::string_view key, JsonValue& member) {
    const auto mode = parse_mode(key);
    auto config = mode ? mode_config_of(member) : std::nullopt;
    if (config) {
      modes.insert_or_assign(*mode, std::move(*config));
    } else if (mode) {
      modes.erase(*mode);
    }
  });
  return modes;
}

std::optional<Draft> draft_of(JsonValue& value) {
  Draft draft;
  Collection& collection = draft.collection;
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "name") {
      const auto text = member.text();
      draft.name = text ? std::optional(std::string(*text)) : std::nullopt;
    } else if (key == "tensor_names") {
      draft.wrong_names = read_texts(member, limits::name_bytes, collection.tensor_names);
    } else if (key == "include_regex") {
      draft.wrong_patterns = read_texts(member, limits::pattern_bytes, collection.include_regex);
    } else if (key == "reduction_config") {
      collection.reduction_config = reductions_of(member);
    } else if (key == "save_config") {
      collection.save_config = modes_of(member);
    } else if (key == "save_histogram") {
      collection.save_histogram = member.boolean();
    }
  });
  return is_object ? std::optional(std::move(draft)) : std::nullopt;
}

void read_root(Drafts& drafts, std::string_view key, JsonValue& value) {
  if (key == "collections") {
    drafts.collections.emplace();
    const bool is_object = value.members([&](std::string_view name, JsonValue& member) {
      drafts.collections->insert_or_assign(std::string(name), draft_of(member));
    });
    if (!is_object) {
      drafts.collections.reset();
    }
  } else if (key == "_meta") {
    drafts.has_workers = false;
    value.members([&](std::string_view name, JsonValue& member) {
      if (name == "num_workers") {
        drafts.has_workers = !member.is_null();
        drafts.workers = member.integer();
      }
    });
  }
}

/// `nameless`: empty keys stand for names that are not Unicode.
CollectionsFile finished(Drafts&& drafts, bool nameless, ProblemList& notes) {
  CollectionsFile file;
  for (auto& [key, draft] : *drafts.collections) {
    if (nameless && key.empty()) {
      continue;
    }
    if (!draft) {
      notes.add(damaged("collection " + in_quotes(key) + " is not an object"));
      continue;
    }
    std::string name = std::move(draft->name).value_or(key);
    if (name.size() > limits::name_bytes) {
      notes.add(damaged("a collection's name is longer than the limit (name_bytes)"));
      continue;
    }
    if (name != key) {
      notes.add(make_problem(ProblemKind::note, "collection " + in_quotes(key) + " calls itself " + in_quotes(name)));
    }
    for (const auto& [texts, wrong] :
         {std::pair("tensor_names", &draft->wrong_names), std::pair("include_regex", &draft->wrong_patterns)}) {
      if (!wrong->empty()) {
        notes.add(damaged("collection " + in_quotes(name) + ": '" + texts + "' " + *wrong));
      }
    }
    Collection read = std::move(draft->collection);
    draft.reset();
    std::ranges::sort(read.tensor_names);
    read.name = name;
    file.collections.insert_or_assign(std::move(name), std::move(read));
  }
  if (drafts.has_workers) {
    file.num_workers = drafts.workers;
    if (!drafts.workers) {
      notes.add(damaged("'num_workers' is no number"));
    }
  }
  return file;
}

using ReadFile = Outcome<std::shared_ptr<const KnownCollections>>;

/// Collections with the state of their files, which shows whether they must be read again.
struct DebuggerCollections final : CollectionsInfo {
  std::vector<std::string> files;                         ///< Their names within the folder, by worker.
  std::vector<std::optional<storage::FileStamp>> stamps;  ///< Of `files`, before they were read.
};

/// Returns whether the files are those that were read before. Without stamps, equal names mean equal content.
bool same_files(const DebuggerCollections& before, const DebuggerCollections& now) {
  return before.files == now.files &&
         std::equal(before.stamps.begin(), before.stamps.end(), now.stamps.begin(), now.stamps.end(),
                    [](const auto& a, const auto& b) { return !a || !b || a == b; });
}

/// Returns whether a copying tool may still write the file.
bool may_grow(storage::Storage& storage, const std::string& path, std::chrono::nanoseconds half_written) {
  const auto written = storage.written_at(path);
  return written && storage::age_of(*written) < half_written && !storage.exists(end_marker);
}

/// Returns whether all workers that save have their collections, and there were no problems.
bool all_there(const CollectionsInfo& info) {
  return info.found && info.problems.empty() &&
         static_cast<std::int64_t>(info.workers.size()) >= info.num_workers.value_or(1);
}

/// Returns worker and name of each collections file among a folder's entries, by worker. Sets `problems` to notes on
/// other files.
std::vector<std::pair<std::string, std::string>> collections_files(const std::vector<storage::DirEntry>& entries,
                                                                   std::vector<Problem>& problems) {
  std::vector<std::pair<std::string, std::string>> files;
  ProblemList strays(limits::problems_per_trial);
  for (const storage::DirEntry& entry : entries) {
    std::string_view part = entry.name;
    if (entry.kind == storage::EntryKind::folder || part.ends_with(".tmp") || is_apple_double(part)) {
      continue;
    }
    if (!part.ends_with(collections_suffix) || part.size() == collections_suffix.size()) {
      strays.add(make_problem(ProblemKind::note, "ignored: the name is not that of a collections file",
                              text::path_in(collections_folder, entry.name)));
      continue;
    }
    part.remove_suffix(collections_suffix.size());
    files.emplace_back(worker_name(part), entry.name);
  }
  problems = strays.all(std::string(collections_folder));
  std::ranges::sort(files);
  return files;
}

}  // namespace

Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> bytes, ProblemList& notes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) {
    return damaged("the file is empty", 0);
  }
  Drafts drafts;
  text::JsonReader reader({.half_pairs = text::JsonReader::HalfPairs::left_out});
  const auto error = reader.read(text, [&](std::string_view key, JsonValue& value) { read_root(drafts, key, value); });
  if (error) {
    return wire::json_problem(*error, text);
  }
  if (!drafts.collections) {
    return damaged("there is no object 'collections'");
  }
  const auto& left_out = reader.unrepresentable();
  CollectionsFile file = finished(std::move(drafts), left_out.has_value(), notes);
  const auto is_damage = [](const Problem& note) { return note.kind == ProblemKind::damaged; };
  if (left_out && std::ranges::none_of(notes.kept(), is_damage)) {
    notes.add(damaged("a text with half a surrogate pair, or a number beyond a double, is left out", *left_out));
  }
  return file;
}

void CollectionsUnion::add(std::map<std::string, Collection>&& more) {
  for (auto& [name, collection] : more) {
    const auto [it, added] = collections_.try_emplace(name);
    Merged& known = it->second;
    for (std::string& pattern : collection.include_regex) {
      // Patterns keep the order of their first appearance.
      if (known.patterns.insert(pattern).second) {
        known.collection.include_regex.push_back(std::move(pattern));
      }
    }
    if (added) {
      std::vector<std::string> patterns = std::move(known.collection.include_regex);
      known.collection = std::move(collection);
      known.collection.include_regex = std::move(patterns);
      known.sorted = known.collection.tensor_names.size();
      continue;
    }
    std::vector<std::string>& names = known.collection.tensor_names;
    std::move(collection.tensor_names.begin(), collection.tensor_names.end(), std::back_inserter(names));
    // Most files repeat the names of the one before. Sorting at each doubling bounds memory and time by the size of the
    // union.
    if (names.size() > 2 * known.sorted + 1024) {
      known.sort_names();
    }
  }
}

std::map<std::string, Collection> CollectionsUnion::take() {
  std::map<std::string, Collection> result;
  for (auto& [name, merged] : collections_) {
    merged.sort_names();
    result.emplace_hint(result.end(), name, std::move(merged.collection));
  }
  collections_.clear();
  return result;
}

void CollectionsUnion::Merged::sort_names() {
  sort_each_once(collection.tensor_names);
  sorted = collection.tensor_names.size();
}

Outcome<std::shared_ptr<const KnownCollections>> known_collections(std::span<const std::byte> text) {
  constexpr std::size_t most_kept = std::size_t{64} << 10;  // bytes of text, which stay in memory
  using LastText = std::pair<std::string, std::shared_ptr<const KnownCollections>>;
  static std::mutex mutex;
  static std::shared_ptr<const LastText> last;  // guarded
  const std::string_view characters(reinterpret_cast<const char*>(text.data()), text.size());
  std::unique_lock lock(mutex);
  const auto known = last;
  lock.unlock();
  if (known && known->first == characters) {
    return known->second;
  }
  ProblemList notes(limits::problems_per_file);
  auto file = parse_collections_file(text, notes);
  if (!file) {
    return std::move(file.problem());
  }
  CollectionsUnion united;
  united.add(std::move(file->collections));
  std::shared_ptr<const KnownCollections> content = std::make_shared<KnownCollections>(
      KnownCollections{CollectionMap(united.take()), file->num_workers, notes.all()});
  if (text.size() <= most_kept) {
    auto now = std::make_shared<const LastText>(characters, content);
    lock.lock();
    last.swap(now);  // the one before is freed without the lock
    lock.unlock();
  }
  return content;
}

std::shared_ptr<const CollectionsInfo> read_collections(storage::Storage& storage,
                                                        std::shared_ptr<const CollectionsInfo> before,
                                                        std::chrono::nanoseconds half_written) {
  if (before && storage.remote() && all_there(*before)) {
    return before;  // the reference writes each file once: it is not worth requests at each look
  }
  auto result = std::make_shared<DebuggerCollections>();
  DebuggerCollections& info = *result;
  auto listed = storage.open_listed(collections_folder);
  if (!listed) {
    if (listed.problem().kind != ProblemKind::not_found) {
      info.problems.push_back(listed.problem());
    }
    return result;
  }
  const auto files = collections_files(listed->entries, info.problems);
  Outcome<std::unique_ptr<storage::Folder>> folder = std::move(listed->folder);
  for (const auto& [worker, leaf] : files) {
    info.files.push_back(leaf);
    info.stamps.push_back(*folder ? (*folder)->stamp(leaf)
                                  : storage.file_stamp(text::path_in(collections_folder, leaf)));
  }
  if (before && before->problems.empty() && info.problems.empty() &&
      same_files(static_cast<const DebuggerCollections&>(*before), info)) {
    return before;
  }
  if (!*folder) {
    folder = storage.open_folder(collections_folder);
  }
  std::string first_worker;  // that says how many save
  // Most files repeat the one before, and are not looked at again.
  CollectionMap last;
  std::optional<CollectionsUnion> united;
  LongFiles long_files;
  const auto read = [&](std::size_t i, unsigned) -> ReadFile {
    if (!folder) {
      return folder.problem();
    }
    Buffer buffer;
    const WholeFile whole = read_whole(**folder, files[i].second, buffer, long_files);
    return whole.text ? known_collections(*whole.text) : whole.text.problem();
  };
  const unsigned jobs = storage.remote() ? storage.parallelism() : 1;
  parallel_ordered(jobs, files.size(), jobs, read, [&](std::size_t i, ReadFile&& one) {
    const auto& [worker, leaf] = files[i];
    const std::string path = text::path_in(collections_folder, leaf);
    const auto add = [&](Problem problem) { info.problems.push_back(in_file(std::move(problem), path)); };
    const bool counted = before && std::ranges::binary_search(before->workers, worker);
    if (!one && !counted && one.problem().kind == ProblemKind::damaged && may_grow(storage, path, half_written)) {
      one.problem().kind = ProblemKind::not_yet;
      add(std::move(one.problem()));
      return true;
    }
    if (info.workers.empty() || info.workers.back() != worker) {
      info.workers.push_back(worker);
    }
    if (!one) {
      add(std::move(one.problem()));
      return true;
    }
    const KnownCollections& file = **one;
    std::ranges::for_each(file.notes, add);
    const std::int64_t workers = file.num_workers.value_or(1);
    if (!info.num_workers) {
      info.num_workers = workers;
      first_worker = worker;
      last = file.collections;
    } else if (*info.num_workers != workers) {
      add(make_problem(ProblemKind::warning, "says that " + std::to_string(workers) + " workers save, that of " +
                                                 printable(first_worker) + " says " +
                                                 std::to_string(*info.num_workers)));
    }
    if (!file.collections.is(last)) {
      if (!united) {
        united.emplace().add(CollectionMap::Map(*last));
      }
      united->add(CollectionMap::Map(*file.collections));
      last = file.collections;
    }
    return true;
  });
  info.found = !info.workers.empty();
  info.collections = united ? CollectionMap(united->take()) : last;
  return result;
}

}  // namespace smd::detail::layout
