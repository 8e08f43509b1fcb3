// SPDX-License-Identifier: Apache-2.0
#include "cli/option_hints.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/ascii.hpp"
#include "text/nearest.hpp"

#include <smd/remote.hpp>
#include <smd/trial.hpp>

#include <boost/filesystem/operations.hpp>

#include <algorithm>
#include <array>

namespace smd::tool {

namespace {

struct Hint {
  std::string_view tried;  ///< Several, with spaces between them.
  /// Of options: the option of this command without which the advice would be wrong; empty: none. Of words: what they
  /// mean, or a word of the set that the advice is about.
  std::string_view about;
  std::string_view advice;  ///< Empty: the word itself.
};

// Of several rows for one option, the first that fits the command counts.
constexpr std::array<Hint, 31> hints = {{
    {"--filter --query --jq", "where", "--where 'step > 5' chooses rows by their values"},
    {"--grep --match --pattern --include --regexp -E", "regex", "-e RE selects tensors by a pattern"},
    {"--ignore --skip --not --invert-match", "exclude", "-x RE drops tensors by a pattern"},
    {"--tensor --tensors --names --variable --key -t", "name", "-n NAME selects a tensor"},
    {"--tensor --tensors --names --variable --key -t", "", "smd-ls, smd-tensor and smd-reduce select tensors"},
    {"--head --max-rows --rows -N", "limit", "--limit N prints the first N rows"},
    {"--head --max-rows --rows --limit -N", "every", "pipe the rows to head, or choose steps: -s first, -s 0:100"},
    {"--tail", "every", "-s -3: selects the last three steps; or pipe the rows to tail"},
    {"--sort --sort-by --order-by --order", "format",
     "pipe the rows to sort or mlr (--tsv | mlr --tsv sort -nr value)"},
    {"--last --latest --newest", "step", "try -s last"},
    {"--start-step --end-step --from --to --since --until --range", "every", "-s A:B selects steps"},
    {"--start-step --end-step --from --to --since --until --range", "param", "-s A:B selects the steps to evaluate"},
    {"--rank --node --host --device --gpu", "worker", "-w WORKER selects a worker"},
    {"--json-lines --jsonlines --ndjson --json-stream", "jsonl", "try --jsonl"},
    {"--svg --png --plot --chart --graph --picture", "title", "try -f svg"},
    {"--npy --numpy --npz --pgm --binary", "stack", "try -f npy, npz, raw or pgm"},
    {"--npy --numpy --npz --pgm --binary", "regex", "smd-tensor writes -f npy, npz, raw and pgm"},
    {"--fields --select --cols --column --keys", "columns", "try --columns A,B"},
    {"--recursive --recurse -R", "find", "--find lists the trials below a folder"},
    {"--find --recursive --recurse -R", "format",
     "smd-ls --find DIR lists the trials below a folder, for xargs or '-'"},
    {"--tree --collections --workers --modes --locations --summary --check", "format", "smd-ls has these views"},
    {"--stats --statistics --info --describe", "stat", "try --stat"},
    {"--stats --statistics --min --max --mean --std --norm --agg --aggregate", "reduce", "try -r min,max,mean,std,l2"},
    {"--stats --statistics --stat --min --max --mean --std --norm --agg --aggregate", "regex",
     "smd-reduce -r min,max,mean,std,l2 prints statistics"},
    {"--group-by --groupby --group --pool", "by", "-b tensor,step or worker; what is left out is pooled"},
    {"--plot --graph --chart --curve --sparkline", "spark", "--spark draws curves"},
    {"--plot --graph --chart --curve --sparkline --spark", "regex", "smd-reduce --spark draws curves"},
    {"--histogram --distribution", "hist", "try --hist"},
    {"--watch --live --stream --wait", "follow", "-F follows the job"},
    {"--threads --parallel --processes --num-workers -P -T", "jobs", "try -j N"},
    {"--debug --trace --log-level --loglevel", "verbose", "try -v, -vv, or SMDEBUG_LOG_LEVEL"},
}};

// Of several rows for one word, the first that fits the set counts.
constexpr std::array<Hint, 24> synonyms = {{
    {"avg average", "mean", ""},
    {"stddev stdev std_dev sd sigma", "std", ""},
    {"var", "variance", ""},
    {"norm l2norm l2_norm norm2 euclidean frobenius fro", "l2", ""},
    {"size numel elements len length n", "count", ""},
    {"quantile quantiles percentile percentiles pct q05 q25 q50 q75 q90 q95 q99 iqr", "median",
     "p0 to p100 are percentiles: p50, p99.9"},
    {"argmin argmax", "variance", "smd-tensor --stat prints the indices of the least and the greatest element"},
    {"shape dtype type", "variance", "smd-tensor --stat and smd-ls -l print shape and dtype"},
    {"size length disk filesize", "bytes", ""},
    {"name key tag variable", "tensor", ""},
    {"path run folder file", "trial", ""},
    {"epoch iteration iter global_step globalstep batch", "step", ""},
    {"rank node host device", "worker", ""},
    {"phase split", "mode", ""},
    {"train_loss training fit", "train", ""},
    {"validation valid val test dev evaluation", "eval", ""},
    {"ndjson jsonlines json-lines json_lines ldjson", "jsonl", ""},
    {"xml junitxml", "junit", ""},
    {"numpy", "npy", ""},
    {"png jpg jpeg gif wav image picture", "pgm", "-f raw writes a logged picture as it is, -f svg draws curves"},
    {"png jpg jpeg gif pdf image picture plot chart", "svg", "-f svg draws, which any browser shows and prints"},
    {"parquet arrow feather xlsx excel xls hdf5 h5 sqlite", "csv",
     "try --csv or --jsonl, from which pandas, DuckDB or a spreadsheet makes it"},
    {"yes on true force", "always", ""},
    {"no off false none", "never", ""},
}};

}  // namespace

std::string option_hint(const CommandDefinition& definition, std::string_view tried) {
  const OptionSpec* const step = definition.find("step");
  if (tried.size() == 2 && text::is_digit(tried[1]) && step != nullptr && step->kind == ArgumentKind::step) {
    return "; a step, even a negative one, follows -s: -s " + std::string(tried);
  }
  for (const Hint& hint : hints) {
    if (lists(hint.tried, tried) && (hint.about.empty() || definition.find(hint.about) != nullptr)) {
      return "; " + std::string(hint.advice);
    }
  }
  return {};
}

std::string word_hint(std::string_view tried, std::span<const std::string_view> words) {
  const std::string wanted = detail::folded(tried);
  const auto among = [&](std::string_view word) { return contains(words, word); };
  if (among(wanted)) {
    return did_you_mean(std::array{wanted});
  }
  for (const Hint& synonym : synonyms) {
    if (lists(synonym.tried, wanted) && among(synonym.about)) {
      return synonym.advice.empty() ? did_you_mean(std::array{std::string(synonym.about)})
                                    : "; " + std::string(synonym.advice);
    }
  }
  return did_you_mean(detail::nearest(tried, words));
}

std::string not_one_of(std::string_view tried, std::span<const std::string_view> words) {
  constexpr std::size_t most = 40;  // a pivot has a column for each tensor
  return single_quoted(tried) + " is not one of " + text::listed(words, most) + word_hint(tried, words);
}

namespace fs = boost::filesystem;

std::string trial_and_tensor(const std::string& path) {
  const fs::path whole = fs::path(path).lexically_normal();
  fs::path folder = whole.parent_path();
  boost::system::error_code error;
  while (!folder.empty() && !fs::exists(folder, error)) {
    folder = folder.parent_path();
  }
  if (is_remote_path(path) || folder.empty()) {
    return {};  // a name alone is more likely that of another folder
  }
  try {
    if (fs::is_directory(folder, error) && !trial_at(folder.string())) {
      return {};
    }
    const std::string name = whole.lexically_relative(folder).string();
    const std::string text = "is not there, but " + single_quoted(folder.string()) + " is a trial";
    const Trial trial = Trial::open(folder.string());
    if (trial.has_tensor(name)) {
      return text + ": name the trial alone, and the tensor with -n " + single_quoted(name);
    }
    const std::vector<std::string> saved = trial.tensor_names();
    const std::string similar = did_you_mean(detail::nearest(name, saved));
    // If no tensor has this ending or a similar name, the path more likely means a file.
    const auto ends_alike = [ending = whole.extension().string()](const auto& one) { return one.ends_with(ending); };
    const bool may_be_file = similar.empty() && std::ranges::none_of(saved, ends_alike);
    return may_be_file ? std::string() : text + ", which has no tensor " + single_quoted(name) + similar;
  } catch (const Error&) {
    return {};  // opening it reports what is wrong
  }
}

}  // namespace smd::tool
