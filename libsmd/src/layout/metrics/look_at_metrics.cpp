// SPDX-License-Identifier: Apache-2.0
#include "layout/metrics/look_at_metrics.hpp"

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "layout/name_collections.hpp"
#include "text/ascii.hpp"
#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/mapped.hpp"
#include "text/number.hpp"
#include "text/time.hpp"
#include "text/trim.hpp"
#include "text/words.hpp"
#include "wire/flat_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

namespace smd::detail::layout {

namespace {

using wire::FlatJson;
using Role = MetricColumn::Role;

/// If a column but that of epochs has no more fractions than one in so many rows, it is the step, and these rows are
/// damaged.
constexpr std::uint64_t rows_for_a_fraction = 20;
/// A quote that goes on for more lines will not be closed.
constexpr std::ptrdiff_t most_quoted_lines = 64;
/// Behind more objects that are not closed nothing is looked for: each takes a look at the rest of the file.
constexpr unsigned most_unclosed = 16;
/// Whether to stop is asked so seldom. What is taken between may be a row, or a thousand of one form.
constexpr unsigned taken_between_questions = 64;
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

/// Epochs may well be fractions.
bool counts_epochs(std::string_view name) noexcept { return name == "epoch" || name == "Epoch"; }

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

/// Takes the rows of a log.
class MetricTaker {
 public:
  /// `returned`: the numbers that earlier looks returned, by name; may be null.
  MetricTaker(MetricCursor& cursor, const LookRequest& request, const Opening& place,
              const std::map<std::string, ReturnedNumbers, std::less<>>* returned, LoadedSteps& loaded)
      : cursor_(cursor), request_(request), place_(place), returned_(returned), rows_(cursor, loaded) {}

  /// Reads what is new. Returns why the file is refused.
  std::optional<Problem> read(const storage::File& file, unsigned jobs) {
    if (!request_.as_it_stands && !cursor_.take_head(file)) {
      return std::nullopt;
    }
    ForwardReader reader(file, cursor_.offset);
    file_ = &file;
    jobs_ = jobs;
    cursor_.rest.reset();
    rows_.begin_file(cursor_.table, {}, cursor_.path, 0, 0);
    (void)reader.more();
    if (cursor_.offset == 0) {
      const std::string_view head = reader.text().substr(0, FileHead::most_bytes);
      cursor_.form = form_of(head);
      reader.skip(cursor_.form && head.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    }
    std::optional<Problem> refused;
    if (cursor_.form) {
      refused = *cursor_.form == MetricForm::csv ? read_csv(reader) : read_json(reader);
    }
    if (reader.problem()) {
      cursor_.stamp.reset();
      cursor_.rest = reader.problem();
    }
    cursor_.offset = reader.offset();
    if (!request_.as_it_stands && cursor_.head.count < FileHead::most_bytes) {
      (void)cursor_.take_head(file);
    }
    return refused;
  }
  void finish(Found& found, std::shared_ptr<const CollectionsInfo> collections) {
    rows_.finish(found, std::move(collections));
  }
  /// Returns the names from which that of the step should be chosen: of JSON, those of the first row with a number or a
  /// step, and those that half of all rows have.
  [[nodiscard]] std::set<std::string> step_names() const {
    std::set<std::string> names = cursor_.step_names;
    for (std::uint32_t id = 0; cursor_.form != MetricForm::csv && id < cursor_.columns.size(); ++id) {
      if (cursor_.columns[id].rank && 2 * cursor_.columns[id].numbers >= cursor_.all_rows) {
        names.emplace(cursor_.names[id]);
      }
    }
    return names;
  }
  /// Returns whether what seemed to be the step had a fraction before any step came.
  [[nodiscard]] bool began_with_fraction() const noexcept { return began_with_fraction_; }
  /// Returns whether all that was read is what earlier looks returned first.
  [[nodiscard]] bool same() const noexcept { return same_; }
  /// Returns whether the numbers that earlier looks returned are still there.
  [[nodiscard]] bool returned_all() const {
    return returned_ == nullptr || (same_ && std::all_of(returned_->begin(), returned_->end(), [&](const auto& one) {
                                      const std::uint32_t id = cursor_.table.names.find(one.first);
                                      return one.second.count == 0 ||
                                             (id != no_id && cursor_.returned[id].count >= one.second.count);
                                    }));
  }

 private:
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
    cursor_.rest = Problem{request_.as_it_stands ? ProblemKind::remark : ProblemKind::note,
                           {},
                           offset,
                           taken ? "the last line has no line end; it is taken, for it has all fields"
                                 : "the last line is not finished, and left out"};
  }

