// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail {

/// A pattern of PCRE2 and what to put in the place of each match: `$1` and `${name}` stand for groups.
class Substitution {
 public:
  Substitution();
  ~Substitution();
  Substitution(Substitution&&) noexcept;
  Substitution& operator=(Substitution&&) noexcept;

  /// Returns the error, or nullopt.
  [[nodiscard]] std::optional<std::string> compile(std::string_view pattern, std::string_view replacement);
  /// Returns the subject with every match replaced; nullopt if `error` says why that is not possible.
  [[nodiscard]] std::optional<std::string> apply(std::string_view subject, std::string& error) const;

 private:
  struct Compiled;
  std::string replacement_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace smd::detail
