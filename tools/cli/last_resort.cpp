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

/// Whether it ends for want of memory: of an exception that says so, or as there was no memory for an exception.
bool memory_ran_out() noexcept {
  if (const std::type_info* const type = abi::__cxa_current_exception_type()) {
    return *type == typeid(std::bad_alloc);
  }
  constexpr std::size_t more_than_an_exception = std::size_t{128} << 10;
  void* const volatile probe =
      std::malloc(more_than_an_exception);  // NOLINT: an exception is what there is no room for
  std::free(probe);                         // NOLINT
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

/// Before anything of a command's own is initialised: that takes memory too.
[[gnu::constructor(101)]] void install_early() noexcept { install_last_resort(); }

}  // namespace

}  // namespace smd::tool
