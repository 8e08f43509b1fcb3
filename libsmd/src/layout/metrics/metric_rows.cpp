// SPDX-License-Identifier: Apache-2.0
#include "layout/metrics/metric_rows.hpp"

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "text/ascii.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/time.hpp"
#include "text/trim.hpp"
#include "wire/flat_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace smd::detail::layout {

namespace {

using wire::FlatJson;
using Role = MetricColumn::Role;

/// A quote that goes on for more lines will not be closed.
constexpr std::ptrdiff_t most_quoted_lines = 64;
/// Behind more objects that are not closed nothing is looked for: each takes a look at the rest of the file.
constexpr unsigned most_unclosed = 16;
/// Whether to stop is asked so seldom. What is taken between may be a row, or a thousand of one form.
constexpr unsigned taken_between_questions = 64;
constexpr const char* array_separators = " \t\r\n[,";
constexpr const char* zeros_in_line = "the line has zeros, as a crash leaves them, and is left out";

Role role_of(std::string_view name, bool json) noexcept {
  constexpr std::array<std::string_view, 3> no_metrics = {"time", "percentage", "total_steps"};
  if (name == "timestamp" || (json && name == "_timestamp")) {
    return Role::wall_time;
  }
  const bool nothing = contains(no_metrics, name) || name.starts_with("elapsed") || name.starts_with("remaining") ||
                       (json && name.starts_with('_')) || name.size() > limits::name_bytes;
  return nothing ? Role::nothing : name == "epoch" ? Role::epoch : Role::tensor;
}

/// One value of a row. Neither a number nor a text: not logged. Both: a step whose number is rounded.
struct Cell {
  std::uint32_t column = 0;
  bool is_number = false;
  double number = 0;
  std::string_view text = {};
  std::size_t at = 0;  ///< Of a number: its offset in the row.
};

std::optional<std::int64_t> step_in(const Cell& cell) noexcept {
  return !cell.text.empty() ? step_of(cell.text) : cell.is_number ? text::whole_of(cell.number) : std::nullopt;
}

/// Returns a time in seconds since 1970. A number beyond the year 5000 counts milliseconds, microseconds or
/// nanoseconds.
double seconds_in(double time) noexcept {
  return time < 1e11 ? time : time < 1e14 ? time / 1e3 : time < 1e17 ? time / 1e6 : time / 1e9;
}

Problem remark_at(std::uint64_t offset, std::string text) { return {ProblemKind::remark, {}, offset, std::move(text)}; }

/// Takes the rows of a log.
class MetricTaker {
 public:
  MetricTaker(const storage::File& file, MetricCursor& cursor, const LookRequest& request, const Opening& place,
              const ReturnedByName& returned)
      : file_(file),
        cursor_(cursor),
        request_(request),
        place_(place),
        returned_(returned),
        rows_(cursor, taken_.found.loaded) {}

  /// Takes what is new.
  Outcome<MetricRows> take(std::shared_ptr<const CollectionsInfo> collections) {
    if (request_.as_it_stands || cursor_.take_head(file_)) {
      if (auto refused = read()) {
        return *std::move(refused);
      }
    }
    std::size_t complete = 0;
    bool more = false;
    for (std::uint32_t id = 0; id < cursor_.returned.size(); ++id) {
      const auto before = returned_.find(cursor_.table.names[id]);
      const std::uint64_t count = before == returned_.end() ? 0 : before->second.count;
      complete += count != 0 && cursor_.returned[id].count >= count ? 1 : 0;
      more = more || cursor_.returned[id].count > count;
    }
    if (taken_.again == Again::all && complete != returned_.size()) {
      taken_.again = more ? Again::others : Again::some;  // these rows have gone on without the rest
    }
    rows_.finish(taken_.found, std::move(collections));
    return std::move(taken_);
  }

