// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "cli/text.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

std::vector<Column> location_columns(const LsOptions& options) {
  return {{"tensor"},
          {"step", Align::right},
          {"mode"},
          {"mode_step", Align::right},
          {"worker"},
          {"file"},
          {"offset", Align::right},
          {"length", Align::right},
          superseded_column(options.reading.superseded == Superseded::included),
          written_column};
}

/// Prints the records of entries by step, then by the name in the record: a reduction's is `smdebug/reductions/…`, so
/// the records of a step wait for its end.
class RecordPrinter {
 public:
  explicit RecordPrinter(RowWriter& rows) : rows_(rows) {}

  void add(const TensorEntry& entry) {
    if (!held_.empty() && held_.front().step != entry.step) {
      print_held();
    }
    if (entry.value) {
      hold(std::string(entry.tensor), entry, *entry.value);
    }
    for (const SavedReduction& reduction : entry.reductions) {
      hold(reduction_tensor_name(reduction.name, entry.tensor), entry, reduction.place);
    }
  }

  void print_held() {
    std::ranges::stable_sort(held_, {}, [](const Held& of) { return std::tie(of.tensor, of.worker); });
    for (const Held& of : held_) {
      const bool ranged = of.place.form() != ValueForm::number;  // a number was read along with its record
      rows_.row({of.tensor, of.step.value, to_string(of.mode), of.mode_step.value, of.worker, *of.place.file,
                 ranged ? Cell(of.place.offset) : Cell(), of.place.length, of.superseded,
                 PlaceCell{of.step.value, of.place.offset}});
    }
    held_.clear();
  }

 private:
  /// What is printed of an entry, by the same names.
  struct Held {
    std::string tensor;
    std::string_view worker;  // borrowed from the trial
    GlobalStep step;
    Mode mode;
    ModeStep mode_step;
    bool superseded;
    Place place;
  };

  void hold(std::string tensor, const TensorEntry& entry, const Place& place) {
    held_.push_back(
        {std::move(tensor), entry.worker, entry.step, entry.mode, entry.mode_step, entry.superseded, place});
  }

  RowWriter& rows_;
  std::vector<Held> held_;  // all of one step
};

/// Reports, for -v, the values that are no tensors.
void say_other_values(const Trial& trial, Diagnostics& messages) {
  if (!messages.shows(Level::info)) {
    return;
  }
  for (const OtherValue& value : trial.other_values()) {
    messages.info(value.kind + (value.name.empty() ? "" : " " + single_quoted(value.name)) + " at step " +
                  std::to_string(value.step) + " by " + value.worker + ": " + value.file + ", offset " +
                  std::to_string(value.offset) + ", length " + std::to_string(value.length));
  }
}

bool show_locations(Trial& trial, Showing& to) {
  say_other_values(trial, to.messages);
  const Selection selection = select(trial, to.options.selection, {.lists = false}, to.messages);
  if (selection.empty()) {
    return false;
  }
  const std::size_t before = to.rows.rows();
  RecordPrinter printer(to.rows);
  trial.for_each_entry(query_for(selection, to.options.selection), [&](const TensorEntry& entry) {
    printer.add(entry);
    return !to.options.output.quiet || to.rows.rows() == before;
  });
  printer.print_held();
  return to.rows.rows() != before;
}

}  // namespace

constinit const ViewSpec locations_view = {
    .option = "locations", .columns = location_columns, .show_trial = show_locations};

}  // namespace smd::tool::ls
