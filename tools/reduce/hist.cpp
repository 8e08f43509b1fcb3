// SPDX-License-Identifier: Apache-2.0
// --hist: the elements of all entries of a row, counted.
#include "hist.hpp"

#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "columns.hpp"
#include "select/slice.hpp"

#include <smd/reduction.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

namespace smd::tool::reduce {

/// What is counted in a row.
struct Counted {
  RowFacts facts;
  std::optional<Histogram> histogram = {};
  std::optional<BucketCounts> estimated = {};  ///< What buckets add to the counts.

  void add(Counted&& other) {
    facts.written = std::min(facts.written, other.facts.written);
    if (histogram && other.histogram) {
      histogram->merge(*other.histogram);
    } else if (other.histogram) {
      histogram = std::move(other.histogram);
    }
    if (estimated && other.estimated) {
      std::ranges::transform(estimated->counts, other.estimated->counts, estimated->counts.begin(), std::plus<>());
      estimated->outside += other.estimated->outside;
    } else if (other.estimated) {
      estimated = std::move(other.estimated);
    }
  }
};

namespace {

// A part of a value has no saved buckets.
const SavedReduction* buckets_of(const TensorEntry& entry, const ReduceCommandOptions& options) {
  return options.slice ? nullptr : saved_buckets(entry);
}

constexpr std::size_t most_counts = std::size_t{1} << 18;       // of a piece, which holds them until they are shown
constexpr std::size_t most_counts_held = std::size_t{1} << 24;  // of all rows that are counted together

using Rows = std::map<PoolKey, Counted>;

/// Counts the elements and saved buckets of one piece after another, or finds their bounds. Used by one thread at a
/// time.
class HistPiece {
 public:
  /// `empty`: into which elements are counted; null: bounds are looked for. What cannot be read is reported when it is
  /// counted.
  HistPiece(const Session& session, const Histogram* empty) : session_(session), empty_(empty) {
    if (empty != nullptr) {
      scratch_ = *empty;
    }
  }

  void make(const Piece& piece, ValueReader& reader) {
    bounds = {};
    rows.clear();
    others.clear();
    said_.clear();
    first_step = piece.steps.front().step;
    entries_.clear();
    records_.clear();
    names_.clear();
    session_.for_each_entry(piece, [&](const TensorEntry& entry) {
      if (const SavedReduction* const buckets = buckets_of(entry, session_.options)) {
        records_.push_back({buckets->place, names_.emplace_back(reduction_tensor_name(buckets_name, entry.tensor))});
      } else if (entry.value) {
        records_.push_back({*entry.value, entry.tensor});
      } else {
        return;
      }
      entries_.push_back({RowFacts::of(entry, session_.options.by), entry.tensor, entry.step, !entry.value});
    });
    reader.read_each(
        records_, [this](std::size_t i, Extent& value) { take(entries_[i], value); },
        [this](std::size_t i, const std::optional<Problem>& problem) {
          if (empty_ != nullptr) {
            count(entries_[i], problem);
          } else if (!problem) {
            bounds.add(found_);
          }
        });
  }
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  void say(Diagnostics& messages) const { say_all(said_, messages); }

  AxisRange bounds;
  Rows rows;
  std::set<std::string, std::less<>> others;  ///< Tensors that have no histogram.
  GlobalStep first_step;

 private:
  struct Entry {
    RowFacts row;
    std::string_view tensor;
    GlobalStep step;
    bool buckets;
  };

  /// Reads a value into `scratch_` or `buckets_`, or its bounds into `found_`.
  void take(const Entry& entry, Extent& value) {
    found_ = {};
    real_ = is_real(value.dtype());
    misfit_.clear();
    if (entry.buckets) {
      const std::optional<TensorValue> saved = value.value();
      buckets_ = saved ? counts_of_buckets(saved->view()) : std::nullopt;
      found_ = buckets_ ? AxisRange::of_filled(buckets_->edges, buckets_->counts) : AxisRange();
      return;
    }
    if (real_ && session_.options.slice) {
      misfit_ = narrow(value, *session_.options.slice);
    }
    if (!real_ || !misfit_.empty()) {
      return;
    }
    if (scratch_) {
      scratch_->clear();
      (void)scratch_->add(value);
    } else {
      reducer_.clear();
      (void)reducer_.add(value);
      const PartialReduction part = reducer_.partial();
      found_ = {part.min, part.max};
    }
  }

  void count(const Entry& entry, const std::optional<Problem>& problem) {
    Counted& row = rows.try_emplace(entry.row.key(), Counted{entry.row}).first->second;
    row.facts.written = std::min(row.facts.written, entry.row.written);
    if (problem) {
      said_.push_back(about_problem(*problem, entry.tensor, entry.step, session_));
    } else if (!misfit_.empty()) {
      said_.push_back(about_slice(entry.tensor, misfit_));
    } else if (entry.buckets && !buckets_) {
      said_.push_back(about_damage(entry.tensor, entry.step, ": the buckets of its saved histogram do not ascend"));
    } else if (entry.buckets) {
      if (!row.estimated) {
        row.estimated = {empty_->edges(), std::vector<double>(empty_->counts().size())};
      }
      add_buckets(*row.estimated, *buckets_);
    } else if (!real_) {
      others.emplace(entry.tensor);
    } else if (row.histogram) {
      row.histogram->merge(*scratch_);
    } else {
      row.histogram = scratch_;
    }
  }

