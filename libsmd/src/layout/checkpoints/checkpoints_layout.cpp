// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoints_layout.hpp"

#include "layout/checkpoints/checkpoint_listing.hpp"
#include "text/escape.hpp"
#include "text/words.hpp"
#include "wire/first_bytes.hpp"
#include "wire/safetensors.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::layout {

namespace {

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

/// Checks what is no tensor's value.
void check_torch_file(storage::Storage& storage, const CheckpointRow& row, const TensorFileHeader& header,
                      const std::function<void(Problem)>& report) {
  tell_globals(row.path, *header.torch, report);
  std::vector<std::string_view> parts;
  const wire::FileTensors& tensors = header.header.entries;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].part) {
      parts.push_back(tensors.name(i));
    }
  }
  if (!parts.empty()) {
    report({ProblemKind::remark,
            {},
            {},
            printable(row.path) + ": " + text::counted(parts.size(), "tensor") +
                (parts.size() == 1 ? " is one process's part of a larger one: "
                                   : " are one process's parts of larger ones: ") +
                text::first_names(parts)});
  }
  const auto file = header.torch->source ? storage.open(row.path) : Problem();
  if (file) {
    header.torch->source->verify_others(**file, {}, [&](Problem problem) {
      problem.file = row.path;
      report(std::move(problem));
    });
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
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    return look_at_checkpoints(storage, request, place_, static_cast<const CheckpointListing*>(before),
                               std::move(collections));
  }
  /// Reads every trainer_state.json, also those that do not count, verifies the checksums of what is no tensor, and
  /// lists what unsafe loads would call.
  void check_names(storage::Storage& storage, const Listing& listing, const std::unordered_set<std::string>& /*used*/,
                   const std::function<void(Problem)>& report) const override {
    const auto& own = static_cast<const CheckpointListing&>(listing);
    for (const CheckpointRow& row : own.rows) {
      if (const auto header = own.headers.find(row.path); header && header->torch) {
        check_torch_file(storage, row, *header, report);
      }
    }
    const auto folders = place_.file.empty() ? list_checkpoint_folders(storage) : Outcome(CheckpointFolders());
    if (!folders) {
      return;  // reported by the look
    }
    for (const auto& [path, folder] : folders->folders) {
      for (const std::string& name : folder.beside) {
        const std::string file = joined(path, name);
        if (const TensorFileHeader beside = read_header(storage, file); beside.torch) {
          tell_globals(file, *beside.torch, report);
        }
      }
      if (!folder.has_trainer_state() || !(path.empty() || is_checkpoint_folder(path))) {
        continue;
      }
      const std::string file = joined(path, trainer_state_name);
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
  // Files whose names alone tell come first: no other is opened then.
  const auto holds_files = [&](const Entries& entries, const std::string& path) {
    const auto told = [](const storage::DirEntry& entry) {
      return is_checkpoint_file(entry.name) && !entry.name.ends_with(doubtful_ending);
    };
    const auto by_first_bytes = [&](const storage::DirEntry& entry) {
      return entry.kind == storage::EntryKind::file && tensor_ending(entry.name) == doubtful_ending &&
             stands_for_checkpoint(folder, joined(path, entry.name));
    };
    return std::any_of(entries.begin(), entries.end(), told) ||
           std::any_of(entries.begin(), entries.end(), by_first_bytes);
  };
  const auto holds_components = [&](const std::string& name) {
    const Entries& entries = folder.below(name);
    return std::any_of(entries.begin(), entries.end(), [&](const storage::DirEntry& entry) {
      const std::string path = joined(name, entry.name);
      return entry.kind == storage::EntryKind::folder && holds_files(folder.below(path), path);
    });
  };
  const bool of_components = may_have_components(folder.name(), folder.has(pipeline_name));
  const auto is_checkpoint = [&](const storage::DirEntry& entry) {
    return entry.kind == storage::EntryKind::folder && is_checkpoint_folder(entry.name) &&
           (holds_files(folder.below(entry.name), entry.name) ||
            (may_have_components(entry.name, false) && holds_components(entry.name)));
  };
  if (!holds_files(folder.entries(), {}) && !(of_components && holds_components({})) &&
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

bool is_tensor_file(const Opening& what, std::span<const std::byte> first) {
  const std::string_view name = what.file;
  const wire::KnownFile* const known = wire::known_file(first, name);
  const bool unknown = known == nullptr && !tensor_ending(name).empty() && !name.ends_with(doubtful_ending);
  return wire::looks_like_safetensors(first) || unknown || (known != nullptr && known->kind == wire::FileKind::pytorch);
}

}  // namespace smd::detail::layout
