// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoints_layout.hpp"

#include "layout/checkpoints/checkpoint_files.hpp"
#include "layout/checkpoints/checkpoint_folders.hpp"
#include "layout/checkpoints/checkpoint_names.hpp"
#include "layout/checkpoints/look_at_checkpoints.hpp"
#include "layout/checkpoints/trainer_state.hpp"
#include "wire/first_bytes.hpp"
#include "wire/safetensors.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace smd::detail::layout {

namespace {

class CheckpointsLayout final : public Layout {
 public:
  explicit CheckpointsLayout(Opening place) : place_(std::move(place)) {}

  [[nodiscard]] bool rows_name_seen_files() const noexcept override { return true; }
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_checkpoints(storage, request, place_, static_cast<const CheckpointListing*>(before),
                               std::move(collections));
  }
  /// Reads every trainer_state.json, also those that do not count.
  void check_names(storage::Storage& storage, const std::unordered_set<std::string>& /*used*/,
                   const std::function<void(Problem)>& report) const override {
    const auto folders = place_.file.empty() ? list_checkpoint_folders(storage) : Outcome(CheckpointFolders());
    if (!folders) {
      return;  // reported by the look
    }
    for (const auto& [path, folder] : folders->folders) {
      if (!folder.has_trainer_state() || !(path.empty() || is_checkpoint_folder(path))) {
        continue;
      }
      const std::string file = path + (path.empty() ? "" : "/") + std::string(trainer_state_name);
      Buffer buffer;
      const auto text = read_json_text(storage, file, buffer);
      Outcome<TrainerLog> log = text ? parse_trainer_log(*text) : text.problem();
      if (!log && log.problem().kind == ProblemKind::damaged) {
        log.problem().file = file;
        report(std::move(log.problem()));
      }
    }
  }

 private:
  Opening place_;
};

}  // namespace

std::unique_ptr<Layout> checkpoints_layout(const Opening& what) { return std::make_unique<CheckpointsLayout>(what); }

std::optional<Held> holds_checkpoints(FolderWalk& folder) {
  const auto holds_files = [&](const Entries& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [](const storage::DirEntry& entry) { return is_checkpoint_file(entry.name); });
  };
  const auto holds_components = [&](const std::string& name) {
    const Entries& entries = folder.below(name);
    return std::any_of(entries.begin(), entries.end(), [&](const storage::DirEntry& entry) {
      return entry.kind == storage::EntryKind::folder &&
             holds_files(folder.below(name.empty() ? entry.name : name + "/" + entry.name));
    });
  };
  const bool of_components = may_have_components(folder.name(), folder.has(pipeline_name));
  const auto is_checkpoint = [&](const storage::DirEntry& entry) {
    return entry.kind == storage::EntryKind::folder && is_checkpoint_folder(entry.name) &&
           (holds_files(folder.below(entry.name)) ||
            (may_have_components(entry.name, false) && holds_components(entry.name)));
  };
  if (!holds_files(folder.entries()) && !(of_components && holds_components({})) &&
      std::none_of(folder.entries().begin(), folder.entries().end(), is_checkpoint)) {
    return std::nullopt;
  }
  return Held{.reads_below = [of_components](std::string_view below) {
    const std::size_t slash = below.find('/');
    const std::string_view name = below.substr(0, slash);
    return slash == below.npos ? of_components || is_checkpoint_folder(name)
                               : may_have_components(name, false) && below.find('/', slash + 1) == below.npos;
  }};
}

bool is_safetensors_file(const Opening& what, std::span<const std::byte> first) {
  return wire::looks_like_safetensors(first) ||
         (is_safetensors(what.file) && wire::known_file(first, what.file) == nullptr);
}

}  // namespace smd::detail::layout
