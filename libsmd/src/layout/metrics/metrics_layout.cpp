// SPDX-License-Identifier: Apache-2.0
#include "layout/layout_kind.hpp"
#include "layout/metrics/hyperparameter_files.hpp"
#include "layout/metrics/metric_rows.hpp"
#include "text/escape.hpp"
#include "text/loss_name.hpp"
#include "text/words.hpp"
#include "wire/first_bytes.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Names of logs in a folder. The first of them counts; the last three only if they are JSON lines.
constexpr std::array<std::string_view, 8> metric_log_names = {"metrics.csv",   "results.csv",       "progress.csv",
                                                              "metrics.jsonl", "trainer_log.jsonl", "logging.jsonl",
                                                              "metrics.json",  "scalars.json"};
constexpr std::size_t first_doubtful_log = 5;

/// Immutable once shared.
class MetricListing final : public SeriesListing {
 public:
  [[nodiscard]] std::string path(const StepPart& /*file*/) const override { return cursor->path; }

  std::shared_ptr<const MetricCursor> cursor;
};

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A header may begin as a web page does, but no page has a column of steps.
bool is_text(std::string_view name, std::span<const std::byte> first) {
  const std::string_view text = behind_zeros(text_of(first)).substr(0, wire::telling_bytes);
  return wire::may_be_text(std::as_bytes(std::span(text)), name) ||
         (text_of(first).starts_with('<') && !metric_log_problem(text_of(first), true));
}

/// As `read_beginning`.
Outcome<std::vector<std::byte>> beginning_of(const storage::File& file, std::string_view name) {
  auto first = read_first_bytes(file, first_bytes_of_file);
  const bool may_be_long =
      first && first->size() >= first_bytes_of_file && (is_text(name, *first) || behind_zeros(text_of(*first)).empty());
  if (!may_be_long) {
    return first;
  }
  const auto problem = metric_log_problem(text_of(*first), true);
  return problem && problem->kind == ProblemKind::not_yet ? read_first_bytes(file, limits::row_bytes)
                                                          : std::move(first);
}

/// Returns why a file is not read as lines of text; nullopt if it is. `grows`: zeros may become them.
std::optional<std::string> why_no_lines(std::string_view name, std::span<const std::byte> first, bool grows) {
  const auto* const known = wire::known_file(first.first(std::min(first.size(), wire::telling_bytes)), name);
  if (wire::is_no_text(known) && !is_text(name, first) && !(grows && behind_zeros(text_of(first)).empty())) {
    return first.size() < limits::row_bytes ? say(*known) : std::string(too_long_line);
  }
  const std::string_view text = text_of(first);
  const std::string_view behind = from_unquoted(text, '\r');
  const bool one_line = behind.find_first_not_of("\r\0", 0, 2) == behind.npos || contains(text, '\n');
  return one_line || form_of(text) == MetricForm::array  // there it is a blank as others are
             ? std::nullopt
             : std::optional<std::string>("is not a metric log: its lines end in CR alone; convert it (mac2unix)");
}

/// As above, of a file that counts only if it is JSON lines. `grows`: what is not finished may become them.
std::optional<std::string> why_no_json_lines(std::string_view name, std::span<const std::byte> first, bool grows) {
  auto why = why_no_lines(name, first, grows);
  const std::string_view text = text_of(first);
  if (why || text.find_first_not_of('\0') == text.npos) {
    return why;
  }
  if (form_of(text) == MetricForm::csv) {
    return "is not JSON lines";
  }
  const auto problem = metric_log_problem(text, false);
  return problem && !(grows && problem->kind == ProblemKind::not_yet) ? std::optional(problem->text) : std::nullopt;
}

