// SPDX-License-Identifier: Apache-2.0
#include "pytorch/archive.hpp"

#include "base/crc32.hpp"
#include "base/parallel.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"
#include "wire/little_endian.hpp"

#include <smd/value_reader.hpp>

#include <zlib.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>

namespace smd::detail::pytorch {

namespace {

constexpr std::string_view local_mark{"PK\3\4", 4};
constexpr std::string_view entry_mark{"PK\1\2", 4};
constexpr std::string_view end_mark{"PK\5\6", 4};
constexpr std::string_view end64_mark{"PK\6\6", 4};
constexpr std::string_view locator_mark{"PK\6\7", 4};
constexpr std::size_t local_bytes = 30;
constexpr std::size_t entry_bytes = 46;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t end64_bytes = 56;
constexpr std::size_t locator_bytes = 20;
constexpr std::size_t large_bytes = 20;  // of the extra field for large members, in a local header
constexpr std::uint16_t deflated = 8;
constexpr std::uint16_t encrypted_flag = 1;
constexpr std::uint16_t descriptor_flag = 8;     // sizes stand behind the member, and in the directory
constexpr std::uint64_t elsewhere = 0xFFFFFFFF;  // the number is in an extra field
constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();

template <class T>
T load(std::string_view from, std::size_t at) {
  return wire::load_little<T>(std::as_bytes(std::span(from.substr(at, sizeof(T)))));
}

Status read_into(const storage::File& file, std::uint64_t offset, std::span<std::byte> bytes, const Stop& stop) {
  constexpr std::size_t piece = std::size_t{8} << 20;
  for (std::size_t done = 0; done < bytes.size(); done += piece) {
    const auto into = bytes.subspan(done, std::min(piece, bytes.size() - done));
    const auto read = file.read_at(offset + done, into);
    if (!read || *read != into.size()) {
      return read ? Problem{ProblemKind::not_yet, {}, offset + done + *read, "the file became shorter"}
                  : read.problem();
    }
    if (stop && stop()) {
      return make_problem(ProblemKind::stopped, "the reader was stopped");
    }
  }
  return ok();
}

std::uint32_t joined(std::uint32_t crc, const storage::ReadRun& next) {
  return static_cast<std::uint32_t>(crc32_combine(crc, next.crc, static_cast<z_off_t>(next.end - next.begin)));
}

std::uint64_t hash_of(std::string_view name) noexcept { return std::hash<std::string_view>()(name); }

/// Takes numbers that are `elsewhere` from the extra field for large members. Returns false if it lacks them.
bool take_large(std::string_view extra, std::initializer_list<std::uint64_t*> numbers) {
  constexpr std::uint16_t large = 1;
  while (extra.size() >= 4 && load<std::uint16_t>(extra, 0) != large) {
    extra.remove_prefix(std::min<std::size_t>(4 + load<std::uint16_t>(extra, 2), extra.size()));
  }
  extra.remove_prefix(std::min<std::size_t>(4, extra.size()));
  for (std::uint64_t* const number : numbers) {
    if (*number == elsewhere) {
      if (extra.size() < sizeof *number) {
        return false;
      }
      *number = load<std::uint64_t>(extra, 0);
      extra.remove_prefix(sizeof *number);
    }
  }
  return true;
}

Outcome<std::string> inflated(std::string_view from, std::uint64_t size, std::uint64_t offset) {
  constexpr std::uint64_t most_gain = 1032;  // of deflate
  z_stream stream = {};
  if (size / most_gain > from.size() || inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return damaged("it cannot be as long, inflated, as the archive's directory says", offset);
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, inflateEnd);
  std::string into(size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));  // NOLINT: zlib only reads it
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(size);
  if (inflate(&stream, Z_FINISH) != Z_STREAM_END || stream.avail_out != 0 || stream.avail_in != 0) {
    return damaged("it cannot be inflated", offset);
  }
  return into;
}

/// Where a directory lies, and how many entries it has.
struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t count = 0;
};

