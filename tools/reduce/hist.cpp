// SPDX-License-Identifier: Apache-2.0
#include "hist.hpp"

// --hist: bars in a table, charts in -f svg; elsewhere one row per bin, in JSON one object per row.

#include "cli/exit_status.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "columns.hpp"
#include "pieces.hpp"
#include "rows/buckets.hpp"
#include "rows/cell.hpp"
#include "rows/histogram_charts.hpp"
#include "rows/row_writer.hpp"
#include "select/saved_forms.hpp"
#include "select/slice.hpp"

#include <unistd.h>
#include <smd/reduction.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace smd::tool::reduce {

namespace {

// A part of a value has no saved buckets.
bool has_buckets(const TensorEntry& entry, const ReduceCommandOptions& options) {
  return !options.slice && saved_buckets(entry) != nullptr;
}

std::uint64_t count_values(const Session& session, const ReduceCommandOptions& options) {
  std::uint64_t count = 0;
  session.for_each_entry(options, [&](const TensorEntry& entry) {
    count += entry.value || has_buckets(entry, options) ? 1 : 0;
    return true;
  });
  return count;
}

constexpr std::size_t most_counts = std::size_t{1} << 18;       // of a piece, which holds them until they are shown
constexpr std::size_t most_counts_held = std::size_t{1} << 24;  // of all rows that are counted together

std::vector<Piece> hist_pieces(const Session& session, const ReduceCommandOptions& options) {
  return pieces_of(session, options, 1, std::max<std::size_t>(most_counts / options.bins.count, 1));
}

/// The values and saved buckets of one piece after another. Used by one thread at a time.
class PieceValues {
 public:
  PieceValues(const Session& session, const ReduceCommandOptions& options) : session_(session), options_(options) {}
  PieceValues(const PieceValues&) = delete;
  PieceValues& operator=(const PieceValues&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }

 protected:
  struct Entry {
    std::string_view tensor;
    std::string_view worker;
    GlobalStep step;
    Mode mode;
    ModeStep mode_step;
    PlaceCell written;
    bool buckets;
  };
  ~PieceValues() = default;

  /// Calls `use(entry, value)` and `done(entry, problem)` as `ValueReader::read_each`.
  template <class Use, class Done>
  void read(const Piece& piece, ValueReader& reader, Use&& use, Done&& done) {
    entries_.clear();
    records_.clear();
    names_.clear();
    session_.for_each_entry(options_, piece.tensors, piece.steps, [&](const TensorEntry& entry) {
      const bool buckets = !entry.value && has_buckets(entry, options_);
      if (entry.value || buckets) {
        entries_.push_back(
            {entry.tensor, entry.worker, entry.step, entry.mode, entry.mode_step, place_of(entry), buckets});
        records_.push_back(buckets ? WantedValue{saved_buckets(entry)->place,
                                                 names_.emplace_back(reduction_tensor_name(buckets_name, entry.tensor))}
                                   : WantedValue{*entry.value, entry.tensor});
      }
      return true;
    });
    reader.read_each(
        records_, [&](std::size_t i, Extent& value) { use(entries_[i], value); },
        [&](std::size_t i, const std::optional<Problem>& problem) { done(entries_[i], problem); });
  }
  [[nodiscard]] std::string narrow(Extent& value) const {
    return options_.slice ? tool::narrow(value, *options_.slice) : std::string();
  }

  const Session& session_;
  const ReduceCommandOptions& options_;

 private:
  std::vector<Entry> entries_;
  std::vector<WantedValue> records_;
  std::deque<std::string> names_;
};

std::optional<BucketCounts> read_counts(Extent& value) {
  const std::optional<TensorValue> buckets = value.value();
  return buckets ? counts_of_buckets(buckets->view()) : std::nullopt;
}

/// The bounds of one piece after another. What cannot be read is reported when it is counted.
class PieceBounds : public PieceValues {
 public:
  using PieceValues::PieceValues;

  void make(const Piece& piece, ValueReader& reader) {
    bounds = {};
    read(
        piece, reader, [&](const Entry& entry, Extent& value) { found_ = bounds_in(entry, value); },
        [&](const Entry&, const std::optional<Problem>& problem) {
          if (!problem) {
            bounds.include(found_);
          }
        });
  }
  FiniteBounds bounds;

