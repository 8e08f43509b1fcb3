// SPDX-License-Identifier: Apache-2.0
#include "hook/step_file.hpp"

#include "layout/json_text.hpp"
#include "layout/trial_paths.hpp"

#include <smd/limits.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace smd::detail::hook {
namespace {

using nlohmann::json;

constexpr std::size_t block_bytes = std::size_t{1} << 20;

Outcome<std::string> read_whole(storage::Storage& trial, const std::string& name) {
  auto file = trial.open(name);
  if (!file) {
    return std::move(file.problem());
  }
  if ((*file)->size() > limits::json_bytes) {
    return Problem{ProblemKind::damaged, name, {}, "longer than the limit (json_bytes)"};
  }
  std::string text((*file)->size(), '\0');
  auto got = (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
  if (!got) {
    return std::move(got.problem());
  }
  text.resize(*got);
  return text;
}

/// @throws nlohmann::json::exception where it is not of an index file's form.
IndexContent parse_index(const json& document) {
  IndexContent content;
  const json& meta = document.at("meta");
  const auto mode = parse_mode(meta.at("mode").get_ref<const std::string&>());
  if (!mode) {
    throw json::other_error::create(501, "mode", &meta);
  }
  content.mode = *mode;
  content.mode_step = meta.at("mode_step").get<std::int64_t>();
  content.event_file = meta.value("event_file_name", "");
  for (const json& entry : document.value("tensor_payload", json::array())) {
    content.records.push_back({entry.at("tensorname").get<std::string>(), entry.at("start_idx").get<std::uint64_t>(),
                               entry.at("length").get<std::uint64_t>()});
  }
  for (const json& entry : document.value("shape_payload", json::array())) {
    const auto name = entry.at("tensorname").get<std::string>();
    content.shapes.push_back({name, entry.value("originalname", name), entry.at("shape").get<Shape>()});
  }
  return content;
}

}  // namespace

StepFile::StepFile(Output& output, StepOfWorker step, bool sync)
    : output_(output),
      step_(std::move(step)),
      sync_(sync),
      event_name_(layout::event_path(step_.step, step_.worker_part)),
      index_name_(layout::index_path(step_.step, step_.worker_part)) {
  content_.mode = step_.mode;
  content_.mode_step = step_.mode_step;
}

Status StepFile::take_over(storage::Storage& trial) {
  auto text = read_whole(trial, index_name_);
  if (!text) {
    return std::move(text.problem());
  }
  const auto refused = [this](std::string why) {
    return Problem{ProblemKind::damaged, output_.root() + "/" + index_name_, {}, std::move(why)};
  };
  const json document = layout::json_depth(*text) > limits::json_depth ? json(json::value_t::discarded)
                                                                       : json::parse(*text, nullptr, false);
  IndexContent there;
  try {
    there = parse_index(document);
  } catch (const json::exception&) {
    return refused("not an index file that more can be appended to");
  }
  if (there.mode != step_.mode || there.mode_step != step_.mode_step) {
    return Problem{ProblemKind::warning,
                   {},
                   {},
                   "step " + std::to_string(step_.step) + " is there as " + std::string(to_string(there.mode)) +
                       " step " + std::to_string(there.mode_step) + ", not " + std::string(to_string(step_.mode)) +
                       " step " + std::to_string(step_.mode_step)};
  }
  content_ = std::move(there);
  if (content_.event_file.empty() || content_.records.empty()) {
    return ok();
  }
  if (content_.event_file != event_name_) {
    return refused("its event file has an unusual name, which appending would change");
  }
  auto events = trial.open(event_name_);
  if (!events) {
    return std::move(events.problem());
  }
  events_.emplace(output_, event_name_);
  if (Status opened = events_->open(); !opened) {
    return opened;
  }
  std::vector<char> block(static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, (*events)->size())));
  for (std::uint64_t at = 0; at < (*events)->size();) {
    auto got = (*events)->read_at(at, std::as_writable_bytes(std::span(block)));
    if (!got) {
      return std::move(got.problem());
    }
    if (*got == 0) {
      break;
    }
    if (Status written = events_->write({block.data(), *got}); !written) {
      return written;
    }
    at += *got;
  }
  return ok();
}

Status StepFile::add_record(std::string tensor, std::initializer_list<std::string_view> pieces) {
  if (!events_) {
    events_.emplace(output_, event_name_);
    if (Status opened = events_->open(); !opened) {
      return opened;
    }
  }
  content_.event_file = event_name_;
  const std::uint64_t start = events_->size();
  for (const std::string_view piece : pieces) {
    if (Status written = events_->write(piece); !written) {
      return written;
    }
  }
  content_.records.push_back({std::move(tensor), start, events_->size() - start});
  return ok();
}

Status StepFile::finish_events() { return events_ ? events_->commit(sync_) : ok(); }

Status StepFile::finish_index() { return write_atomically(output_, index_name_, index_text(content_), sync_); }

}  // namespace smd::detail::hook
