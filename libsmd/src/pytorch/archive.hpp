// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/pickle.hpp"
#include "storage/element_source.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// ZIP archives as PyTorch writes them:
/// https://github.com/pytorch/pytorch/blob/main/caffe2/serialize/inline_container.cc; format: PKWARE's APPNOTE.TXT. Own
/// code, because no library tells where a stored member's bytes begin, reads by range alone, and refuses archives that
/// two readers may take for different ones.
namespace smd::detail::pytorch {

/// Bytes of a file that are a file of their own.
struct FileSection {
  const storage::File& file;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Reads exactly so many bytes. If the file has fewer, the problem is `not_yet`.
[[nodiscard]] Outcome<std::string> read_bytes(const storage::File& file, std::uint64_t offset, std::uint64_t size,
                                              const Stop& stop = {});

/// Where a member of an archive lies, as its directory says. Offsets are those of the file.
struct Member {
  std::uint64_t offset = 0;  ///< Of its local header; without one (`name_bytes` is 0), of its first byte.
  std::uint64_t end = 0;     ///< Before which it ends: where the next one or the directory begins.
  std::uint64_t stored = 0;  ///< Its bytes in the file.
  std::uint64_t size = 0;    ///< The same, or more if it is compressed.
  std::uint64_t begin = 0;   ///< Of its bytes, if nothing is between them and what follows; see `content_begin`.
  std::uint32_t crc = 0;
  std::uint32_t name_hash = 0;
  std::uint16_t name_bytes = 0;
  std::uint16_t method = 0;     ///< 0: stored, 8: deflated.
  bool sound = false;           ///< It is there once and overlaps nothing.
  bool has_descriptor = false;  ///< Its sizes stand behind it.
  bool has_checksum = false;    ///< `crc` is its checksum; otherwise it has none.
};

/// Reads a member's local header, and checks that it agrees with the directory. Returns where the member's bytes begin.
/// Problems lack file and member's name, here and below. `name`: receives the member's name, or is null.
[[nodiscard]] Outcome<std::uint64_t> content_begin(const storage::File& file, const Member& member,
                                                   std::string* name = nullptr);

/// Reads and inflates a member of at most `most` bytes, and checks its checksum if it has one.
[[nodiscard]] Outcome<std::string> read_member(const storage::File& file, const Member& member, std::uint64_t most,
                                               const Stop& stop);

/// An archive's directory.
struct Archive {
  std::vector<Member> members;  ///< By offset; those that are nowhere last.
  /// Hashes of names within the archive's folder, such as `data/0`, and indexes of members; sorted. If two members have
  /// one hash, none is sound.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> names;

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
};

/// Reads the directory alone. A fault of a member costs only that one and is added to `problems`. A missing directory
/// is `not_yet`: only the caller knows whether it may still come.
[[nodiscard]] Outcome<Archive> read_archive(const FileSection& section, ProblemList& problems, const Stop& stop);

/// The elements in the members of an archive, or in what else has their form.
class MemberSource final : public storage::ElementSource {
 public:
  /// `members`: by offset.
  MemberSource(std::vector<Member> members, bool is_swapped, std::optional<storage::FileStamp> of_file);

  [[nodiscard]] Outcome<std::uint64_t> find(const storage::File& file, std::uint64_t offset) const override;
  [[nodiscard]] Status verify(const storage::File& file, std::uint64_t offset,
                              const ReadOptions& options) const override;
  [[nodiscard]] bool protects(std::uint64_t offset, std::uint64_t bytes) const override;
  [[nodiscard]] Outcome<bool> verify_read(const storage::File& file, std::uint64_t offset, const storage::ReadRun& run,
                                          const ReadOptions& options) const override;
  /// Verifies all members that were not verified before. Calls `report` with the problem of each that is wrong.
  void verify_others(const storage::File& file, const Stop& stop, const std::function<void(Problem)>& report) const;

 private:
  [[nodiscard]] std::size_t member_at(std::uint64_t offset) const noexcept;
  [[nodiscard]] Status verify_member(const storage::File& file, std::size_t i, const ReadOptions& options) const;
  [[nodiscard]] Status refuse(const storage::File& file, std::size_t i, Problem problem) const;
  [[nodiscard]] Status conclude(const storage::File& file, std::size_t i, std::uint32_t crc) const;

  std::vector<Member> members_;
  enum State : std::uint8_t { unknown, right, wrong };
  std::unique_ptr<std::atomic<State>[]> states_;  ///< By member.
  mutable std::mutex runs_mutex_;
  struct Runs {
    std::uint64_t bytes = 0;  ///< Of all together.
    std::map<std::uint64_t, storage::ReadRun> by_begin;
  };
  mutable std::map<std::size_t, Runs> runs_;  ///< By member.
};

}  // namespace smd::detail::pytorch
