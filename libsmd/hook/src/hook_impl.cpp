// SPDX-License-Identifier: Apache-2.0
#include "hook_impl.hpp"

#include <smd/log.hpp>
#include <smd/trial.hpp>

#include "base/crc32c.hpp"
#include "config_section.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "tensorboard.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "types/refuse.hpp"
#include "wire/tensor_proto.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace smd {
namespace {

namespace hook = detail::hook;
namespace layout = detail::layout;
namespace wire = detail::wire;

/// Bytes that a step counts in the queue besides its records, so that the queue bounds the number of small steps too.
constexpr std::size_t bytes_of_step = std::size_t{4} << 10;

/// From this size on, elements of a value that owns them are shared instead of copied.
constexpr std::size_t worth_keeping = std::size_t{64} << 10;

std::string_view chars_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns whether the bytes hold exactly the elements that the shape requires; for strings too.
bool fits(const TensorView& value) {
  const auto count = element_count(Shape(value.shape().begin(), value.shape().end()));
  if (!count) {
    return false;
  }
  if (value.dtype() != Dtype::string) {
    return value.bytes().size() / item_size(value.dtype()) == *count &&
           value.bytes().size() % item_size(value.dtype()) == 0;
  }
  const std::vector<std::string_view> texts = strings(value);  // up to the first that is cut off
  const std::size_t bytes = std::accumulate(texts.begin(), texts.end(), std::size_t{0}, [](std::size_t sum, auto text) {
    return sum + sizeof(std::uint32_t) + text.size();
  });
  return texts.size() == *count && bytes == value.bytes().size();
}

/// Returns an upper bound of a record's bytes that are not elements.
std::size_t bytes_around(std::string_view name, std::size_t dimensions) {
  return 1024 + (dimensions + 2) * (name.size() + 64);
}

wire::TensorExtent extent_of(const TensorView& value) { return {value.dtype(), value.shape(), value.bytes().size()}; }

/// The largest number of bytes read at once.
constexpr std::uint64_t elements_read_at_once = std::uint64_t{1} << 20;

/// Any exception from `read` becomes a ReadError, which the queue takes for a failure.
void read_into(const ReadElements& read, std::uint64_t at, std::span<std::byte> into) {
  try {
    read(at, into);
  } catch (const ReadError&) {
    throw;
  } catch (const std::exception& error) {
    throw ReadError({ProblemKind::io, {}, {}, error.what()});
  } catch (...) {
    throw ReadError({ProblemKind::io, {}, {}, "what supplies the elements threw no std::exception"});
  }
}

std::string checked_worker_part(const HookConfig& config) {
  const std::string& worker = config.worker;
  std::string part = layout::worker_part(worker);
  const bool unusable = worker.empty() || worker.size() > 200 || !detail::valid_utf8(worker) ||
                        part.find_first_of(std::string_view("/\0", 2)) != std::string::npos ||
                        layout::worker_name(part) != worker;
  detail::refuse_if(
      unusable, detail::in_quotes(worker) + " cannot be a worker's name: it would not read back from a file's name");
  detail::refuse_if(config.num_workers == 0, "the number of workers is 0");
  return part;
}

/// Returns an estimate of the memory that the collections take.
std::size_t bytes_of(const hook::CollectionMap& collections) {
  std::size_t bytes = 0;
  for (const auto& [name, collection] : collections) {
    bytes += sizeof(Collection) + 2 * name.size();
    for (const std::string& tensor : collection.tensor_names) {
      bytes += sizeof(std::string) + tensor.size();
    }
  }
  return bytes;
}

/// @throws InvalidArgument for a name or value that cannot be saved, except for bytes that do not fit type and shape.
void check_extent(std::string_view name, const wire::TensorExtent& value) {
  hook::check_name(name);
  if (value.shape.size() > limits::dimensions) {
    throw InvalidArgument(detail::in_quotes(name) + " has more than 64 dimensions");
  }
  if (!wire::is_in_event_files(value.dtype)) {
    throw InvalidArgument(detail::in_quotes(name) + ": event files have no elements of type " +
                          std::string(to_string(value.dtype)));
  }
  if (value.bytes + bytes_around(name, value.shape.size()) > limits::record_bytes) {
    throw InvalidArgument(detail::in_quotes(name) + " is too large: a record holds 2 GiB at most");
  }
}

/// As above, for those too.
void check_value(std::string_view name, const TensorView& value) {
  check_extent(name, extent_of(value));
  if (!fits(value)) {
    throw InvalidArgument(detail::in_quotes(name) + ": " + std::to_string(value.bytes().size()) +
                          " bytes do not make " + std::string(to_string(value.dtype())) + " " +
                          to_string(Shape(value.shape().begin(), value.shape().end())));
  }
}

}  // namespace

