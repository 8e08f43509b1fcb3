// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "s3/credentials.hpp"
#include "s3/reply.hpp"
#include "text/descriptor.hpp"
#include "text/mapped.hpp"

extern char** environ;  // declared by no POSIX header

namespace smd::detail::storage::s3 {
namespace {

constexpr std::size_t most_output = std::size_t{64} << 10;
constexpr std::chrono::seconds most_time{60};

/// Splits a line into words as a shell does, with quotes, backslashes and blanks, but without expansion. Returns no
/// words if a quote is not closed.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;  // a word
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0' && c == quote) {
      quote = '\0';
      continue;
    }
    if (quote == '\0' && (c == ' ' || c == '\t')) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) {
      words.emplace_back();
    }
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && i + 1 < line.size() &&
               (quote == '\0' || (quote == '"' && (line[i + 1] == '"' || line[i + 1] == '\\')))) {
      words.back().push_back(line[++i]);
    } else {
      words.back().push_back(c);
    }
  }
  return quote != '\0' ? std::vector<std::string>() : words;
}

/// Starts the command with its output connected to a pipe; returns -1 and sets errno if that fails.
pid_t start(std::vector<std::string>& words, int output) {
  std::vector<char*> arguments = mapped(words, [](std::string& word) { return word.data(); });
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, arguments.front(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? child : -1;
}

using Deadline = std::chrono::steady_clock::time_point;

/// Waits until the command ends. It has closed its output, so this should be soon; kills it at the deadline.
int status_of(pid_t child, Deadline deadline, const Stop* stop) {
  constexpr std::chrono::milliseconds pause{2};
  int status = 0;
  while (uninterrupted([&] { return ::waitpid(child, &status, WNOHANG); }) == 0) {
    if (std::chrono::steady_clock::now() >= deadline || is_stopped(stop)) {
      ::kill(child, SIGKILL);
      uninterrupted([&] { return ::waitpid(child, &status, 0); });
      break;
    }
    std::this_thread::sleep_for(pause);
  }
  return status;
}

/// Returns nullopt if the command takes too long, writes too much, or a stop was requested.
std::optional<std::string> read_output(int fd, Deadline deadline, const Stop* stop) {
  std::string text;
  char buffer[4096];
  while (text.size() <= most_output) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = uninterrupted([&] { return ::poll(&wait, 1, static_cast<int>(stop_interval.count())); });
    if (ready < 0 || is_stopped(stop) || std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    }
    if (ready == 0) {
      continue;
    }
    const ssize_t n = uninterrupted([&] { return ::read(fd, buffer, sizeof buffer); });
    if (n <= 0) {
      return n == 0 ? std::optional(text) : std::nullopt;
    }
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return std::nullopt;
}

}  // namespace

Outcome<Credentials> credentials_from_process(const std::string& command, const Stop* stop) {
  std::vector<std::string> words = words_of(command);
  if (words.empty()) {
    return no_credentials("is no command");
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return no_credentials("cannot be started: no pipe is available");
  }
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const pid_t child = start(words, in.get());
  if (child < 0) {
    return no_credentials(errno == ENOENT ? "names a command that is not there" : "cannot be started");
  }
  in = Descriptor();
  const auto deadline = std::chrono::steady_clock::now() + most_time;
  const auto text = read_output(out.get(), deadline, stop);
  if (!text) {
    ::kill(child, SIGKILL);
  }
  const int status = status_of(child, deadline, stop);
  if (!text) {
    return no_credentials("gave no answer within a minute, or too long a one");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return no_credentials("failed" +
                          (WIFEXITED(status) ? " with status " + std::to_string(WEXITSTATUS(status)) : std::string()));
  }
  auto credentials = credentials_from_json(*text, "SessionToken", 1);
  return credentials ? Outcome<Credentials>(std::move(*credentials))
                     : no_credentials("printed no credentials of Version 1");
}

}  // namespace smd::detail::storage::s3