/// Chooses the log of a folder. Returns a problem if it has none that is one.
/// `known`: what the last look knew, or null. `grows`: what is not finished may become one.
Outcome<std::string> choose_file(storage::Storage& storage, const Opening& place, const MetricCursor* known, bool grows,
                                 ProblemList& notes) {
  if (!place.file.empty()) {
    return place.file;
  }
  const auto entries = storage.list({});
  if (!entries) {
    return entries.problem();
  }
  std::string chosen;
  std::vector<std::string> left_out;
  std::optional<Problem> refused;
  for (std::size_t i = 0; i < metric_log_names.size(); ++i) {
    const std::string name(metric_log_names[i]);
    if (std::ranges::none_of(*entries, [&](const storage::DirEntry& entry) {
          return entry.name == name && entry.kind != storage::EntryKind::folder;
        })) {
      continue;
    }
    if (i >= first_doubtful_log && (known == nullptr || known->all_rows == 0 || name != known->path)) {
      const auto first = read_beginning(storage, name);
      if (const auto why = first ? why_no_json_lines(name, *first, grows) : std::nullopt) {
        refused = refused.value_or(Problem{ProblemKind::not_found, name, {}, *why});
        continue;
      }
    }
    (chosen.empty() ? chosen : left_out.emplace_back()) = name;
  }
  for (const std::string& name : left_out) {
    notes.add(make_problem(ProblemKind::remark, fmt::format("'{}' is left out: '{}' is read", name, chosen)));
  }
  if (chosen.empty()) {
    return refused.value_or(make_problem(ProblemKind::not_found, "no metric log is here"));
  }
  return chosen;
}

/// Names of columns that tell which of several runs or workers a row is of, and of those that tell splits of the data.
constexpr auto run_columns = std::to_array<std::string_view>(
    {"client", "client_id", "fold", "local_rank", "process_index", "rank", "seed", "worker", "worker_id"});
constexpr auto split_columns = std::to_array<std::string_view>({"mode", "phase", "split", "stage"});