void detail::hook::check_config(const HookConfig& config) {
  (void)checked_worker_part(config);
  const Collections collections(config);
}

Hook::Impl::Impl(HookConfig in_config, std::unique_ptr<hook::Output> in_output,
                 std::unique_ptr<hook::Output> in_tensorboard, const detail::Clock& in_clock)
    : config(std::move(in_config)),
      clock(in_clock),
      output(std::move(in_output)),
      tensorboard(std::move(in_tensorboard)),
      worker_part(checked_worker_part(config)),
      collections(config),
      queue(config.queue_bytes) {
  if (writes()) {
    hook::require_lock(config, *output);
    const hook::CollectionMap earlier = hook::read_collections(*output, worker_part);
    refuse_ended(!earlier.empty());
    collections.merge(earlier);
    publisher.emplace(*output, config, worker_part);
  }
  go_to(0, Mode::global, 0);
}

void Hook::Impl::refuse_ended(bool saved_before) const {
  if (!hook::or_throw(output->exists(std::string(layout::end_marker)))) {
    return;
  }
  detail::refuse_if(
      saved_before && config.existing_step != ExistingStep::append && config.end_marker != false,
      output->root() +
          ": this is the trial of a job that has ended: save into another folder or as another worker, or remove " +
          std::string(layout::end_marker) + " to go on with it");
  log(LogLevel::warning,
      output->root() + ": the job is marked as over: programs that follow it have stopped and miss what is saved now");
}

void Hook::Impl::refuse_child() const {
  detail::refuse_if(is_of_parent(), "the hook belongs to the parent process: a forked child cannot use it");
}

void Hook::Impl::throw_failure() const {
  refuse_child();  // before the queue is asked: its lock may have been held at the fork
  queue.throw_failure();
  detail::refuse_if(closed, "the hook is closed");
}

void Hook::Impl::begin_file() {
  if (file) {
    return;
  }
  if (step <= last_saved) {
    queue.drain();  // its files may still be in the queue
  }
  auto begun = std::make_shared<hook::StepWriter>(*output, hook::StepOfWorker{step, mode, mode_step(mode), worker_part},
                                                  own.contains(step) ? ExistingStep::append : config.existing_step,
                                                  config.sync == SyncPolicy::files);
  // Checked now so that a step that was saved before is refused at once; the publisher checks again under the lock.
  begun->check_existing();
  file = std::move(begun);
}

const hook::SavingPlan* Hook::Impl::plan_of_offered(std::string_view name, const wire::TensorExtent& value,
                                                    const std::vector<std::string>& also) {
  throw_failure();
  if (!config.enabled) {
    return nullptr;
  }
  offered = ever_offered = true;
  const bool is_number = value.dtype != Dtype::string && value.bytes == item_size(value.dtype);
  const hook::SavingPlan& plan = collections.plan(name, also, is_number);
  return plan.nothing() ? nullptr : &plan;
}

bool Hook::Impl::save_planned(std::string_view name, const TensorView& value, const TensorValue* owned,
                              const std::vector<std::string>& also) {
  const hook::SavingPlan* const plan = plan_of_offered(name, extent_of(value), also);
  if (plan == nullptr) {
    return false;
  }
  check_value(name, value);  // before any part of it is saved
  if (!writes()) {
    return true;
  }
  if (plan->shape) {
    save_shape(name, Shape(value.shape().begin(), value.shape().end()), {});
  }
  if (!plan->reductions.empty()) {
    save_reductions(name, value, plan->reductions);
  }
  if (plan->raw) {
    save(name, value, owned);
  }
  export_value(name, value, *plan);
  return true;
}

bool Hook::Impl::save_planned(std::string_view name, const wire::TensorExtent& value, ReadElements read,
                              const std::vector<std::string>& also) {
  const hook::SavingPlan* const plan = plan_of_offered(name, value, also);
  if (plan == nullptr) {
    return false;
  }
  check_extent(name, value);
  if (!writes()) {
    return true;
  }
  const Shape shape(value.shape.begin(), value.shape.end());
  if (!plan->reductions.empty() || tensorboard) {  // these look at all elements at once
    const auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(value.bytes));
    read(0, *bytes);
    const TensorValue all(value.dtype, shape, {bytes, bytes->data()}, bytes->size());
    return save_planned(name, all.view(), &all, also);
  }
  if (plan->shape) {
    save_shape(name, shape, {});
  }
  if (plan->raw) {
    save_later(name, value, 0, [read = std::move(read), bytes = value.bytes](const auto& take) {
      std::vector<std::byte> block(static_cast<std::size_t>(std::min(bytes, elements_read_at_once)));
      for (std::uint64_t at = 0; at < bytes; at += block.size()) {
        const auto piece =
            std::span(block).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - at, block.size())));
        read_into(read, at, piece);
        take(piece);
      }
    });
  }
  return true;
}

