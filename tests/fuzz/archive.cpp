// SPDX-License-Identifier: Apache-2.0
// Reads the input as the archive of a PyTorch file: what is sound lies in it, and no byte belongs to two members.
#include "pytorch/archive.hpp"

#include "support/memory_file.hpp"
#include "target.hpp"
#include "text/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::pytorch;

SMD_FUZZ_ENTRY(archive)(const std::uint8_t* data, std::size_t size) {
  const test::MemoryFile file(std::string(reinterpret_cast<const char*>(data), size));
  ProblemList problems(limits::problems_per_file);
  auto archive = read_archive({file, 0, size}, problems, {});
  if (!archive) {
    SMD_REQUIRE(!archive.problem().text.empty() && archive.problem().offset <= size);
    return 0;
  }
  std::vector<bool> taken(size);
  for (const Member& member : archive->members) {
    if (!member.sound) {
      continue;
    }
    SMD_REQUIRE(member.offset < size && member.end <= size);
    SMD_REQUIRE(member.begin >= member.offset && member.begin <= size && member.stored <= size - member.begin);
    (void)read_member(file, member, std::uint64_t{1} << 20, {});
    const auto begin = content_begin(file, member);
    if (!begin) {
      continue;
    }
    SMD_REQUIRE(*begin <= member.end && member.stored <= member.end - *begin);
    for (std::uint64_t at = member.offset; at < *begin + member.stored; ++at) {
      SMD_REQUIRE(!taken[at]);
      taken[at] = true;
    }
  }
  for (const auto& [hash, index] : archive->names) {
    SMD_REQUIRE(index < archive->members.size());
  }
  const MemberSource source(std::move(archive->members), false, {});
  std::size_t wrong = 0;
  source.verify_others(file, {}, [&](const Problem& problem) { wrong += problem.text.empty() ? 0 : 1; });
  std::size_t again = 0;
  source.verify_others(file, {}, [&](const Problem&) { ++again; });
  SMD_REQUIRE(again == 0 && wrong <= size);
  return 0;
}