/// `exact`: with the numbers of repeated rows, of which a follower would say each.
void add_notes(const MetricCursor& cursor, bool exact, ProblemList& notes) {
  const auto remark = [&](std::string text, std::string_view tensor = {}) {
    notes.add({ProblemKind::remark, cursor.path, {}, std::move(text), {}, std::string(tensor)});
  };
  if (cursor.all_rows != 0 && cursor.step_chosen && !cursor.step_column) {
    remark(std::string("steps are the numbers of rows, from 0: ") +
           (cursor.form == MetricForm::csv ? "no column is a step" : "the first row has no step"));
  }
  if (cursor.rewritings != 0) {
    remark(fmt::format("was written anew{}: its rows come again, from step {}",
                       cursor.rewritings == 1 ? "" : fmt::format(", {} times by now", cursor.rewritings),
                       cursor.again_from));
  }
  if (cursor.late_step) {
    notes.add({ProblemKind::warning, cursor.path, cursor.late_step,
               "this row has the first step: steps before it are the numbers of rows"});
  }
  for (const auto& [name, offset] : cursor.choices.fractions) {
    notes.add({counts_epochs(name) ? ProblemKind::remark : ProblemKind::warning, cursor.path, offset,
               fmt::format("'{}' is not the step: this row has no whole number there", printable(name))});
  }
  for (const std::string& name : cursor.equal_names) {
    remark(fmt::format("several columns are named '{}': the last one is read", printable(name)), name);
  }
  bool any_loss = false;
  std::array<std::uint64_t, 2> repeated{};  // rows with another value, where many steps have several; then of losses
  std::array<std::uint64_t, 2> lost{};
  std::string_view apart;      // the first column that tells such rows apart
  bool turns = false;          // where it changes, the step goes back over more than half of all,
  std::array<bool, 2> back{};  // and so it does in a column of numbers; then in one of losses
  std::string_view empty;      // the first column of a loss without a value
  std::uint64_t changes = 0;   // of the split of the data, at the same step
  for (const std::string_view name : split_columns) {
    const std::uint32_t id = cursor.names.find(name);
    changes = std::max(changes, id == no_id ? 0 : cursor.columns[id].others);
  }
  for (std::uint32_t id = 0; id < cursor.columns.size(); ++id) {
    const MetricColumn& column = cursor.columns[id];
    const bool loss = column.role == MetricColumn::Role::tensor && text::is_loss_name(cursor.names[id]);
    if (loss) {
      any_loss = any_loss || column.series != no_id || column.texts != 0;
      empty = empty.empty() ? cursor.names[id] : empty;
    }
    const std::uint64_t steps = column.numbers - column.again;
    const bool many = 2 * column.others >= steps || (column.others <= changes && 2 * column.others >= changes);
    if (steps >= 3 && column.others >= 3 && many) {
      repeated[loss ? 1 : 0] = std::max(repeated[loss ? 1 : 0], column.others);
      lost[loss ? 1 : 0] += column.lost;
    }
    const bool of_run = contains(run_columns, cursor.names[id]) || contains(split_columns, cursor.names[id]);
    // A job that is resumed goes back less.
    const bool turned = 2 * column.back > static_cast<double>(std::max(column.last_step, cursor.last_step.value_or(0)));
    back[loss ? 1 : 0] = back[loss ? 1 : 0] || (turned && !of_run && column.series != no_id);
    if ((turned && of_run && !turns) ||
        (apart.empty() && column.others != 0 && (of_run || cursor.names[id] == "batch"))) {
      apart = cursor.names[id];
      turns = turned && of_run;
    }
    if (column.texts != 0 && column.role != MetricColumn::Role::wall_time) {  // these have a note of their own
      const std::string text = fmt::format("'{}': {} not numeric and left out", printable(cursor.names[id]),
                                           text::counted(column.texts, "value", "is", "are"));
      if (column.series != no_id || cursor.table.series.empty() || loss) {
        remark(text, cursor.names[id]);
      } else {
        notes.add(make_problem(ProblemKind::note, printable(cursor.path) + ": " + text));  // as it should be
      }
    }
  }
  if (cursor.all_rows != 0 && !any_loss && !empty.empty()) {  // a log that has just begun may be so, too
    const std::string text = fmt::format("{}: '{}': no row has a value", printable(cursor.path), printable(empty));
    notes.add({ProblemKind::note, {}, {}, text, {}, std::string(empty)});
  }
  const std::size_t of = any_loss ? 1 : 0;
  turns = turns && back[of];
  if (turns || (repeated[of] != 0 && (any_loss || !apart.empty()))) {
    exact = exact && !turns;  // rows at earlier steps are not counted
    std::string text = exact ? text::counted(repeated[of], "row") : "rows";
    text +=
        " are superseded by later ones of " + (apart.empty() ? "the same step" : fmt::format("another '{}'", apart));
    text +=
        lost[of] == 0 ? "" : ", with " + (exact ? text::counted(lost[of], "value") : "values") + " of NaN or infinity";
    text += ": give them logs of their own, or a step that no two share (--step-name NAME)";
    notes.add({ProblemKind::warning, cursor.path, {}, std::move(text)});
  }
  if (cursor.skipped != 0) {
    remark(fmt::format("{} left out, which {} no step", text::counted(cursor.skipped, "row", "is", "are"),
                       cursor.skipped == 1 ? "has" : "have"));
  }
  if (cursor.contradicted != 0) {
    const std::string rows = text::counted(cursor.contradicted, "row", "has", "have");
    notes.add({ProblemKind::warning, cursor.path, {}, rows + " a step with a fraction, which is ignored"});
  }
}

/// Returns whether the file is the one that was read, with more behind it or not. Its tail is compared later; if that
/// is unknown, because reading failed before it, all must be read again.
bool is_same(const storage::File& file, const MetricCursor& cursor, const std::optional<storage::FileStamp>& stamp) {
  const bool known = cursor.offset == 0 || (cursor.head.count != 0 && cursor.tail.count != 0);
  const bool same = known && (!stamp || !cursor.stamp || cursor.is(*stamp));
  return same && !cursor.took_rest && file.size() >= cursor.offset && FileBytes(file, cursor.head.count) == cursor.head;
}