wire::EventHeader Hook::Impl::event_header(std::string_view name) const {
  return {.tag = name,
          .wall_time = clock.wall_seconds(),
          .step = step,
          .mode_step = mode_step(mode),
          .mode = static_cast<std::int64_t>(mode)};
}

void Hook::Impl::save(std::string_view name, const TensorView& value, const TensorValue* owned) {
  check_value(name, value);
  if (owned != nullptr && value.bytes().size() >= worth_keeping && value.dtype() != Dtype::string) {
    save_later(name, extent_of(value), value.bytes().size(), [kept = *owned](const auto& take) { take(kept.bytes()); });
    return;
  }
  begin_file();
  std::string record = queue.take_buffer(bytes_around(name, value.shape().size()) + value.bytes().size());
  record.append(wire::header_bytes, '\0');
  wire::append_event(record, event_header(name), value);
  const std::size_t bytes = record.size() + wire::footer_bytes + name.size();
  queue.push(bytes, [this, to = file, tensor = std::string(name), record = std::move(record)]() mutable {
    wire::frame_in_place(record, 0, protection());
    to->add_record(std::move(tensor), [&](const auto& write) { write(record); });
    queue.give_back(std::move(record));
  });
}

void Hook::Impl::save_later(std::string_view name, const wire::TensorExtent& value, std::uint64_t kept_bytes,
                            hook::GiveElements elements) {
  begin_file();
  std::string front = queue.take_buffer(bytes_around(name, value.shape.size()));
  std::string back;
  front.append(wire::header_bytes, '\0');
  wire::append_event_around(front, back, event_header(name), value);
  wire::store_header(front, front.size() - wire::header_bytes + value.bytes + back.size());
  const std::size_t bytes = front.size() + static_cast<std::size_t>(kept_bytes) + back.size() + name.size();
  queue.push(bytes, [this, to = file, tensor = std::string(name), front = std::move(front), back = std::move(back),
                     elements = std::move(elements)]() mutable {
    const bool checked = protection() == wire::Protection::checksum;
    std::uint32_t crc = 0;
    const auto add_to_crc = [&](std::string_view piece) {
      crc = checked ? detail::crc32c(std::as_bytes(std::span(piece)), crc) : crc;
    };
    to->add_record(std::move(tensor), [&](const auto& write) {
      add_to_crc(std::string_view(front).substr(wire::header_bytes));
      write(front);
      elements([&](std::span<const std::byte> piece) {
        add_to_crc(chars_of(piece));
        write(chars_of(piece));
      });
      add_to_crc(back);
      wire::append_footer(back, crc, protection());
      write(back);
    });
    queue.give_back(std::move(front));
  });
}

void Hook::Impl::save_reductions(std::string_view name, const TensorView& value,
                                 const std::vector<std::string>& reductions) {
  // Readers would take the sums and the NaN means of no elements for those of some.
  if (value.dtype() == Dtype::string || value.bytes().empty()) {
    return;
  }
  // Names were checked with the configuration.
  const std::vector<ReducedValue> results = reduce(
      value, detail::mapped(reductions, [](const std::string& reduction) { return *parse_reduction(reduction); }));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ReducedValue& result = results[i];
    if (result.kind == ReducedValue::Kind::undefined) {
      continue;
    }
    // Complex numbers are complex128, integers that fit int64, all others float64.
    const std::string reduced_name = reduction_tensor_name(reductions[i], name);
    if (result.kind == ReducedValue::Kind::integer &&
        result.high == (static_cast<std::int64_t>(result.low) < 0 ? -1 : 0)) {
      save(reduced_name, {Dtype::int64, {}, std::as_bytes(std::span(&result.low, 1))});
      continue;
    }
    const bool complex = result.kind == ReducedValue::Kind::complex;
    const std::array<double, 2> numbers = {result.real, result.imaginary};
    save(reduced_name,
         {complex ? Dtype::complex128 : Dtype::float64, {}, std::as_bytes(std::span(numbers).first(complex ? 2 : 1))});
  }
}