  std::uint32_t column_of(std::string_view name) {
    std::uint32_t id = previous_ == no_id ? no_id : cursor_.columns[previous_].next;
    if (id == no_id || cursor_.names[id] != name) {
      id = cursor_.names.add(name);
      if (id == cursor_.columns.size()) {
        MetricColumn& column = cursor_.columns.emplace_back();
        column.role = role_of(name, cursor_.form != MetricForm::csv);
        column.rank = rank_of_step_name(name);
      }
      if (previous_ != no_id) {
        cursor_.columns[previous_].next = id;
      }
    }
    previous_ = id;
    return id;
  }

  // CSV

  std::optional<Problem> read_csv(ForwardReader& reader) {
    CsvSplitter splitter(cursor_.separator);
    for (unsigned count = 0; count % taken_between_questions != 0 || !request_.stopped(); ++count) {
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
          damage(reader.offset(), "a row is longer than the limit (row_bytes)");
          skip_line(reader);
          continue;
        }
        splitter.split_last(reader.text());
        length = reader.text().size();
        const auto lines = std::ranges::count(reader.text(), '\n');
        if (splitter.in_quotes() && lines > (request_.as_it_stands ? 0 : most_quoted_lines)) {
          damage(reader.offset(), "a quote is not closed");
          skip_line(reader);
          continue;
        }
        const bool taken = request_.as_it_stands && !splitter.in_quotes() &&
                           reader.text().find('\0') == std::string_view::npos &&
                           splitter.fields().size() == cursor_.header.size();
        if (*length != 0 && !splitter.blank()) {
          tell_rest(reader.text(), reader.offset(), taken);
        }
        if (!taken) {
          return std::nullopt;
        }
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

  static void skip_line(ForwardReader& reader) {
    std::size_t end = reader.text().find('\n');
    while (end == std::string_view::npos) {
      reader.skip(reader.text().size());
      if (!reader.more()) {
        return;
      }
      end = reader.text().find('\n');
    }
    reader.skip(end + 1);
  }

  std::optional<Problem> take_csv(const CsvSplitter& split, std::string_view row, std::uint64_t offset) {
    const std::vector<std::string_view>& fields = split.fields();
    if (cursor_.header.empty()) {
      return take_header(fields);
    }
    if (split.blank()) {
      return std::nullopt;
    }
    if (const std::size_t zeros = row.find('\0'); zeros != row.npos) {
      damage(offset + zeros, zeros_in_line);
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
        cells_.push_back(cell_of(cursor_.header[i], fields[i]));
        cells_.back().text = needs_digits(cells_.back()) ? fields[i] : cells_.back().text;
        cells_.back().at = quoted ? row.npos : static_cast<std::size_t>(fields[i].data() - row.data());
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

  static Cell cell_of(std::uint32_t column, std::string_view field) noexcept {
    const text::LoggedText value = text::logged_text(field);
    return {.column = column,
            .is_number = value.number.has_value(),
            .number = value.number.value_or(0),
            .text = value.logged && !value.number ? field : std::string_view()};
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
      return refuse(fmt::format("has no column '{}'", printable(place_.step_name)));
    }
    return std::nullopt;
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
                 rank && !cursor_.fractions.contains(std::string(cursor_.names[id])) &&
                 (!cursor_.step_column || *rank < *cursor_.columns[*cursor_.step_column].rank)) {
        cursor_.step_column = id;
      }
    }
  }

  // JSON