/// Returns the choices with which to read the log again; nullopt if those with which it was read are right. Each time
/// they name one column more, or keep the step.
std::optional<MetricChoices> better_choices(const MetricCursor& cursor) {
  constexpr std::uint64_t rows_for_a_fraction = 20;
  MetricChoices better = cursor.choices;
  // Of JSON, the step is chosen from the names in the first row with a number or a step, and those that half of all
  // rows have; if that one has no step, from all.
  for (std::uint32_t id = 0; cursor.form != MetricForm::csv && id < cursor.columns.size(); ++id) {
    const std::uint64_t numbers = cursor.columns[id].numbers;
    if (cursor.columns[id].rank && (2 * numbers >= cursor.all_rows || (!cursor.step_column && numbers != 0))) {
      better.step_names.emplace(cursor.names[id]);
    }
  }
  if (better.step_names != cursor.choices.step_names || cursor.late_step) {
    return better;  // with which other columns may be the step
  }
  for (std::uint32_t id = 0; id < cursor.columns.size(); ++id) {
    const MetricColumn& column = cursor.columns[id];
    const bool many = column.fractions * rows_for_a_fraction > column.numbers;
    if (many || (column.fractions != 0 && counts_epochs(cursor.names[id]))) {
      better.fractions.emplace(cursor.names[id], column.first_fraction);
    }
  }
  // With few fractions a column is the step, unless it is that of epochs, and these rows are damaged.
  better.keeps_step = better.fractions == cursor.choices.fractions;
  return cursor.contradicted == 0 ? std::nullopt : std::optional(std::move(better));
}

class MetricsLayout final : public Layout {
 public:
  explicit MetricsLayout(Opening place) : place_(std::move(place)) {}

  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* last,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    ProblemList notes(limits::problems_per_trial);
    const auto* const before = static_cast<const MetricListing*>(last);
    const MetricCursor* const known = before == nullptr ? nullptr : before->cursor.get();
    const auto path = choose_file(storage, place_, known, !request.as_it_stands, notes);
    if (!path) {
      return path.problem();
    }
    const auto ended_with = [&](const std::shared_ptr<MetricCursor>& cursor, Found found) {
      const auto listing = next_listing(cursor, before, std::move(notes));
      listing->add_notes(cursor->path, cursor->problems, cursor->rest);
      add_notes(*cursor, request.as_it_stands, listing->notes);
      found.listing = listing;
      return found;
    };
    Found nothing_new;
    nothing_new.collections = collections;
    const auto stamp = storage.file_stamp(*path);
    if (known != nullptr && !request.everything && stamp && known->stamp == stamp && known->path == *path) {
      return ended_with(std::make_shared<MetricCursor>(*known), std::move(nothing_new));
    }
    storage.forget(*path);
    const auto opened = storage.open(*path);
    if (!opened) {
      return in_file(opened.problem(), *path);
    }
    bool goes_on = known != nullptr && !request.everything && known->path == *path && is_same(**opened, *known, stamp);
    if (!goes_on || known->all_rows == 0) {
      const auto first = beginning_of(**opened, *path);
      if (auto why = first ? why_no_lines(*path, *first, !request.as_it_stands) : std::nullopt) {
        return Problem{ProblemKind::not_found, *path, {}, *std::move(why)};
      }
    }
    const bool afresh = known != nullptr && !goes_on;
    ReturnedByName returned;
    for (std::uint32_t id = 0; afresh && !request.everything && id < known->returned.size(); ++id) {
      returned.emplace(known->table.names[id], known->returned[id]);
    }
    // Writers write a log anew in one go. One that rests for so long, with fewer rows than were returned, is of a job
    // that was run again.
    const bool unchanged = known != nullptr && known->anew_since && known->anew == stamp;
    const auto since = unchanged ? *known->anew_since : request.now;
    const bool rests = unchanged && request.now - since >= request.half_written;
    LookRequest local = request;
    local.jobs = storage.remote() ? 1 : request.jobs;
    // It is being written anew and not all is there yet, or it cannot be read.
    const auto wait = [&](const std::optional<Problem>& why) {
      const auto waiting = std::make_shared<MetricCursor>(*known);
      waiting->rest = why;
      waiting->stamp.reset();
      waiting->head = {};  // then all is read again, whatever it becomes
      waiting->anew = stamp;
      waiting->anew_since = since;
      nothing_new.due = rests ? std::nullopt : std::optional(since + request.half_written);
      return ended_with(waiting, std::move(nothing_new));
    };
    MetricChoices choices;
    bool all_again = false;
    while (true) {  // reads again if other choices are better, or other numbers stand where returned ones stood
      const auto cursor = goes_on ? std::make_shared<MetricCursor>(*known) : emptied(known);
      if (!goes_on) {
        cursor->path = *path;
        cursor->choices = choices;
        cursor->rewritings = known == nullptr ? 0 : known->rewritings;
        cursor->again_from = known == nullptr ? 0 : known->again_from;
        read_hyperparameters(storage, cursor->extras);
      }
      cursor->stamp = stamp;
      auto rows = read_metric_rows(**opened, *cursor, local, place_, returned, afresh ? nullptr : collections);
      if (rows && rows->is_other) {
        return look(storage, request, wait(known->rest).listing.get(), std::move(collections));
      }
      if (!rows) {  // the rest of its header may come
        return afresh && !request.as_it_stands && !rests ? Outcome<Found>(wait(known->rest)) : rows.problem();
      }
      // A follower keeps its choices once it has a step.
      const bool decides =
          place_.step_name.empty() && (rows->began_with_fraction || (!goes_on && request.as_it_stands));
      if (auto better = decides ? better_choices(*cursor) : std::nullopt) {
        choices = *std::move(better);
        goes_on = false;
      } else if (rows->again == Again::all) {
        rows->found.afresh = afresh;
        if (const auto& again = rows->found.loaded.rows; all_again && !request.as_it_stands && !again.empty()) {
          ++cursor->rewritings;
          cursor->again_from = again.front().row.file.step;
        }
        return ended_with(cursor, std::move(rows->found));
      } else if (rows->again == Again::some && !request.as_it_stands &&
                 (rows->failed ||
                  ((!rests || rows->found.loaded.rows.empty()) &&
                   ((*opened)->size() < known->offset || std::ranges::all_of(returned, [&](const auto& one) {
                      return cursor->names.find(one.first) != no_id;
                    }))))) {
        return wait(rows->failed ? cursor->rest : known->rest);
      } else {
        returned.clear();
        all_again = true;
      }
    }
  }

 private:
  Opening place_;
};

}  // namespace

