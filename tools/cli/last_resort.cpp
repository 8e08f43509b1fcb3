// SPDX-License-Identifier: Apache-2.0
#include "cli/last_resort.hpp"

#include "cli/exit_status.hpp"
#include "cli/signals.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <typeinfo>

namespace smd::tool {

namespace {

std::terminate_handler otherwise = nullptr;

/// Whether the process ends because memory ran out: of bad_alloc, or as no exception could be allocated.
bool memory_ran_out() noexcept {
  if (const std::type_info* const type = abi::__cxa_current_exception_type()) {
    return *type == typeid(std::bad_alloc);
  }
  constexpr std::size_t more_than_an_exception = std::size_t{128} << 10;
  void* const volatile probe = std::malloc(more_than_an_exception);  // NOLINT: there may be no room for an exception
  std::free(probe);                                                  // NOLINT
  return probe == nullptr;
}

void say(const char* text) noexcept {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_process() noexcept {
  if (memory_ran_out()) {
    say(program_invocation_short_name);
    say(": ReadError: not enough memory\n");
    remove_temporary_files();
    _exit(static_cast<int>(ExitStatus::unreadable));
  }
  if (otherwise != nullptr) {
    otherwise();
  }
  std::abort();
}

}  // namespace

void install_last_resort() noexcept {
  if (otherwise == nullptr) {
    otherwise = std::set_terminate(end_process);
  }
}

namespace {

/// Runs before a command's own static initialisation, which allocates memory too.
[[gnu::constructor(101)]] void install_early() noexcept { install_last_resort(); }

}  // namespace

}  // namespace smd::tool
