// SPDX-License-Identifier: Apache-2.0
#include "cli/line_file.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"

using smd::tool::Diagnostics;
using smd::tool::LineFile;

TEST_CASE("lines of any length come with their number and place, also the last without an end") {
  const smd::test::TempDir folder;
  // 64 KiB are read at once: a line within a block, one over three, one that ends with a block, an empty one.
  const std::vector<std::string> lines = {"a", std::string(150'000, 'b'), std::string(3 * 65'536 - 150'004, 'c'), "",
                                          "d"};
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  text.pop_back();
  const std::string path = folder.write("lines", text);

  Diagnostics messages("test");
  std::optional<LineFile> file = LineFile::open(path, "lines", messages);
  REQUIRE(file);
  std::string line;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(i);
    REQUIRE(file->next(line));
    CHECK(line == lines[i]);
    CHECK(file->number() == i + 1);
    CHECK(file->offset() == offset);
    offset += lines[i].size() + (i + 1 < lines.size() ? 1 : 0);
    CHECK(file->end() == offset);
    offset = file->end();
  }
  CHECK_FALSE(file->next(line));

  file->seek(2);
  REQUIRE(file->next(line));
  CHECK(line == lines[1]);
  std::vector<std::string> visited;  // without the empty line
  file->for_each(messages, [&](const std::string& one) { visited.push_back(one); });
  CHECK(visited == std::vector<std::string>{lines[2], lines[4]});
  CHECK(messages.status() == smd::tool::ExitStatus::yes);
}

TEST_CASE("what is no file of lines is reported") {
  const smd::test::TempDir folder;
  Diagnostics messages("test");
  CHECK_FALSE(LineFile::open(folder.path(), "lines", messages));
  CHECK_FALSE(LineFile::open(folder / "none", "lines", messages));
  CHECK(messages.status() == smd::tool::ExitStatus::unreadable);
}
