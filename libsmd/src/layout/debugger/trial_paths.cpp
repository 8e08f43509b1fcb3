// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/trial_paths.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace smd::detail::layout {

std::optional<IndexFileName> parse_index_file_name(std::string_view leaf) noexcept {
  IndexFileName name;
  if (leaf.ends_with(".json")) {
    leaf.remove_suffix(5);
  } else if (leaf.ends_with(".csv")) {
    leaf.remove_suffix(4);
    name.csv = true;
  } else {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(leaf.data(), leaf.data() + leaf.size(), name.step);
  const auto digits = static_cast<std::size_t>(end - leaf.data());
  if (error != std::errc{} || digits >= leaf.size() || leaf[digits] != '_') {
    return std::nullopt;
  }
  name.worker_part = leaf.substr(digits + 1);
  if (name.worker_part.empty()) {
    return std::nullopt;
  }
  return name;
}

std::string worker_name(std::string_view worker_part) {
  std::string name(worker_part);
  if (name.starts_with('_')) {
    std::replace(name.begin(), name.end(), '_', '/');
    std::replace(name.begin(), name.end(), '-', ':');
  }
  return name;
}

std::string worker_part(std::string_view worker) {
  std::string part(worker);
  if (part.starts_with('/')) {
    std::replace(part.begin(), part.end(), '/', '_');
    std::replace(part.begin(), part.end(), ':', '-');
  }
  return part;
}

void append_step_digits(std::string& text, std::int64_t step) {
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), step);
  std::string_view number(digits.data(), static_cast<std::size_t>(end - digits.data()));
  std::size_t width = 12;
  if (number.starts_with('-')) {
    text.push_back('-');
    number.remove_prefix(1);
    width = 11;
  }
  text.append(width - std::min(width, number.size()), '0');
  text.append(number);
}

std::string index_leaf(std::int64_t step, std::string_view worker_part) {
  std::string leaf;
  leaf.reserve(12 + 1 + worker_part.size() + 5);
  append_step_digits(leaf, step);
  leaf.push_back('_');
  leaf.append(worker_part);
  leaf.append(".json");
  return leaf;
}

bool is_index_leaf(std::string_view leaf, const IndexFileName& name) noexcept {
  constexpr std::size_t width = 12;
  const std::string_view digits = leaf.substr(0, leaf.find('_'));
  const bool negative = digits.starts_with('-');
  const bool padded = digits.size() == width || (digits.size() > width && digits[negative ? 1 : 0] != '0');
  return padded && !name.csv && !(negative && name.step == 0);
}

std::string index_path(std::int64_t step, std::string_view worker_part) {
  const std::string thousands = std::to_string(step / 1000);
  std::string path(index_folder);
  path.push_back('/');
  path.append(9 - std::min<std::size_t>(9, thousands.size()), '0');
  path.append(thousands);
  path.push_back('/');
  path.append(index_leaf(step, worker_part));
  return path;
}

std::string event_path(std::int64_t step, std::string_view worker_part) {
  std::string path;
  path.reserve(7 + 12 + 1 + 12 + 1 + worker_part.size() + 9);
  path.append(events_folder);
  path.push_back('/');
  append_step_digits(path, step);
  path.push_back('/');
  append_step_digits(path, step);
  path.push_back('_');
  path.append(worker_part);
  path.append(".tfevents");
  return path;
}

std::optional<std::int64_t> event_file_step(std::string_view path) noexcept {
  if (!path.starts_with(events_folder) || !path.ends_with(".tfevents")) {
    return std::nullopt;
  }
  const std::string_view leaf = path.substr(path.rfind('/') + 1);
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(leaf.data(), leaf.data() + leaf.size(), step);
  return error == std::errc{} && end != leaf.data() + leaf.size() && *end == '_' ? std::optional(step) : std::nullopt;
}

namespace {

/// Reports names that are no part of a trial, and event files that no index file names.
class NameCheck {
 public:
  NameCheck(storage::Storage& storage, const std::unordered_set<std::string>& event_files,
            const std::function<void(Problem)>& report)
      : storage_(storage), event_files_(event_files), report_(report) {}

  void folder(const std::string& path, int depth) {
    const auto listed = storage_.list_parts(path, [&](Entries entries) { part(path, depth, std::move(entries)); });
    if (!listed) {
      report_(listed.problem());
    }
  }

 private:
  using Entries = std::vector<storage::DirEntry>;
  static constexpr int deepest = 8;

  void part(const std::string& path, int depth, Entries entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& entry : entries) {
      const std::string name = path.empty() ? entry.name : path + "/" + entry.name;
      if (entry.kind == storage::EntryKind::folder) {
        if (path.empty() && !is_part(entry.name)) {
          report_(note(name, "this folder is no part of a trial"));
        } else if (depth < deepest && name != "tensorboard") {
          folder(name, depth + 1);
        }
      } else {
        file(name, entry.name, path.empty());
      }
    }
  }

  static Problem note(const std::string& file, const char* text) { return {ProblemKind::note, file, {}, text}; }
  static bool is_part(const std::string& folder) {
    return folder == "collections" || folder == index_folder || folder == events_folder || folder == "tensorboard" ||
           folder == end_marker;
  }

  void file(const std::string& name, const std::string& leaf, bool in_root) {
    if (leaf.ends_with(".tmp")) {
      report_(note(name, "temporary file: being written, or left over by a writer that died"));
    } else if (in_root && leaf != end_marker && leaf != lock_file && leaf != "claim.smd") {
      report_(note(name, "this file is no part of a trial"));
    } else if (name.starts_with("events/") && !event_files_.contains(name)) {
      report_(note(name, "no readable index file names this file"));
    }
  }

  storage::Storage& storage_;
  const std::unordered_set<std::string>& event_files_;
  const std::function<void(Problem)>& report_;
};

}  // namespace

void check_trial_names(storage::Storage& storage, const std::unordered_set<std::string>& event_files,
                       const std::function<void(Problem)>& report) {
  NameCheck(storage, event_files, report).folder("", 0);
}

}  // namespace smd::detail::layout
