// SPDX-License-Identifier: Apache-2.0
#include "view.hpp"

#include <fmt/format.h>

#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "piece.hpp"
#include "select/explanations.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>
#include <utility>

namespace smd::tool::diff {

namespace {

/// How many entries are paired before they are compared.
constexpr std::size_t chunk_entries = 4096;
/// Limits of the pieces that one thread takes at once: their number, and their bytes.
constexpr std::size_t most_pieces = 256;
constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20;

/// What is pooled in one row.
struct Pool {
  std::optional<GlobalStep> step;
  std::optional<GlobalStep> step_b;
  Comparer comparer;
  bool compared = false;
  bool unread = false;
  std::optional<State> apart = {};  ///< Of the first pair whose elements could not be compared.
};

class Comparison {
 public:
  Comparison(const ComparedTrial& a, const ComparedTrial& b, const DiffCommandOptions& options, DiffView& view,
             Diagnostics& messages)
      : a_(a), b_(b), options_(options), view_(view), messages_(messages) {}

  void run() {
    const std::vector<PairedStep> pairs = pair_steps(a_, b_, options_, messages_);
    const std::vector<NameRange> ranges = name_ranges(a_, b_);
    for (std::size_t i = 0; i < pairs.size() && !over_;) {
      std::size_t end = i + 1;
      // If tensors have steps of their own, all pairs of steps at one place go together.
      while (pairs[i].tensors && end < pairs.size() && pairs[end].place() == pairs[i].place()) {
        ++end;
      }
      for (std::size_t k = 0; k < ranges.size() && !over_; ++k) {
        std::vector<PairedEntry> more = pair_entries(a_, b_, std::span(pairs).subspan(i, end - i), ranges[k]);
        compared_any_ = compared_any_ || !more.empty();
        std::move(more.begin(), more.end(), std::back_inserter(entries_));
        const bool whole = k + 1 == ranges.size();
        if (entries_.size() >= chunk_entries || (whole && end == pairs.size())) {
          work(whole);
        }
      }
      i = end;
    }
    show_pools();
    if (!pairs.empty() && !compared_any_) {
      say_nothing_selected(&a_.trial, a_.options, messages_);
    }
    say_what_was_compared();
    messages_.say_missing();
  }

 private:
  /// `whole`: these are the last entries of their step.
  void work(bool whole) {
    std::vector<PairPiece> pieces;
    std::uint64_t bytes = 0;
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Common common = common_of(entries_[i]);
      if (common != Common::values && common != Common::statistics) {
        continue;
      }
      const std::size_t before = pieces.size();
      add_pieces({reader_a_, reader_b_}, entries_[i], i, pieces);
      for (std::size_t k = before; k < pieces.size(); ++k) {
        bytes += pieces[k].bytes;
        const std::size_t begin = ends.empty() ? 0 : ends.back();
        if (bytes >= most_bytes || k + 1 - begin >= most_pieces) {
          ends.push_back(k + 1);
          bytes = 0;
        }
      }
    }
    if (!pieces.empty() && (ends.empty() || ends.back() != pieces.size())) {
      ends.push_back(pieces.size());
    }
    std::vector<std::atomic<bool>> differ(entries_.size());  // whether some piece does
    const ReadOptions reading = {.jobs = options_.reading.jobs};
    const ParallelLoop loop = reading_loop(a_.trial, ends.size(), reading);
    std::vector<std::optional<ValueReader>> readers_of_b(loop.jobs);
    std::vector<std::vector<ComparedPiece>> results(loop.slots());
    parallel_read(
        a_.trial, loop, reading,
        [&](const LoopIndex& at, ValueReader& reader_of_a) {
          std::optional<ValueReader>& reader_of_b = readers_of_b[at.worker];
          if (!reader_of_b) {
            reader_of_b.emplace(b_.trial, reading);
          }
          results[at.slot].clear();
          for (std::size_t i = at.index == 0 ? 0 : ends[at.index - 1]; i < ends[at.index]; ++i) {
            // Once a piece of the value differs, equal ones count too. Their sums are the same whether taken now or
            // when they are read again.
            std::atomic<bool>& differs = differ[pieces[i].entry];
            DifferenceOptions options = options_.comparing();
            options.sums_of_equal = options.sums_of_equal || differs;
            results[at.slot].push_back(compare_piece({reader_of_a, *reader_of_b}, entries_[pieces[i].entry], pieces[i],
                                                     options, options_.common));
            if (results[at.slot].back().comparer.differs()) {
              differs = true;
            }
          }
        },
        [&](const LoopIndex& at) {
          for (ComparedPiece& piece : results[at.slot]) {
            take(std::move(piece));
          }
          return !over_;
        });
    finish_until(entries_.size());
    entries_.clear();
    next_ = 0;
    if (options_.by.step && whole) {
      show_pools();
    }
  }

