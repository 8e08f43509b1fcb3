// SPDX-License-Identifier: Apache-2.0
#include "pytorch/torch_file.hpp"

#include "pytorch/describe.hpp"
#include "text/escape.hpp"
#include "wire/first_bytes.hpp"
#include "wire/little_endian.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace smd::detail::pytorch {

namespace {

/// Reads a file of `torch.save`.
class TorchFileReader {
 public:
  TorchFileReader(const FileSection& section, const Stop& stop)
      : section_(section), stop_(stop), stamp_(section.file.stamp()) {}

  TorchFile read() && {
    const auto first = read_bytes(section_.file, section_.begin,
                                  std::min<std::uint64_t>(section_.end - section_.begin, wire::telling_bytes));
    if (!first) {
      note(first.problem());
    } else if (wire::begins_torch_stream(*first)) {
      read_stream();
    } else if (may_be_torch_file(std::as_bytes(std::span(*first)))) {
      read_zip();
    } else {
      note(damaged("is not a file of PyTorch", section_.begin));
      if (first->starts_with('\x80')) {  // a pickle
        (void)load(section_.begin);
      }
    }
    return std::move(file_);
  }

 private:
  /// A pickle and the bytes that its texts are parts of.
  struct Loaded {
    std::string bytes;
    Pickle pickle;
    std::uint64_t begin = 0;
  };

  /// Keeps a problem, or takes it for a file that is still being written.
  void note(Problem problem, const std::string& what = {}) {
    problem.text = what + problem.text;
    if (problem.kind == ProblemKind::not_yet) {
      problem.kind = ProblemKind::damaged;
      file_.cut = std::move(problem);
    } else {
      file_.problems.add(std::move(problem));
    }
  }

  void list_globals(const Loaded& loaded) {
    for (ListedGlobal& global : listed_globals(loaded.pickle)) {
      global.offset += loaded.begin;
      if (listed_.insert(global.name).second) {
        file_.globals.push_back(std::move(global));
      }
    }
  }

  /// Reads a pickle; of the file's bytes no more than twice as many as it has, and some. Returns null, with a problem,
  /// if it cannot be read.
  std::unique_ptr<Loaded> load(std::uint64_t begin) {
    constexpr std::uint64_t first_bytes = std::uint64_t{64} << 10;
    const std::uint64_t most = std::min(section_.end - std::min(begin, section_.end), limits::pickle_bytes);
    for (std::uint64_t size = std::min(first_bytes, most);; size = std::min(2 * size, most)) {
      auto bytes = read_bytes(section_.file, begin, size, stop_);
      if (!bytes) {
        note(std::move(bytes.problem()));
        return nullptr;
      }
      auto loaded = std::make_unique<Loaded>();
      loaded->bytes = *std::move(bytes);
      loaded->begin = begin;
      if (parse(*loaded, size < most)) {
        return loaded->pickle.length() != 0 ? std::move(loaded) : nullptr;
      }
    }
  }
  /// Returns false if the pickle needs more bytes, and there may be `more`. With a problem it stays empty.
  bool parse(Loaded& loaded, bool more) {
    auto pickle = Pickle::read(loaded.bytes, stop_);
    if (pickle) {
      loaded.pickle = *std::move(pickle);
      list_globals(loaded);
    } else if (more && pickle.problem().kind == ProblemKind::not_yet) {
      return false;
    } else if (loaded.bytes.size() == limits::pickle_bytes && pickle.problem().kind == ProblemKind::not_yet) {
      note(damaged("its pickle is longer than the limit (pickle_bytes)", loaded.begin));
    } else {
      pickle.problem().offset = pickle.problem().offset.value_or(0) + loaded.begin;
      note(std::move(pickle.problem()));
    }
    return true;
  }

  // An archive.

