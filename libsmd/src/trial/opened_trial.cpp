// SPDX-License-Identifier: Apache-2.0
#include "trial/opened_trial.hpp"

#include "layout/debugger/debugger_layout.hpp"
#include "storage/s3_module.hpp"
#include "text/escape.hpp"

#include <smd/error.hpp>

#include <utility>

namespace smd::detail::trial {

std::string last_part(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string_view::npos) {
    return std::string(path);
  }
  const std::string_view whole = path.substr(0, end + 1);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

OpenedTrial open_trial(const std::string& path, const TrialOptions& options, const Environment& environment) {
  if (path.empty()) {
    throw InvalidArgument("the path of a trial is empty");
  }
  const auto open = [&](const std::string& place) {
    auto opened = environment.open        ? environment.open(place)
                  : is_remote_path(place) ? storage::open_remote(place, options.remote, options.jobs)
                                          : storage::open_local(place);
    if (!opened) {
      Problem problem = std::move(opened.problem());
      problem.file = place;
      throw ReadError(std::move(problem));
    }
    return std::move(*opened);
  };
  OpenedTrial trial;
  trial.storage = open(path);
  if (environment.layout) {
    trial.layout = environment.layout();
    return trial;
  }
  trial.layout = layout::debugger_layout();
  if (!layout::holds_debugger_trial(*trial.storage) && trial.storage->exists(layout::inner_folder)) {
    trial.storage = open(path + (path.ends_with('/') ? "" : "/") + std::string(layout::inner_folder));
    trial.notes.push_back({ProblemKind::warning,
                           {},
                           {},
                           "'" + printable(path) + "' is no trial itself; its folder debug-output is read"});
  }
  return trial;
}

std::unique_ptr<storage::Storage> open_to_watch(const std::string& path) {
  auto outer = storage::open_local(path);
  if (!outer) {
    return nullptr;
  }
  if (auto inner = storage::open_local(path + "/" + std::string(layout::inner_folder));
      inner && !layout::holds_index_files(**outer)) {
    return *std::move(inner);
  }
  return *std::move(outer);
}

}  // namespace smd::detail::trial
