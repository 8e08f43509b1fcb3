// SPDX-License-Identifier: Apache-2.0
#include "docgen.hpp"

#include <array>
#include <cstdint>

#include "cli/diagnostics.hpp"
#include "cli/mapped.hpp"
#include "cli/option_spec.hpp"
#include "cli/text.hpp"
#include "text/limits.hpp"

namespace smd::docgen {

namespace {

using std::to_string;
using tool::ExitStatus;

std::string bytes(std::uint64_t count) {
  constexpr std::array<std::string_view, 4> units = {"bytes", "KiB", "MiB", "GiB"};
  const bool one_less = count % 2 == 1;
  std::uint64_t number = count + (one_less ? 1 : 0);
  std::size_t unit = 0;
  while (unit + 1 < units.size() && number % 1024 == 0) {
    number /= 1024;
    ++unit;
  }
  return to_string(number) + " " + std::string(units.at(unit)) + (one_less ? " less one byte" : "");
}

constexpr std::array<tool::ExitNote, 8> status_table = {{
    {ExitStatus::yes, "yes: done, found, no rule triggered, the condition holds"},
    {ExitStatus::no,
     "no: nothing is selected, something named does not exist, a rule triggered, the awaited step was skipped"},
    {ExitStatus::usage, "wrong usage: an option, a pattern, a rule, a parameter, a file of rules"},
    {ExitStatus::unreadable, "cannot read or write: no trial, no debugging data, no access, no network, no space"},
    {ExitStatus::damaged, "damaged data; the readable rest was printed"},
    {ExitStatus::nothing_evaluated, "a rule had nothing to evaluate"},
    {ExitStatus::no_more_data, "the job ended before the step came"},
    {ExitStatus::timed_out, "timed out"},
}};

}  // namespace

std::span<const Limit> limits() {
  static const std::vector<Limit> table = {
      {"record_bytes", bytes(limits::record_bytes), "the payload of one event record"},
      {"protobuf_depth", to_string(limits::protobuf_depth), "messages and groups within each other in a record"},
      {"dimensions", to_string(limits::dimensions), "axes of a tensor"},
      {"repeated_value_bytes", bytes(limits::repeated_value_bytes),
       "elements made of one stored value that is repeated"},
      {"event_bytes", bytes(limits::event_bytes),
       "what is kept in memory of a log's event above 1 MiB: histograms, names and small values; the rest is read in "
       "blocks"},
      {"searched_bytes", bytes(limits::searched_bytes),
       "where the next sound record is searched after a damaged length in a log directory"},
      {"refuted_bytes", bytes(limits::refuted_bytes),
       "payloads that are read in such a search of a file and turn out not to be sound"},
      {"inflated_passes", to_string(limits::inflated_passes),
       "times that a compressed file is inflated while it is open"},
      {"inflated_again_bytes", bytes(limits::inflated_again_bytes),
       "bytes inflated again in total; the larger of the two limits counts"},
      {"json_bytes", bytes(limits::json_bytes),
       "one JSON document (an index or collections file, a file of rules), one line of JSON lines or of a list, and "
       "all index files above 4 MiB that are read at once"},
      {"safetensors_header_bytes", bytes(limits::safetensors_header_bytes), "the header of a safetensors file"},
      {"safetensors_tensors", to_string(limits::safetensors_tensors), "tensors of one safetensors file"},
      {"pickle_bytes", bytes(limits::pickle_bytes), "the pickle of a PyTorch file"},
      {"pickle_nodes", to_string(limits::pickle_nodes), "values of a pickle, except small integers"},
      {"pickle_items", to_string(limits::pickle_items), "items of all its tuples, lists and mappings"},
      {"pickle_stack", to_string(limits::pickle_stack), "values of a pickle that wait for their container"},
      {"pickle_globals", to_string(limits::pickle_globals), "different names of functions and classes in a pickle"},
      {"pickle_depth", to_string(limits::pickle_depth), "containers within each other in a pickle"},
      {"pytorch_tensors", to_string(limits::pytorch_tensors), "tensors of one PyTorch file"},
      {"archive_directory_bytes", bytes(limits::archive_directory_bytes), "the directory of a PyTorch file"},
      {"expanded_bytes", bytes(limits::expanded_bytes),
       "a tensor of a PyTorch file that repeats elements of its storage"},
      {"json_depth", to_string(limits::json_depth),
       "objects and arrays within each other in any JSON document; two more in a line of smd-save --jsonl"},
      {"problems_per_file", to_string(limits::problems_per_file),
       "problems of one kind described of one file; the rest is counted"},
      {"problems_per_trial", to_string(limits::problems_per_trial), "the same of one trial"},
      {"searched_folders", to_string(limits::searched_folders),
       "folders that a search for trials visits; more are left out with a warning"},
      {"searched_names", to_string(limits::searched_names), "names in these folders; more are left out with a warning"},
      {"other_values", to_string(limits::other_values),
       "values of a log that are no tensors, such as hyperparameters; the rest is counted"},
      {"row_bytes", bytes(limits::row_bytes), "a row of a CSV or a line of JSON lines"},
      {"name_bytes", bytes(limits::name_bytes), "the name of a tensor, worker or collection"},
      {"pattern_bytes", bytes(limits::pattern_bytes), "one regular expression"},
      {"pattern_match_steps", to_string(limits::pattern_match_steps),
       "steps of matching a pattern with one name, over all places where a match may start; a step is an item of the "
       "pattern that is tried, or 8 bytes that are passed over"},
      {"pattern_question_steps", to_string(limits::pattern_question_steps),
       "steps of matching all patterns of a question with all names"},
      {"pattern_trial_steps", to_string(limits::pattern_trial_steps),
       "the same of all patterns of a trial's own collections: one to two seconds"},
      {"pattern_trial_steps_of_name", to_string(limits::pattern_trial_steps_of_name),
       "further steps allowed for each name"},
      {"pattern_heap_kib", bytes(std::uint64_t{limits::pattern_heap_kib} * 1024), "memory for matching"},
      {"pattern_jit_stack", bytes(limits::pattern_jit_stack), "stack for matching"},
      {"padded_text_bytes", bytes(limits::padded_text_bytes),
       "a text array in npy and npz, whose elements are all as wide as the longest; more if it is no more than sixteen "
       "times the tensor's own bytes"},
      {"unpacked_bytes", bytes(limits::unpacked_bytes),
       "what the compressed members of an npz archive are together; more if it is no more than 64 times the file"},
      {"request_seconds", to_string(limits::request_seconds), "seconds of one request to S3 with all its attempts"},
      {"listing_pages", to_string(limits::listing_pages),
       "pages, of 1,000 names, of one listing on S3; more is an error of the network (Network)"},
      {"cache_bytes", bytes(limits::cache_bytes), "what a --cache folder keeps; what was not used for longest goes"},
      {"profile_chain", to_string(limits::profile_chain), "AWS profiles that lead to one another by source_profile"},
      {"open_files", to_string(limits::open_files), "local files open at once"},
  };
  return table;
}

std::span<const tool::ExitNote> statuses() noexcept { return status_table; }

std::string status_note() {
  return "If several apply, the status is the first of " + status_order() +
         ". A command that is interrupted (SIGHUP, SIGINT, SIGTERM) removes its temporary files and ends by the "
         "signal, so that a shell sees 129, 130 or 143; if the reader of its output goes away, it ends silently (141).";
}

std::string status_order() {
  return text::joined(tool::exit_status_order, ", ",
                      [](ExitStatus status) { return to_string(static_cast<int>(status)); });
}

std::string tag_list() {
  std::string tags;
  for (const tool::MessageTag& tag : tool::message_tags()) {
    tool::append_part(tags, tag.meaning.empty() ? std::string_view() : tag.tag);
  }
  return tags;
}

std::string_view group_note(const Sections& notes, std::string_view group, std::string_view command) noexcept {
  // These select in ways of their own, which their options or pages explain.
  constexpr std::array<std::string_view, 4> own_ways = {"smd-rule", "smd-wait", "smd-save", "smd-runs"};
  return group == tool::group::selection && tool::contains(own_ways, command) ? std::string_view()
                                                                              : text_of(notes, group);
}

}  // namespace smd::docgen