Outcome<Directory> find_directory(const FileSection& section, const Stop& stop) {
  constexpr std::uint64_t most_bytes = end64_bytes + locator_bytes + end_bytes + 0xFFFF;
  const std::uint64_t tail_begin = section.end - std::min(section.end - section.begin, most_bytes);
  const auto read = read_bytes(section.file, tail_begin, section.end - tail_begin, stop);
  if (!read) {
    return read.problem();
  }
  const std::string_view tail = *read;
  const std::size_t last = tail.size() < end_bytes ? tail.npos : tail.rfind(end_mark, tail.size() - end_bytes);
  if (last == tail.npos) {
    return Problem{ProblemKind::not_yet, {}, section.end, "truncated: the archive's directory is missing"};
  }
  const std::string_view end = tail.substr(last);
  if (end.size() - end_bytes != load<std::uint16_t>(end, 20)) {
    return damaged("bytes stand behind the archive's end record, or a second one is in its comment", tail_begin + last);
  }
  Directory directory = {0, tail_begin + last, load<std::uint16_t>(end, 10)};
  std::uint64_t bytes = load<std::uint32_t>(end, 12);
  std::uint64_t offset = load<std::uint32_t>(end, 16);
  bool right = load<std::uint32_t>(end, 4) == 0 && load<std::uint16_t>(end, 8) == directory.count;
  if (last >= end64_bytes + locator_bytes && tail.substr(last - locator_bytes).starts_with(locator_mark)) {
    const std::string_view large = tail.substr(last - locator_bytes - end64_bytes);
    directory.end -= locator_bytes + end64_bytes;
    right = right && large.starts_with(end64_mark) && load<std::uint64_t>(large, 4) == end64_bytes - 12 &&
            load<std::uint64_t>(large, 16) == 0 && load<std::uint64_t>(large, 24) == load<std::uint64_t>(large, 32) &&
            load<std::uint64_t>(large, end64_bytes + 8) == directory.end - section.begin;
    const auto widen = [&](std::uint64_t& number, std::uint64_t unknown, std::size_t at) {
      right = right && (number == unknown || number == load<std::uint64_t>(large, at));
      number = load<std::uint64_t>(large, at);
    };
    widen(directory.count, 0xFFFF, 32);
    widen(bytes, elsewhere, 40);
    widen(offset, elsewhere, 48);
  }
  directory.begin = section.begin + offset;
  if (!right || bytes > directory.end - section.begin || directory.begin != directory.end - bytes ||
      bytes > limits::archive_directory_bytes || directory.count > bytes / entry_bytes) {
    return damaged(
        "the archive's directory does not end where its end record begins, or is longer than the limit "
        "(archive_directory_bytes)",
        directory.end);
  }
  return directory;
}

bool leaves_folder(std::string_view name) { return ("/" + std::string(name) + "/").find("/../") != std::string::npos; }

/// Returns where a member's bytes begin if a descriptor, or nothing, is between them and what follows.
std::uint64_t expected_begin(const Member& member) noexcept {
  constexpr std::uint64_t descriptor_bytes = 16;
  constexpr std::uint64_t large_descriptor_bytes = 24;
  const std::uint64_t fixed = member.offset + local_bytes + member.name_bytes;
  const std::uint64_t behind = !member.has_descriptor    ? 0
                               : member.size < elsewhere ? descriptor_bytes
                                                         : large_descriptor_bytes;
  const std::uint64_t end = member.stored + behind;
  return member.end >= fixed && member.end - fixed >= end ? member.end - end : fixed;
}

/// Finds out which members overlap, as far as the directory tells; `content_begin` checks the rest.
Status place_members(const FileSection& section, const Directory& directory, std::vector<Member>& members,
                     ProblemList& problems) {
  if (!members.empty() && members.front().offset != nowhere && members.front().offset != section.begin) {
    return damaged("bytes stand before the archive's first member", section.begin);
  }
  Member* reaches_farthest = nullptr;
  std::uint64_t reached = section.begin;
  for (std::size_t i = 0; i < members.size() && members[i].offset != nowhere; ++i) {
    Member& member = members[i];
    const bool last = i + 1 == members.size() || members[i + 1].offset == nowhere;
    member.end = last ? directory.begin : members[i + 1].offset;
    member.begin = expected_begin(member);
    const std::uint64_t room = directory.begin - member.offset;
    const std::uint64_t fixed = local_bytes + member.name_bytes;
    const bool fits = room >= fixed && room - fixed >= member.stored;
    if (member.offset < reached || !fits) {
      problems.add(damaged("a member overlaps another one, or the archive's directory", member.offset));
      member.sound = false;
      if (reaches_farthest != nullptr && member.offset < reached) {
        reaches_farthest->sound = false;
      }
    }
    const std::uint64_t end = fits ? member.offset + fixed + member.stored : directory.begin;
    reaches_farthest = end > reached ? &member : reaches_farthest;
    reached = std::max(reached, end);
  }
  return ok();
}

}  // namespace