  void read_zip() {
    auto archive = read_archive(section_, file_.problems, stop_);
    if (!archive) {
      note(std::move(archive.problem()));
      if (file_.cut) {
        name_lost_tensors();
      }
      return;
    }
    const std::vector<Member>& members = archive->members;
    constexpr std::uint64_t most_mark = 16;
    const auto read = [&](const char* name, std::uint64_t most) {
      const auto member = archive->find(name);
      auto bytes = member ? read_member(section_.file, members[*member], most, stop_) : std::string();
      if (!bytes) {
        note(std::move(bytes.problem()), std::string(name) + ": ");
      }
      return bytes;
    };
    const auto version = read(archive->find("version") ? "version" : ".data/version", most_mark);
    const auto order = read("byteorder", most_mark);
    const auto data = archive->find("data.pkl");
    constexpr std::string_view versions = "|1\n|2\n|3\n|4\n|5\n|6\n|7\n|8\n|9\n|10\n|";
    const bool known = !version || versions.find("|" + *version + "|") != versions.npos || version->empty();
    const bool ordered = !order || order->empty() || *order == "little" || *order == "big";
    if (!known || !ordered || !data) {
      const char* const why = !known     ? "its format's version is not known"
                              : !ordered ? "byteorder is neither little nor big"
                                         : "the archive has no data.pkl";
      return note(damaged(why, section_.begin));
    }
    if (!order) {
      return;
    }
    const auto load_member = [&](const char* name, const Member& member) {
      auto loaded = std::make_unique<Loaded>();
      auto bytes = read(name, limits::pickle_bytes);
      const auto begin = content_begin(section_.file, member);
      if (bytes && begin) {
        loaded->bytes = *std::move(bytes);
        loaded->begin = member.method == 0 ? *begin : 0;
        parse(*loaded, false);
        if (file_.cut && loaded->pickle.length() == 0) {  // a member that ends too soon is whole, and wrong
          file_.problems.add(*std::exchange(file_.cut, std::nullopt));
        }
      }
      return loaded;
    };
    const auto loaded = load_member("data.pkl", members[*data]);
    if (loaded->pickle.length() == 0) {
      return;
    }
    Storages storages;
    const auto more = archive->find("constants.pkl");
    constexpr std::uint64_t no_constants = 4;  // an empty tuple
    const bool has_constants = more && members[*more].size > no_constants;
    const auto constants = has_constants ? load_member("constants.pkl", members[*more]) : std::make_unique<Loaded>();
    storages.constants = constants->pickle.length() != 0 ? &constants->pickle : nullptr;
    storages.constants_begin = constants->begin;
    storages.find = [&](std::string_view key) { return archive->find(std::string(storages.folder).append(key)); };
    storages.folder = "data/";
    storages.swapped = *order == "big";
    storages.pickle_begin = loaded->begin;
    storages.pickle_is_stored = members[*data].method == 0;
    storages.has_checksums = members[*data].has_checksum;
    storages.stamp = stamp_;
    storages.members = std::move(archive->members);
    if (storages.pickle_is_stored) {
      storages.members[*data].begin = loaded->begin;
    }
    describe(loaded->pickle, storages, file_, stop_);
  }

  /// Names what a cut archive would have contained: its first member is `data.pkl`, and may be whole.
  void name_lost_tensors() {
    constexpr std::size_t fixed = 30;
    constexpr std::uint64_t most = 4096;  // of the header and the member's name
    const auto header = read_bytes(section_.file, section_.begin, std::min(most, section_.end - section_.begin));
    if (!header || header->size() < fixed) {
      return;
    }
    const auto word = [&](std::size_t at) {
      return wire::load_little<std::uint16_t>(std::as_bytes(std::span(*header).subspan(at)));
    };
    const Problem cut = *file_.cut;
    if (header->substr(fixed, word(26)).ends_with("/data.pkl") && word(8) == 0) {
      if (const auto loaded = load(section_.begin + fixed + word(26) + word(28))) {
        Storages none;
        describe(loaded->pickle, none, file_, stop_);
      }
    }
    file_.cut = cut;
  }

  // A stream.

