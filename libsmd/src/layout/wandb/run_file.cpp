// SPDX-License-Identifier: Apache-2.0
#include "layout/wandb/run_file.hpp"

#include "text/ascii.hpp"
#include "text/limits.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::layout {

namespace {

constexpr std::string_view run = "run-";
constexpr std::string_view offline = "offline-";

/// Returns what follows `run-` or `offline-run-`: the time, and the run's ID.
std::string_view time_of(std::string_view folder) noexcept {
  return folder.substr(run.size() + (folder.starts_with(offline) ? offline.size() : 0));
}

/// Returns whether a sound chunk begins in what the file has of a chunk's payload.
bool holds_chunk(std::span<const std::byte> rest) {
  constexpr auto most = static_cast<std::uint8_t>(wire::WandbChunk::Type::last);
  for (std::size_t type_at = 2 * wire::wandb_header_bytes - 1; type_at < rest.size(); ++type_at) {
    const auto type = std::to_integer<std::uint8_t>(rest[type_at]);
    const std::size_t begin = type_at + 1 - wire::wandb_header_bytes;
    if (type != 0 && type <= most && wire::wandb_chunk(rest.subspan(begin), rest.size() - begin)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_run_file(std::string_view name) noexcept { return name.starts_with(run) && name.ends_with(".wandb"); }

bool is_run_folder(std::string_view name) noexcept {
  constexpr std::string_view time = "00000000_000000-";
  if (!name.substr(name.starts_with(offline) ? offline.size() : 0).starts_with(run)) {
    return false;
  }
  const std::string_view rest = time_of(name);
  return rest.size() > time.size() &&
         std::equal(time.begin(), time.end(), rest.begin(), [](char wanted, char character) {
           return wanted == '0' ? text::is_digit(character) : character == wanted;
         });
}

RunFiles find_run_files(const Entries& entries, const std::function<Entries(const std::string& folder)>& list) {
  RunFiles found;
  for (const storage::DirEntry& entry : entries) {
    if (entry.kind != storage::EntryKind::folder && is_run_file(entry.name)) {
      found.left_out.push_back(entry.name);
    }
  }
  if (!found.left_out.empty()) {
    std::ranges::sort(found.left_out);
    found.paths.push_back(found.left_out.front());
    found.left_out.erase(found.left_out.begin());
    return found;
  }
  std::vector<std::pair<std::string, std::string>> runs;  // folder, file
  for (const storage::DirEntry& entry : entries) {
    if (entry.kind != storage::EntryKind::folder || !is_run_folder(entry.name)) {
      continue;
    }
    Entries files = list(entry.name);
    std::ranges::sort(files, {}, &storage::DirEntry::name);
    const auto file = std::find_if(files.begin(), files.end(), [](const storage::DirEntry& one) {
      return one.kind != storage::EntryKind::folder && is_run_file(one.name);
    });
    if (file != files.end()) {
      runs.emplace_back(entry.name, file->name);
    }
  }
  std::ranges::sort(runs, {},
                    [](const auto& run) { return std::pair(time_of(run.first), std::string_view(run.first)); });
  for (const auto& [folder, file] : runs) {
    found.paths.push_back(text::path_in(folder, file));
    found.one_run = found.one_run && file == runs.front().second;
  }
  return found;
}

RunFileReader::Found RunFileReader::tell(std::string text) {
  problem_ = damaged(std::move(text), reader_.offset());
  open_ = false;
  return Found::problem;
}

RunFileReader::Found RunFileReader::next() {
  using wire::wandb_block_bytes;
  using wire::wandb_header_bytes;
  for (bool goes_on = false;; goes_on = true) {
    const bool in_skipped_block = reader_.offset() < resume_ && !open_;
    if (in_skipped_block || (goes_on && request_.stopped())) {  // zeros or one record may fill the file
      return Found::end;
    }
    const std::size_t left = wandb_block_bytes - reader_.offset() % wandb_block_bytes;
    (void)reader_.have(left);
    const std::span<const std::byte> rest = reader_.unread().first(std::min(left, reader_.unread().size()));
    if (left < wandb_header_bytes) {
      if (rest.size() < left) {
        return Found::end;
      }
      reader_.skip(left);
      resume_ = open_ || zeros_ ? resume_ : reader_.offset();
      continue;
    }
    auto chunk = wire::wandb_chunk(rest, left);
    if (!chunk && chunk.problem().kind == ProblemKind::not_yet) {
      if (!holds_chunk(rest)) {
        return Found::end;
      }
      chunk = damaged("a chunk would end past the end of the file, but others begin within it");
    }
    const bool whole = rest.size() == left || request_.as_it_stands;  // else the hole may still be filled
    if (chunk && chunk->type == wire::WandbChunk::Type::none && whole &&
        std::ranges::any_of(rest, [](std::byte byte) { return byte != std::byte{}; })) {
      chunk = damaged("zeros where a chunk should begin, with data behind them");
    }
    if (!chunk) {
      const Found found = tell(chunk.problem().text + "; what its block has left, and its record, are left out");
      zeros_.reset();
      skipping_ = true;
      resume_ = reader_.offset() + left;  // also what the file does not have yet
      reader_.skip(rest.size());
      return found;
    }
    if (chunk->type == wire::WandbChunk::Type::none) {
      zeros_ = zeros_.value_or(reader_.offset());
      if (rest.size() < left) {
        return Found::end;
      }
      reader_.skip(left);
      continue;
    }
    if (const auto zeros = std::exchange(zeros_, std::nullopt)) {
      problem_ = {ProblemKind::note, {}, zeros, "zeros up to the end of a block, which the SDK does not write"};
      return Found::problem;
    }
    if (const auto found = take_chunk(*chunk)) {
      return *found;
    }
  }
}

std::optional<RunFileReader::Found> RunFileReader::take_chunk(const wire::WandbChunk& chunk) {
  const std::size_t bytes = wire::wandb_header_bytes + chunk.payload.size();
  if (chunk.begins() && open_) {
    resume_ = reader_.offset();
    return tell("a record begins within another, which is left out");
  }
  if (!chunk.begins() && !open_) {
    if (!skipping_) {
      (void)tell("the rest of a record whose beginning is not there");
    }
    reader_.skip(bytes);
    resume_ = reader_.offset();
    return skipping_ ? std::nullopt : std::optional(Found::problem);
  }
  if (chunk.begins()) {
    begin_ = resume_ = reader_.offset();
    joined_.clear();
  }
  open_ = true;
  skipping_ = false;
  reader_.skip(bytes);
  if (chunk.type == wire::WandbChunk::Type::full) {
    payload_ = chunk.payload;
  } else {
    joined_.insert(joined_.end(), chunk.payload.begin(), chunk.payload.end());
    payload_ = joined_;
    if (joined_.size() > limits::json_bytes) {
      joined_ = {};
      skipping_ = true;
      resume_ = reader_.offset();
      const Found found = tell("a record is longer than the limit (json_bytes)");
      problem_.offset = begin_;
      return found;
    }
  }
  if (!chunk.ends()) {
    return std::nullopt;
  }
  open_ = false;
  resume_ = reader_.offset();
  return Found::record;
}

}  // namespace smd::detail::layout
