// SPDX-License-Identifier: Apache-2.0
// --hist: bars in a table, charts in -f svg; elsewhere one row per bin, in JSON one object per row.
#include "hist.hpp"

#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "columns.hpp"
#include "rows/buckets.hpp"
#include "rows/histogram_charts.hpp"
#include "rows/row_writer.hpp"
#include "rows/written.hpp"
#include "value_sink.hpp"

#include <unistd.h>
#include <smd/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace smd::tool::reduce {

namespace {

bool countable(Dtype dtype) { return is_real(dtype); }

class RangeSink : public ViewSink {
 public:
  RangeSink(const SliceSpec* slice, const std::vector<Reduction>& wanted) : ViewSink(slice), reducer(wanted) {}
  Reducer reducer;

 protected:
  bool start(Dtype dtype) override {
    reducer.clear();
    return countable(dtype);
  }
  void take(const TensorView& view, bool) override { reducer.add(view); }
  bool take_repeated(std::span<const std::byte> element, std::uint64_t count) override {
    reducer.add_repeated(dtype(), element, count);
    return true;
  }
};

class CountingSink : public ViewSink {
 public:
  CountingSink(const SliceSpec* slice, const Histogram& like) : ViewSink(slice), histogram(like), like_(like) {}
  Histogram histogram;

 protected:
  bool start(Dtype dtype) override {
    if (counted_) {
      histogram = like_;
    }
    return countable(dtype);
  }
  void take(const TensorView& view, bool) override {
    counted_ = true;
    histogram.add(view);
  }

 private:
  const Histogram& like_;
  bool counted_ = false;
};

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

// Reads the values of some entries, in the order of the files, and passes their sinks to `take`.
template <class Make, class Take>
void read_values(const Session& session, const std::vector<TensorEntry>& entries, const ReduceCommandOptions& options,
                 Progress& progress, Make&& make, Take&& take) {
  std::vector<std::size_t> order(entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(entries[a].value->file, entries[a].value->offset) <
           std::tie(entries[b].value->file, entries[b].value->offset);
  });
  std::vector<TensorLocation> locations;
  std::vector<std::string> names;
  for (const std::size_t i : order) {
    locations.push_back(*entries[i].value);
    names.emplace_back(entries[i].tensor);
  }
  session.trial.read_blocks(
      locations, names, [&](std::size_t) -> std::unique_ptr<BlockSink> { return make(); },
      [&](std::size_t i, std::unique_ptr<BlockSink>&& sink, std::optional<Problem>&& problem) {
        progress.advance();
        take(entries[order[i]], static_cast<ViewSink&>(*sink), problem);
        return true;
      },
      {.jobs = options.reading.jobs});
}

// As `read_values`, for saved buckets: take(entry, buckets, problem), where `buckets` is nullopt if they are invalid.
template <class Take>
void read_buckets(const Session& session, const std::vector<TensorEntry>& entries, const ReduceCommandOptions& options,
                  Progress& progress, Take&& take) {
  std::vector<TensorLocation> locations;
  std::vector<std::string> names;
  for (const TensorEntry& entry : entries) {
    locations.push_back(saved_buckets(entry)->location);
    names.push_back(reduction_tensor_name(buckets_name, entry.tensor));
  }
  session.trial.read(locations, names,
                     [&](std::size_t i, ReadResult&& result) {
                       progress.advance();
                       take(entries[i], result.value ? counts_of_buckets(result.value->view()) : std::nullopt,
                            result.problem);
                       return true;
                     },
                     {.jobs = options.reading.jobs});
}

constexpr std::size_t histogram_chunk = 8192;

}  // namespace

void widen(FiniteBounds& bounds, const Session& session, const ReduceCommandOptions& options, Diagnostics&) {
  std::vector<Reduction> wanted = {{ReductionKind::min}, {ReductionKind::max}};
  std::vector<TensorEntry> entries;
  std::vector<TensorEntry> of_buckets;
  Progress progress("finding bounds", [&] { return count_values(session, options); });
  const auto work = [&] {
    read_values(
        session, entries, options, progress,
        [&] { return std::make_unique<RangeSink>(options.slice ? &*options.slice : nullptr, wanted); },
        [&](const TensorEntry&, ViewSink& sink, const std::optional<Problem>& problem) {
          // Problems are reported when the elements are counted.
          if (!problem) {
            const PartialReduction part = static_cast<RangeSink&>(sink).reducer.partial();
            bounds.low = std::min(bounds.low, part.min);
            bounds.high = std::max(bounds.high, part.max);
          }
        });
    entries.clear();
    read_buckets(session, of_buckets, options, progress,
                 [&](const TensorEntry&, const std::optional<BucketCounts>& saved, const std::optional<Problem>&) {
                   if (saved) {
                     const BucketBounds of = bounds_of(*saved);
                     bounds.low = std::min(bounds.low, of.low);
                     bounds.high = std::max(bounds.high, of.high);
                   }
                 });
    of_buckets.clear();
  };
  session.for_each_entry(options, [&](const TensorEntry& entry) {
    if (entry.value) {
      entries.push_back(entry);
    } else if (has_buckets(entry, options)) {
      of_buckets.push_back(entry);
    }
    if (entries.size() == histogram_chunk || of_buckets.size() == histogram_chunk) {
      work();
    }
    return true;
  });
  work();
}

struct HistView::Impl {
  using Key = std::tuple<std::int64_t, std::string_view, std::string_view>;
  struct Group {
    Mode mode = Mode::global;
    ModeStep mode_step;
    PlaceCell written;  // of the first record counted
    Histogram histogram;
    bool counted = false;
    std::optional<BucketCounts> estimated = {};  // what buckets add to the counts
  };

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