  const Session& session_;
  const Histogram* empty_;
  std::vector<Entry> entries_;
  std::vector<WantedValue> records_;
  std::deque<std::string> names_;
  // Of the last value.
  std::optional<Histogram> scratch_;
  Reducer reducer_{std::array<Reduction, 2>{{{ReductionKind::min}, {ReductionKind::max}}}};
  AxisRange found_;
  bool real_ = true;
  std::string misfit_;
  std::optional<BucketCounts> buckets_;
  std::vector<Said> said_;
};

/// Calls `take` for each piece of a trial, in their order.
template <class Take>
void read_hist(const Session& session, const Histogram* empty, std::string_view doing, Take&& take) {
  Progress progress(doing, [&] {
    std::uint64_t values = 0;
    session.for_each_entry([&](const TensorEntry& entry) {
      values += entry.value || buckets_of(entry, session.options) != nullptr ? 1 : 0;
    });
    return values;
  });
  const std::size_t most_rows = std::max<std::size_t>(most_counts / session.options.bins.count, 1);
  read_pieces(
      session, pieces_of(session, 1, most_rows, false), [&] { return std::make_unique<HistPiece>(session, empty); },
      [&](HistPiece& piece) {
        progress.advance(piece.size());
        take(piece);
      });
}

}  // namespace

void widen(AxisRange& bounds, const Session& session) {
  read_hist(session, nullptr, "finding bounds", [&](const HistPiece& piece) { bounds.add(piece.bounds); });
}

HistView::HistView(OutputFile& out, const ReduceCommandOptions& options, const AxisRange& bounds, bool several_trials,
                   Diagnostics& messages)
    : options_(options),
      messages_(messages),
      empty_(empty_histogram(options.bins, bounds)),
      several_trials_(several_trials),
      output_(out, options.output, options.picture, hist_columns(options.by), several_trials, messages) {}

ReduceOutcome HistView::show(const Session& session) {
  output_.set_trial(session.name);
  ReduceOutcome outcome = ReduceOutcome::nothing;
  Rows waiting;
  std::set<std::string, std::less<>> others;
  // Prints the rows before a step, or all, and forgets them.
  const auto print_before = [&](std::optional<GlobalStep> step) {
    while (!waiting.empty() && (!step || waiting.begin()->second.facts.step < *step)) {
      const Counted& row = waiting.begin()->second;
      if (row.histogram || row.estimated) {
        print(row, session.name);
        outcome = ReduceOutcome::rows;
      }
      waiting.erase(waiting.begin());
    }
  };
  read_hist(session, &empty_, "counting", [&](HistPiece& piece) {
    piece.say(messages_);
    if (options_.by.step) {
      print_before(piece.first_step);
    }
    others.merge(piece.others);
    const bool alone = options_.by.step && options_.by.tensor && options_.by.worker;  // no other piece has these rows
    for (auto& [key, row] : piece.rows) {
      outcome = std::max(outcome, ReduceOutcome::no_row);
      if (const auto known = waiting.find(key); known != waiting.end()) {
        known->second.add(std::move(row));
      } else if (!alone && (waiting.size() + 1) * options_.bins.count > most_counts_held) {
        throw UsageError("--bins: the histograms that are counted together have more than " +
                         std::to_string(most_counts_held) + " bins in all: ask for fewer bins, or for fewer tensors");
      } else {
        waiting.emplace(key, std::move(row));
      }
    }
    if (alone) {
      print_before({});
    }
  });
  print_before({});
  if (!others.empty()) {
    messages_.warning("no histogram, because not of real numbers: " + quoted_list(others, 3));
  }
  return outcome;
}

void HistView::print(const Counted& row, const std::string& trial) {
  const RowFacts& facts = row.facts;
  const By by = options_.by;
  const std::string step = by.step ? " step " + std::to_string(facts.step.value) : std::string();
  const std::string name = (by.tensor ? single_quoted(facts.tensor) : "pooled values") + step;
  const Histogram& counted = row.histogram ? *row.histogram : empty_;
  if (row.estimated && row.estimated->outside != 0) {
    messages_.note(name + ": " + number_text(row.estimated->outside, 6) +
                   " elements of saved histograms are in no bin");
  }
  note_uncounted(name, counted, messages_);
  std::vector<double> counts(counted.counts().begin(), counted.counts().end());
  if (row.estimated) {
    std::ranges::transform(counts, row.estimated->counts, counts.begin(), std::plus<>());
  }
  std::string title;
  if (output_.bars()) {
    const bool ascii = options_.output.terminal.ascii;
    append_part(title, several_trials_ ? printable(trial, ascii) : "", "  ");
    append_part(title, by.tensor ? printable(facts.tensor, ascii) : "", "  ");
    append_part(title, by.step ? "step " + std::to_string(facts.step.value) : "", "  ");
    append_part(title, by.worker ? printable(facts.worker, ascii) : "", "  ");
    title = title.empty() ? "all" : title;
  }
  std::vector<Cell> cells;
  add_group_cells(cells, facts, by);
  output_.show({facts.tensor, facts.worker, by.step ? facts.mode : Mode::global,
                by.step ? std::optional(facts.step.value) : std::nullopt},
               std::move(cells), facts.written, title, counted.edges(), counts, !row.estimated);
}

}  // namespace smd::tool::reduce
