// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "rows/curves.hpp"
#include "value_view.hpp"

#include <array>

namespace smd::tool::tensor {

namespace {

constexpr std::string_view tensor_pictures =
    "-f svg draws scalars as curves over their steps: all steps, without -s. With --hist it draws bars, or over "
    "several steps a heat map, in which the colour says what share of a step's elements a bin has; with --heatmap, "
    "the last two axes as a picture for each plane, such as the filters of a layer.";

constexpr std::array<Prose, 8> prose = {{
    {.title = "OPERANDS",
     .text =
         "The first operand is a trial. A later one is the name of a tensor if that trial has one of this name, else "
         "a further trial if it is a folder, a file or on S3, else a name. With -n the names are clear. Of several "
         "trials all views have the column trial; npy, raw and pgm show one value only. \"-\" as the last operand "
         "stands for what standard input lists: names, or trials if no operand stands before it."},
    {.title = "STEPS",
     .text = "Names are operands, or given with -n. Without -s, the last step is printed. first, last and negative "
             "numbers count the steps at which the "
             "tensor itself was saved, each tensor its own; in a mode, those of that mode. For tensors chosen by name "
             "only the index files that this needs are read; patterns and collections need all of them."},
    {.title = "FOLLOWING",
     .text = "With -F, values are printed as steps complete, each once, until the job ends. Numbers from the end, and "
             "last, refer to the steps that existed at the start: without -s, the last of them and all that come; with "
             "-s :, all. Steps are those of the trial, not of a tensor. SIGHUP, SIGINT and SIGTERM end it after the "
             "current step: files are closed and put in their place."},
    {.title = "FORMATS",
     .text =
         "table shows arrays as NumPy prints them; the text formats print one row per element, with its index.\n\n"
         "npy holds one array; npz one for each value, under NAME, NAME@STEP or NAME@STEP@WORKER, the shortest that is "
         "unique for that tensor; STEP is the global step. With --stack it has two for each tensor, NAME and, with the "
         "global steps, NAME@steps; if several workers are selected that saved it, two for each of these, NAME@WORKER "
         "and NAME@WORKER@steps. Keys that would be the same are refused. bfloat16 is written as float32, strings as "
         "NumPy's <U (without NUL characters at their end), quantised types as their integers. In <U each text takes "
         "as much room as the longest: where that would be more than 64 MiB and sixteen times the tensor's own bytes, "
         "it is refused; use jsonl.\n\n"
         "An npz archive always unpacks into the current folder, whatever the tensors' names. Keys such as "
         "layer1/conv/weight:0 stay as they are; in others some bytes are written %XX, as in URLs, and Python's "
         "urllib.parse.unquote gives the key back: % itself, the backslash, \" * < > ? |, control characters and bytes "
         "that are not UTF-8; a slash at the beginning or after another; the points of . and .. between slashes; a "
         "point or space before a slash; the colon of C: at the beginning; the first letter of a part that is a device "
         "to Windows (CON, NUL, COM1). Where two keys differ only in case, letters of the later one are encoded.\n\n"
         "raw writes the elements' bytes, little-endian, in C order; several values follow one another. Of a string it "
         "is the bytes as they are, so a saved picture becomes a picture file; several strings of one value are each "
         "preceded by their length in 4 bytes, and --slice chooses one; strings of several values are refused. pgm is "
         "an 8-bit grey image of a value with two axes, from its least to its greatest finite value; NaN is black.\n\n"
         "-o DIR/ with npy and raw writes a file for each value into the folder DIR, which is made if it is not there: "
         "NAME@STEP.EXT, or NAME@STEP@WORKER.EXT if several workers saved the tensor; NAME@STEP-0.EXT and so on for "
         "several strings. EXT is npy, or what the bytes are: png, jpg, gif, wav, txt (strings in UTF-8), else bin. "
         "Bytes of names other than letters, digits and ._- are written %XX, and so is a point at the beginning, so "
         "that each file is in DIR itself.\n\n"
         "Text formats show pictures and other strings that are no text by their length, npz leaves them out.\n\n"
         "npy and raw pass large values on while they are read: if a checksum then turns out wrong, the status is 4 "
         "and what was written must not be used."},
    {.title = "HISTOGRAMS",
     .text = "Bins are those of numpy.histogram in double precision: of equal width, each without its upper bound but "
             "the last. Without bounds they reach from the least to the greatest finite value of each tensor value. "
             "NaN and infinities are in no bin; their number is shown. Of a tensor whose histogram was saved in place "
             "of its values, rows are the saved buckets as they are, and so are bars, up to 30; --bins shares each "
             "bucket out by width, as if its elements were spread evenly."},
    {.title = "PICTURES", .text = tensor_pictures},
    {.title = "READING PICTURES", .text = picture_prose},
    {.title = "STATISTICS",
     .text = "--stat computes in double precision over all elements; std divides by their number. min and max are in "
             "the value's own type; complex numbers have none. With NaN among the elements, min, max, mean and std are "
             "nan. nan, inf and zero "
             "are counts. argmin and argmax are the indices of the first least and greatest element; NaN is left out."},
}};

std::vector<ColumnTable> column_tables() {
  return {column_table("", rows_view_columns()), column_table("--stat", stat_view_columns()),
          column_table("--hist", hist_view_columns()), column_table("--spark", curve_columns())};
}

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-tensor",
      .synopsis = "[OPTION]... [TRIAL]... [NAME]...",
      .summary =
          "Prints the values of tensors that a training job saved: those named or selected, else all, at their "
          "last step.",
      .brief = "print the values of tensors that a training job saved",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = false, .here = true},
                   {.metavar = "NAME", .kind = ArgumentKind::tensor, .required = false, .repeats = true}},
      .examples =
          {{.purpose = "the loss at every step", .command = "smd-tensor run -c losses -s :"},
           {.purpose = "all losses side by side, a row for each step", .command = "smd-tensor run --pivot -c losses"},
           {.purpose = "statistics of all gradients, last saved step", .command = "smd-tensor run -c gradients --stat"},
           {.purpose = "one weight as a NumPy file", .command = "smd-tensor run DigitNet_fc.weight -f npy -o w.npy"},
           {.purpose = "all weights, each as a file", .command = "smd-tensor run -c weights -f npy -o weights/"}},
      .option_tables = {TensorOptions::table(), SelectionOptions::name_table(), SelectionOptions::table(),
                        ReadingOptions::superseded_table(), OutputOptions::table(), PictureOptions::table(),
                        ReadingOptions::table(), FollowingOptions::table(), MessageOptions::table()},
      .formats = tensor_format_names(),
      .exit_notes = {{ExitStatus::yes, "what was asked for was printed"},
                     {ExitStatus::no, "nothing is selected, or something named does not exist"},
                     {ExitStatus::usage, "wrong usage, or a slice or format that does not fit the value"},
                     {ExitStatus::unreadable, "cannot read or write"},
                     {ExitStatus::damaged, "damaged data; the readable rest was printed"},
                     {ExitStatus::timed_out, "--timeout or --idle ended --follow"}},
      .prose = prose,
      .see_also = {"smd-ls(1)", "smd-reduce(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::tensor
