// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace smd::test {
namespace {

struct Checked {
  explicit Checked(const TempDir& dir, const TrialOptions& options = {})
      : report(check_trial(dir.path(), options, [this](const Problem& problem) { problems.push_back(problem); })) {}

  std::vector<Problem> problems;
  CheckReport report;
};

/// Sets checksums of an archive to 0 in local headers, in the directory and behind members: those of all its members,
/// or only of those that have `crc`. PyTorch writes 0 for each if it is not to compute any.
std::string without_checksums(std::string archive, const std::string& crc = {}) {
  struct Field {
    std::string mark;
    std::size_t at;
  };
  for (const Field& field : {Field{"PK\3\4", 14}, Field{"PK\1\2", 16}, Field{"PK\7\10", 4}}) {
    for (std::size_t i = archive.find(field.mark); i != std::string::npos; i = archive.find(field.mark, i + 1)) {
      if (crc.empty() || archive.compare(i + field.at, 4, crc) == 0) {
        archive.replace(i + field.at, 4, 4, '\0');
      }
    }
  }
  return archive;
}

Texts sorted(Texts texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

TEST_CASE("a sound trial: everything is counted, nothing reported") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().end();
  std::uint64_t bytes = 0;
  for (std::int64_t step = 0; step < 5; ++step) {
    BuiltStep built = simple_step(step);
    built.tensors.emplace_back("b", std::vector<float>(100, 1));
    built.tensors.emplace_back("a", std::vector<float>{2});  // repeated: read twice
    built.checksums = step < 2;
    builder.step(built);
    bytes += read_file(dir / events_path(step, "worker_0")).size();
  }
  builder.step({.step = 9, .tensors = {}, .shapes = {{"s", {1}}}});
  dir.write("tensorboard/TRAIN/anything", "");
  dir.write("claim.smd", "");
  const Checked checked(dir);
  CHECK(checked.problems.empty());
  CHECK(checked.report.index_files == 6);
  CHECK(checked.report.event_files == 5);
  CHECK(checked.report.records == 15);
  CHECK(checked.report.unprotected == 9);  // three steps of three
  CHECK(checked.report.bytes == bytes);
  CHECK_FALSE(checked.report.damaged);
}

TEST_CASE("each bad record is reported, repeated ones too, and the rest is read") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  for (std::int64_t step = 0; step < 3; ++step) {
    BuiltStep built = simple_step(step);
    built.tensors.emplace_back("a", std::vector<float>{7});
    built.checksums = true;
    builder.step(built);
  }
  const std::string file = events_path(1, "worker_0");
  std::string bytes = read_file(dir / file);
  bytes[30] = static_cast<char>(bytes[30] ^ 1);  // in the first of the two records: the one that nobody asks for
  dir.write(file, bytes);
  const Checked checked(dir);
  CHECK(checked.report.damaged);
  CHECK(checked.report.records == 6);
  CHECK(kinds_and_files(checked.problems) == Texts{"Damaged " + file});
  CHECK(checked.problems.at(0).offset == bytes.size() / 2 - 4);  // the footer of the first of two equal records

  TrialOptions trusting;
  trusting.verify = false;
  trusting.range_steps = StepRange{.newest = 1};  // a check ignores the range and reads everything
  CHECK(Checked(dir, trusting).report.records == 6);
}

TEST_CASE("names that are no part of a trial are noted, and are no damage") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0)).end();
  dir.write("index/000000000/stray.json", "{}");
  dir.write("index/000000000/000000000007_worker_0.json.tmp", "{");
  dir.write("index/000000000/000000000003_table.csv", "a,b\n1,2\n");
  dir.write("index/" + std::string("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/") + "000000000008_worker_0.json", "{}");
  dir.write("events/000000000000/old.tfevents.tmp", "");
  dir.write("events/000000000005/000000000005_worker_0.tfevents", "");
  dir.write("collections/000000000/notes.txt", "");
  dir.write("notes.txt", "");
  dir.write("other/file", "");
  const Checked checked(dir);
  CHECK_FALSE(checked.report.damaged);
  CHECK(sorted(kinds_and_files(checked.problems)) ==
        Texts{"Note collections/000000000/notes.txt", "Note events/000000000000/old.tfevents.tmp",
              "Note events/000000000005/000000000005_worker_0.tfevents", "Note index/000000000/000000000003_table.csv",
              "Note index/000000000/000000000007_worker_0.json.tmp", "Note index/000000000/stray.json",
              "Note index/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", "Note notes.txt", "Note other"});
}

TEST_CASE("damaged collections and index files are problems, not errors") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.file("collections/000000000/worker_0_collections.json",
               R"({"collections": {"c": {"include_regex": ["(", "(a+)+$"]}, "d": 5}})");
  builder.file("collections/000000000/worker_1_collections.json", "{");
  builder.step({.step = 0, .tensors = {{std::string(40, 'a') + "!", {1}}}, .shapes = {}});
  builder.file(index_path(1, "worker_0"), "[]").step(simple_step(2));
  builder.end();
  const Checked checked(dir);
  CHECK(checked.report.damaged);
  CHECK(checked.report.index_files == 3);
  CHECK(checked.report.records == 2);
  CHECK(sorted(kinds_and_files(checked.problems)) ==
        Texts{"Damaged collections/000000000", "Damaged collections/000000000",
              "Damaged collections/000000000/worker_0_collections.json",
              "Damaged collections/000000000/worker_1_collections.json", "Damaged " + index_path(1, "worker_0")});
}

