// SPDX-License-Identifier: Apache-2.0
#include "jsonl.hpp"

#include <smd/error.hpp>
#include <smd/limits.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <system_error>

#include "cli/errors.hpp"
#include "cli/text.hpp"
#include "json_text.hpp"
#include "json_value.hpp"
#include "select/selection.hpp"

namespace smd::tool::save {

namespace {

using nlohmann::json;

/// Waits for standard input or a stop request, whichever is first.
class Input {
 public:
  explicit Input(const std::stop_token& stop) : on_stop_(stop, Wake{event_.descriptor}) {}

  /// @return false after a stop request.
  [[nodiscard]] bool wait() const {
    std::array<pollfd, 2> fds = {{{event_.descriptor, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    while (poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
    }
    return fds[0].revents == 0;
  }

 private:
  struct Event {
    const int descriptor = eventfd(0, EFD_CLOEXEC);
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { close(descriptor); }
  };
  struct Wake {
    int event;
    void operator()() const noexcept {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(event, &one, sizeof one);
    }
  };

  Event event_;  // before on_stop_, whose callback may still use it
  std::stop_callback<Wake> on_stop_;
};

/// Calls visit(line) with each line as soon as it is there. The last line may lack its newline, but not if a stop
/// request cut it off.
void for_each_line(const Interruption& interruption, const std::function<void(const std::string&)>& visit) {
  const Input input(interruption.token());
  std::string line;
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    if (!input.wait()) {
      return;
    }
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw ReadError(
          {ProblemKind::io, "standard input", {}, "cannot be read: " + std::generic_category().message(errno)});
    }
    if (got == 0) {
      break;
    }
    std::string_view rest(block.data(), static_cast<std::size_t>(got));
    for (std::size_t newline = rest.find('\n'); newline != rest.npos; newline = rest.find('\n')) {
      line.append(rest.substr(0, newline));
      rest.remove_prefix(newline + 1);
      visit(line);
      line.clear();
    }
    line.append(rest);
    if (line.size() > limits::json_bytes) {
      throw ReadError({ProblemKind::damaged, "standard input", {}, "a line is longer than 256 MiB"});
    }
  }
  if (!line.empty() && !interruption.asked()) {
    visit(line);
  }
}

const json* find(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::optional<std::int64_t> whole(const json& object, const char* key) {
  const json* const value = find(object, key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) ||
      value->get<std::int64_t>() < 0) {
    throw InvalidValue("'" + std::string(key) + "' is not a whole number from 0 on");
  }
  return value->get<std::int64_t>();
}

std::optional<std::string> text(const json& object, const char* key) {
  const json* const value = find(object, key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    throw InvalidValue("'" + std::string(key) + "' is not a text");
  }
  return value->get<std::string>();
}

/// Refuses unknown keys: a misspelled key would else be ignored.
void check_keys(const json& object) {
  // `trial` is what smd-tensor writes too.
  static const std::vector<std::string> known = {"step",   "tensor", "value", "mode",        "mode_step",
                                                 "worker", "dtype",  "shape", "collections", "trial"};
  for (const auto& item : object.items()) {
    if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
      throw InvalidValue("the key " + single_quoted(item.key()) + " is not known" +
                         did_you_mean(nearest_names(item.key(), known, 1)));
    }
  }
}

/// What one line holds.
struct Line {
  StepToSave place;
  std::string tensor;
  Array array;
  std::vector<std::string> collections;
};

Line parse_line(const std::string& line, const SaveOptions& options) {
  const auto document = parse_json(line);
  const json& object = *document;
  if (!object.is_object()) {
    throw InvalidValue("not a JSON object");
  }
  check_keys(object);
  Line parsed;
  const auto step = whole(object, "step");
  if (!step && !options.step) {
    throw InvalidValue("there is no 'step'");
  }
  parsed.place.step = step ? *step : *options.step;
  parsed.place.mode = options.mode;
  if (const auto mode = text(object, "mode")) {
    parsed.place.mode = mode_from(*mode, "mode ");
  }
  const auto mode_step = whole(object, "mode_step");
  parsed.place.mode_step = mode_step ? mode_step : options.mode_step;
  if (parsed.place.mode == Mode::global && parsed.place.mode_step.value_or(parsed.place.step) != parsed.place.step) {
    throw InvalidValue("in mode global 'mode_step' is the step itself");
  }
  parsed.place.worker = text(object, "worker").value_or("");
  const auto tensor = text(object, "tensor");
  if (!tensor) {
    throw InvalidValue("there is no 'tensor'");
  }
  parsed.tensor = *tensor;
  std::optional<Dtype> dtype;
  if (const auto name = text(object, "dtype")) {
    dtype = parse_dtype(*name);
  }
  std::optional<Shape> shape;
  if (const json* const sizes = find(object, "shape")) {
    shape.emplace();
    for (const json& size : *sizes) {
      if (!sizes->is_array() || !size.is_number_integer() || size.get<std::int64_t>() < 0) {
        throw InvalidValue("'shape' is not a list of whole numbers");
      }
      shape->push_back(size.get<std::int64_t>());
    }
  }
  const json* const value = find(object, "value");
  if (value == nullptr) {
    throw InvalidValue("there is no 'value'");
  }
  parsed.array = array_from_json(*value, dtype, shape);
  parsed.collections = options.collections;
  if (const json* const collections = find(object, "collections")) {
    for (const json& name : *collections) {
      if (!collections->is_array() || !name.is_string()) {
        throw InvalidValue("'collections' is not a list of texts");
      }
      parsed.collections.push_back(name.get<std::string>());
    }
  }
  return parsed;
}

}  // namespace

std::uint64_t save_lines(const SaveOptions& options, Saver& saver, const Interruption& interruption,
                         Diagnostics& messages) {
  std::uint64_t number = 0;
  std::uint64_t saved = 0;
  std::uint64_t empty = 0;
  for_each_line(interruption, [&](const std::string& line) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      ++empty;
      return;
    }
    const std::string where = "line " + std::to_string(number) + ": ";
    try {
      Line parsed = parse_line(line, options);
      saver.save(parsed.place, parsed.tensor, std::move(parsed.array).value(), parsed.collections);
      ++saved;
    } catch (const InvalidValue& error) {
      messages.fail("Damaged", where + error.what(), ExitStatus::damaged);
    } catch (const InvalidArgument& error) {
      messages.fail("Damaged", where + error.what(), ExitStatus::damaged);
    } catch (const StepAlreadySaved& error) {
      messages.fail(error.tag(), where + error.what() + (options.append || !error.can_append ? "" : "; see --append"),
                    ExitStatus::no);
    }
  });
  return number - empty - saved;
}

}  // namespace smd::tool::save