std::unique_ptr<Layout> metrics_layout(const Opening& what) { return std::make_unique<MetricsLayout>(what); }

std::optional<Held> holds_metric_log(FolderWalk& folder) {
  const auto name = std::ranges::find_if(
      metric_log_names, [&](std::string_view one) { return folder.has(one) && !folder.has_folder(one); });
  return name == metric_log_names.end() ? std::nullopt : std::optional(Held{.example = std::string(*name)});
}

bool is_metric_log_name(std::string_view name) noexcept { return contains(metric_log_names, name); }

Outcome<std::vector<std::byte>> read_beginning(storage::Storage& storage, const std::string& path) {
  const auto opened = storage.open_at(path, 0, first_bytes_of_file);
  return opened ? beginning_of(**opened, path) : opened.problem();
}

bool is_metric_log(const Opening& what, std::span<const std::byte> first) {
  return first.empty() ? is_metric_log_name(what.file)  // nothing is written yet
                       : is_text(what.file, first) && !why_no_lines(what.file, first, false) &&
                             !metric_log_problem(text_of(first), what.step_name.empty());
}

Problem why_no_metric_log(const Opening& what, std::span<const std::byte> first) {
  Problem problem = metric_log_problem(text_of(first), what.step_name.empty()).value_or(Problem());
  const auto rest = first.subspan(std::min(text_of(first).find_first_not_of('\0'), first.size()));
  const bool nothing =
      rest.empty() || (behind_zeros(text_of(first)).empty() &&  // is there yet
                       wire::may_be_text(rest.first(std::min(rest.size(), wire::telling_bytes)), what.file));
  const auto why = why_no_lines(what.file, first, false);
  if (!nothing && (why || !is_text(what.file, first))) {
    problem.kind = ProblemKind::not_found;
  }
  problem.text = why.value_or(problem.text);
  return problem;
}

}  // namespace smd::detail::layout
