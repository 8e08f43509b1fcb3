// SPDX-License-Identifier: Apache-2.0
#include "app.hpp"

#include "cli/environment.hpp"
#include "cli/interruption.hpp"
#include "cli/mapped.hpp"
#include "cli/output_file.hpp"
#include "cli/progress.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "operands/reading_options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace smd::tool {

namespace {

// If the process starts with standard streams closed, the first files it opens would take their descriptors and be read
// or written by mistake. Each closed stream gets a descriptor that fails in the stream's own direction.
void hold_standard_streams() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      const int held = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
      if (held > stream) {
        close(held);
      }
    }
  }
}

void set_up_messages(const CommandLine& line, Diagnostics& messages) {
  if (line.has("quiet")) {
    messages.set_level(Level::error);
  } else if (line.has("verbose")) {
    messages.set_level(line.count("verbose") == 1 ? Level::info : Level::debug);
  }
  const TerminalOptions terminal = TerminalOptions::from(line);
  messages.set_ascii(terminal.ascii);
  messages.set_color(use_color(terminal.color, STDERR_FILENO));
  const GivenOption* const progress = line.last_of({"progress", "no-progress"});
  Progress::configure(line.has("quiet")     ? std::optional(false)
                      : progress != nullptr ? std::optional(progress->spec->name == "progress")
                                            : std::nullopt);
}

ExitStatus print(const std::string& text) {
  OutputFile out = OutputFile::standard();
  out.write(text);
  out.close();
  return ExitStatus::yes;
}

// Where all operands are trials, one that is no path but a tensor of another was meant for -n.
void refuse_tensors(const CommandDefinition& definition, const CommandLine& line) {
  const auto is_trial = [](const OperandSpec& spec) { return spec.kind == ArgumentKind::trial; };
  const std::vector<std::string>& operands = line.operands();
  if (operands.size() < 2 || !std::ranges::all_of(definition.operands, is_trial)) {
    return;
  }
  const auto tensor =
      std::ranges::find_if(operands, [](const std::string& operand) { return operand != "-" && !is_place(operand); });
  if (tensor == operands.end()) {
    return;
  }
  if (const auto trial = trial_with_tensor(*tensor, operands, ReadingOptions::from(line).trial_options())) {
    throw UsageError(single_quoted(*tensor) + " is a tensor of " + single_quoted(*trial) + ", and operands of " +
                     std::string(definition.name) + " are trials" +
                     (definition.find("name") != nullptr ? ": choose tensors with -n" : ""));
  }
}

ExitStatus parse_and_run(const Command& command, int argc, char** argv, Diagnostics& messages) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const CommandDefinition& definition = command.definition();
  const CommandLine line = CommandLine::parse(definition, arguments);
  if (line.has("help")) {
    const bool whole = contains(arguments, "--help");
    return print((whole ? help_text : short_help_text)(definition, terminal_width(STDOUT_FILENO)));
  }
  if (line.has("version")) {
    return print(version_text(definition));
  }
  set_up_messages(line, messages);
  check_environment(definition.name, messages);
  refuse_tensors(definition, line);
  if (line.here()) {
    messages.note("no " + std::string(definition.operands.front().metavar) + " is given: the current folder is read");
  }
  return command.setup(line)(messages);
}

void say_usage(Diagnostics& messages, std::string_view command, const char* text) {
  messages.fail("Usage", text, ExitStatus::usage);
  const std::string hint = "Try '" + std::string(command) + " --help'.\n";
  // If standard error cannot be written, the exit status still reports the error.
  (void)write_all(STDERR_FILENO, hint, false);
}

}  // namespace

// The only place that catches everything. Texts of foreign exceptions are never shown: they are not written for users.
void run_guarded(std::string_view command, Diagnostics& messages, const std::function<ExitStatus()>& work) {
  try {
    messages.raise(work());
  } catch (const UsageError& error) {
    say_usage(messages, command, error.what());
  } catch (const InvalidArgument& error) {
    say_usage(messages, command, error.what());
  } catch (const Error& error) {
    messages.fail(error);
  } catch (const OutputError& error) {
    messages.fail("WriteError", error.what(), ExitStatus::unreadable);
  } catch (const std::bad_alloc&) {
    messages.fail("ReadError", "not enough memory", ExitStatus::unreadable);
  } catch (const std::length_error&) {
    messages.fail("ReadError", "not enough memory", ExitStatus::unreadable);
  } catch (const std::system_error& error) {
    messages.fail("ReadError", "the system refused: " + std::generic_category().message(error.code().value()),
                  ExitStatus::unreadable);
  } catch (...) {
    messages.fail("ReadError", "stopped by a fault of this program; please report it", ExitStatus::unreadable);
  }
}

int run_command(const Command& command, int argc, char** argv) noexcept {
  try {
    hold_standard_streams();
    install_signal_handlers();
    Diagnostics messages(command.definition().name);
    if (provide_stack()) {
      run_guarded(command.definition().name, messages, [&] { return parse_and_run(command, argc, argv, messages); });
    } else {
      messages.fail("ReadError",
                    "the stack is limited to less than " + std::to_string(least_stack_kib) + " KiB; raise ulimit -s",
                    ExitStatus::unreadable);
    }
    // Some file systems report lost data only when the file is closed.
    if (close(STDOUT_FILENO) != 0 || standard_output_failed()) {
      messages.fail("WriteError", "cannot write standard output", ExitStatus::unreadable);
    }
    messages.finish();
    die_if_interrupted();
    return static_cast<int>(messages.status());
  } catch (...) {
    return static_cast<int>(ExitStatus::unreadable);  // not even a message could be made
  }
}

}  // namespace smd::tool