 private:
  FiniteBounds bounds_in(const Entry& entry, Extent& value) {
    if (entry.buckets) {
      const std::optional<BucketCounts> counts = read_counts(value);
      const BucketBounds of = counts ? bounds_of(*counts) : BucketBounds{FiniteBounds().low, FiniteBounds().high};
      return {of.low, of.high};
    }
    if (!is_real(value.dtype()) || !narrow(value).empty()) {
      return {};
    }
    reducer_.clear();
    (void)reducer_.add(value);
    const PartialReduction part = reducer_.partial();
    return {part.min, part.max};
  }

  Reducer reducer_{std::array<Reduction, 2>{{{ReductionKind::min}, {ReductionKind::max}}}};
  FiniteBounds found_;
};

using Key = std::tuple<std::int64_t, std::string_view, std::string_view>;

/// What is counted in a row.
struct Counted {
  Mode mode = Mode::global;
  ModeStep mode_step;
  PlaceCell written;  ///< Of the first record counted.
  std::optional<Histogram> histogram = {};
  std::optional<BucketCounts> estimated = {};  ///< What buckets add to the counts.

  void add(Counted&& other) {
    written = std::min(written, other.written);
    if (histogram && other.histogram) {
      histogram->merge(*other.histogram);
    } else if (other.histogram) {
      histogram = std::move(other.histogram);
    }
    if (estimated && other.estimated) {
      std::transform(estimated->counts.begin(), estimated->counts.end(), other.estimated->counts.begin(),
                     estimated->counts.begin(), std::plus<>());
      estimated->outside += other.estimated->outside;
    } else if (other.estimated) {
      estimated = std::move(other.estimated);
    }
  }
};
using Rows = std::map<Key, Counted>;

/// Counts the elements of one piece after another.
class PieceCounts : public PieceValues {
 public:
  PieceCounts(const Session& session, const ReduceCommandOptions& options, const Histogram& empty)
      : PieceValues(session, options), empty_(empty), scratch_(empty) {}

  void make(const Piece& piece, ValueReader& reader) {
    rows.clear();
    others.clear();
    said_.clear();
    first_step = piece.steps.front().step;
    read(
        piece, reader,
        [&](const Entry& entry, Extent& value) {
          dtype_ = value.dtype();
          misfit_ = entry.buckets || !is_real(dtype_) ? std::string() : narrow(value);
          if (entry.buckets) {
            buckets_ = read_counts(value);
          } else if (is_real(dtype_) && misfit_.empty()) {
            scratch_.clear();
            (void)scratch_.add(value);
          }
        },
        [&](const Entry& entry, const std::optional<Problem>& problem) { finish(entry, problem); });
  }
  void say(Diagnostics& messages) const {
    for (const auto& said : said_) {
      said(messages);
    }
  }

  Rows rows;
  std::set<std::string, std::less<>> others;  ///< Tensors that have no histogram.
  GlobalStep first_step;

 private:
  void finish(const Entry& entry, const std::optional<Problem>& problem) {
    Counted& row = rows.try_emplace({options_.by.step ? entry.step.value : 0,
                                     options_.by.tensor ? entry.tensor : std::string_view(),
                                     options_.by.worker ? entry.worker : std::string_view()},
                                    Counted{entry.mode, entry.mode_step, entry.written})
                       .first->second;
    row.written = std::min(row.written, entry.written);
    if (problem) {
      said_.emplace_back([this, problem = *problem, tensor = entry.tensor, step = entry.step](Diagnostics& messages) {
        report(problem, tensor, step, session_.trial, messages);
      });
    } else if (!misfit_.empty()) {
      said_.emplace_back(
          [tensor = entry.tensor, why = misfit_](Diagnostics& messages) { report_slice(tensor, why, messages); });
    } else if (entry.buckets && !buckets_) {
      said_.emplace_back([tensor = entry.tensor, step = entry.step](Diagnostics& messages) {
        messages.fail("Damaged",
                      single_quoted(tensor) + " step " + std::to_string(step.value) +
                          ": the buckets of its saved histogram do not ascend",
                      ExitStatus::damaged);
      });
    } else if (entry.buckets) {
      if (!row.estimated) {
        row.estimated = {empty_.edges(), std::vector<double>(empty_.counts().size())};
      }
      add_buckets(*row.estimated, *buckets_);
    } else if (!is_real(dtype_)) {
      others.emplace(entry.tensor);
    } else if (row.histogram) {
      row.histogram->merge(scratch_);
    } else {
      row.histogram = scratch_;
    }
  }