  void take(ComparedPiece&& piece) {
    const std::size_t number = piece.piece.entry;
    const bool last = piece.piece.last;
    finish_until(number);
    pieces_.push_back(std::move(piece));
    if (last && !over_) {
      finish_compared(entries_[number]);
      pieces_.clear();
      next_ = number + 1;
      progress_.advance();
    }
  }

  /// Finishes entries that need no reading.
  void finish_until(std::size_t end) {
    for (; next_ < end && !over_; ++next_) {
      const PairedEntry& entry = entries_[next_];
      switch (common_of(entry)) {
        case Common::shapes:
          ++shapes_;
          finish(entry, *entry.a->shape == *entry.b->shape ? State::equal : State::shape);
          break;
        case Common::nothing:
          finish(entry, more_in_a(entry) ? State::only_a : State::only_b);
          break;
        case Common::values:
        case Common::statistics:
          return;  // its pieces are not compared yet
      }
      progress_.advance();
    }
  }

  /// Of entries that have nothing in common. Counts those of which each trial saved another form.
  bool more_in_a(const PairedEntry& entry) {
    if (!entry.a || !entry.b) {
      return entry.a.has_value();
    }
    ++unlike_;
    unlike_name_ = unlike_name_.empty() ? std::string(entry.tensor) : unlike_name_;
    const auto forms = [](const TensorEntry& of) { return has_value(of) ? 2 : of.reductions.empty() ? 0 : 1; };
    return forms(*entry.a) > forms(*entry.b);
  }

  void finish_unread(const PairProblem& problem, const PairedEntry& entry) {
    const ComparedTrial& side = problem.of_b ? b_ : a_;
    const TensorEntry& of = problem.of_b ? *entry.b : *entry.a;
    const AboutTrial about(side.name);
    messages_.report_record(problem.problem, side.trial.path(),
                            fmt::format("{} at step {}", single_quoted(of.tensor), of.step.value));
    finish(entry, State::unread);
  }

  void finish_compared(const PairedEntry& entry) {
    const auto trouble =
        std::ranges::find_if(pieces_, [](const ComparedPiece& piece) { return piece.problem.has_value(); });
    if (trouble != pieces_.end()) {
      finish_unread(*trouble->problem, entry);
      return;
    }
    const ComparedPiece& first = pieces_.front();
    if (first.shape != first.shape_b) {
      finish(entry, State::shape, first.common ? &first.comparer : nullptr, &first);
      return;
    }
    if (mean_otherwise(entry)) {
      finish(entry, State::differs, nullptr, &first);
      return;
    }
    const bool differs =
        std::ranges::any_of(pieces_, [](const ComparedPiece& piece) { return piece.comparer.differs(); });
    if (differs && !options_.output.quiet) {
      if (const auto problem = complete_sums(a_.trial, entry, pieces_)) {
        finish_unread(*problem, entry);
        return;
      }
    }
    Comparer whole = std::move(pieces_.front().comparer);
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      whole.merge(pieces_[i].comparer);
    }
    if (common_of(entry) == Common::statistics) {
      ++statistics_;
    }
    finish(entry, first.alone > 0 ? State::differs : state_of(whole.result()), &whole, &first);
  }

  /// Returns what the index and the headers of files tell.
  static ValueFacts facts_of(const std::optional<TensorEntry>& entry) {
    if (!entry) {
      return {};
    }
    if (!entry->value || entry->value->has_record()) {
      return {entry->shape ? &*entry->shape : nullptr, {}};
    }
    const ValueType& type = *entry->value->type;
    return {&type.shape, type.unread_type.empty() ? std::string(to_string(type.dtype)) : type.unread_type};
  }

  [[nodiscard]] State state_of(const Difference& difference) const {
    return difference.differing > 0                         ? State::differs
           : difference.same_dtype || options_.ignore_dtype ? State::equal
                                                            : State::dtype;
  }