Outcome<std::string> read_bytes(const storage::File& file, std::uint64_t offset, std::uint64_t size, const Stop& stop) {
  if (offset > file.size() || size > file.size() - offset) {
    return Problem{ProblemKind::not_yet, {}, file.size(), "the file ends too soon"};
  }
  std::string bytes(size, '\0');
  const Status read = read_into(file, offset, std::as_writable_bytes(std::span(bytes)), stop);
  return read ? Outcome(std::move(bytes)) : read.problem();
}

Outcome<std::uint64_t> content_begin(const storage::File& file, const Member& member, std::string* name_read) {
  const std::uint64_t fixed = local_bytes + member.name_bytes;
  if (member.name_bytes == 0) {
    return member.offset;
  }
  const auto header = read_bytes(file, member.offset, std::min(fixed + large_bytes, member.end - member.offset));
  if (!header) {
    return header.problem();
  }
  const auto differs = [&](const char* what) { return damaged(what, member.offset); };
  if (header->size() < fixed || !header->starts_with(local_mark)) {
    return differs("no local header is where the archive's directory says");
  }
  const std::string_view name = std::string_view(*header).substr(local_bytes, member.name_bytes);
  if (name_read != nullptr) {
    *name_read = name;
  }
  if (load<std::uint16_t>(*header, 26) != member.name_bytes ||
      static_cast<std::uint32_t>(hash_of(name)) != member.name_hash) {
    return differs("its local header has another name than the archive's directory");
  }
  if (load<std::uint16_t>(*header, 8) != member.method) {
    return differs("its local header has another method than the archive's directory");
  }
  const std::uint64_t begin = member.offset + fixed + load<std::uint16_t>(*header, 28);
  if (begin > member.end || member.stored > member.end - begin) {
    return differs("it overlaps what follows it");
  }
  const std::uint32_t crc = load<std::uint32_t>(*header, 14);
  std::uint64_t stored = load<std::uint32_t>(*header, 18);
  std::uint64_t size = load<std::uint32_t>(*header, 22);
  const bool later = (load<std::uint16_t>(*header, 6) & descriptor_flag) != 0 && (crc | stored | size) == 0;
  take_large(std::string_view(*header).substr(fixed), {&size, &stored});
  if (!later && (crc != member.crc || stored != member.stored || size != member.size)) {
    return differs("its local header has another size or checksum than the archive's directory");
  }
  return begin;
}

Outcome<std::string> read_member(const storage::File& file, const Member& member, std::uint64_t most,
                                 const Stop& stop) {
  if (!member.sound || member.size > most || member.stored > most ||
      (member.method != 0 && member.method != deflated)) {
    return damaged(
        member.sound ? "it is above the limit of its length, or compressed by an unknown method" : "it is damaged",
        member.offset);
  }
  const auto begin = content_begin(file, member);
  auto bytes = begin ? read_bytes(file, *begin, member.stored, stop) : begin.problem();
  if (bytes && member.method == deflated) {
    bytes = inflated(*bytes, member.size, *begin);
  }
  const bool wrong = bytes && member.has_checksum && crc32(std::as_bytes(std::span(*bytes))) != member.crc;
  return wrong ? damaged("its checksum is wrong", *begin) : std::move(bytes);
}

std::optional<std::uint32_t> Archive::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(names, std::pair(hash_of(name), std::uint32_t{0}));
  return found != names.end() && found->first == hash_of(name) ? std::optional(found->second) : std::nullopt;
}