  void read_stream() {
    enum Part : std::uint8_t { magic, version, system, object, keys };
    std::vector<std::unique_ptr<Loaded>> parts;
    std::uint64_t at = section_.begin;
    while (parts.size() <= keys && (parts.empty() || parts.back() != nullptr)) {
      parts.push_back(load(at));
      at += parts.back() != nullptr ? parts.back()->pickle.length() : 0;
    }
    parts.resize(keys + 1);
    constexpr std::int64_t known_version = 1001;
    if (parts[version] != nullptr && parts[version]->pickle.integer(parts[version]->pickle.root()) != known_version) {
      return note(damaged("its format has another version than 1001", parts[version]->begin));
    }
    if (parts[object] == nullptr) {
      return;
    }
    const Pickle& described = parts[object]->pickle;
    const Pickle& facts = parts[system]->pickle;
    Storages storages{.swapped = facts.boolean(facts.find(facts.root(), "little_endian")) == false,
                      .pickle_begin = parts[object]->begin,
                      .pickle_is_stored = true,
                      .stamp = stamp_};
    add_member(storages, storages.pickle_begin, described.length());
    std::map<std::string_view, std::uint32_t> found;
    if (parts[keys] != nullptr) {
      find_storages(at, storages, described, parts[keys]->pickle, found);
    }
    storages.folder = "storage ";
    storages.find = [&](std::string_view key) {
      const auto member = found.find(key);
      return member == found.end() ? std::nullopt : std::optional(member->second);
    };
    describe(described, storages, file_, stop_);
  }

  static std::uint32_t add_member(Storages& storages, std::uint64_t begin, std::uint64_t size) {
    Member& member = storages.members.emplace_back();
    member.offset = member.begin = begin;
    member.end = begin + size;
    member.stored = member.size = size;
    member.sound = true;
    return static_cast<std::uint32_t>(storages.members.size() - 1);
  }

  /// Finds the storages that follow the pickles. Each has the number of its elements before them.
  void find_storages(std::uint64_t at, Storages& storages, const Pickle& object, const Pickle& keys,
                     std::map<std::string_view, std::uint32_t>& found) {
    std::map<std::string_view, StorageFacts> known;
    for (Ref node = 0; node < object.nodes(); ++node) {
      if (const auto storage = storage_facts(object, node)) {
        known.emplace(storage->key, *storage);
      }
    }
    constexpr std::uint64_t count_bytes = sizeof(std::int64_t);
    for (const Ref key : keys.items(keys.root())) {
      const auto storage = known.find(keys.text(key));
      const std::string name = "storage " + printable(keys.text(key));
      if (storage == known.end()) {
        return note(damaged(name + " is of no tensor: what follows it cannot be found", at));
      }
      const std::uint64_t bytes = storage->second.bytes;
      if (section_.end - at < count_bytes || section_.end - at - count_bytes < bytes) {
        return note({ProblemKind::not_yet, {}, section_.end, "truncated: the file ends before " + name + " does"});
      }
      auto count = read_bytes(section_.file, at, count_bytes, stop_);
      if (!count) {
        return note(std::move(count.problem()));
      }
      if (storages.swapped) {
        std::ranges::reverse(*count);
      }
      if (wire::load_little<std::uint64_t>(std::as_bytes(std::span(*count))) != storage->second.count) {
        return note(damaged(
            name + " has another number of elements than its tensors say: what follows it cannot be found", at));
      }
      found.emplace(storage->first, add_member(storages, at + count_bytes, bytes));
      at += count_bytes + bytes;
    }
    if (at != section_.end) {
      note(damaged(std::to_string(section_.end - at) + " bytes stand behind its end", at));
    }
  }

  const FileSection& section_;
  const Stop& stop_;
  std::optional<storage::FileStamp> stamp_;
  TorchFile file_;
  std::set<std::string> listed_;  ///< Names of its globals.
};

}  // namespace

TorchFile read_torch_file(const FileSection& section, const Stop& stop) {
  return TorchFileReader(section, stop).read();
}

bool may_be_torch_file(std::span<const std::byte> first) noexcept {
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), first.size());
  return bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6") || wire::begins_torch_stream(bytes);
}

}  // namespace smd::detail::pytorch
