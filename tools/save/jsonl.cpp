// SPDX-License-Identifier: Apache-2.0
#include "saver.hpp"

#include <smd/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <system_error>
#include <type_traits>

#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"
#include "cli/output_file.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "select/selection.hpp"
#include "text/descriptor.hpp"
#include "text/limits.hpp"
#include "text/number.hpp"
#include "text/system_problem.hpp"
#include "text/trim.hpp"

#include <nlohmann/json.hpp>

namespace smd::tool::save {

namespace {

using nlohmann::json;

constexpr std::size_t block_bytes = std::size_t{1} << 16;  // as much as a pipe holds

/// Calls `pass_on` with all that comes, and then `visit` with each line, which one of `ends` ended, and the number of
/// the line by its line feeds. The last line may lack its end, but not if a stop request cut it off.
void for_each_line(const Interruption& interruption, std::string_view ends,
                   const std::function<void(std::string_view)>& pass_on,
                   const std::function<void(const std::string&, std::uint64_t)>& visit) {
  const std::stop_token stop = interruption.token();
  std::uint64_t number = 1;
  std::string line;
  std::string block(block_bytes, '\0');
  while (wait_for_input(stop)) {
    const ssize_t got = detail::uninterrupted([&] { return ::read(STDIN_FILENO, block.data(), block.size()); });
    if (got < 0) {
      throw ReadError(detail::system_problem(errno, "standard input"));
    }
    if (got == 0) {
      if (!line.empty() && !interruption.asked()) {
        visit(line, number);
      }
      return;
    }
    std::string_view rest(block.data(), static_cast<std::size_t>(got));
    pass_on(rest);
    const auto next = [&] { return ends.size() == 1 ? rest.find(ends.front()) : rest.find_first_of(ends); };  // faster
    for (std::size_t end = next(); end != rest.npos; end = next()) {
      line.append(rest.substr(0, end));
      visit(line, number);
      number += rest[end] == '\n' ? 1 : 0;
      rest.remove_prefix(end + 1);
      line.clear();
    }
    line.append(rest);
    if (line.size() > limits::json_bytes) {
      throw ReadError({ProblemKind::damaged, "standard input", {}, "a line is longer than the limit (json_bytes)"});
    }
  }
}

const json* find(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

/// Returns whether a value is a whole number from 0 on. One that 63 bits cannot hold is negative as `int64_t`.
bool is_whole(const json& value) { return value.is_number_integer() && value.get<std::int64_t>() >= 0; }

/// Returns the whole number or the text of a key; nullopt if there is none. @throws InvalidValue for another type.
template <class Value>
std::optional<Value> member(const json& object, const char* key) {
  constexpr bool number = std::is_integral_v<Value>;
  const json* const value = find(object, key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (number ? !is_whole(*value) : !value->is_string()) {
    throw InvalidValue("'" + std::string(key) + "' is not a " + (number ? "whole number from 0 on" : "text"));
  }
  return value->get<Value>();
}

/// Refuses unknown keys: a misspelled key would else be ignored.
void check_keys(const json& object) {
  // `trial` is what smd-tensor writes too.
  static const std::vector<std::string> known = {"step",   "tensor", "value", "mode",        "mode_step",
                                                 "worker", "dtype",  "shape", "collections", "trial"};
  for (const auto& item : object.items()) {
    if (!contains(known, item.key())) {
      throw InvalidValue("the key " + single_quoted(item.key()) + " is not known" +
                         did_you_mean(detail::nearest(item.key(), known, 1)));
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
  invalid_if(!object.is_object(), "not a JSON object");
  check_keys(object);
  Line parsed;
  const auto step = member<std::int64_t>(object, "step");
  invalid_if(!step && !options.step, "there is no 'step'");
  parsed.place.step = step ? *step : *options.step;
  const auto mode = member<std::string>(object, "mode");
  parsed.place.mode = mode ? mode_from(*mode, "mode ") : options.mode;
  const auto mode_step = member<std::int64_t>(object, "mode_step");
  parsed.place.mode_step = mode_step ? mode_step : options.mode_step;
  invalid_if(
      parsed.place.mode == Mode::global && parsed.place.mode_step.value_or(parsed.place.step) != parsed.place.step,
      "in mode global 'mode_step' is the step itself");
  parsed.place.worker = member<std::string>(object, "worker").value_or("");
  const auto tensor = member<std::string>(object, "tensor");
  invalid_if(!tensor, "there is no 'tensor'");
  parsed.tensor = *tensor;
  const auto type = member<std::string>(object, "dtype");
  const auto dtype = type ? std::optional(parse_dtype(*type)) : std::nullopt;
  std::optional<Shape> shape;
  if (const json* const sizes = find(object, "shape")) {
    shape.emplace();
    for (const json& size : *sizes) {
      invalid_if(!sizes->is_array() || !is_whole(size), "'shape' is not a list of whole numbers");
      shape->push_back(size.get<std::int64_t>());
    }
  }
  const json* const value = find(object, "value");
  invalid_if(value == nullptr, "there is no 'value'");
  parsed.array = array_from_json(*value, dtype, shape);
  parsed.collections = options.collections;
  if (const json* const collections = find(object, "collections")) {
    for (const json& name : *collections) {
      invalid_if(!collections->is_array() || !name.is_string(), "'collections' is not a list of texts");
      parsed.collections.push_back(name.get<std::string>());
    }
  }
  return parsed;
}

/// Collects the numbers of a step, and saves and ends it when the next one begins.
class StepOfLog {
 public:
  StepOfLog(const SaveOptions& options, Saver& saver) : options_(options), saver_(saver) {}

  void put(std::int64_t step, const std::string& name, double number) {
    if (step != step_) {
      save();
      step_ = step;
    }
    numbers_[name] = number;
  }
  void save() {
    try {
      const StepToSave place{step_, options_.mode, options_.mode_step, {}};
      for (const auto& [name, number] : numbers_) {
        saver_.save(place, name, number_value(number), options_.collections);
      }
      saver_.end_step();
    } catch (const StepAlreadySaved& error) {
      ++refused_;
      saver_.refuse(error, options_.trial + ": ");
    }
    numbers_.clear();
  }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

 private:
  const SaveOptions& options_;
  Saver& saver_;
  std::int64_t step_ = 0;
  std::map<std::string, double> numbers_;
  std::uint64_t refused_ = 0;
};

/// Returns a text without blanks around it, and the comma that may follow a number in a sentence.
std::string_view number_in(std::string_view text) {
  text = smd::text::trimmed(text);
  return text.substr(0, text.find_last_not_of(",;") + 1);
}

/// Returns the step in a text: `12`, `12.0`, `12/100`.
std::optional<std::int64_t> step_in(std::string_view text) {
  text = number_in(text.substr(0, text.find('/')));
  const auto whole = smd::text::parsed<std::int64_t>(text);
  const auto number = whole ? std::nullopt : smd::text::number_of(text);
  const auto step = number ? smd::text::whole_of(*number) : whole;
  return step && *step >= 0 ? step : std::nullopt;
}

/// Writes to standard output until that fails: nobody reads the rest of a pipe, or, which is reported, a disk is full.
void pass_on(std::string_view text, bool& open, Diagnostics& messages) {
  const int error = open ? write_all(STDOUT_FILENO, text) : 0;
  open = open && error == 0;
  if (error != 0 && error != EPIPE) {
    messages.fail("WriteError", "--tee: cannot write standard output: " + std::generic_category().message(error),
                  ExitStatus::unreadable);
  }
}

}  // namespace

std::uint64_t save_lines(const SaveOptions& options, Saver& saver, const Interruption& interruption,
                         Diagnostics& messages) {
  std::uint64_t lines = 0;
  std::uint64_t saved = 0;
  const auto nobody = [](std::string_view /*text*/) {};
  for_each_line(interruption, "\n", nobody, [&](const std::string& line, std::uint64_t number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      return;
    }
    ++lines;
    const std::string where = "line " + std::to_string(number) + ": ";
    try {
      Line parsed = parse_line(line, options);
      saver.save(parsed.place, parsed.tensor, std::move(parsed.array).value(), parsed.collections);
      ++saved;
    } catch (const InvalidValue& error) {
      messages.fail("Damaged", where + error.what(), ExitStatus::damaged);
    } catch (const MatchLimit&) {
      throw;  // the configuration is at fault, not the line
    } catch (const InvalidArgument& error) {
      messages.fail("Damaged", where + error.what(), ExitStatus::damaged);
    } catch (const StepAlreadySaved& error) {
      saver.refuse(error, where);
    }
  });
  if (lines == 0 && !interruption.asked()) {
    messages.warning("--jsonl: no line came: nothing is saved");
  }
  return lines - saved;
}

void pass_on_the_rest(Diagnostics& messages) {
  const std::stop_source nobody_stops;
  bool open = true;
  std::string block(block_bytes, '\0');
  while (wait_for_input(nobody_stops.get_token())) {
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got > 0) {
      pass_on(std::string_view(block).substr(0, static_cast<std::size_t>(got)), open, messages);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      return;
    }
  }
}

std::optional<std::uint64_t> save_log(const SaveOptions& options, Saver& saver, const Interruption& interruption,
                                      Diagnostics& messages) {
  bool passes_on = options.tee;
  StepOfLog step(options, saver);
  std::uint64_t passed = 0;
  std::uint64_t stepless = 0;
  std::uint64_t numbers = 0;
  std::uint64_t texts = 0;
  std::uint64_t slow = 0;
  constexpr std::size_t most_told = 100;
  std::string first_text;
  // Progress bars overwrite their line after a carriage return.
  const auto tee = [&](std::string_view text) { pass_on(text, passes_on, messages); };
  for_each_line(interruption, "\r\n", tee, [&](const std::string& line, std::uint64_t number) {
    if (line.empty()) {  // as between the two that end a line of a DOS file
      return;
    }
    std::vector<smd::detail::Pattern::Group> groups;
    try {
      groups = options.lines->groups(line);
    } catch (const MatchLimit& error) {
      if (slow++ == 0) {  // all would take as many messages as lines
        messages.fail("Usage", "--lines: line " + std::to_string(number) + ": " + error.what(), ExitStatus::usage);
      }
      return;
    }
    std::optional<std::int64_t> at = options.step;
    for (const auto& [name, text] : groups) {
      at = name == "step" && text ? step_in(*text) : at;  // another group of the name may have taken part
    }
    if (groups.empty() || !at) {
      (groups.empty() ? passed : stepless) += 1;
      return;
    }
    for (const auto& [name, group] : groups) {
      const std::string_view text = group.value_or(std::string_view());
      const smd::text::LoggedText value = smd::text::logged_text(number_in(text));
      if (name == "step" || !value.logged) {
        continue;
      }
      if (value.number) {
        step.put(*at, name, *value.number);
        ++numbers;
      } else if (texts++ == 0) {
        first_text = text.substr(0, most_told);
      }
    }
  });
  step.save();
  messages.info("--lines: the pattern was not found in " + counted(passed, "line"));
  if (slow > 1) {
    messages.warning("--lines: " + counted(slow, "line") + " are left out: the pattern needs too many steps on each");
  }
  if (stepless != 0) {
    messages.warning("--lines: " + counted(stepless, "line", "is", "are") +
                     " left out: the step is no whole number from 0 on");
  }
  if (texts != 0) {
    messages.warning("--lines: " + counted(texts, "value", "is", "are") + " left out: " + single_quoted(first_text) +
                     (texts == 1 ? " is" : " and others are") + " no number");
  }
  return numbers + slow == 0 ? std::nullopt : std::optional(step.refused() + slow);
}

}  // namespace smd::tool::save
