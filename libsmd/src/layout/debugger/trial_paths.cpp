// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/trial_paths.hpp"

#include "layout/folder_walk.hpp"
#include "text/mapped.hpp"
#include "text/path.hpp"

#include <fmt/compile.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <vector>

namespace smd::detail::layout {

namespace {

/// Parses `000000000010_worker_0`.
std::optional<IndexFileName> parse_stem(std::string_view stem) noexcept {
  IndexFileName name;
  const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), name.step);
  const auto digits = static_cast<std::size_t>(end - stem.data());
  if (error != std::errc{} || digits >= stem.size() || stem[digits] != '_') {
    return std::nullopt;
  }
  name.worker_part = stem.substr(digits + 1);
  return name;
}

/// Replaces both characters of `from` by those of `to` in a device's name, which begins with the first of `from`.
std::string translated(std::string_view worker, std::string_view from, std::string_view to) {
  std::string name(worker);
  if (name.starts_with(from[0])) {
    std::ranges::replace(name, from[0], to[0]);
    std::ranges::replace(name, from[1], to[1]);
  }
  return name;
}

}  // namespace

std::optional<IndexFileName> parse_index_file_name(std::string_view leaf) noexcept {
  const bool csv = leaf.ends_with(".csv");
  if (!csv && !leaf.ends_with(".json")) {
    return std::nullopt;
  }
  auto name = parse_stem(leaf.substr(0, leaf.rfind('.')));
  if (!name || name->worker_part.empty()) {
    return std::nullopt;
  }
  name->csv = csv;
  return name;
}

std::string worker_name(std::string_view worker_part) { return translated(worker_part, "_-", "/:"); }

std::string worker_part(std::string_view worker) { return translated(worker, "/:", "_-"); }

void append_step_digits(std::string& text, std::int64_t step) {
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:012}"), step);
}

void append_index_leaf(std::string& text, std::int64_t step, std::string_view worker_part) {
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:012}_{}.json"), step, worker_part);
}

bool is_index_leaf(std::string_view leaf, const IndexFileName& name) noexcept {
  constexpr std::size_t width = 12;
  const std::string_view digits = leaf.substr(0, leaf.find('_'));
  const bool negative = digits.starts_with('-');
  const bool padded = digits.size() == width || (digits.size() > width && digits[negative ? 1 : 0] != '0');
  return padded && !name.csv && !(negative && name.step == 0);
}

std::string index_path(std::int64_t step, std::string_view worker_part) {
  std::string path = fmt::format("{}/{:0>9}/", index_folder, step / 1000);
  append_index_leaf(path, step, worker_part);
  return path;
}

std::string event_path(std::int64_t step, std::string_view worker_part) {
  std::string path;
  path.reserve(events_folder.size() + std::string_view("/000000000010/000000000010_.tfevents").size() +
               worker_part.size());
  fmt::format_to(std::back_inserter(path), FMT_COMPILE("{}/{:012}/{:012}_{}.tfevents"), events_folder, step, step,
                 worker_part);
  return path;
}

std::optional<IndexFileName> parse_event_path(std::string_view path) noexcept {
  return path.starts_with(events_folder) && path.ends_with(".tfevents")
             ? parse_stem(path.substr(0, path.rfind('.')).substr(path.rfind('/') + 1))
             : std::nullopt;
}

void check_trial_names(storage::Storage& storage, const std::unordered_set<std::string>& event_files,
                       const std::function<void(Problem)>& report) {
  constexpr int deepest = 8;
  constexpr std::array<std::string_view, 5> parts = {"collections", index_folder, events_folder, "tensorboard",
                                                     end_marker};
  constexpr std::array<std::string_view, 3> files = {end_marker, lock_file, "claim.smd"};
  const auto note = [&](const std::string& file, const char* text) { report({ProblemKind::note, file, {}, text}); };
  const std::function<void(const std::string&, int)> check = [&](const std::string& path, int depth) {
    const bool in_root = path.empty();
    const auto listed = storage.list_parts(path, [&](std::vector<storage::DirEntry> entries) {
      std::ranges::sort(entries, [](const auto& a, const auto& b) { return a.name < b.name; });
      for (const auto& entry : entries) {
        const std::string name = text::path_in(path, entry.name);
        if (entry.kind == storage::EntryKind::folder) {
          if (in_root && !contains(parts, entry.name)) {
            note(name, "this folder is no part of a trial");
          } else if (depth < deepest && name != "tensorboard") {
            check(name, depth + 1);
          }
        } else if (is_apple_double(entry.name)) {
          continue;
        } else if (entry.name.ends_with(".tmp")) {
          note(name, "temporary file: being written, or left over by a writer that died");
        } else if (in_root && !contains(files, entry.name)) {
          note(name, "this file is no part of a trial");
        } else if (name.starts_with("events/") && !event_files.contains(name)) {
          note(name, "no readable index file names this file");
        }
      }
    });
    if (!listed) {
      report(listed.problem());
    }
  };
  check("", 0);
}

}  // namespace smd::detail::layout