  [[nodiscard]] Key key_of(const TensorEntry& entry) const {
    return {options.by.step ? entry.step.value : 0, options.by.tensor ? entry.tensor : std::string_view(),
            options.by.worker ? entry.worker : std::string_view()};
  }

  /// What is counted of one trial.
  struct Counting {
    Counting(const Session& of, const ReduceCommandOptions& options)
        : session(of), progress("counting", [&of, &options] { return count_values(of, options); }) {}

    const Session& session;
    std::map<Key, Group> groups = {};
    std::vector<TensorEntry> entries = {};  ///< Values that are still to be read.
    std::vector<TensorEntry> of_buckets = {};
    std::set<std::string, std::less<>> others = {};  ///< Tensors that have no histogram.
    Progress progress;
  };

  ReduceOutcome show(const Session& session) {
    trial = session.name;
    charts.set_trial(trial);
    if (rows) {
      rows->set_trial(trial);
    }
    ReduceOutcome outcome = ReduceOutcome::nothing;
    Counting counting(session, options);
    GlobalStep last_step;
    session.for_each_entry(options, [&](const TensorEntry& entry) {
      if (!entry.value && !has_buckets(entry, options)) {
        return true;
      }
      outcome = std::max(outcome, ReduceOutcome::no_row);
      if (counting.entries.size() + counting.of_buckets.size() >= histogram_chunk &&
          (!options.by.step || last_step != entry.step)) {
        count(counting);
        if (options.by.step && print_all(counting)) {
          outcome = ReduceOutcome::rows;
        }
      }
      (entry.value ? counting.entries : counting.of_buckets).push_back(entry);
      last_step = entry.step;
      return true;
    });
    count(counting);
    if (print_all(counting)) {
      outcome = ReduceOutcome::rows;
    }
    if (!counting.others.empty()) {
      const std::vector<std::string> names(counting.others.begin(), counting.others.end());
      messages.warning("no histogram, because not of real numbers: " + quoted_list(names, 3));
    }
    return outcome;
  }

  /// Adds what is still to be read to its groups.
  void count(Counting& to) const {
    const auto place_in_group = [&](const TensorEntry& entry) {
      const auto group =
          to.groups.try_emplace(key_of(entry), Group{entry.mode, entry.mode_step, place_of(entry), empty}).first;
      group->second.written = std::min(group->second.written, place_of(entry));
    };
    std::for_each(to.entries.begin(), to.entries.end(), place_in_group);
    std::for_each(to.of_buckets.begin(), to.of_buckets.end(), place_in_group);
    read_values(
        to.session, to.entries, options, to.progress,
        [&] { return std::make_unique<CountingSink>(options.slice ? &*options.slice : nullptr, empty); },
        [&](const TensorEntry& entry, ViewSink& sink, const std::optional<Problem>& problem) {
          if (problem) {
            report(*problem, entry.tensor, entry.step, to.session.trial, messages);
          } else if (!sink.slice_error().empty()) {
            report_slice(entry.tensor, sink.slice_error(), messages);
          } else if (!countable(sink.dtype())) {
            to.others.emplace(entry.tensor);
          } else {
            Group& group = to.groups.at(key_of(entry));
            group.histogram.merge(static_cast<CountingSink&>(sink).histogram);
            group.counted = true;
          }
        });
    to.entries.clear();
    read_buckets(
        to.session, to.of_buckets, options, to.progress,
        [&](const TensorEntry& entry, const std::optional<BucketCounts>& saved, const std::optional<Problem>& problem) {
          if (problem) {
            report(*problem, entry.tensor, entry.step, to.session.trial, messages);
          } else if (!saved) {
            messages.fail("Damaged",
                          single_quoted(entry.tensor) + " step " + std::to_string(entry.step.value) +
                              ": the buckets of its saved histogram do not ascend",
                          ExitStatus::damaged);
          } else {
            add(to.groups.at(key_of(entry)), *saved);
          }
        });
    to.of_buckets.clear();
  }

  /// Prints the groups, and forgets them. Returns whether any had something to print.
  bool print_all(Counting& counting) {
    bool printed = false;
    for (const auto& [key, group] : counting.groups) {
      if (group.counted) {
        print(key, group);
        printed = true;
      }
    }
    counting.groups.clear();
    return printed;
  }

  void add(Group& group, const BucketCounts& saved) const {
    if (!group.estimated) {
      group.estimated = {empty.edges(), std::vector<double>(empty.counts().size())};
    }
    add_buckets(*group.estimated, saved);
    group.counted = true;
  }

  // Counts of elements and of buckets together.
  static std::vector<double> counts_of(const Group& group) {
    const std::vector<std::uint64_t>& counted = group.histogram.counts();
    std::vector<double> counts(counted.begin(), counted.end());
    for (std::size_t bin = 0; group.estimated && bin < counts.size(); ++bin) {
      counts[bin] += group.estimated->counts[bin];
    }
    return counts;
  }

  void print(const Key& key, const Group& group) {
    const auto& [step, tensor, worker] = key;
    const Histogram& of = group.histogram;
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

  void draw(const Key& key, const Group& group) {
    const auto& [step, tensor, worker] = key;
    if (options.svg()) {
      charts.add({tensor, worker, options.by.step ? group.mode : Mode::global,
                  options.by.step ? std::optional(step) : std::nullopt},
                 group.histogram.edges(), counts_of(group));
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
            bars(group.histogram.edges(), counts_of(group),
                 options.output.precision != 0 ? options.output.precision : 4, terminal_width(STDOUT_FILENO), ascii);
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
