// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoints_layout.hpp"

#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/path.hpp"

#include <fmt/format.h>

#include <boost/sort/spinsort/spinsort.hpp>

#include <algorithm>
#include <iterator>

namespace smd::detail::layout {

namespace {

using Headers = ReadOnce<TensorFileHeader>;
using Report = std::function<void(Problem)>;

Problem damaged_file(std::string file, std::string text) {
  return {ProblemKind::damaged, std::move(file), {}, std::move(text)};
}

/// Returns the names of a file's tensors, sorted. Nullopt if its header cannot be read.
std::optional<std::vector<std::string_view>> names_in(const std::string& file, const Headers& headers) {
  const auto header = headers.find(file);
  if (!header || header->unreadable ||
      (header->header.entries.empty() && (!header->header.problems.empty() || header->header.cut))) {
    return std::nullopt;
  }
  std::vector<std::string_view> names;
  names.reserve(header->header.entries.size());
  for (std::size_t i = 0; i < header->header.entries.size(); ++i) {
    names.push_back(header->header.entries.name(i));
  }
  boost::sort::spinsort(names.begin(), names.end(), std::less<>());
  return names;
}

/// Returns whether an index names the tensors of its files, in their order, and nothing else: so writers leave them.
/// False says nothing.
bool surely_agrees(const TensorSet& set, const ShardIndex& index, const Headers& headers) {
  struct Place {
    std::shared_ptr<const TensorFileHeader> file;
    std::size_t next = 0;
  };
  std::vector<Place> places =
      mapped(index.files, [&](const auto& file) { return Place{headers.find(text::path_in(set.folder, file))}; });
  const auto names_next = [&](const ShardIndex::Tensor& tensor) {
    Place& place = places[tensor.file];
    const bool same = place.file && place.next < place.file->header.entries.size() &&
                      place.file->header.entries.name(place.next) == tensor.name;
    place.next += same ? 1 : 0;
    return same;
  };
  const auto whole = [](const Place& place) { return place.file && place.next == place.file->header.entries.size(); };
  const std::set<std::string_view> named(index.files.begin(), index.files.end());
  const auto is_named = [&](const std::string& file) { return named.contains(text::leaf_of(file)); };
  return std::ranges::all_of(index.tensors, names_next) && std::ranges::all_of(places, whole) &&
         std::ranges::all_of(set.files, is_named);
}

/// Reports each tensor that the index names but its file lacks, and each that a file has but the index does not name.
void compare_tensors(const TensorSet& set, const ShardIndex& index, const Headers& headers, const Report& report) {
  if (surely_agrees(set, index, headers)) {
    return;
  }
  std::map<std::string_view, std::vector<std::string_view>> indexed;  // by file; sorted
  for (const ShardIndex::Tensor& tensor : index.tensors) {
    indexed[index.files[tensor.file]].push_back(tensor.name);
  }
  std::set<std::string> files(set.files.begin(), set.files.end());
  for (const std::string& file : index.files) {
    files.insert(text::path_in(set.folder, file));
  }
  for (const std::string& file : files) {
    const std::string_view leaf = text::leaf_of(file);
    const auto names = names_in(file, headers);
    if (!names) {
      continue;
    }
    const auto report_missing = [&](const auto& some, const auto& others, const char* how) {
      std::vector<std::string_view> differ;
      std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(differ));
      for (const std::string_view tensor : differ) {
        report(damaged_file(
            set.index, "index and " + in_quotes(leaf) + " disagree about tensor " + in_quotes(tensor) + ": " + how));
      }
    };
    report_missing(indexed[leaf], *names, "it is not there");
    report_missing(*names, indexed[leaf], "it is there, and the index does not say so");
  }
}

void check_index(const TensorSet& set, const ShardIndex& index, const Headers& headers, const Report& report,
                 const Report& missing) {
  for (Problem& problem : index.problems.all()) {
    report(in_file(std::move(problem), set.index));
  }
  std::vector<std::string_view> absent;
  std::ranges::copy_if(index.files, std::back_inserter(absent),
                       [&](const auto& file) { return headers.find(text::path_in(set.folder, file)) == nullptr; });
  if (!absent.empty() && absent.size() == index.files.size()) {
    const Report& tell = set.files.empty() ? missing : report;
    const char* const what = set.files.empty() ? "the checkpoint is partial" : "the index is stale";
    return tell(damaged_file(
        set.index, fmt::format("{}: none of the {} files that the index names is there", what, absent.size())));
  }
  for (const std::string_view file : absent) {
    missing(damaged_file(text::path_in(set.folder, file),
                         "is not there, and the index names it: the checkpoint is partial"));
  }
  compare_tensors(set, index, headers, report);
}

/// Reports missing shards of a set without an index, by the number of shards in their names.
void check_count(const TensorSet& set, const Report& missing) {
  constexpr std::size_t most_reported = 20;
  std::vector<bool> there(std::size_t{set.of} + 1);
  for (const std::string& file : set.files) {
    there[split_tensor_file_name(file).shard] = true;
  }
  const auto absent = static_cast<std::size_t>(std::count(there.begin() + 1, there.end(), false));
  const std::string_view stem = split_tensor_file_name(set.files.front()).stem;
  std::size_t reported = 0;
  for (std::uint32_t shard = 1; shard <= set.of; ++shard) {
    if (there[shard] || ++reported > most_reported) {
      continue;
    }
    const std::string more = reported == most_reported && absent > reported
                                 ? fmt::format(", and {} more of its shards are not there either", absent - reported)
                                 : std::string();
    missing(damaged_file(text::path_in(set.folder, fmt::format("{}-{:05}-of-{:05}{}", stem, shard, set.of, set.ending)),
                         "is not there: the checkpoint is partial" + more));
  }
}

}  // namespace

bool has_whole_index(const TensorSet& set, const CheckpointListing& listing) {
  const auto index = listing.indexes.find(set.index);
  return index && *index && std::any_of((*index)->files.begin(), (*index)->files.end(), [&](const std::string& file) {
           return listing.headers.find(text::path_in(set.folder, file)) != nullptr;
         });
}

void check_shards(const TensorSet& set, const CheckpointListing& listing, const Report& report, const Report& missing) {
  if (const auto index = listing.indexes.find(set.index); index && *index) {
    check_index(set, **index, listing.headers, report, missing);
  } else if (set.of > 0) {
    check_count(set, missing);
  }
}

}  // namespace smd::detail::layout