Outcome<Archive> read_archive(const FileSection& section, ProblemList& problems, const Stop& stop) {
  const auto directory = find_directory(section, stop);
  const auto entries = directory ? read_bytes(section.file, directory->begin, directory->end - directory->begin, stop)
                                 : directory.problem();
  if (!entries) {
    return entries.problem();
  }
  struct Entry {
    Member member;
    std::uint64_t hash = 0;  // of the name within the folder
  };
  std::vector<Entry> found;
  found.reserve(directory->count);
  std::string_view rest = *entries;
  std::string_view folder;
  while (!rest.empty()) {
    const auto word = [&](std::size_t at) { return load<std::uint16_t>(rest, at); };
    const std::uint64_t at = directory->end - rest.size();
    const bool whole = rest.size() >= entry_bytes && rest.starts_with(entry_mark);
    const std::size_t length = whole ? entry_bytes + word(28) + word(30) + word(32) : 0;
    if (!whole || length > rest.size()) {
      return damaged("the archive's directory has no entry here", at);
    }
    Member& member = found.emplace_back().member;
    member.method = word(10);
    member.has_descriptor = (word(8) & descriptor_flag) != 0;
    member.crc = load<std::uint32_t>(rest, 16);
    member.stored = load<std::uint32_t>(rest, 20);
    member.size = load<std::uint32_t>(rest, 24);
    member.offset = load<std::uint32_t>(rest, 42);
    const std::string_view name = rest.substr(entry_bytes, word(28));
    member.name_bytes = word(28);
    member.name_hash = static_cast<std::uint32_t>(hash_of(name));
    const bool inside =
        take_large(rest.substr(entry_bytes + name.size(), word(30)), {&member.size, &member.stored, &member.offset}) &&
        member.offset < directory->begin - section.begin;
    member.offset = inside ? section.begin + member.offset : nowhere;
    const std::size_t slash = std::min(name.find('/'), name.size());
    folder = found.size() == 1 ? name.substr(0, slash) : folder;
    const bool one_size = member.method != 0 || member.stored == member.size;
    member.sound = inside && (word(8) & encrypted_flag) == 0 && one_size && slash != 0 && slash < name.size() &&
                   name.substr(0, slash) == folder && !leaves_folder(name);
    if (!member.sound) {
      problems.add(damaged("member '" + printable(name) +
                               (one_size ? "' is not in the archive or its folder, or is encrypted"
                                         : "' is not compressed, and has two sizes in the archive's directory"),
                           at));
    } else {
      found.back().hash = hash_of(name.substr(slash + 1));
    }
    rest.remove_prefix(length);
  }
  if (found.size() != directory->count) {
    return damaged("the archive's directory has another number of entries than its end record says", directory->end);
  }
  const auto before = [](const Entry& a, const Entry& b) { return a.member.offset < b.member.offset; };
  if (!std::ranges::is_sorted(found, before)) {
    std::ranges::stable_sort(found, before);
  }
  // PyTorch writes 0 for each member's checksum if it was told to compute none (`compute_crc32`).
  const bool has_checksums = std::ranges::any_of(found, [](const Entry& entry) { return entry.member.crc != 0; });
  Archive archive;
  archive.members.reserve(found.size());
  archive.names.reserve(found.size());
  for (const Entry& entry : found) {
    if (entry.member.sound) {
      archive.names.emplace_back(entry.hash, static_cast<std::uint32_t>(archive.members.size()));
    }
    archive.members.push_back(entry.member);
    archive.members.back().has_checksum = has_checksums;
  }
  std::ranges::sort(archive.names);
  for (std::size_t i = 1; i < archive.names.size(); ++i) {
    if (archive.names[i].first == archive.names[i - 1].first) {
      Member& member = archive.members[archive.names[i].second];
      problems.add(damaged("a member stands there twice", member.offset));
      member.sound = archive.members[archive.names[i - 1].second].sound = false;
    }
  }
  if (const Status placed = place_members(section, *directory, archive.members, problems); !placed) {
    return placed.problem();
  }
  return archive;
}

MemberSource::MemberSource(std::vector<Member> members, bool is_swapped, std::optional<storage::FileStamp> of_file)
    : members_(std::move(members)), states_(new std::atomic<State>[members_.size()]()) {
  stamp = of_file;
  swapped = is_swapped;
  has_checksums = std::ranges::any_of(members_, &Member::has_checksum);
}

/// Precondition: there is a member.
std::size_t MemberSource::member_at(std::uint64_t offset) const noexcept {
  const auto behind = std::ranges::upper_bound(members_, offset, {}, &Member::offset);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - members_.begin() - 1, 0));
}

Outcome<std::uint64_t> MemberSource::find(const storage::File& file, std::uint64_t offset) const {
  const std::size_t i = member_at(offset);
  const auto begin = content_begin(file, members_[i]);
  return begin ? Outcome(*begin + (offset - members_[i].begin)) : refuse(file, i, begin.problem()).problem();
}

Status MemberSource::verify(const storage::File& file, std::uint64_t offset, const ReadOptions& options) const {
  return verify_member(file, member_at(offset), options);
}

