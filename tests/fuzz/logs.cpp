// SPDX-License-Identifier: Apache-2.0
// Whole event files as a log directory, opened through the public interface: first with each file cut somewhere, then
// whole. The second look must know what a single one knows, each value that counts once, and problems must name places
// within their files. The first byte says whether checksums are made right, so that what they protect is reached; then
// follow the files: which name, where it is cut, content, separator. seeds.py makes such inputs.
#include <smd/error.hpp>
#include <smd/tensor.hpp>
#include <smd/trial.hpp>

#include "source.hpp"
#include "target.hpp"
#include "wire/framing.hpp"
#include "work_folder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using namespace smd;

namespace {

constexpr std::string_view separator = "%%NEXT%%";

/// Restarts of one process and of another, concurrent writers, and sides.
constexpr std::array<std::string_view, 6> names = {
    "events.out.tfevents.1700000000.host.1.0",       "events.out.tfevents.1700000000.host.1.1",
    "events.out.tfevents.1700000001.host.2.0",       "events.out.tfevents.1700000002.other.2.0",
    "train/events.out.tfevents.1700000000.host.1.0", "val/events.out.tfevents.1700000000.host.1.0",
};

/// Makes both checksums of each record right, as far as the lengths lead.
std::string repaired(std::string_view events) {
  constexpr std::size_t header_bytes = 12;
  constexpr std::size_t footer_bytes = 4;
  std::string result;
  while (events.size() >= header_bytes) {
    std::uint64_t length = 0;
    std::memcpy(&length, events.data(), sizeof length);
    if (length > events.size() - header_bytes) {
      break;
    }
    const std::string_view payload = events.substr(header_bytes, static_cast<std::size_t>(length));
    detail::wire::append_record(result, fuzz::bytes_of(payload), detail::wire::Protection::checksum);
    events.remove_prefix(std::min(events.size(), header_bytes + payload.size() + footer_bytes));
  }
  return result.append(events);
}

struct LogFile {
  std::string content;
  std::size_t cut = 0;  ///< How much of it the first look sees.
};

std::map<std::string_view, LogFile> files_of(fuzz::Source& source) {
  const bool repair = (source.number() & 1) != 0;
  std::map<std::string_view, LogFile> files;
  while (!source.empty() && files.size() < names.size()) {
    fuzz::Source piece(source.piece(separator));
    LogFile& file = files[names[piece.number() % names.size()]];
    const std::size_t cut = piece.number<std::uint16_t>();
    file.content = repair ? repaired(piece.rest()) : std::string(piece.rest());
    file.cut = cut * (file.content.size() + 1) >> 16;
  }
  return files;
}

using Key = std::tuple<std::string, std::string, GlobalStep>;  // tensor, worker, step
struct Saved {
  std::optional<Place> value;
  std::map<std::string, Place> reductions;

  bool operator==(const Saved&) const = default;
};

/// Each value that counts, once.
std::map<Key, Saved> entries_of(const Trial& trial) {
  std::map<Key, Saved> entries;
  trial.for_each_entry({.include_incomplete = true}, [&](const TensorEntry& entry) {
    Saved saved{entry.value, {}};
    for (const SavedReduction& reduction : entry.reductions) {
      saved.reductions.emplace(reduction.name, reduction.place);
    }
    SMD_REQUIRE(saved.value || !saved.reductions.empty());
    SMD_REQUIRE(entries.emplace(Key(entry.tensor, entry.worker, entry.step), std::move(saved)).second);
    return true;
  });
  return entries;
}

std::vector<std::string> problems_of(const Trial& trial, const std::map<std::string_view, LogFile>& files) {
  std::vector<std::string> texts;
  for (const Problem& problem : trial.problems()) {
    SMD_REQUIRE(!problem.text.empty());
    if (problem.offset) {
      const auto file = files.find(problem.file);
      SMD_REQUIRE(file != files.end() && *problem.offset <= file->second.content.size());
    }
    texts.push_back(to_string(problem));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

void read_all(const Trial& trial, const std::map<Key, Saved>& entries) {
  std::vector<WantedValue> wanted;
  for (const auto& [key, saved] : entries) {
    if (saved.value && wanted.size() < 64) {
      wanted.push_back({*saved.value, std::get<0>(key)});
    }
  }
  trial.read(wanted,
             [&](std::size_t, ReadResult&& result) {
               SMD_REQUIRE(result.value.has_value() != result.problem.has_value());
               SMD_REQUIRE(!result.problem || !result.problem->text.empty());
               return true;
             },
             {.jobs = 1});
}

std::optional<Trial> opened(const std::string& path, bool as_it_stands = false) {
  try {
    return Trial::open(path, {.jobs = 1, .as_it_stands = as_it_stands, .auto_refresh = false});
  } catch (const Error& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
    return std::nullopt;
  }
}

/// Whether tags of two runs make one name. A warning at one of them says so; at which one, and which of two values at a
/// step counts, depends on when each was seen.
bool names_clash(const Trial& trial) {
  const std::vector<Problem> problems = trial.problems();
  return std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.kind == ProblemKind::warning && problem.text.find("have one name") != std::string::npos;
  });
}

void check_same(const Trial& grown, const Trial& whole, const std::map<std::string_view, LogFile>& files) {
  const std::map<Key, Saved> entries = entries_of(whole);
  const std::vector<std::string> problems = problems_of(grown, files);
  if (!names_clash(whole)) {
    SMD_REQUIRE(entries_of(grown) == entries && grown.superseded() == whole.superseded());
    SMD_REQUIRE(grown.steps(true) == whole.steps(true) && grown.tensor_names() == whole.tensor_names());
    SMD_REQUIRE(problems == problems_of(whole, files));
  }
  read_all(whole, entries);
}

}  // namespace

SMD_FUZZ_ENTRY(logs)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  const std::map<std::string_view, LogFile> files = files_of(source);
  const fuzz::WorkFolder& folder = fuzz::empty_work_folder();
  const auto write = [&](bool whole) {
    for (const auto& [name, file] : files) {
      SMD_REQUIRE(folder.write(name, std::string_view(file.content).substr(0, whole ? std::string::npos : file.cut)));
    }
  };
  write(false);
  std::optional<Trial> grown = opened(folder.path());
  write(true);
  const std::optional<Trial> whole = opened(folder.path());
  // What begins as text is no log, until more of it shows that it is a damaged one; what is empty may become text.
  if (grown) {
    grown->refresh();
    if (whole) {
      check_same(*grown, *whole, files);
    }
  }
  if (const std::optional<Trial> stands = opened(folder.path(), true)) {
    (void)problems_of(*stands, files);
    read_all(*stands, entries_of(*stands));
  }
  return 0;
}