 private:
  /// Returns why the file is refused.
  std::optional<Problem> read() {
    ForwardReader reader(file_, cursor_.offset - cursor_.tail.count);
    (void)reader.have(cursor_.tail.count + 1);
    taken_.is_other = cursor_.tail.count != 0 && !reader.problem() &&
                      FileBytes(reader.text().substr(0, cursor_.tail.count)) != cursor_.tail;
    if (taken_.is_other) {
      return std::nullopt;
    }
    reader.pass(cursor_.tail.count);
    cursor_.rest.reset();
    rows_.begin_file(cursor_.table, {}, cursor_.path, 0, 0);
    if (cursor_.offset == 0) {
      do {
        cursor_.form = form_of(reader.text());
      } while (!cursor_.form && reader.text().size() <= limits::row_bytes && reader.more());
      reader.skip(cursor_.form && reader.text().starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    }
    std::optional<Problem> refused;
    if (cursor_.form == MetricForm::csv) {
      refused = read_csv(reader);
    } else if (cursor_.form) {
      read_json(reader);
    }
    // No header or row so far, but NULs: damage if the log is at rest, an unfinished line if it is followed.
    if (cursor_.columns.empty() && !request_.stopped() && reader.text().find('\0') != std::string_view::npos) {
      tell_rest(reader.text(), reader.offset(), false);
    }
    if (!refused && request_.as_it_stands && !place_.step_name.empty() && cursor_.form != MetricForm::csv &&
        cursor_.all_rows != 0 && cursor_.skipped == cursor_.all_rows && cursor_.contradicted == 0) {
      refused = refuse(fmt::format("no row has a step '{}'{}", printable(place_.step_name), meant_step()));
    }
    if (reader.problem()) {
      taken_.failed = true;
      cursor_.fail(*reader.problem());
    }
    if (reader.offset() != cursor_.offset) {  // else the tail stays: perhaps it could not be read, and was not compared
      std::string_view tail = reader.skipped();
      if (cursor_.form == MetricForm::array) {  // what stands behind the last object changes as the array grows
        tail = tail.substr(0, tail.find_last_not_of(array_separators) + 1);
      }
      cursor_.offset = reader.offset() - (reader.skipped().size() - tail.size());
      cursor_.tail = FileBytes(tail);
    }
    if (!request_.as_it_stands && cursor_.head.count < FileBytes::most_bytes) {
      (void)cursor_.take_head(file_);
    }
    return refused;
  }

  void damage(std::uint64_t offset, std::string text) {
    cursor_.problems.add(damaged(std::move(text), offset));
    ++cursor_.rows;
  }
  Problem refuse(std::string why) const { return {ProblemKind::not_found, cursor_.path, {}, std::move(why)}; }
  void tell_rest(std::string_view line, std::uint64_t offset, bool taken) {
    cursor_.took_rest = taken;
    if (const std::size_t zeros = line.find('\0'); zeros != line.npos && request_.as_it_stands) {
      cursor_.rest = damaged(zeros_in_line, offset + zeros);
      return;
    }
    cursor_.rest = remark_at(offset, taken ? "the last line has no line end; it is taken, for it has all fields"
                                           : "the last line is not finished and is left out");
    cursor_.rest->unfinished = true;  // a follower says so at its end
  }

  std::uint32_t column_of(std::string_view name) {
    const std::size_t known = cursor_.columns.size();
    previous_ = id_of_next(cursor_.names, cursor_.columns, previous_, name);
    if (cursor_.columns.size() != known) {
      cursor_.columns.back().role = role_of(name, cursor_.form != MetricForm::csv);
      cursor_.columns.back().rank = rank_of_step_name(name);
    }
    return previous_;
  }

  // CSV

  std::optional<Problem> read_csv(ForwardReader& reader) {
    CsvSplitter splitter(cursor_.separator);
    for (unsigned count = 0; !in_line_ && (count % taken_between_questions != 0 || !request_.stopped()); ++count) {
      if (take_alike(reader)) {
        continue;
      }
      if (cursor_.header.empty()) {
        const auto before = before_header(reader.text());
        const std::string_view text = before ? reader.text().substr(*before) : std::string_view();
        if (text.find('\n') == text.npos) {
          const bool too_long = reader.text().size() > limits::row_bytes;
          if (!too_long && reader.more()) {
            continue;
          }
          return too_long ? std::optional(refuse(std::string(too_long_line))) : std::nullopt;
        }
        reader.skip(*before);
        cursor_.separator = CsvSplitter::separator_of(text.substr(0, text.find('\n')));
        splitter = CsvSplitter(cursor_.separator);
      }
      auto length = splitter.split(reader.text());
      if (!length && reader.text().size() <= limits::row_bytes && reader.more()) {
        continue;
      }
      const bool last = !length;
      if (last) {
        if (reader.text().size() > limits::row_bytes) {
          leave_out_line(reader, "a row is longer than the limit (row_bytes)");
          continue;
        }
        splitter.split_last(reader.text());
        length = reader.text().size();
        const auto lines = std::ranges::count(reader.text(), '\n');
        if (splitter.in_quotes() && lines > (request_.as_it_stands ? 0 : most_quoted_lines)) {
          leave_out_line(reader, "a quote is not closed");
          continue;
        }
        const std::vector<std::string_view>& fields = splitter.fields();
        const bool whole =
            request_.as_it_stands && !splitter.in_quotes() && reader.text().find('\0') == std::string_view::npos;
        const bool taken = whole && fields.size() == cursor_.header.size();
        // Whatever follows the last field, this is no row, nor a header.
        const bool wrong =
            whole && fields.size() > cursor_.header.size() && !is_header({fields.begin(), fields.end() - 1});
        if (*length != 0 && !splitter.blank() && !wrong) {
          tell_rest(reader.text(), reader.offset(), taken);
        }
        if (!taken && !wrong) {
          return std::nullopt;
        }
        cursor_.took_rest = true;
      }
      const std::string_view row = reader.text().substr(0, *length);
      if (auto refused = take_csv(splitter, row, reader.offset())) {
        return refused;
      }
      reader.skip(*length);
      if (last) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Returns the length of the line at the beginning of a text, with its end; nullopt if it does not end in it.
  static std::optional<std::size_t> line_length(std::string_view text) noexcept {
    const std::size_t end = text.find('\n');
    return end == text.npos ? std::nullopt : std::optional(end + 1);
  }

  void leave_out_line(ForwardReader& reader, std::string why) {
    damage(reader.offset(), std::move(why));
    std::optional<std::size_t> length;
    do {
      length = line_length(reader.text());
      reader.skip(length.value_or(reader.text().size()));
    } while (!length && !request_.stopped() && reader.more());
    in_line_ = request_.stopped();
  }

  std::optional<Problem> take_csv(const CsvSplitter& split, std::string_view row, std::uint64_t offset) {
    const std::vector<std::string_view>& fields = split.fields();
    if (const std::size_t zeros = row.find('\0'); zeros != row.npos) {
      damage(offset + zeros, zeros_in_line);
      return std::nullopt;
    }
    if (cursor_.header.empty()) {
      return take_header(fields);
    }
    if (split.blank()) {
      return std::nullopt;
    }
    if (begins_run(fields)) {
      cursor_.new_run = true;
      cursor_.rows = 0;
      return take_header(fields);
    }
    if (fields.size() > cursor_.header.size()) {
      damage(offset, fmt::format("a row of {} fields, where the header has {}", fields.size(), cursor_.header.size()));
      return std::nullopt;
    }
    cells_.clear();
    const bool quoted = row.find('"') != row.npos;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (cursor_.header[i] != no_id) {
        const text::LoggedText value = text::logged_text(fields[i]);
        Cell& cell = cells_.emplace_back();
        cell = {cursor_.header[i], value.number.has_value(), value.number.value_or(0)};
        cell.text = value.logged && (!value.number || needs_digits(cell)) ? fields[i] : std::string_view();
        cell.at = quoted ? row.npos : static_cast<std::size_t>(fields[i].data() - row.data());
      }
    }
    learn(row);
    take_row(cells_, offset);
    return std::nullopt;
  }

  /// Returns whether a number may be a step that no double has.
  [[nodiscard]] bool needs_digits(const Cell& cell) const {
    return cell.is_number && std::abs(cell.number) >= text::most_exact_whole &&
           (cursor_.columns[cell.column].rank || cursor_.names[cell.column] == place_.step_name);
  }

  static std::string column_name(const std::vector<std::string_view>& fields, std::size_t i) {
    return fields[i].empty() ? "column_" + std::to_string(i + 1) : std::string(fields[i]);
  }

  /// Returns whether a row is a header with the names of the last one, or with a step name that it has, too.
  [[nodiscard]] bool begins_run(const std::vector<std::string_view>& fields) const {
    const bool same = has_names_of_header(fields);
    const bool number = !fields.front().empty() && text::is_digit(fields.front().front());  // the usual case
    return (same || !number) && is_header(fields) &&
           (same || std::ranges::any_of(fields, [&](std::string_view field) {
              const std::uint32_t id = rank_of_step_name(field) ? cursor_.names.find(field) : no_id;
              return id != no_id && contains(cursor_.header, id);
            }));
  }
  [[nodiscard]] bool has_names_of_header(const std::vector<std::string_view>& fields) const {
    bool same = fields.size() == cursor_.header.size();
    for (std::size_t i = 0; same && i < fields.size(); ++i) {
      const std::uint32_t id = cursor_.header[i];
      const std::string name = column_name(fields, i);
      // Of equal names, only the last has its id in the header.
      const std::uint32_t known = id != no_id ? id : cursor_.names.find(name);
      same = known != no_id && cursor_.names[known] == name && (id != no_id || contains(cursor_.header, known));
    }
    return same;
  }

  std::optional<Problem> take_header(const std::vector<std::string_view>& fields) {
    if (!is_header(fields)) {
      return refuse(std::string(no_header));
    }
    form_.forget();
    place_of_.resize(cursor_.columns.size(), no_id);
    for (const std::uint32_t id : cursor_.header) {  // only these: many headers may follow, each with other names
      if (id != no_id) {
        place_of_[id] = no_id;
      }
    }
    cursor_.header.clear();
    previous_ = no_id;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::uint32_t id = column_of(column_name(fields, i));
      place_of_.resize(cursor_.columns.size(), no_id);
      if (const std::uint32_t place = place_of_[id]; place != no_id) {
        cursor_.header[place] = no_id;
        cursor_.equal_names.emplace(cursor_.names[id]);
      }
      place_of_[id] = static_cast<std::uint32_t>(i);
      cursor_.header.push_back(id);
    }
    choose_step(cursor_.header);
    if (!place_.step_name.empty() && !cursor_.step_column) {
      return refuse(fmt::format("has no column '{}'{}", printable(place_.step_name), meant_step()));
    }
    return std::nullopt;
  }

  /// Which names are like that of the step that was asked for, to be appended to a message.
  [[nodiscard]] std::string meant_step() const {
    std::vector<std::string> meant = nearest(place_.step_name, cursor_.names.texts().by_number);
    std::erase(meant, place_.step_name);  // JSON lines: the name that was asked for is among them
    return printable(did_you_mean(meant));
  }

  /// Takes the best of some columns as that of steps.
  void choose_step(std::span<const std::uint32_t> columns) {
    cursor_.step_chosen = true;
    cursor_.step_column.reset();
    for (const std::uint32_t id : columns) {
      if (id == no_id) {
        continue;
      }
      if (!place_.step_name.empty()) {
        cursor_.step_column = cursor_.names[id] == place_.step_name ? id : cursor_.step_column;
      } else if (const auto& rank = cursor_.columns[id].rank;
                 rank && !cursor_.choices.fractions.contains(std::string(cursor_.names[id])) &&
                 (!cursor_.step_column || *rank < *cursor_.columns[*cursor_.step_column].rank)) {
        cursor_.step_column = id;
      }
    }
  }

  // JSON

  void read_json(ForwardReader& reader) {
    const bool lines = *cursor_.form == MetricForm::lines;
    for (unsigned count = 0; !in_line_ && (count % taken_between_questions != 0 || !request_.stopped()); ++count) {
      if (take_alike(reader)) {
        continue;
      }
      if (!lines) {
        skip_separators(reader);
      }
      const std::string_view text = reader.text();
      if (!lines && text.starts_with(']')) {
        const std::size_t behind = text.find_first_not_of(" \t\r\n", 1);
        if (behind != text.npos && request_.as_it_stands) {
          damage(reader.offset() + behind, "what stands behind the array is left out");
        }
        return;
      }
      const auto length = lines ? line_length(text) : object_length(text);
      if (!length && text.size() <= limits::row_bytes && reader.more()) {
        continue;
      }
      if (!length && text.size() > limits::row_bytes) {
        leave_out_line(reader, "a line is longer than the limit (row_bytes)");
        continue;
      }
      if (!length && !lines && request_.as_it_stands) {
        const bool is_object = text.empty() || text.front() == '{';
        const std::size_t next = unclosed_ == most_unclosed ? 0 : next_object(text);
        unclosed_ += is_object && next != 0 ? 1 : 0;
        if (next != 0 || !is_object) {
          damage(reader.offset(), is_object ? "an object is not closed" : "no object stands here in the array");
          reader.skip(next != 0 ? next : text.size());
          continue;
        }
      }
      if (!length) {
        if (text.find_first_not_of(" \t\r\n]") != text.npos) {
          // Behind the end of an object nothing can make the line right.
          const bool last = request_.as_it_stands && lines;
          const bool closed = last && text.find('\0') == text.npos && object_length(text);
          const bool taken = last && take_object(text, reader.offset(), !closed);
          if (taken || !closed) {
            tell_rest(text, reader.offset(), taken);
          }
          cursor_.took_rest = taken || closed;
          reader.skip(cursor_.took_rest ? text.size() : 0);
        } else if (!lines && request_.as_it_stands) {
          cursor_.rest = remark_at(reader.offset(), "the array is not closed");
        }
        return;
      }
      (void)take_object(text.substr(0, *length), reader.offset(), false);
      reader.skip(*length);
    }
  }

  /// Returns where an object stands behind a comma, as none does within an object; 0 if that is nowhere.
  static std::size_t next_object(std::string_view text) noexcept {
    for (std::size_t at = text.find('{', 1); at != text.npos; at = text.find('{', at + 1)) {
      const std::size_t before = text.find_last_not_of(" \t\r\n", at - 1);
      if (before != text.npos && text[before] == ',') {
        return at;
      }
    }
    return 0;
  }

  /// Skips what stands between the objects of an array.
  void skip_separators(ForwardReader& reader) {
    do {
      const std::string_view text = reader.text();
      reader.skip(std::min(text.find_first_not_of(array_separators), text.size()));
    } while (reader.text().empty() && !request_.stopped() && reader.more());
    const std::string_view text = reader.text();
    const std::size_t object = text.find('{');
    // Without an object behind it, it may go on: it must not count once now and once later.
    if (object != 0 && object != text.npos && text.front() != ']') {
      damage(reader.offset(), "no object stands here in the array");
      reader.skip(object);
    }
  }

  /// Takes a value that is not logged.
  void leave_out(std::string_view name) {
    const std::uint32_t id = cursor_.names.find(name);
    if (id < place_of_.size() && place_of_[id] < cells_.size() && cells_[place_of_[id]].column == id) {
      cells_[place_of_[id]] = {.column = id};  // of a name that comes again the last value counts
    }
  }

  /// Returns whether only rows without any step came, as of hyperparameters. What came out of them keeps its steps.
  [[nodiscard]] bool late() const { return cursor_.step_chosen && !cursor_.step_column; }
  [[nodiscard]] bool has_step_name(const Cell& cell) const { return cursor_.columns[cell.column].rank.has_value(); }
  [[nodiscard]] bool may_be_step(const Cell& cell) const {
    const std::string_view name = cursor_.names[cell.column];
    return has_step_name(cell) && !counts_epochs(name) && !cursor_.choices.fractions.contains(std::string(name));
  }

  /// Chooses the step, if the row of `cells_` is the first that tells it.
  void choose_step_of_row(std::uint64_t offset) {
    const bool is_late = late();
    // Other rows, of texts and times, may come before what the log is about.
    const auto tells = [&](const Cell& cell) {
      return has_step_name(cell) || (cell.is_number && cursor_.columns[cell.column].role == Role::tensor);
    };
    const auto is_step = [&](const Cell& cell) {
      return is_late ? may_be_step(cell) && step_in(cell) : has_step_name(cell);
    };
    if (is_late ? std::ranges::none_of(cells_, is_step)
                : cursor_.step_chosen || (place_.step_name.empty() && std::ranges::none_of(cells_, tells))) {
      return;
    }
    for (const Cell& cell : cells_) {
      if (is_step(cell)) {
        cursor_.choices.step_names.emplace(cursor_.names[cell.column]);
      }
    }
    std::vector<std::uint32_t> columns;
    for (const std::string& name :
         place_.step_name.empty() ? cursor_.choices.step_names : std::set<std::string>{place_.step_name}) {
      previous_ = no_id;
      columns.push_back(column_of(name));
    }
    choose_step(columns);
    form_.forget();
    if (is_late) {
      cursor_.late_step = offset;
    } else {
      cursor_.skipped = cursor_.step_column ? cursor_.all_rows : 0;
      cursor_.last_step.reset();
    }
  }

  /// Returns whether the text is an object, or blank. `unsure`: it need not be one.
  bool take_object(std::string_view text, std::uint64_t offset, bool unsure) {
    const std::string_view object = text::trimmed(text);
    if (object.empty()) {
      return true;
    }
    values_.clear();
    if (!values_.add_object(object)) {
      if (const std::size_t zeros = text.find('\0'); !unsure && zeros != text.npos) {
        damage(offset + zeros, zeros_in_line);
      } else if (!unsure) {
        damage(offset, "the line is left out: it is not one JSON object, or is nested too deeply");
      }
      return false;
    }
    constexpr std::array<std::string_view, 3> transparent = {"data", "metrics", "logs"};
    const auto around = values_.only_object();
    const bool passed = around && contains(transparent, *around);
    cells_.clear();
    lists_.clear();
    previous_ = no_id;
    for (const FlatJson::Value& value : values_.values()) {
      std::string_view name = values_.name(value);
      name.remove_prefix(passed && value.in_object ? around->size() + 1 : 0);
      if (name.size() > limits::name_bytes) {
        continue;
      }
      const bool text_value = value.kind == FlatJson::Kind::text;
      if (value.kind != FlatJson::Kind::number && !text_value) {
        leave_out(name);
        const std::uint32_t column = column_of(name);  // also of null, so that a column without a value is known
        if (value.kind != FlatJson::Kind::null) {
          lists_.push_back(column);
        }
        continue;
      }
      Cell cell{.column = column_of(name)};
      if (text_value) {
        cell.text = values_.text(value);
      } else {
        cell.is_number = true;
        cell.number = value.number;
        cell.at = value.at + static_cast<std::size_t>(object.data() - text.data());
        if (needs_digits(cell)) {
          cell.text = text.substr(cell.at, text.find_first_of(",} \t\r\n", cell.at) - cell.at);
        }
      }
      place_of_.resize(cursor_.columns.size(), no_id);
      std::uint32_t& place = place_of_[cell.column];
      if (place >= cells_.size() || cells_[place].column != cell.column) {
        place = static_cast<std::uint32_t>(cells_.size());
        cells_.emplace_back();
      }
      cells_[place] = cell;  // of a name that comes again the last value counts
    }
    count_lists(lists_, 1);
    choose_step_of_row(offset);
    learn(text);
    if (late() && std::ranges::any_of(cells_, [this](const Cell& cell) { return may_be_step(cell); })) {
      form_.forget();  // the next row may have a whole number there
    }
    take_row(cells_, offset);
    return true;
  }

  // Both

  /// Takes rows in the form of the last one. Returns false if the next one has another form.
  bool take_alike(ForwardReader& reader) {
    std::uint64_t count = 0;
    if (goes_on()) {
      std::optional<std::size_t> length;
      for (; (length = form_.read(reader.text())) && take_plain_row(form_.numbers()); ++count) {
        reader.skip(*length);
      }
      end_plain_rows(count);
    }
    in_form_ += count;
    if (in_form_ > rows_before_threads_ && take_in_threads(reader)) {
      return true;
    }
    const auto length = form_.read(reader.text());
    if (!length) {
      return false;
    }
    learned_in_vain_ = 0;
    take_in_form(form_.numbers(), reader.offset());
    reader.skip(*length);
    return true;
  }

  void take_in_form(std::span<const double> numbers, std::uint64_t offset) {
    for (std::size_t i = 0; i < alike_.size(); ++i) {
      alike_[i].number = numbers[i];
    }
    count_lists(alike_lists_, 1);
    take_row(alike_, offset);
    plan();
  }

  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  /// Rows in the form that a thread has read.
  struct ReadRows {
    std::uint64_t begin = 0;               ///< Where the first row begins.
    std::vector<std::uint32_t> ends = {};  ///< Where each row ends, from `begin`.
    std::vector<double> numbers = {};
    bool all = false;  ///< They reach into the next block.
  };

  /// Takes the rows in the form that follow, and reads their numbers in several threads, if many may follow. Returns
  /// whether it has taken any. Benchmark: metric_logs.py, `smd-ls, a thread per CPU, a million rows of CSV`.
  bool take_in_threads(ForwardReader& reader) {
    constexpr unsigned most_threads = 16;
    const std::uint64_t start = reader.offset();
    const std::uint64_t blocks = (file_.size() - start) / block_bytes;
    if (request_.jobs < 2 || file_.size() == storage::File::unknown_size || blocks < 2 * std::uint64_t{request_.jobs}) {
      return false;
    }
    const unsigned jobs = std::min(request_.jobs, most_threads);
    std::vector<Buffer> buffers(jobs);
    const auto read = [&](std::size_t block, unsigned worker) {
      return read_block(start + block * block_bytes, block == 0, buffers[worker]);
    };
    const auto take = [&](std::size_t /*block*/, const ReadRows& rows) {
      if (rows.begin != reader.offset() || request_.stopped()) {
        return false;
      }
      take_rows(rows);
      reader.pass(rows.ends.empty() ? 0 : rows.ends.back());
      return rows.all;
    };
    // `reader` reads the last block: it keeps the bytes that the next look compares.
    parallel_ordered(jobs, blocks - 1, std::size_t{2} * jobs, read, take);
    rows_before_threads_ *= 2;  // the form may change again and again
    in_form_ = 0;
    return reader.offset() != start;
  }

  /// Reads the rows that begin in a block, as long as they are in the form.
  [[nodiscard]] ReadRows read_block(std::uint64_t at, bool first, Buffer& buffer) const {
    constexpr std::size_t longest_row = 4096;
    const std::size_t before = first ? 0 : 1;  // a row begins here if a line ends before
    const std::size_t most = before + block_bytes + longest_row;
    std::byte* const bytes = buffer.reserve(most);
    const Outcome<std::size_t> got = bytes == nullptr ? std::size_t{0} : file_.read_at(at - before, {bytes, most});
    std::string_view text(reinterpret_cast<const char*>(bytes), got ? *got : 0);
    const std::size_t line_end = first ? 0 : std::min(text.find('\n'), text.size());
    const std::size_t begin = std::min(line_end + before, text.size());
    text.remove_prefix(begin);
    const std::size_t in_block = before + block_bytes - std::min(begin, before + block_bytes);
    ReadRows rows{.begin = at - before + begin};
    LineForm form = form_;
    for (std::size_t end = 0; end < in_block;) {
      const auto length = form.read(text.substr(end));
      if (!length) {
        return rows;
      }
      end += *length;
      rows.ends.push_back(static_cast<std::uint32_t>(end));
      rows.numbers.insert(rows.numbers.end(), form.numbers().begin(), form.numbers().end());
    }
    rows.all = true;
    return rows;
  }

  void take_rows(const ReadRows& rows) {
    const std::size_t width = alike_.size();
    const std::span<const double> numbers(rows.numbers);
    for (std::size_t row = 0; row < rows.ends.size(); ++row) {
      const std::size_t first = row;
      if (goes_on()) {
        while (row < rows.ends.size() && take_plain_row(numbers.subspan(row * width, width))) {
          ++row;
        }
        end_plain_rows(row - first);
      }
      if (row < rows.ends.size()) {
        take_in_form(numbers.subspan(row * width, width), rows.begin + (row == 0 ? 0 : rows.ends[row - 1]));
      }
    }
  }

  /// Finds what the numbers of rows in the form are: steps, times, epochs, values of tensors.
  void plan() {
    plan_ = {};
    for (std::size_t i = 0; i < alike_.size(); ++i) {
      const MetricColumn& column = cursor_.columns[alike_[i].column];
      const bool is_step = alike_[i].column == cursor_.step_column;
      plan_.step = is_step ? i : plan_.step;
      plan_.time = column.role == Role::wall_time ? i : plan_.time;
      plan_.epoch = column.role == Role::epoch ? i : plan_.epoch;
      if (!is_step && (column.role == Role::tensor || column.role == Role::epoch)) {
        plan_.cells.push_back(i);
        plan_.numbers.push_back({.series = column.series, .kind = kind_of(column)});
      }
    }
    const bool known = std::ranges::find(plan_.numbers, no_id, &SeriesRows::Number::series) == plan_.numbers.end();
    plan_.ready = known && returned_.empty() && plan_.step.has_value() == cursor_.step_column.has_value();
  }

  /// Returns whether rows in the form go on with the tensors of the row before. Then `take_plain_row` does as
  /// `take_row`, until it returns false and has taken nothing; after the last one, `end_plain_rows`.
  [[nodiscard]] bool goes_on() const { return plan_.ready && rows_.goes_on(plan_.numbers); }
  bool take_plain_row(std::span<const double> read) {
    const auto step =
        plan_.step ? text::whole_of(read[*plan_.step]) : std::optional(static_cast<std::int64_t>(cursor_.rows));
    std::byte* to = step ? rows_.add_row(*step, plan_.time ? seconds_in(read[*plan_.time]) : unknown_time) : nullptr;
    if (to == nullptr) {
      return false;
    }
    for (std::size_t i = 0; i < plan_.cells.size(); ++i) {
      SeriesRows::Number& number = plan_.numbers[i];
      number.bits = std::bit_cast<std::uint64_t>(read[plan_.cells[i]]);
      std::memcpy(to + i * sizeof number.bits, &number.bits, sizeof number.bits);
      cursor_.returned[number.series].add(*step, number.bits);
    }
    cursor_.last_step = step;
    cursor_.last_epoch = plan_.epoch ? std::optional(read[*plan_.epoch]) : cursor_.last_epoch;
    ++cursor_.rows;
    return true;
  }
  void end_plain_rows(std::uint64_t count) {
    if (count != 0) {
      rows_.end_rows(plan_.numbers);
    }
    cursor_.all_rows += count;
    for (const Cell& cell : alike_) {
      cursor_.columns[cell.column].numbers += count;
    }
    count_lists(alike_lists_, count);
  }

  /// Counts lists of `rows` rows, which are no numbers either.
  void count_lists(std::span<const std::uint32_t> columns, std::uint64_t rows) {
    for (const std::uint32_t column : columns) {
      cursor_.columns[column].texts += rows;
    }
  }

  /// Takes the form of a row whose cells are numbers, or not logged.
  void learn(std::string_view row) {
    constexpr unsigned most_in_vain = 16;
    if (learned_in_vain_ == most_in_vain || cells_.empty()) {
      return;
    }
    ++learned_in_vain_;
    form_.forget();
    alike_.clear();
    alike_lists_ = lists_;
    plan_ = {};
    in_form_ = 0;
    std::vector<std::size_t> places;
    std::optional<std::size_t> step;
    for (const Cell& cell : cells_) {
      if (!cell.text.empty() || (cell.is_number && cell.at >= row.size())) {
        return;
      }
      if (cell.is_number) {
        step = cell.column == cursor_.step_column ? places.size() : step;
        alike_.push_back(cell);
        places.push_back(cell.at);
      }
    }
    form_.learn(row, places, step);
  }

  /// `offset`: of the row, for messages.
  void take_row(std::span<const Cell> cells, std::uint64_t offset) {
    std::optional<std::int64_t> step;
    std::optional<double> epoch;
    double time = unknown_time;
    for (const Cell& cell : cells) {
      MetricColumn& column = cursor_.columns[cell.column];
      column.numbers += cell.is_number || step_in(cell) ? 1 : 0;
      if (cell.column == cursor_.step_column) {
        step = step_in(cell);
        if (!step && cell.is_number && std::isfinite(cell.number) && !cursor_.choices.keeps_step) {
          column.first_fraction = column.fractions++ == 0 ? offset : column.first_fraction;
          ++cursor_.contradicted;
          taken_.began_with_fraction = taken_.began_with_fraction || !cursor_.last_step;
        } else if (!step && (!cell.text.empty() || (cell.is_number && !std::isnan(cell.number)))) {
          ++cursor_.all_rows;
          return damage(offset, fmt::format("the row is left out: its {} is no whole number",
                                            printable(cursor_.names[cell.column])));
        }
      }
      if (column.role == Role::wall_time) {
        const auto read =
            cell.is_number ? std::optional(seconds_in(cell.number)) : text::seconds_of_time(cell.text, false);
        time = read.value_or(time);
        if (!read && !cell.text.empty() && column.texts++ == 0) {
          cursor_.problems.add(
              remark_at(offset, "the timestamp is no time that can be read: the time of such rows is unknown"));
        }
      } else if (column.role == Role::epoch) {  // `2/50` is 2
        epoch = cell.is_number ? std::optional(cell.number) : std::optional<double>(step_of(cell.text));
      }
    }
    if (!cursor_.step_column) {
      step = static_cast<std::int64_t>(cursor_.rows);
    }
    ++cursor_.rows;
    cursor_.all_rows += cells.empty() ? 0 : 1;
    if (!step) {
      if (!cursor_.last_step || (epoch && epoch != cursor_.last_epoch)) {
        cursor_.skipped += cells.empty() ? 0 : 1;
        return;
      }
      step = cursor_.last_step;
    }
    if (std::exchange(cursor_.new_run, false)) {
      rows_.restart(*step);
    }
    cursor_.last_step = step;
    cursor_.last_epoch = epoch ? epoch : cursor_.last_epoch;
    for (const Cell& cell : cells) {
      MetricColumn& column = cursor_.columns[cell.column];
      if (cell.column == cursor_.step_column || column.role == Role::nothing || column.role == Role::wall_time) {
        continue;
      }
      if (cell.is_number) {
        take_number(cell.column, *step, cell.number, time);
      } else if (!cell.text.empty()) {
        ++column.texts;
        const std::pair text(*step, std::hash<std::string_view>()(cell.text));
        if (column.last_text && *step <= column.last_text->first) {
          count_repeated(column, column.last_text->first, *step, text.second != column.last_text->second);
        }
        column.last_text = text;
      }
    }
  }

  /// Counts a value that is at the step of the one before, or at an earlier one. Returns whether it supersedes it.
  static bool count_repeated(MetricColumn& column, std::int64_t last_step, std::int64_t step, bool differs) {
    const double back = differs ? static_cast<double>(last_step) - static_cast<double>(step) : 0;
    const bool other = differs && step == last_step;
    column.others += other ? 1 : 0;
    column.last_step = std::max(column.last_step, last_step);
    column.back = std::max(column.back, back);
    return other;
  }

  [[nodiscard]] static ValueKind kind_of(const MetricColumn& column) noexcept {
    return column.role == Role::epoch ? ValueKind::counter : ValueKind::number;
  }

  void take_number(std::uint32_t id, std::int64_t step, double number, double time) {
    const std::string_view name = cursor_.names[id];
    MetricColumn& column = cursor_.columns[id];
    Series& series = column.series == no_id ? rows_.series_of(name) : rows_.series_of(column.series);
    if (column.series == no_id) {
      column.series = rows_.previous();
      cursor_.returned.resize(cursor_.table.series.size());
    }
    ReturnedNumbers& returned = cursor_.returned[column.series];
    const auto bits = std::bit_cast<std::uint64_t>(number);
    const auto found = returned_.find(name);
    const ReturnedNumbers* const before = found == returned_.end() ? nullptr : &found->second;
    rows_.writer().set_seen(before != nullptr && returned.count < before->count);
    if (series.has_value && series.last_bits && step <= series.last_step) {
      const bool other = count_repeated(column, series.last_step, step, bits != series.last_bits);
      column.again += step == series.last_step ? 1 : 0;
      column.lost += other && !std::isfinite(std::bit_cast<double>(*series.last_bits)) ? 1 : 0;
    }
    if (rows_.take_number(series, kind_of(column), step, Dtype::float64, bits, time)) {
      returned.add(step, bits);
      taken_.again = before == nullptr || returned.begin(*before) ? taken_.again : Again::others;
    }
  }

  const storage::File& file_;
  MetricCursor& cursor_;
  const LookRequest& request_;
  const Opening& place_;
  const ReturnedByName& returned_;
  MetricRows taken_;
  SeriesRows rows_;
  FlatJson values_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> lists_;        ///< The columns of lists in the row of `cells_`,
  std::vector<std::uint32_t> alike_lists_;  ///< and in the row of `alike_`.
  LineForm form_;
  std::uint64_t in_form_ = 0;                 ///< Rows in the form, one behind the other.
  std::uint64_t rows_before_threads_ = 4096;  ///< So many must be in the form, so that threads are worth it.
  std::vector<Cell> alike_;                   ///< The cells of a row in that form.
  /// What they are: indexes in `alike_`.
  struct {
    bool ready = false;  ///< Each tensor has had a number, and the step is there if there is one.
    std::optional<std::size_t> step, time, epoch;
    std::vector<std::size_t> cells;  ///< Values of tensors.
    std::vector<SeriesRows::Number> numbers;
  } plan_;
  unsigned learned_in_vain_ = 0;         ///< How often the form was learned since the last row in one.
  std::uint32_t previous_ = no_id;       ///< The column of the previous name.
  std::vector<std::uint32_t> place_of_;  ///< By column: its place in the header, or in `cells_`.
  unsigned unclosed_ = 0;                ///< Objects of an array that are not closed.
  bool in_line_ = false;                 ///< It was stopped, perhaps within a line.
};

}  // namespace

Outcome<MetricRows> read_metric_rows(const storage::File& file, MetricCursor& cursor, const LookRequest& request,
                                     const Opening& place, const ReturnedByName& returned,
                                     std::shared_ptr<const CollectionsInfo> collections) {
  return MetricTaker(file, cursor, request, place, returned).take(std::move(collections));
}

}  // namespace smd::detail::layout
