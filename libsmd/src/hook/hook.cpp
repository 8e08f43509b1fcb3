// SPDX-License-Identifier: Apache-2.0
#include <smd/hook.hpp>

#include "hook/hook_impl.hpp"

#include <utility>

namespace smd {
namespace {

std::unique_ptr<detail::hook::Output> open_or_throw(const std::string& path) {
  if (path.empty()) {
    throw InvalidArgument("the trial's folder has no name");
  }
  if (path.starts_with("s3://")) {
    throw InvalidArgument("'" + path + "': trials can be written to local folders only");
  }
  auto output = detail::hook::open_local_output(path);
  if (!output) {
    throw WriteError(std::move(output.problem()));
  }
  return std::move(*output);
}

std::unique_ptr<Hook::Impl> make_impl(HookConfig config) {
  detail::hook::check_config(config);  // before there are folders: one that is refused leaves none
  auto output = open_or_throw(config.out_dir);
  std::unique_ptr<detail::hook::Output> tensorboard;
  if (config.export_tensorboard) {
    tensorboard =
        open_or_throw(config.tensorboard_dir.empty() ? config.out_dir + "/tensorboard" : config.tensorboard_dir);
  }
  return std::make_unique<Hook::Impl>(std::move(config), std::move(output), std::move(tensorboard),
                                      detail::system_clock());
}

}  // namespace

Hook::Hook(HookConfig config) : impl_(make_impl(std::move(config))) {}
Hook::Hook(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Hook::Hook(Hook&&) noexcept = default;

Hook::~Hook() {
  if (impl_) {
    try {
      impl_->close();
    } catch (...) {  // NOLINT(bugprone-empty-catch): who wants to know calls `close`
    }
  }
}

Mode Hook::mode() const noexcept { return impl_->mode; }
GlobalStep Hook::step() const noexcept { return GlobalStep(impl_->step); }
ModeStep Hook::mode_step() const noexcept {
  return ModeStep(impl_->mode_steps.at(static_cast<std::size_t>(impl_->mode)));
}

void Hook::set_mode(Mode mode) {
  impl_->throw_failure();
  if (mode == impl_->mode) {
    return;
  }
  if (impl_->offered) {
    next_step();
  }
  const std::int64_t mode_step =
      mode == Mode::global ? impl_->step : impl_->mode_steps.at(static_cast<std::size_t>(mode));
  impl_->go_to(impl_->step, mode, mode_step);
}

void Hook::next_step() {
  impl_->throw_failure();
  impl_->end_step();
  const Mode mode = impl_->mode;
  const std::int64_t mode_step = impl_->mode_steps.at(static_cast<std::size_t>(mode)) + 1;
  impl_->go_to(impl_->step + 1, mode, mode == Mode::global ? impl_->step + 1 : mode_step);
}

void Hook::set_step(GlobalStep step, Mode mode, ModeStep mode_step) {
  impl_->throw_failure();
  if (step.value < 0 || mode_step.value < 0) {
    throw InvalidArgument("steps count from 0");
  }
  if (mode == Mode::global && mode_step.value != step.value) {
    throw InvalidArgument("in mode GLOBAL the mode step is the step: " + std::to_string(step.value) + ", not " +
                          std::to_string(mode_step.value));
  }
  impl_->end_step();
  impl_->go_to(step.value, mode, mode_step.value);
}

bool Hook::wants(std::string_view name, const std::vector<std::string>& collections) {
  return !impl_->collections.plan(name, collections).nothing();
}

bool Hook::save_tensor(std::string_view name, const TensorView& value, const std::vector<std::string>& collections) {
  return impl_->save_planned(name, value, nullptr, collections);
}

bool Hook::save_tensor(std::string_view name, const TensorValue& value, const std::vector<std::string>& collections) {
  return impl_->save_planned(name, value.view(), &value, collections);
}

void Hook::save_scalar(std::string_view name, double value) {
  impl_->throw_failure();
  impl_->offered = true;
  const std::string stored = "scalar/" + std::string(name);
  const TensorView view(Dtype::float64, {}, std::as_bytes(std::span(&value, 1)));
  impl_->save(stored, view);
  detail::hook::Plan plan;
  plan.scalar = true;
  impl_->export_value(stored, view, plan);
}

void Hook::save_shape(std::string_view name, const Shape& shape, std::string_view original_name) {
  impl_->throw_failure();
  impl_->offered = true;
  impl_->save_shape(name, shape, original_name);
}

void Hook::flush() {
  impl_->throw_failure();
  if (impl_->offered) {
    next_step();
  }
  impl_->queue.drain();
  impl_->throw_failure();
}

void Hook::close() { impl_->close(); }

}  // namespace smd