  std::optional<Problem> read_json(ForwardReader& reader) {
    const bool lines = *cursor_.form == MetricForm::lines;
    for (unsigned count = 0; count % taken_between_questions != 0 || !request_.stopped(); ++count) {
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
        return std::nullopt;
      }
      const std::size_t line_end = text.find('\n');
      std::optional<std::size_t> length;
      if (!lines || line_end != text.npos) {
        length = lines ? std::optional(line_end + 1) : object_length(text);
      }
      if (!length && text.size() <= limits::row_bytes && reader.more()) {
        continue;
      }
      if (!length && text.size() > limits::row_bytes) {
        damage(reader.offset(), "a line is longer than the limit (row_bytes)");
        skip_line(reader);
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
          const bool taken = request_.as_it_stands && lines && take_object(text, reader.offset(), true);
          tell_rest(text, reader.offset(), taken);
          reader.skip(taken ? text.size() : 0);
        } else if (!lines && request_.as_it_stands) {
          cursor_.rest = Problem{ProblemKind::remark, {}, reader.offset(), "the array is not closed"};
        }
        return std::nullopt;
      }
      (void)take_object(text.substr(0, *length), reader.offset(), false);
      reader.skip(*length);
    }
    return std::nullopt;
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
      reader.skip(std::min(text.find_first_not_of(" \t\r\n[,"), text.size()));
    } while (reader.text().empty() && reader.more());
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

