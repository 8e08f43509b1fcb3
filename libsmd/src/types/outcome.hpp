// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace smd::detail {

/// A result, or the problem that prevented it. Inside the library, damaged input is returned as a problem, never
/// thrown; the caller decides what it means. Check before access.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT: converts by design
  Outcome(Problem problem) : state_(std::in_place_index<1>, std::move(problem)) {}  // NOLINT: converts by design

  [[nodiscard]] explicit operator bool() const noexcept { return state_.index() == 0; }
  [[nodiscard]] T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] T* operator->() noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] const T* operator->() const noexcept { return std::get_if<0>(&state_); }
  [[nodiscard]] Problem& problem() noexcept { return *std::get_if<1>(&state_); }
  [[nodiscard]] const Problem& problem() const noexcept { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Problem> state_;
};

/// Success, or a problem.
using Status = Outcome<std::monostate>;
inline Status ok() { return std::monostate{}; }

/// Makes a problem of a whole file, or of none.
inline Problem make_problem(ProblemKind kind, std::string text, std::string file = {}) {
  return {kind, std::move(file), {}, std::move(text)};
}

/// Returns the problem with the name of its file.
inline Problem in_file(Problem problem, std::string file) {
  problem.file = std::move(file);
  return problem;
}

/// Makes a problem for damage at a byte offset of a file; the caller adds the file's name.
inline Problem damaged(std::string text, std::optional<std::uint64_t> offset = {}) {
  return {ProblemKind::damaged, {}, offset, std::move(text)};
}

}  // namespace smd::detail
