// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include "cli/diagnostics.hpp"
#include "cli/exit_status.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

using smd::tool::OutputError;
using smd::tool::OutputFile;

namespace {

std::size_t files_in(const smd::test::TempDir& dir) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a file appears under its name once it is closed") {
  const smd::test::TempDir dir;
  const std::string big(3 * OutputFile::capacity + 17, 'x');
  {
    OutputFile out = OutputFile::file(dir / "out");
    out.write("head ");
    out.write(big);
    for (const char byte : std::string(" tail")) {
      out.put(byte);
    }
    CHECK(access((dir / "out").c_str(), F_OK) != 0);
    out.close();
  }
  CHECK(smd::test::read_file(dir / "out") == "head " + big + " tail");
  CHECK(files_in(dir) == 1);
}

TEST_CASE("a file that is not closed leaves nothing, and the old one whole") {
  const smd::test::TempDir dir;
  const std::string path = dir.write("out", "old");
  {
    OutputFile out = OutputFile::file(path);
    out.write("new");
    out.flush();
    CHECK(files_in(dir) == 2);
  }
  CHECK(smd::test::read_file(path) == "old");
  CHECK(files_in(dir) == 1);
}

TEST_CASE("a wrong command line, or a failure before anything was written, leaves the old file; nothing else does") {
  const smd::test::TempDir dir;
  const auto after = [&](smd::tool::ExitStatus status, std::string_view frame, std::string_view text) {
    const std::string path = dir.write("out", "old");
    smd::tool::Diagnostics messages("test");
    messages.raise(status);
    OutputFile out = OutputFile::file(path);
    out.write(text);
    out.write_frame(frame);
    out.close(messages);
    return smd::test::read_file(path);
  };
  using smd::tool::ExitStatus;
  for (const ExitStatus status : {ExitStatus::usage, ExitStatus::unreadable, ExitStatus::damaged}) {
    CHECK(after(status, "", "") == "old");
    CHECK(after(status, "[]\n", "") == "old");
    CHECK(after(status, "", "new") == (status == ExitStatus::usage ? "old" : "new"));
  }
  for (const ExitStatus status : {ExitStatus::yes, ExitStatus::no, ExitStatus::timed_out}) {
    CHECK(after(status, "", "").empty());
    CHECK(after(status, "[]\n", "") == "[]\n");
  }
  CHECK(files_in(dir) == 1);
}

TEST_CASE("replacing keeps permissions and follows a symbolic link") {
  const smd::test::TempDir dir;
  const std::string path = dir.write("real", "old");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  REQUIRE(symlink("real", (dir / "link").c_str()) == 0);
  OutputFile out = OutputFile::file(dir / "link");
  out.write("new");
  out.close();
  CHECK(smd::test::read_file(path) == "new");
  CHECK(std::filesystem::is_symlink(dir / "link"));
  struct stat info = {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0640);
}

TEST_CASE("replacing keeps the whole mode: set-user-ID and set-group-ID are not dropped") {
  const smd::test::TempDir dir;
  for (const mode_t mode : {0600U, 0444U, 01666U, 02755U, 04755U, 06711U}) {
    const std::string path = dir.write("out", "old");
    REQUIRE(chmod(path.c_str(), mode) == 0);
    OutputFile out = OutputFile::file(path);
    out.write("new");
    out.close();
    struct stat info = {};
    REQUIRE(stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == mode);
    CHECK(smd::test::read_file(path) == "new");
    REQUIRE(unlink(path.c_str()) == 0);
  }
}

TEST_CASE("replacing keeps owner and group where it may; a set-user-ID file of another user stays as it is") {
  if (geteuid() != 0) {
    MESSAGE("not root: files of other users cannot be made");
    return;
  }
  constexpr uid_t other = 65534;
  const smd::test::TempDir dir;
  REQUIRE(chmod(dir.path().c_str(), 0777) == 0);
  const std::string path = dir.write("out", "old");
  REQUIRE(chown(path.c_str(), other, other) == 0);
  REQUIRE(chmod(path.c_str(), 04755) == 0);
  {
    OutputFile out = OutputFile::file(path);
    out.write("of root");
    out.close();
  }
  struct stat info = {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK(info.st_uid == other);
  CHECK(info.st_gid == other);
  CHECK((info.st_mode & 07777) == 04755);

  REQUIRE(chown(path.c_str(), 0, 0) == 0);  // takes the bit away
  REQUIRE(chmod(path.c_str(), 04755) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (setgid(other) != 0 || setuid(other) != 0) {
      _exit(9);
    }
    try {
      (void)OutputFile::file(path);
      _exit(1);
    } catch (const OutputError& error) {
      const std::string_view text = error.what();
      _exit(text.find("set-user-ID and belongs to another user") != text.npos ? 0 : 2);
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(smd::test::read_file(path) == "of root");
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 04755);
  CHECK(files_in(dir) == 1);
}

TEST_CASE("what cannot be written is an error") {
  const smd::test::TempDir dir;
  CHECK_THROWS_AS((void)OutputFile::file(dir / "no/such/folder"), OutputError);
  CHECK_THROWS_AS((void)OutputFile::file(dir.path()), OutputError);
  OutputFile full = OutputFile::file("/dev/full");
  full.write("x");
  CHECK_THROWS_AS(full.close(), OutputError);
}

TEST_CASE("an output that would replace what is read is refused, whichever comes first") {
  const smd::test::TempDir files;
  const smd::test::TempDir folder;
  for (const char* const name : {"a.csv", "b.csv", "c.csv", "other.csv"}) {
    files.write(name, "step,loss\n0,1\n");
  }
  folder.write("metrics.csv", "step,loss\n0,1\n");
  // Of files, what lies beside them is not read.
  smd::tool::add_input(files / "a.csv");
  smd::tool::add_input(folder.path());
  smd::tool::add_input(files / "b.csv");
  CHECK_THROWS_AS((void)OutputFile::file(files / "a.csv"), smd::tool::UsageError);
  CHECK_THROWS_AS((void)OutputFile::file(files / "b.csv"), smd::tool::UsageError);
  CHECK_THROWS_AS((void)OutputFile::file(folder / "metrics.csv"), smd::tool::UsageError);
  CHECK_NOTHROW((void)OutputFile::file(files / "other.csv"));
  CHECK_NOTHROW((void)OutputFile::file(folder / "result.txt"));
  const OutputFile out = OutputFile::file(files / "c.csv");
  CHECK_THROWS_AS(smd::tool::add_input(files / "c.csv"), smd::tool::UsageError);
}

TEST_CASE("discarding takes everything") {
  OutputFile out = OutputFile::discard();
  out.write(std::string(2 * OutputFile::capacity, 'x'));
  out.close();
  CHECK(out.discards());
  CHECK_FALSE(out.is_terminal());
}

TEST_CASE("what is written to memory is taken piece by piece") {
  OutputFile out = OutputFile::memory();
  CHECK_FALSE(out.is_terminal());
  CHECK_FALSE(out.discards());
  const std::string big(2 * OutputFile::capacity + 5, 'x');
  std::string text = "not kept";
  out.write("a");
  out.write(big);
  out.take_text(text);
  CHECK(text == "a" + big);
  out.put('b');
  out.take_text(text);
  CHECK(text == "b");
  out.take_text(text);
  CHECK(text.empty());
}