  const Histogram& empty_;
  Histogram scratch_;  // of the last value
  Dtype dtype_ = Dtype::float32;
  std::string misfit_;
  std::optional<BucketCounts> buckets_;
  std::vector<std::function<void(Diagnostics&)>> said_;
};

}  // namespace

void widen(FiniteBounds& bounds, const Session& session, const ReduceCommandOptions& options) {
  Progress progress("finding bounds", [&] { return count_values(session, options); });
  read_pieces(
      session, options, hist_pieces(session, options), [&] { return std::make_unique<PieceBounds>(session, options); },
      [&](const PieceBounds& piece) {
        progress.advance(piece.size());
        bounds.include(piece.bounds);
        return true;
      });
}

struct HistView::Impl {
  OutputFile& out;
  const ReduceCommandOptions& options;
  Diagnostics& messages;
  Histogram empty;
  std::vector<Column> columns;
  std::optional<RowWriter> rows;  // nullopt: bars or charts
  HistogramCharts charts;         // of -f svg
  bool first = true;
  std::string trial;
  bool several_trials;

  Impl(OutputFile& file, const ReduceCommandOptions& all, const FiniteBounds& bounds, bool several, Diagnostics& to)
      : out(file), options(all), messages(to), empty(empty_histogram(all, bounds)), several_trials(several) {
    columns = hist_columns(options.by);
    if (!options.svg() && (options.output.format != "table" || options.output.asks_for_rows())) {
      rows.emplace(out, options.output, columns, several_trials, messages);
    }
  }

  static Histogram empty_histogram(const ReduceCommandOptions& options, const FiniteBounds& bounds) {
    if (options.bins.low) {
      return {options.bins.count, *options.bins.low, *options.bins.high};
    }
    return bounds.low <= bounds.high ? Histogram(options.bins.count, bounds.low, bounds.high)
                                     : Histogram(options.bins.count, 0, 1);
  }

  ReduceOutcome show(const Session& session) {
    trial = session.name;
    charts.set_trial(trial);
    if (rows) {
      rows->set_trial(trial);
    }
    ReduceOutcome outcome = ReduceOutcome::nothing;
    Progress progress("counting", [&] { return count_values(session, options); });
    Rows waiting;
    std::set<std::string, std::less<>> others;
    // Prints the rows before a step, or all, and forgets them.
    const auto print_before = [&](std::optional<GlobalStep> step) {
      while (!waiting.empty() && (!step || std::get<0>(waiting.begin()->first) < step->value)) {
        const auto& [key, row] = *waiting.begin();
        if (row.histogram || row.estimated) {
          print(key, row);
          outcome = ReduceOutcome::rows;
        }
        waiting.erase(waiting.begin());
      }
    };
    read_pieces(
        session, options, hist_pieces(session, options),
        [&] { return std::make_unique<PieceCounts>(session, options, empty); },
        [&](PieceCounts& piece) {
          progress.advance(piece.size());
          piece.say(messages);
          if (options.by.step) {
            print_before(piece.first_step);
          }
          others.merge(piece.others);
          if (options.by.step && options.by.tensor && options.by.worker) {  // no other piece has these rows
            outcome = piece.rows.empty() ? outcome : std::max(outcome, ReduceOutcome::no_row);
            waiting = std::move(piece.rows);
            print_before({});
            return true;
          }
          for (auto& [key, row] : piece.rows) {
            outcome = std::max(outcome, ReduceOutcome::no_row);
            if (const auto known = waiting.find(key); known != waiting.end()) {
              known->second.add(std::move(row));
            } else if ((waiting.size() + 1) * options.bins.count > most_counts_held) {
              throw UsageError("--bins: the histograms that are counted together have more than " +
                               std::to_string(most_counts_held) +
                               " bins in all: ask for fewer bins, or for fewer tensors");
            } else {
              waiting.emplace(key, std::move(row));
            }
          }
          return true;
        });
    print_before({});
    if (!others.empty()) {
      const std::vector<std::string> names(others.begin(), others.end());
      messages.warning("no histogram, because not of real numbers: " + quoted_list(names, 3));
    }
    return outcome;
  }

