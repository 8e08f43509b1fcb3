// SPDX-License-Identifier: Apache-2.0
#include <smd/hook.hpp>
#include <smd/log.hpp>

#include "atomic_file.hpp"
#include "hook_impl.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"
#include "types/refuse.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

namespace smd {

// Once, as in error.cpp.
WriteError::~WriteError() = default;
StepAlreadySaved::~StepAlreadySaved() = default;
InvalidCollectionConfiguration::~InvalidCollectionConfiguration() = default;

namespace {

std::unique_ptr<detail::hook::Output> open_or_throw(const std::string& path, const RemoteOptions& remote) {
  detail::refuse_if(path.empty(), "the trial's folder has no name");
  return detail::hook::or_throw<WriteError>(is_remote_path(path) ? detail::hook::open_remote_output(path, remote)
                                                                 : detail::hook::open_local_output(path));
}

/// Opens the folder `tensorboard` in the trial.
std::unique_ptr<detail::hook::Output> open_tensorboard_beneath(std::string path, const RemoteOptions& remote) {
  if (!is_remote_path(path)) {
    return detail::hook::or_throw<WriteError>(detail::hook::open_local_output_beneath(path, "tensorboard"));
  }
  return open_or_throw(path.append(path.ends_with('/') ? "" : "/").append("tensorboard"), remote);
}

/// Returns whether USE_SMDEBUG switches hooks off, with the words that the reference accepts.
bool switched_off() {
  const char* const value = std::getenv("USE_SMDEBUG");
  constexpr std::array<const char*, 5> off = {"off", "0", "no", "false", "n"};
  return value != nullptr &&
         std::ranges::any_of(off, [value](const char* word) { return strcasecmp(value, word) == 0; });
}

/// Returns whether this is the name of a job's first worker. SageMaker counts its hosts from 1.
bool is_first_worker(std::string_view name) { return name == "algo-1" || name.find_first_of("123456789") == name.npos; }

void require_mode(Mode mode) {
  detail::refuse_if(!parse_mode(to_string(mode)), "no mode has the number " + std::to_string(static_cast<int>(mode)));
}

/// Whether a hook may save something.
bool is_enabled(const HookConfig& config) {
  return config.enabled && !switched_off() &&
         (config.include_workers == IncludeWorkers::all || is_first_worker(config.worker));
}

std::unique_ptr<Hook::Impl> make_impl(HookConfig config) {
  detail::hook::check_config(config);  // before folders are made: a refused configuration leaves none
  config.enabled = is_enabled(config);
  std::unique_ptr<detail::hook::Output> output;
  std::unique_ptr<detail::hook::Output> tensorboard;
  if (config.enabled && !config.dry_run) {
    output = open_or_throw(config.out_dir, config.remote);
    if (!config.tensorboard_dir.empty()) {
      tensorboard = open_or_throw(config.tensorboard_dir, config.remote);
    } else if (config.export_tensorboard) {
      tensorboard = open_tensorboard_beneath(config.out_dir, config.remote);
    }
  }
  return std::make_unique<Hook::Impl>(std::move(config), std::move(output), std::move(tensorboard),
                                      detail::system_clock());
}

}  // namespace

Hook::Hook(HookConfig config) : impl_(make_impl(std::move(config))) {}
Hook::Hook(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Hook::Hook(Hook&&) noexcept = default;

Hook::~Hook() {
  if (impl_ && impl_->is_of_parent()) {
    // Its thread, for which a destructor would wait, and its files are the parent's.
    static_cast<void>(impl_.release());
  }
  if (impl_ && !impl_->closed) {
    try {
      impl_->close();
    } catch (const std::exception& error) {
      if (std::uncaught_exceptions() == 0) {  // else an error is on its way already, often the same
        log(LogLevel::error, error.what());
      }
    }
  }
}

bool Hook::enabled() const noexcept { return impl_->config.enabled; }

std::map<std::string, Collection> Hook::collections() const { return impl_->collections.content(); }

Collection Hook::get_collection(const std::string& name) const {
  std::map<std::string, Collection> all = collections();
  const auto at = all.find(name);
  return at == all.end() ? Collection{.name = name} : std::move(at->second);
}

void Hook::add_collection(CollectionConfig collection) {
  impl_->throw_failure();
  detail::refuse_if(impl_->ever_offered,
                    "collection " + detail::in_quotes(collection.name) +
                        " cannot be added any more: tensors were saved by the collections as they were");
  impl_->collections.replace(std::move(collection));
}

Mode Hook::mode() const noexcept { return impl_->mode; }
GlobalStep Hook::step() const noexcept { return GlobalStep(impl_->step); }
ModeStep Hook::mode_step() const noexcept { return ModeStep(impl_->mode_step(impl_->mode)); }

void Hook::set_mode(Mode mode) {
  impl_->throw_failure();
  require_mode(mode);
  if (mode == impl_->mode) {
    return;
  }
  if (impl_->offered) {
    next_step();
  }
  impl_->go_to(impl_->step, mode, mode == Mode::global ? impl_->step : impl_->mode_step(mode));
}

void Hook::next_step() {
  impl_->throw_failure();
  impl_->end_step();
  const Mode mode = impl_->mode;
  const std::int64_t mode_step = impl_->mode_step(mode);
  detail::refuse_if(std::max(impl_->step, mode_step) == std::numeric_limits<std::int64_t>::max(),
                    "no step can follow the largest number");
  impl_->go_to(impl_->step + 1, mode, (mode == Mode::global ? impl_->step : mode_step) + 1);
}

void Hook::set_step(GlobalStep step, Mode mode, ModeStep mode_step) {
  impl_->throw_failure();
  require_mode(mode);
  detail::refuse_if(step.value < 0 || mode_step.value < 0, "steps count from 0");
  detail::refuse_if(mode == Mode::global && mode_step.value != step.value,
                    "in mode GLOBAL the mode step is the step: " + std::to_string(step.value) + ", not " +
                        std::to_string(mode_step.value));
  impl_->end_step();
  impl_->go_to(step.value, mode, mode_step.value);
}

bool Hook::wants(std::string_view name, const std::vector<std::string>& collections) {
  return enabled() && !impl_->collections.plan(name, collections).nothing();
}

bool Hook::save_tensor(std::string_view name, const TensorView& value, const std::vector<std::string>& collections) {
  return impl_->save_planned(name, value, nullptr, collections);
}

bool Hook::save_tensor(std::string_view name, const TensorValue& value, const std::vector<std::string>& collections) {
  return impl_->save_planned(name, value.view(), &value, collections);
}

bool Hook::save_tensor(std::string_view name, Dtype dtype, const Shape& shape, ReadElements read,
                       const std::vector<std::string>& collections) {
  const std::optional<std::uint64_t> count = element_count(shape);
  if (dtype == Dtype::string || !count || *count > limits::record_bytes) {
    throw InvalidArgument(detail::in_quotes(name) + ": " + std::string(to_string(dtype)) + " " + to_string(shape) +
                          " cannot be read piece by piece: strings, or larger than 2 GiB");
  }
  return impl_->save_planned(name, {dtype, shape, *count * item_size(dtype)}, std::move(read), collections);
}

void Hook::save_scalar(std::string_view name, double value) {
  impl_->throw_failure();
  const std::string stored = "scalar/" + std::string(name);
  detail::hook::check_tensor_name(stored);
  if (!enabled()) {
    return;
  }
  impl_->offered = impl_->ever_offered = true;
  if (!impl_->writes()) {
    return;
  }
  const TensorView view(Dtype::float64, {}, std::as_bytes(std::span(&value, 1)));
  impl_->collections.list_number(stored);  // first: it may throw
  impl_->save(stored, view);
  impl_->export_value(stored, view, {.scalar = true});
}

void Hook::save_shape(std::string_view name, const Shape& shape, std::string_view original_name) {
  impl_->throw_failure();
  if (!enabled()) {
    return;
  }
  impl_->offered = impl_->ever_offered = true;
  impl_->save_shape(name, shape, original_name);
}

void Hook::flush() {
  impl_->throw_failure();
  if (impl_->offered) {
    next_step();
  }
  impl_->queue.drain();
  impl_->throw_failure();
  impl_->throw_refused();
}

void Hook::close() { impl_->close(); }

void mark_job_ended(const HookConfig& config) {
  detail::hook::check_config(config);
  if (!is_enabled(config) || config.dry_run) {
    return;
  }
  const auto output = open_or_throw(config.out_dir, config.remote);
  const std::string name(detail::layout::end_marker);
  try {
    detail::hook::write_atomically(*output, name, {}, config.sync == SyncPolicy::files);
  } catch (const ReadError& error) {
    throw WriteError(error.problem);
  }
}

}  // namespace smd