void Hook::Impl::save_shape(std::string_view name, const Shape& shape, std::string_view original_name) {
  hook::check_tensor_name(name);
  hook::check_name(original_name);
  if (!element_count(shape) || shape.size() > limits::dimensions) {
    throw InvalidArgument(detail::in_quotes(name) + ": not a shape");
  }
  if (!writes()) {
    return;
  }
  begin_file();
  queue.push(name.size(), [to = file, entry = hook::ShapeEntry{
                                          std::string(name), std::string(original_name.empty() ? name : original_name),
                                          shape}]() mutable { to->add_shape(std::move(entry)); });
}

void Hook::Impl::export_value(std::string_view name, const TensorView& value, const hook::SavingPlan& plan) {
  if (!tensorboard) {
    return;
  }
  const bool numbers = !plan.scalar && value.dtype() != Dtype::string;
  const std::string tag =
      hook::tensorboard_tag((numbers ? plan.histogram_collection + "/" : std::string()) + std::string(name));
  const wire::EventHeader header{.tag = tag, .wall_time = clock.wall_seconds(), .step = step};
  std::string event(wire::header_bytes, '\0');
  if (plan.scalar) {
    if (const auto number = hook::single_number(value)) {
      wire::append_scalar_summary(event, header, static_cast<float>(*number));
    }
  } else if (!numbers) {
    wire::append_text_summary(event, header, strings(value));
  } else if (!plan.histogram_collection.empty()) {
    std::uint64_t left_out = 0;
    if (const auto histogram = hook::tensorboard_histogram(value, left_out)) {
      wire::append_histogram_summary(event, header, *histogram);
    }
    if (left_out != 0 && !std::exchange(said_not_finite, true)) {
      log(LogLevel::warning,
          "histograms for TensorBoard leave out elements that are not finite: " + std::to_string(left_out) + " of " +
              detail::in_quotes(name) + " at step " + std::to_string(step));
    }
  }
  if (event.size() == wire::header_bytes) {
    return;  // nothing is shown of this value
  }
  wire::frame_in_place(event, 0, wire::Protection::checksum);
  if (!tensorboard_file) {
    tensorboard_file = std::make_shared<hook::AtomicFile>(*tensorboard, hook::tensorboard_file(mode, step));
  }
  const std::size_t bytes = event.size();
  queue.push(bytes, [to = tensorboard_file, event = std::move(event)] { to->write(event); });
}

void Hook::Impl::end_step() {
  offered = false;
  if (file) {
    last_saved = std::max(last_saved, step);
    if (config.existing_step == ExistingStep::append_own) {
      own.insert(step);
    }
    std::optional changed = collections.must_be_written(false) ? std::optional(collections.content()) : std::nullopt;
    const std::size_t bytes = bytes_of_step + (changed ? bytes_of(*changed) : 0);
    queue.push(bytes, [this, to = std::move(file), changed = std::move(changed)]() mutable {
      publisher->publish(*to, std::move(changed));
    });
    file.reset();
  }
  if (tensorboard_file) {
    queue.push(0, [this, to = std::move(tensorboard_file)] { to->commit(config.sync == SyncPolicy::files); });
    tensorboard_file.reset();
  }
  queue.start();
}

void Hook::Impl::go_to(std::int64_t in_step, Mode in_mode, std::int64_t mode_step) {
  step = in_step;
  mode = in_mode;
  mode_steps.at(static_cast<std::size_t>(mode)) = mode_step;
  collections.set_step(mode, mode_step);
}

void Hook::Impl::throw_refused() {
  if (auto refused = publisher ? publisher->take_refused() : std::nullopt) {
    throw StepAlreadySaved(*refused);
  }
}

void Hook::Impl::close() {
  refuse_child();
  if (closed) {
    queue.throw_failure();
    return;
  }
  if (writes() && !queue.failure()) {
    end_step();
    queue.drain();  // so that `exists` below sees all files
    // If nothing was saved, an earlier run's collections file stays as it is.
    const bool there = hook::or_throw(output->exists(hook::collections_name(worker_part)));
    if ((last_saved >= 0 && collections.must_be_written(true)) || !there) {
      hook::CollectionMap content = collections.content();
      const std::size_t bytes = bytes_of(content);
      queue.push(bytes, [this, content = std::move(content)]() mutable {
        publisher->publish_collections(std::move(content));
      });
    }
    if (config.end_marker.value_or(!hook::in_sagemaker())) {
      queue.push(0, [this] { publisher->publish_end_marker(); });
    }
  }
  file.reset();
  tensorboard_file.reset();
  closed = true;
  queue.drain();
  queue.throw_failure();
  throw_refused();
}

}  // namespace smd