Status MemberSource::verify_member(const storage::File& file, std::size_t i, const ReadOptions& options) const {
  constexpr std::uint64_t piece = std::uint64_t{256} << 10;
  const Member& member = members_[i];
  if (states_[i] == right) {
    return ok();
  }
  const auto begin = content_begin(file, member);
  if (!begin || member.method != 0 || !member.has_checksum) {
    return begin ? conclude(file, i, member.crc) : refuse(file, i, begin.problem());
  }
  const unsigned jobs = std::max(options.jobs, 1U);
  std::vector<std::vector<std::byte>> buffers(jobs, std::vector<std::byte>(std::min(piece, member.stored)));
  std::uint32_t crc = 0;
  Status all = ok();
  parallel_ordered(
      jobs, (member.stored + piece - 1) / piece, jobs * std::size_t{16},
      [&](std::size_t at, unsigned worker) -> Outcome<storage::ReadRun> {
        const std::uint64_t first = at * piece;
        const auto bytes = std::span(buffers[worker]).first(std::min(piece, member.stored - first));
        const Status read = read_into(file, *begin + first, bytes, options.stop);
        return read ? Outcome(storage::ReadRun{first, first + bytes.size(), crc32(bytes)}) : read.problem();
      },
      [&](std::size_t, Outcome<storage::ReadRun>&& run) {
        if (!run) {
          all = std::move(run.problem());
          return false;
        }
        crc = joined(crc, *run);
        return true;
      });
  return all ? conclude(file, i, crc) : refuse(file, i, std::move(all.problem()));
}

/// Returns the problem of a member, with its name.
Status MemberSource::refuse(const storage::File& file, std::size_t i, Problem problem) const {
  states_[i] = problem.kind == ProblemKind::stopped || !unchanged(file) ? unknown : wrong;
  std::string name;
  (void)content_begin(file, members_[i], &name);
  const std::string_view within = std::string_view(name).substr(name.find('/') + 1);
  problem.text.insert(0, within.empty() ? "" : printable(within) + ": ");
  return problem;
}

Status MemberSource::conclude(const storage::File& file, std::size_t i, std::uint32_t crc) const {
  if (crc == members_[i].crc) {
    states_[i] = right;
    return ok();
  }
  const auto begin = content_begin(file, members_[i]);
  return refuse(file, i, damaged("its checksum is wrong", begin ? *begin : members_[i].offset));
}

bool MemberSource::protects(std::uint64_t offset, std::uint64_t bytes) const {
  const std::size_t i = member_at(offset);
  const Member& member = members_[i];
  return member.has_checksum && states_[i] != right && member.method == 0 && offset == member.begin &&
         bytes == member.stored;
}

Outcome<bool> MemberSource::verify_read(const storage::File& file, std::uint64_t offset, const storage::ReadRun& run,
                                        const ReadOptions& options) const {
  const std::size_t i = member_at(offset);
  // Held until the checksum is compared, so that a reader that ends meanwhile learns the result too.
  const std::lock_guard lock(runs_mutex_);
  if (states_[i] == wrong) {
    return conclude(file, i, ~members_[i].crc).problem();
  }
  if (states_[i] == right) {
    return true;
  }
  Runs& runs = runs_[i];
  storage::ReadRun& known = runs.by_begin[run.begin];
  if (known.end < run.end) {  // else a reader of the same bytes, of tied weights, is further
    runs.bytes += (run.end - run.begin) - (known.end - known.begin);
    known = run;
  }
  if (runs.bytes < members_[i].stored) {
    return false;
  }
  std::uint64_t at = 0;
  std::uint32_t crc = 0;
  for (const auto& [begin, read] : runs.by_begin) {
    crc = joined(crc, read);
    at = begin == at ? read.end : nowhere;
  }
  runs_.erase(i);
  const Status verified = at == members_[i].stored ? conclude(file, i, crc) : verify_member(file, i, options);
  return verified ? Outcome(true) : verified.problem();
}

void MemberSource::verify_others(const storage::File& file, const Stop& stop,
                                 const std::function<void(Problem)>& report) const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const bool known = !members_[i].sound || states_[i] == wrong;
    if (Status verified = known ? ok() : verify_member(file, i, {1, stop}); !verified) {
      report(std::move(verified.problem()));
    }
  }
}

}  // namespace smd::detail::pytorch