  // Counts of elements and of buckets together.
  [[nodiscard]] std::vector<double> counts_of(const Counted& group) const {
    const std::vector<std::uint64_t>& counted = (group.histogram ? *group.histogram : empty).counts();
    std::vector<double> counts(counted.begin(), counted.end());
    for (std::size_t bin = 0; group.estimated && bin < counts.size(); ++bin) {
      counts[bin] += group.estimated->counts[bin];
    }
    return counts;
  }

  void print(const Key& key, const Counted& group) {
    const auto& [step, tensor, worker] = key;
    const Histogram& of = group.histogram ? *group.histogram : empty;
    const std::uint64_t outside = of.below() + of.above();
    if (group.estimated && group.estimated->outside != 0) {
      messages.note((options.by.tensor ? single_quoted(tensor) : "pooled values") +
                    (options.by.step ? " step " + std::to_string(step) : std::string()) + ": " +
                    number_text(group.estimated->outside, 6) + " elements of saved histograms are in no bin");
    }
    if (of.nan() + outside != 0) {
      messages.note("" + (options.by.tensor ? single_quoted(tensor) : "pooled values") +
                    (options.by.step ? " step " + std::to_string(step) : std::string()) + ": " +
                    std::to_string(of.nan()) + " NaN and " + std::to_string(outside) +
                    " elements outside the bounds are in no bin");
    }
    if (!rows) {
      draw(key, group);
      return;
    }
    const int precision = options.output.precision;
    const std::function<void(OutputFile&)> edges = [&](OutputFile& to) { write_array(to, of.edges(), precision); };
    const std::vector<double> all_counts = counts_of(group);
    const std::function<void(OutputFile&)> counts = [&](OutputFile& to) {
      group.estimated ? write_array(to, all_counts, precision) : write_array(to, of.counts(), precision);
    };
    const auto row = [&](Cell bin, Cell low, Cell high, Cell count) {
      const auto& [of_step, of_tensor, of_worker] = key;
      std::vector<Cell> cells;
      if (options.by.tensor) {
        cells.emplace_back(of_tensor);
      }
      if (options.by.step) {
        cells.emplace_back(of_step);
        cells.emplace_back(to_string(group.mode));
        cells.emplace_back(group.mode_step.value);
      }
      if (options.by.worker) {
        cells.emplace_back(of_worker);
      }
      cells.insert(cells.end(), {bin, low, high, count, JsonCell{&edges}, JsonCell{&counts}, group.written});
      rows->row(cells);
    };
    if (options.output.json()) {
      row({}, {}, {}, {});
      return;
    }
    for (std::size_t bin = 0; bin < of.counts().size(); ++bin) {
      row(bin, of.edges()[bin], of.edges()[bin + 1], group.estimated ? Cell(all_counts[bin]) : Cell(of.counts()[bin]));
    }
  }

  void draw(const Key& key, const Counted& group) {
    const auto& [step, tensor, worker] = key;
    if (options.svg()) {
      charts.add({tensor, worker, options.by.step ? group.mode : Mode::global,
                  options.by.step ? std::optional(step) : std::nullopt},
                 empty.edges(), counts_of(group));
      return;
    }
    const bool ascii = options.output.terminal.ascii;
    std::string text = first ? "" : "\n";
    first = false;
    std::string title = several_trials ? printable(trial, ascii) : std::string();
    const auto add = [&](const std::string& part) { title += (title.empty() ? "" : "  ") + part; };
    if (options.by.tensor) {
      add(printable(tensor, ascii));
    }
    if (options.by.step) {
      add("step " + std::to_string(step));
    }
    if (options.by.worker) {
      add(printable(worker, ascii));
    }
    text += (title.empty() ? "all" : title) + "\n" +
            bars(empty.edges(), counts_of(group), options.output.precision != 0 ? options.output.precision : 4,
                 terminal_width(STDOUT_FILENO), ascii);
    out.write(text);
  }
};

HistView::HistView(OutputFile& out, const ReduceCommandOptions& options, const FiniteBounds& bounds,
                   bool several_trials, Diagnostics& messages)
    : impl_(std::make_unique<Impl>(out, options, bounds, several_trials, messages)) {}
HistView::~HistView() = default;
ReduceOutcome HistView::show(const Session& session) { return impl_->show(session); }
void HistView::finish() {
  if (impl_->rows) {
    impl_->rows->finish();
  } else if (impl_->options.svg()) {
    write_charts(impl_->out, impl_->charts.charts(), impl_->options.picture, "choose tensors with -n or -e");
  }
}

}  // namespace smd::tool::reduce