  /// `first`: the first piece, if the values were read.
  void finish(const PairedEntry& entry, State state, const Comparer* compared = nullptr,
              const ComparedPiece* first = nullptr) {
    if (state == State::unread) {
      messages_.raise(ExitStatus::damaged);
    } else if (state != State::equal) {
      messages_.raise(ExitStatus::no);
      over_ = options_.output.quiet;
    }
    if (!options_.single()) {
      pool(entry, state, compared);
      return;
    }
    DiffRow row = {.tensor = entry.tensor, .worker = entry.worker(), .step = entry.step, .step_b = entry.step_b};
    row.state = state;
    row.a = facts_of(entry.a);
    row.b = facts_of(entry.b);
    if (first != nullptr && first->dtype && common_of(entry) == Common::values) {
      row.a = {&first->shape, std::string(to_string(*first->dtype))};
      row.b = {&first->shape_b, std::string(to_string(*first->dtype_b))};
      if (mean_otherwise(entry)) {
        for (const auto& [side, of] : {std::pair(&row.a, &entry.a), std::pair(&row.b, &entry.b)}) {
          const std::string_view meaning = meaning_of(**of);
          side->dtype.append(meaning.empty() ? "" : ", ").append(meaning);
        }
      }
    }
    if (compared != nullptr) {
      row.statistics = compared->result();
      if (common_of(entry) == Common::statistics) {
        // The norms of a list of statistics mean nothing.
        Difference of;
        of.size = row.statistics->size + first->alone;
        of.differing = row.statistics->differing + first->alone;
        of.max_abs = row.statistics->max_abs;
        of.max_rel = row.statistics->max_rel;
        row.statistics = of;
      }
    }
    view_.row(row);
  }

  void pool(const PairedEntry& entry, State state, const Comparer* compared) {
    const Key key(options_.by.step ? entry.place().value : 0, options_.by.tensor ? entry.tensor : "",
                  options_.by.worker ? entry.worker() : "");
    auto found = pools_.find(key);
    if (found == pools_.end()) {
      found = pools_.emplace(key, Pool{entry.step, entry.step_b, Comparer(options_.comparing())}).first;
    }
    Pool& pool = found->second;
    pool.unread = pool.unread || state == State::unread;
    // Statistics are not elements: they do not go into the pool.
    if (compared != nullptr && common_of(entry) == Common::values && state != State::shape) {
      pool.comparer.merge(*compared);
      pool.compared = true;
    } else if (state != State::equal && state != State::unread) {
      ++left_of_pools_;
      pool.apart = pool.apart.value_or(state);
    }
  }

  void show_pools() {
    for (auto& [key, pool] : pools_) {
      const auto& [place, tensor, worker] = key;
      DiffRow row = {.tensor = tensor, .worker = worker, .step = pool.step, .step_b = pool.step_b};
      if (pool.unread) {
        row.state = State::unread;  // a part of the pool would be taken for all of it
      } else {
        if (pool.compared) {
          row.statistics = pool.comparer.result();
          row.state = state_of(*row.statistics);
        }
        if (pool.apart && row.state == State::equal) {
          row.state = pool.compared ? State::differs : *pool.apart;
        }
      }
      view_.row(row);
    }
    pools_.clear();
  }

  void say_what_was_compared() {
    if (left_of_pools_ > 0) {
      messages_.warning(
          fmt::format("{} not in the pooled rows: values are in one trial only, shapes or scales differ, or only "
                      "statistics were saved; without --by each has its row",
                      counted(left_of_pools_, "pair", "is", "are")));
    }
    if (unlike_ > 0) {
      messages_.warning(fmt::format("{} not compared: {} saved in different forms (values, statistics or shapes)",
                                    counted(unlike_, "pair", "was", "were"),
                                    single_quoted(unlike_name_) + (unlike_ == 1 ? " was" : " and others were")));
    }
    if (statistics_ > 0) {
      messages_.note(fmt::format("{} saved as statistics without values: the statistics were compared",
                                 counted(statistics_, "pair")));
    }
    if (shapes_ > 0) {
      messages_.note(fmt::format("{} saved as shapes alone: the shapes were compared", counted(shapes_, "pair")));
    }
  }

  using Key = std::tuple<std::int64_t, std::string, std::string>;

  const ComparedTrial& a_;
  const ComparedTrial& b_;
  const DiffCommandOptions& options_;
  DiffView& view_;
  Diagnostics& messages_;
  ValueReader reader_a_{a_.trial};  // for what is to be known of large values
  ValueReader reader_b_{b_.trial};
  Progress progress_{"comparing", 0};
  std::vector<PairedEntry> entries_;
  std::size_t next_ = 0;               // entry to be finished
  std::vector<ComparedPiece> pieces_;  // of that entry
  std::map<Key, Pool> pools_;
  bool over_ = false;  // only the status is wanted, and it is known
  bool compared_any_ = false;
  std::size_t statistics_ = 0;
  std::size_t shapes_ = 0;
  std::size_t unlike_ = 0;
  std::string unlike_name_;
  std::size_t left_of_pools_ = 0;
};

}  // namespace

void compare_trials(const ComparedTrial& a, const ComparedTrial& b, const DiffCommandOptions& options, DiffView& view,
                    Diagnostics& messages) {
  Comparison(a, b, options, view, messages).run();
}

}  // namespace smd::tool::diff
