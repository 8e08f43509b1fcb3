// SPDX-License-Identifier: Apache-2.0
// What lies at a path: the trial that is opened for it, and what messages say if there is none.
#include "layout/kinds/kinds.hpp"
#include "layout/name_collections.hpp"
#include "layout/series_rows.hpp"
#include "support/temp_dir.hpp"

#include <smd/error.hpp>
#include <smd/trial.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace smd {
namespace {

namespace layout = detail::layout;
using test::TempDir;
using Texts = std::vector<std::string>;

constexpr const char* event_file = "/events.out.tfevents.1700000000.host.1.0";

/// What opening says, without the path of the folder.
std::string said_of(const TempDir& dir, const std::string& below, const TrialOptions& options = {}) {
  const auto without = [&](std::string text) {
    for (std::size_t at = text.find(dir.path()); at != text.npos; at = text.find(dir.path())) {
      text.erase(at, dir.path().size() + 1);
    }
    return text;
  };
  try {
    const Trial trial = Trial::open(dir / below, options);
    std::string text = without(trial.path()) + ": " + std::string(trial.layout().name);
    for (const Problem& problem : trial.problems()) {
      text += "; " + without(problem.text);
    }
    return text;
  } catch (const Error& error) {
    return std::string(error.tag()) + ": " + without(error.what());
  }
}

TEST_CASE("a folder above several runs is no trial, one above a single run stands for it") {
  const TempDir dir;
  for (const char* run : {"several/exp2", "several/exp1", "several/deep/a", "several/deep/b", "one/runs/exp1"}) {
    dir.write(std::string(run) + event_file, "");
  }
  CHECK(said_of(dir, "several") ==
        "MissingCollectionFiles: 'several' holds 4 runs: deep/a, deep/b, exp1 …; name one, or all of them with "
        "`smd-ls --find several`");
  CHECK(said_of(dir, "several/deep") ==
        "MissingCollectionFiles: 'several/deep' holds 2 runs: a, b; name one, or all of them with "
        "`smd-ls --find several/deep`");
  CHECK(said_of(dir, "one/") == "one/runs/exp1: tensorboard; 'one' is no trial itself; its folder 'runs/exp1' is read");
  try {
    (void)Trial::open(dir / "several");
    FAIL("opened");
  } catch (const MissingCollectionFiles& error) {
    CHECK(error.ended);  // waiting does not help
  }
  CHECK(find_trial(dir / "one")->path == dir / "one/runs/exp1");
  CHECK(find_trial(dir / "one")->layout.name == "tensorboard");
  CHECK_FALSE(find_trial(dir / "none"));
  CHECK(trial_at(dir / "one/runs/exp1/") == dir / "one/runs/exp1");
  CHECK(trial_at(dir / "one/runs/exp1" + event_file) == dir / "one/runs/exp1");
  for (const char* none : {"one", "one/runs", "several", "none"}) {
    CHECK_FALSE(trial_at(dir / none));
  }
  CHECK_THROWS_AS((void)find_trial(dir / "several"), MissingCollectionFiles);
}

TEST_CASE("a trial says what it leaves out, and of which one it is a part") {
  const TempDir dir;
  dir.write("out/checkpoint-5/trainer_state.json", R"({"global_step": 5, "log_history": []})");
  dir.write(std::string("out/runs/exp1") + event_file, "");
  dir.write(std::string("t") + event_file, "");
  dir.write(std::string("t/sub") + event_file, "");
  dir.write("t/trainer_state.json", "{}");
  dir.write(std::string("k/train") + event_file, "");
  dir.write(std::string("k/validation") + event_file, "");
  CHECK(said_of(dir, "out") == "out: checkpoints; 'runs/exp1' is left out: it is a trial of its own");
  CHECK(said_of(dir, "t") ==
        "t: tensorboard; 't' also holds checkpoints, which are left out; `--layout checkpoints` reads them");
  CHECK(said_of(dir, "t", {.layout = "checkpoints"}) == "t: checkpoints; 'sub' is left out: it is a trial of its own");
  CHECK(said_of(dir, "out", {.layout = "tensorboard"}) ==
        "out/runs/exp1: tensorboard; 'out' is no trial itself; its folder 'runs/exp1' is read");
  CHECK(said_of(dir, "t/sub/") == "t/sub: tensorboard; 't/sub' is a folder of the trial 't'");
  // Not among thousands of names: every one of as many runs would list all of them.
  for (int i = 0; i < 2'000; ++i) {
    dir.write("t/" + std::to_string(i), "");
  }
  CHECK(said_of(dir, "t/sub") == "t/sub: tensorboard");
  CHECK(said_of(dir, "k/train") == "k/train: tensorboard; 'k/train' is a folder of the trial 'k'");
  CHECK(said_of(dir, "t", {.layout = "mlflow"}) ==
        "Usage: there is no layout 'mlflow'; there are debugger, tensorboard, wandb, checkpoints, metrics");
}

TEST_CASE("what is no trial is named by its first bytes") {
  const TempDir dir;
  const std::string none =
      " has no collection files, event files of TensorBoard, run files of W&B, checkpoints or metric logs (CSV, JSON "
      "lines) ";
  dir.make_dir("empty");
  dir.write("pointers/events.out.tfevents.1700000000.host.1.0", "version https://git-lfs.github.com/spec/v1\n");
  dir.write("keras/checkpoint-500/model.keras", std::string("PK\3\4") + std::string(60, '\0'));
  dir.write("unknown/flax_model.msgpack", "\x82");
  dir.write("job/collections/000000000/worker_0_collections.json.gz", "\x1f\x8b\x08");
  dir.write("job/index/000000000/000000000000_worker_0.json", "{}");
  dir.write("model.gguf", "GGUF\3");
  dir.write("logs/notes.txt", "a\n");
  dir.write(std::string("logs") + event_file, "");
  CHECK(said_of(dir, "empty") ==
        "MissingCollectionFiles: 'empty'" + none +
            "(it holds nothing); if the job is still starting, wait for it with smd-wait; else "
            "check the path");
  CHECK(said_of(dir, "pointers") == "MissingCollectionFiles: 'pointers'" + none +
                                        "(it holds 'events.out.tfevents.1700000000.host.1.0'); "
                                        "'events.out.tfevents.1700000000.host.1.0' is a Git LFS pointer: git lfs pull "
                                        "fetches it");
  CHECK(said_of(dir, "keras") == "MissingCollectionFiles: 'keras'" + none +
                                     "(it holds 'checkpoint-500'); 'checkpoint-500/model.keras' is a ZIP archive");
  CHECK(said_of(dir, "unknown") == "MissingCollectionFiles: 'unknown'" + none + "(it holds 'flax_model.msgpack')");
  CHECK(
      said_of(dir, "job") ==
      "MissingCollectionFiles: 'job' has no collection files (it holds 'collections', 'index'); "
      "'collections/000000000/worker_0_collections.json.gz' is compressed with gzip: uncompress it (gunzip); wait for "
      "them with smd-wait, or check the path");
  CHECK(said_of(dir, "job/index") == "MissingCollectionFiles: 'job/index' lies in the trial 'job': name that");
  CHECK(said_of(dir, "job/index/000000000/000000000000_worker_0.json") ==
        "NotFound: job/index/000000000/000000000000_worker_0.json: lies in the trial 'job': name that");
  CHECK(said_of(dir, std::string("logs") + event_file) ==
        "NotFound: logs/events.out.tfevents.1700000000.host.1.0: lies in the trial 'logs': name that");
  CHECK(said_of(dir, "logs/notes.txt") ==
        "NotFound: logs/notes.txt: is not a metric log: its first line is not a header of two names or more, without a "
        "number; smd-save --lines takes numbers from other text");
  CHECK(said_of(dir, "model.gguf") == "NotFound: model.gguf: is a GGUF model");
}

struct LinesListing final : layout::Listing {
  LinesListing() {
    add_worker("worker_0");
    rank_workers();
  }
};

/// A file `loss.txt` with a number a line.
class LinesLayout final : public layout::Layout {
  detail::Outcome<layout::Found> look(detail::storage::Storage& storage, const layout::LookRequest& /*request*/,
                                      const layout::Listing* /*before*/,
                                      std::shared_ptr<const layout::CollectionsInfo> /*collections*/) const override {
    layout::Found found;
    std::istringstream lines(test::read_file(storage.root() + "/loss.txt"));
    layout::StepRowWriter rows(found.loaded, 1);
    rows.begin_file(rows.tables().paths.add("loss.txt"), 0);
    const std::uint32_t name = rows.tables().names.add("loss");
    std::int64_t step = 0;
    for (double loss = 0; lines >> loss;) {
      rows.begin_values(step++);
      rows.add(name, ValueForm::number, Dtype::float64, std::bit_cast<std::uint64_t>(loss), 0);
    }
    auto listing = std::make_shared<LinesListing>();
    rows.finish(*listing);
    found.collections = layout::add_to_collections({}, std::vector<layout::NamedValues>{{"loss"}});
    found.listing = std::move(listing);
    return found;
  }
};

TEST_CASE("a layout is one row of the table: it is found, opened, listed and explained") {
  const TempDir dir;
  dir.write("runs/a/loss.txt", "3\n2\n1\n");
  dir.write("runs/b/loss.txt", "4\n");
  dir.make_dir("empty");
  CHECK(find_trials(dir.path()).empty());

  const layout::AddedKind row({.traits = {.name = "lines"},
                               .contents = "lines of losses",
                               .holds =
                                   [](layout::FolderWalk& folder) {
                                     return folder.has("loss.txt") ? std::optional(layout::Held()) : std::nullopt;
                                   },
                               .open = [](const layout::Opening&) -> std::unique_ptr<layout::Layout> {
                                 return std::make_unique<LinesLayout>();
                               }});
  CHECK(find_trials(dir.path()) == Texts{dir / "runs/a", dir / "runs/b"});
  const Trial trial = Trial::open(dir / "runs/a", {.layout = "lines"});
  CHECK(trial.layout().name == "lines");
  CHECK(trial.tensor_names() == Texts{"loss"});
  CHECK(trial.collection("losses")->tensor_names == Texts{"loss"});
  CHECK(trial.steps().size() == 3);
  const TensorValue last = trial.tensor("loss").value(GlobalStep(2));
  double number = 0;
  std::memcpy(&number, last.bytes().data(), sizeof number);
  CHECK(number == 1);
  CHECK(layouts().back().name == "lines");
  CHECK(said_of(dir, "runs").find("holds 2 runs: a, b") != std::string::npos);
  CHECK(said_of(dir, "empty").find("checkpoints, metric logs (CSV, JSON lines) or lines of losses") !=
        std::string::npos);
}

}  // namespace
}  // namespace smd
