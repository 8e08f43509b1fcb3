// SPDX-License-Identifier: Apache-2.0
#include "cli/operands.hpp"

#include "cli/errors.hpp"
#include "cli/operand_hints.hpp"
#include "cli/operand_source.hpp"
#include "cli/output_file.hpp"
#include "cli/progress.hpp"
#include "cli/reading_options.hpp"
#include "cli/text.hpp"

#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>

namespace smd::tool {

namespace {

namespace fs = boost::filesystem;
using boost::system::error_code;

/// For a path that does not exist: existing folders whose names are nearest to its first part that does not exist.
std::vector<std::string> nearest_folders(std::string path) {
  constexpr std::size_t most_entries = 10'000;
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  error_code error;
  fs::path wanted(path);
  fs::path rest;
  while (!wanted.parent_path().empty() && !fs::exists(wanted.parent_path(), error)) {
    rest = rest.empty() ? wanted.filename() : wanted.filename() / rest;
    wanted = wanted.parent_path();
  }
  const fs::path parent = wanted.parent_path();
  std::vector<std::string> names;
  fs::directory_iterator entry(parent.empty() ? fs::path(".") : parent, error);
  for (; !error && entry != fs::directory_iterator() && names.size() < most_entries; entry.increment(error)) {
    error_code unknown;
    if (entry->status(unknown).type() == fs::directory_file) {
      names.push_back(entry->path().filename().string());
    }
  }
  std::vector<std::string> nearest = nearest_names(wanted.filename().string(), names);
  for (std::string& name : nearest) {
    const fs::path folder = parent / name;
    name = (!rest.empty() && fs::exists(folder / rest, error) ? folder / rest : folder).string();
  }
  return nearest;
}

}  // namespace

void fail_to_open(const Error& error, const std::string& path, Diagnostics& messages, std::string_view hint) {
  error_code unknown;
  if (error.tag() != "NotFound" || fs::exists(path, unknown) || is_remote_path(path)) {
    messages.fail(error, path);
    return;
  }
  if (const std::string both = trial_and_tensor(path); !both.empty()) {
    messages.fail(error.tag(), single_quoted(path) + " " + both, ExitStatus::unreadable);
    return;
  }
  std::string text = error.what();
  if (text.find(path) == std::string::npos) {
    text = path + ": " + text;
  }
  messages.fail(error.tag(), text + meant_instead(path, hint), ExitStatus::unreadable);
}

std::string meant_instead(const std::string& path, std::string_view hint) {
  if (is_remote_path(path)) {
    return {};
  }
  std::string nearest = did_you_mean(nearest_folders(path));
  error_code unknown;
  if (!nearest.empty() || fs::exists(fs::path(path).parent_path(), unknown)) {
    return nearest;  // in an existing folder, it must have been meant as a path
  }
  return std::string(hint);
}

bool for_each_listed(std::span<const std::string> operands, bool null_separated,
                     const std::function<bool(const std::string&)>& visit) {
  OperandSource source(operands, null_separated);
  bool any = false;
  while (const std::optional<std::string> operand = source.next()) {
    any = true;
    if (!visit(*operand)) {
      break;
    }
  }
  return any;
}

void say_nothing_listed(Diagnostics& messages) {
  messages.nothing("TensorUnavailable", "nothing is selected: standard input lists nothing");
}

void for_each_operand(std::span<const std::string> operands, bool null_separated, Diagnostics& messages,
                      const std::function<bool(const std::string&)>& visit) {
  messages.name_trials(may_be_several(operands));
  if (!for_each_listed(operands, null_separated, visit) && lists_operands(operands)) {
    say_nothing_listed(messages);
  }
}

std::vector<std::string> all_operands(std::span<const std::string> operands, bool null_separated,
                                      Diagnostics& messages) {
  std::vector<std::string> all;
  for_each_operand(operands, null_separated, messages, [&](const std::string& operand) {
    all.push_back(operand);
    return true;
  });
  return all;
}

bool lists_operands(std::span<const std::string> operands) noexcept {
  return !operands.empty() && operands.back() == "-";
}

bool may_be_several(std::span<const std::string> operands) noexcept {
  return operands.size() > 1 || lists_operands(operands);
}

bool is_place(const std::string& operand) {
  error_code unknown;
  return is_remote_path(operand) || fs::exists(operand, unknown);
}

std::optional<std::string> trial_with_tensor(std::string_view tensor, std::span<const std::string> operands,
                                             const TrialOptions& options) {
  for (const std::string& operand : operands) {
    try {
      if (is_place(operand) && Trial::open(operand, options).has_tensor(tensor)) {
        return operand;
      }
    } catch (const Error&) {  // no trial, or none that can be read: reading it reports why
    }
  }
  return std::nullopt;
}

std::string_view hint_for(const std::string& operand, std::span<const std::string> operands) noexcept {
  const bool later = !operands.empty() && operand != operands.front() && !lists_operands(operands);
  return later ? "; operands are trials, tensors are chosen with -n, -e or -c" : "";
}

void with_trial(const std::string& path, const TrialOptions& options, Diagnostics& messages,
                const std::function<void(Trial&)>& visit, std::string_view hint) {
  const auto open = [&path](const TrialOptions& watched) { return std::optional(Trial::open(path, watched)); };
  with_trial(path, options, messages, open, visit, hint);
}

void with_trial(const std::string& path, const TrialOptions& options, Diagnostics& messages, const OpenTrial& open,
                const std::function<void(Trial&)>& visit, std::string_view hint) {
  try {
    Progress progress("opening", 0);
    TrialOptions watched = options;
    watched.name = path;
    say_remote(watched, messages);
    watched.progress = [&progress](std::uint64_t done, std::uint64_t total) { progress.at(done, total); };
    std::optional<Trial> trial = open(watched);
    if (!trial) {
      return;
    }
    error_code unknown;
    add_input(fs::is_regular_file(path, unknown) ? path : trial->path());
    const AboutTrial about(path);
    try {
      if (options.superseded == Superseded::only && trial->superseded().empty()) {
        messages.nothing("TensorUnavailable", path + ": no value is superseded, the job never went back");
      } else {
        visit(*trial);
      }
    } catch (const InvalidArgument&) {
      throw;
    } catch (const MatchLimit&) {
      throw;
    } catch (const Error& error) {
      messages.fail(error, path);
    }
    for (const Problem& problem : trial->problems()) {
      messages.report_once(problem, trial->path());
    }
  } catch (const InvalidArgument& error) {
    throw UsageError(error.what());
  } catch (const MatchLimit& error) {
    throw UsageError(error.what());
  } catch (const Error& error) {
    fail_to_open(error, path, messages, hint);
  }
}

}  // namespace smd::tool