  /// Returns whether the text is an object, or blank. `unsure`: it need not be one.
  bool take_object(std::string_view text, std::uint64_t offset, bool unsure) {
    const std::string_view object = text::trimmed(text);
    if (object.empty()) {
      return true;
    }
    values_.clear();
    if (!values_.add_object(object)) {
      if (!unsure) {
        damage(offset, "the line is left out: it is no JSON object, or one that lies too deep");
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
        if (value.kind != FlatJson::Kind::null) {
          lists_.push_back(column_of(name));
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
      if (place < cells_.size() && cells_[place].column == cell.column) {
        cells_[place] = cell;  // of a name that comes again the last value counts
      } else {
        place = static_cast<std::uint32_t>(cells_.size());
        cells_.push_back(cell);
      }
    }
    count_lists(lists_, 1);
    if (cells_.empty()) {
      return true;
    }
    // Other rows, of texts and times, may come before what the log is about.
    const auto tells = [&](const Cell& cell) {
      const MetricColumn& column = cursor_.columns[cell.column];
      return column.rank || (cell.is_number && column.role == Role::tensor);
    };
    if (!cursor_.step_chosen && (!place_.step_name.empty() || std::ranges::any_of(cells_, tells))) {
      for (const Cell& cell : cells_) {
        if (cursor_.columns[cell.column].rank) {
          cursor_.step_names.emplace(cursor_.names[cell.column]);
        }
      }
      std::vector<std::uint32_t> columns;
      for (const std::string& name :
           place_.step_name.empty() ? cursor_.step_names : std::set<std::string>{place_.step_name}) {
        previous_ = no_id;
        columns.push_back(column_of(name));
      }
      choose_step(columns);
      cursor_.skipped = cursor_.step_column ? cursor_.all_rows : 0;
      cursor_.last_step.reset();
    }
    learn(text);
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
  /// whether it has taken any.
  bool take_in_threads(ForwardReader& reader) {
    constexpr unsigned most_threads = 16;
    const std::uint64_t start = reader.offset();
    const std::uint64_t blocks = (file_->size() - start) / block_bytes;
    if (jobs_ < 2 || file_->size() == storage::File::unknown_size || blocks < 2 * std::uint64_t{jobs_}) {
      return false;
    }
    const unsigned jobs = std::min(jobs_, most_threads);
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
    parallel_ordered(jobs, blocks, std::size_t{2} * jobs, read, take);
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
    const Outcome<std::size_t> got = bytes == nullptr ? std::size_t{0} : file_->read_at(at - before, {bytes, most});
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
    plan_.ready = known && returned_ == nullptr && plan_.step.has_value() == cursor_.step_column.has_value();
  }

  /// Returns whether rows in the form go on with the tensors of the row before. Then `take_plain_row` does as
  /// `take_row`, until it returns false and has taken nothing; after the last one, `end_plain_rows`.
  [[nodiscard]] bool goes_on() const { return plan_.ready && rows_.goes_on(plan_.numbers); }
  bool take_plain_row(std::span<const double> read) {
    const auto step =
        plan_.step ? text::whole_of(read[*plan_.step]) : std::optional(static_cast<std::int64_t>(cursor_.rows));
    std::byte* to = step ? rows_.add_row(*step, plan_.time ? read[*plan_.time] : unknown_time) : nullptr;
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
    for (const std::size_t cell : plan_.cells) {
      cursor_.columns[alike_[cell].column].numbers += count;
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
    if (learned_in_vain_ == most_in_vain) {
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
      const Role role = cursor_.columns[cell.column].role;
      if (cell.column == cursor_.step_column) {
        step = step_in(cell);
        if (!step && cell.is_number && std::isfinite(cell.number) && !cursor_.keeps_step) {
          cursor_.fractions.emplace(cursor_.names[cell.column], offset);
          ++cursor_.contradicted;
          began_with_fraction_ = began_with_fraction_ || !cursor_.last_step;
        } else if (!step && (!cell.text.empty() || (cell.is_number && !std::isnan(cell.number)))) {
          ++cursor_.all_rows;
          return damage(offset, fmt::format("the row is left out: its {} is no whole number",
                                            printable(cursor_.names[cell.column])));
        }
      }
      if (role == Role::wall_time) {
        time = cell.is_number ? cell.number : text::seconds_of_time(cell.text, false).value_or(time);
      } else if (role == Role::epoch && cell.is_number) {
        epoch = cell.number;
      }
    }
    if (!cursor_.step_column) {
      step = static_cast<std::int64_t>(cursor_.rows);
    }
    ++cursor_.rows;
    ++cursor_.all_rows;
    if (!step) {
      if (!cursor_.last_step || (epoch && epoch != cursor_.last_epoch)) {
        ++cursor_.skipped;
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
        ++column.numbers;
        take_number(cell.column, *step, cell.number, time);
      } else if (!cell.text.empty()) {
        ++column.texts;
      }
    }
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
    if (returned_ != nullptr) {
      const auto before = returned_->find(name);
      rows_.writer().set_seen(before != returned_->end() && returned.count < before->second.count);
    }
    if (!rows_.take_number(series, kind_of(column), step, Dtype::float64, bits, time)) {
      return;
    }
    returned.add(step, bits);
    if (returned_ != nullptr) {
      const auto before = returned_->find(name);
      same_ = same_ && (before == returned_->end() || returned.begin(before->second));
    }
  }

  MetricCursor& cursor_;
  const LookRequest& request_;
  const Opening& place_;
  const std::map<std::string, ReturnedNumbers, std::less<>>* returned_;
  SeriesRows rows_;
  const storage::File* file_ = nullptr;
  unsigned jobs_ = 1;
  FlatJson values_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> lists_;        ///< The columns of lists in the row of `cells_`,
  std::vector<std::uint32_t> alike_lists_;  ///< and in the row of `alike_`.
  LineForm form_;
  std::uint64_t in_form_ = 0;                 ///< Rows in the form, one behind the other.
  std::uint64_t rows_before_threads_ = 4096;  ///< So many must be in the form, so that threads are worth it.
  std::vector<Cell> alike_;                   ///< The cells of a row in that form.
  /// What they are: indexes in `alike_`.
  struct Plan {
    bool ready = false;  ///< Each tensor has had a number, and the step is there if there is one.
    std::optional<std::size_t> step, time, epoch;
    std::vector<std::size_t> cells;  ///< Values of tensors.
    std::vector<SeriesRows::Number> numbers;
  };
  Plan plan_;
  unsigned learned_in_vain_ = 0;         ///< How often the form was learned since the last row in one.
  std::uint32_t previous_ = no_id;       ///< The column of the previous name.
  std::vector<std::uint32_t> place_of_;  ///< By column: its place in the header, or in `cells_`.
  bool same_ = true;
  bool began_with_fraction_ = false;
  unsigned unclosed_ = 0;  ///< Objects of an array that are not closed.
};

/// Returns the text of a YAML scalar, without quotes and comment. Returns nullopt if it is empty, or does not end on
/// this line.
std::optional<std::string> yaml_scalar(std::string_view scalar) {
  scalar = text::trimmed(scalar);
  if (scalar.empty() || std::string_view("#|>").find(scalar.front()) != std::string_view::npos) {
    return std::nullopt;
  }
  const char quote = scalar.front();
  if (quote != '"' && quote != '\'') {
    return std::string(text::trimmed(scalar.substr(0, std::min(scalar.find(" #"), scalar.find("\t#")))));
  }
  std::string inside;  // of double quotes: as in JSON
  for (std::size_t at = 1; at < scalar.size(); ++at) {
    const std::string_view pair = scalar.substr(at, 2);
    if (quote == '"' && pair.size() == 2 && pair.front() == '\\') {
      inside += pair.back() == 'x' ? "\\u00" : pair;  // \xE9, as PyYAML writes what is not ASCII
      ++at;
    } else if (quote == '\'' && pair == "''") {
      inside += quote;
      ++at;
    } else if (pair.front() == quote) {
      const std::string_view behind = text::trimmed(scalar.substr(at + 1));
      if (!behind.empty() && !behind.starts_with('#')) {
        return std::nullopt;
      }
      if (quote == '\'') {
        return inside;
      }
      text::JsonDocument<nlohmann::json> document;
      return text::parse_json('"' + inside + '"', document) ? std::nullopt
                                                            : std::optional(document->get<std::string>());
    } else {
      inside += pair.front();
    }
  }
  return std::nullopt;
}

/// Returns the lines `key: value` of the files beside a log in which trainers write their parameters.
void read_hyperparameters(storage::Storage& storage, Hyperparameters& all) {
  constexpr std::array<std::string_view, 2> names = {"hparams.yaml", "args.yaml"};
  constexpr std::size_t most = std::size_t{1} << 20;
  for (const std::string_view name : names) {
    const auto opened = storage.open(name);
    std::string text(opened ? std::min<std::uint64_t>((*opened)->size(), most) : 0, '\0');
    const auto got = opened ? (*opened)->read_at(0, std::as_writable_bytes(std::span(text))) : std::size_t{0};
    text.resize(got ? *got : 0);
    all.records += text.empty() ? 0 : 1;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::size_t next = rest.find_first_not_of(" \t");
      const bool goes_on =
          next != 0 && next != rest.npos && std::string_view("#\r\n").find(rest[next]) == std::string_view::npos;
      const std::size_t colon = line.find(": ");
      const bool flat =
          !goes_on && colon != line.npos && std::string_view(" \t#-").find(line.front()) == std::string_view::npos;
      const auto key = flat ? yaml_scalar(line.substr(0, colon)) : std::nullopt;
      const auto value = flat ? yaml_scalar(line.substr(colon + 2)) : std::nullopt;
      if (key && value) {
        all.values.insert_or_assign(*key, text::json_string(*value));
      }
    }
  }
}

/// Chooses the log of a folder. Returns a problem if it has none that is one.
/// `known`: what the last look knew, or null. `grows`: what is not finished may become one.
Status choose_file(storage::Storage& storage, const Opening& place, const MetricCursor* known, bool grows,
                   MetricCursor& cursor, ProblemList& notes) {
  if (!place.file.empty()) {
    cursor.path = place.file;
    return ok();
  }
  const auto entries = storage.list({});
  if (!entries) {
    return entries.problem();
  }
  std::vector<std::string> left_out;
  std::optional<Problem> refused;
  for (std::size_t i = 0; i < metric_log_names.size(); ++i) {
    const std::string name(metric_log_names[i]);
    const bool there = std::any_of(entries->begin(), entries->end(), [&](const storage::DirEntry& entry) {
      return entry.name == name && entry.kind == storage::EntryKind::file;
    });
    if (!there) {
      continue;
    }
    if (i >= first_doubtful_log && (known == nullptr || known->all_rows == 0 || name != known->path)) {
      const auto first = read_beginning(storage, name);
      const std::string_view text =
          first ? std::string_view(reinterpret_cast<const char*>(first->data()), first->size()) : std::string_view();
      const auto why = form_of(text) == MetricForm::csv ? make_problem(ProblemKind::not_found, "is not JSON lines")
                       : text.empty()                   ? std::nullopt
                                                        : metric_log_problem(text, false);
      if (why && !(grows && why->kind == ProblemKind::not_yet)) {
        refused = refused.value_or(Problem{ProblemKind::not_found, name, {}, why->text});
        continue;
      }
    }
    (cursor.path.empty() ? cursor.path : left_out.emplace_back()) = name;
  }
  for (const std::string& name : left_out) {
    notes.add(make_problem(ProblemKind::remark, "'" + name + "' is left out: '" + cursor.path + "' is read"));
  }
  return !cursor.path.empty() ? ok()
                              : Status(refused.value_or(make_problem(ProblemKind::not_found, "no metric log is here")));
}

void add_notes(const MetricCursor& cursor, ProblemList& notes) {
  const auto remark = [&](std::string text) { notes.add({ProblemKind::remark, cursor.path, {}, std::move(text)}); };
  if (cursor.all_rows != 0 && cursor.step_chosen && !cursor.step_column) {
    remark("steps are the numbers of rows, from 0: no column is a step");
  }
  for (const auto& [name, offset] : cursor.fractions) {
    if (!cursor.step_column || cursor.names[*cursor.step_column] != name) {
      notes.add({counts_epochs(name) ? ProblemKind::remark : ProblemKind::warning, cursor.path, offset,
                 fmt::format("'{}' is not the step: this row has no whole number there", printable(name))});
    }
  }
  for (const std::string& name : cursor.equal_names) {
    remark(fmt::format("several columns are named '{}': the last one is read", printable(name)));
  }
  const bool any = std::ranges::any_of(cursor.columns, [](const MetricColumn& column) { return column.numbers != 0; });
  for (std::uint32_t id = 0; id < cursor.columns.size(); ++id) {
    const MetricColumn& column = cursor.columns[id];
    if (column.texts != 0) {
      const std::string text = fmt::format("'{}' has {} that {} no number, and left out", printable(cursor.names[id]),
                                           text::counted(column.texts, "value"), column.texts == 1 ? "is" : "are");
      if (column.numbers != 0 || !any) {
        remark(text);
      } else {
        notes.add(make_problem(ProblemKind::note, printable(cursor.path) + ": " + text));  // as it should be
      }
    }
  }
  if (cursor.skipped != 0) {
    remark(fmt::format("{} left out, which {} no step", text::counted(cursor.skipped, "row", "is", "are"),
                       cursor.skipped == 1 ? "has" : "have"));
  }
  if (cursor.contradicted != 0) {
    notes.add(make_problem(ProblemKind::warning,
                           fmt::format("{} a step with a fraction: as if without a step",
                                       text::counted(cursor.contradicted, "row", "has", "have")),
                           cursor.path));
  }
}

std::shared_ptr<MetricListing> listing_of(const std::shared_ptr<MetricCursor>& cursor, const MetricListing* before,
                                          ProblemList notes) {
  auto listing = next_listing(cursor, before, std::move(notes));
  listing->add_notes(cursor->path, cursor->problems, cursor->rest);
  add_notes(*cursor, listing->notes);
  return listing;
}

/// Returns whether the file is the one that was read, with more behind it or not.
bool goes_on(const storage::File& file, const MetricCursor& cursor, const std::optional<storage::FileStamp>& stamp) {
  const bool same = (cursor.head.count != 0 || cursor.offset == 0) && (!stamp || !cursor.stamp || cursor.is(*stamp));
  return same && !cursor.took_rest && file.size() >= cursor.offset && FileHead(file, cursor.head.count) == cursor.head;
}

}  // namespace

Outcome<Found> look_at_metrics(storage::Storage& storage, const LookRequest& request, const Opening& place,
                               const MetricListing* before, std::shared_ptr<const CollectionsInfo> collections) {
  ProblemList notes(limits::problems_per_trial);
  MetricCursor chosen;
  const MetricCursor* const known = before == nullptr ? nullptr : before->cursor.get();
  const Status status = choose_file(storage, place, known, !request.as_it_stands, chosen, notes);
  if (!status) {
    return status.problem();
  }
  const auto stamp = storage.file_stamp(chosen.path);
  Found found;
  if (known != nullptr && !request.everything && stamp && known->stamp == stamp && known->path == chosen.path) {
    found.collections = std::move(collections);
    found.listing = listing_of(std::make_shared<MetricCursor>(*known), before, std::move(notes));
    return found;
  }
  storage.forget(chosen.path);
  const auto opened = storage.open(chosen.path);
  if (!opened) {
    Problem problem = opened.problem();
    problem.file = chosen.path;
    return problem;
  }
  bool continues =
      known != nullptr && !request.everything && known->path == chosen.path && goes_on(**opened, *known, stamp);
  found.afresh = known != nullptr && !continues;
  std::map<std::string, ReturnedNumbers, std::less<>> returned;
  if (found.afresh && !request.everything) {
    for (std::uint32_t id = 0; id < known->returned.size(); ++id) {
      returned.emplace(known->table.names[id], known->returned[id]);
    }
  }
  std::map<std::string, std::uint64_t> fractions;
  std::set<std::string> step_names;
  bool keeps_step = false;
  bool all_new = returned.empty();
  while (true) {
    auto cursor = continues ? std::make_shared<MetricCursor>(*known) : emptied(known);
    if (!continues) {
      cursor->path = chosen.path;
      cursor->fractions = fractions;
      cursor->step_names = step_names;
      cursor->keeps_step = keeps_step;
      read_hyperparameters(storage, cursor->extras.hyperparameters);
    }
    cursor->stamp = stamp;
    found.loaded = LoadedSteps();
    MetricTaker taker(*cursor, request, place, all_new ? nullptr : &returned, found.loaded);
    if (auto refused = taker.read(**opened, storage.remote() ? 1 : request.jobs)) {
      return *std::move(refused);
    }
    // Choices about the whole file: they were made at its first row, and are right unless this one shows more. A
    // follower keeps them once it has a step.
    const bool decides =
        place.step_name.empty() && (taker.began_with_fraction() || (!continues && request.as_it_stands));
    if (decides && cursor->contradicted != 0 && cursor->contradicted * rows_for_a_fraction <= cursor->all_rows &&
        cursor->step_column && !counts_epochs(cursor->names[*cursor->step_column])) {
      keeps_step = true;
      continues = false;
      continue;
    }
    if (decides && (cursor->fractions != fractions || cursor->step_names != taker.step_names())) {
      fractions = cursor->fractions;
      step_names = taker.step_names();
      continues = false;
      continue;
    }
    if (!taker.returned_all()) {
      if (!all_new && taker.same() && !request.as_it_stands &&
          ((*opened)->size() < known->offset ||
           std::ranges::all_of(returned, [&](const auto& one) { return cursor->names.find(one.first) != no_id; }))) {
        // It is being written anew, and not all is there yet.
        auto waiting = std::make_shared<MetricCursor>(*known);
        waiting->stamp.reset();
        waiting->head = {};  // then all is read again, whatever it becomes
        found = Found();
        found.collections = std::move(collections);
        found.listing = listing_of(waiting, before, std::move(notes));
        return found;
      }
      all_new = true;
      continue;
    }
    if (decides) {
      cursor->contradicted = 0;
    }
    taker.finish(found, std::move(collections));
    found.listing = listing_of(cursor, before, std::move(notes));
    return found;
  }
}

}  // namespace smd::detail::layout