TEST_CASE("an event file that is not there is reported once, not for each of its records") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = 0, .tensors = {{"a", {1}}, {"b", {1}}, {"c", {1}}}, .shapes = {}});
  std::filesystem::remove(dir / events_path(0, "worker_0"));
  CHECK(kinds_and_files(Checked(dir).problems) == Texts{"NotYet " + events_path(0, "worker_0")});
  builder.end();
  CHECK(kinds_and_files(Checked(dir).problems) == Texts{"Absent " + events_path(0, "worker_0")});
}

TEST_CASE("event files that are named but no files, or lie outside, are damage of the index file") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  const std::vector<std::string> places = {"", "/etc/passwd", "../outside", "events", "events/fifo", "link"};
  dir.make_dir("events");
  REQUIRE(::mkfifo((dir / "events/fifo").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/etc/passwd", dir / "link");
  Texts expected;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    builder.file(index_path(step, "worker_0"),
                 R"({"meta": {"mode": "TRAIN", "mode_step": 0, "event_file_name": ")" + places[i] +
                     R"("}, "tensor_payload": [{"tensorname": "a", "start_idx": 0, "length": 50}]})");
    expected.push_back("Damaged " + index_path(step, "worker_0"));
  }
  builder.end();
  Texts told = kinds_and_files(Checked(dir).problems);
  told.erase(std::remove_if(told.begin(), told.end(), [](const std::string& text) { return text.starts_with("Note"); }),
             told.end());
  CHECK(told == expected);
}

TEST_CASE("an archive of PyTorch without checksums is read, and its tensors are counted as unprotected") {
  const TempDir dir;
  std::string archive = without_checksums(read_file(SMD_TEST_FIXTURES "/pytorch/facts/step_1.pt"));
  SUBCASE("its elements are those that were saved") {
    dir.write("step_1.pt", archive);
    const Trial trial = Trial::open(dir.path());
    const TensorValue value = trial.tensor("encoder.embed.weight").value(GlobalStep(500));
    std::vector<float> elements(16);
    REQUIRE(value.bytes().size() == elements.size() * sizeof(float));
    std::copy(value.bytes().begin(), value.bytes().end(), reinterpret_cast<std::byte*>(elements.data()));
    CHECK(elements == std::vector<float>{0.4363628F, -0.449161112F, 1.1454097F, -0.206337705F, 0.758045673F,
                                         -0.18840839F, -0.0472541191F, -0.640241325F, -0.153144106F, -0.0686961412F,
                                         -0.756664574F, 0.0593206398F, -0.0490639098F, 0.700626552F, 0.188263759F,
                                         0.979332149F});
  }
  SUBCASE("a changed bit of an element cannot be found") {
    constexpr std::size_t first_element = 704;
    archive[first_element] ^= 1;
    dir.write("step_1.pt", archive);
  }
  const Checked checked(dir);
  CHECK(checked.problems.empty());
  CHECK(checked.report.unprotected == 2);
  CHECK_FALSE(checked.report.damaged);
}

TEST_CASE("one member of an archive of PyTorch that has 0 for a checksum is damaged") {
  const TempDir dir;
  const std::string archive = read_file(SMD_TEST_FIXTURES "/pytorch/facts/step_1.pt");
  dir.write("step_1.pt", without_checksums(archive, "\x40\x25\x23\x22"));
  const Checked checked(dir);
  REQUIRE(checked.problems.size() == 1);
  CHECK(checked.problems[0].text.ends_with("data/0: its checksum is wrong"));
  CHECK(checked.report.unprotected == 0);
  CHECK(checked.report.damaged);
}

TEST_CASE("chunks of a distributed checkpoint without checksums are read, and its tensors counted as unprotected") {
  const std::string recorded = SMD_TEST_FIXTURES "/pytorch/dcp/step-100/";
  const TempDir dir;
  dir.make_dir("step-100");
  dir.write("step-100/.metadata", read_file(recorded + ".metadata"));
  std::uint64_t unprotected = 0;
  SUBCASE("all have checksums") {
    dir.write("step-100/__0_0.distcp", read_file(recorded + "__0_0.distcp"));
    dir.write("step-100/__1_0.distcp", read_file(recorded + "__1_0.distcp"));
  }
  SUBCASE("none has one") {
    dir.write("step-100/__0_0.distcp", without_checksums(read_file(recorded + "__0_0.distcp")));
    dir.write("step-100/__1_0.distcp", without_checksums(read_file(recorded + "__1_0.distcp")));
    unprotected = 6;  // the seventh has no elements
  }
  const Trial trial = Trial::open(dir.path());
  CHECK(first_float(trial.tensor("model.scale").value(GlobalStep(100))) == 2.5F);
  const Checked checked(dir);
  CHECK_FALSE(checked.report.damaged);
  CHECK(checked.report.records == 7);
  CHECK(checked.report.unprotected == unprotected);
}

TEST_CASE("no trial, no check") {
  const TempDir dir;
  CHECK_THROWS_AS(Checked{dir}, MissingCollectionFiles);
}

}  // namespace smd::test
