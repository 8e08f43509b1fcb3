// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/words.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Where steps have no modes, names tell training from validation.
namespace smd::detail::rules {

using text::Side;

/// A tensor of one number a step. Its name is `RUN/TAG`; without a run it is the tag.
struct ScalarName {
  std::string name;
  std::size_t run_length = 0;  ///< Of RUN; 0: there is none.
};

/// The sides of a trial's names, and which of them belong together. A name's key is the name without words that say a
/// side: names of both sides with the same key pair.
class Sides {
 public:
  Sides() = default;
  explicit Sides(std::span<const ScalarName> names);

  /// `train`, `eval` or `none`, also for a name that it does not know.
  [[nodiscard]] Side of(std::string_view name) const;
  [[nodiscard]] bool knows(std::string_view name) const { return names_.contains(name); }
  /// Names of a side, in byte order.
  [[nodiscard]] std::vector<std::string_view> names(Side side) const;
  /// Names of training with the key of a name of validation, the one that it is compared with first.
  [[nodiscard]] std::vector<std::string_view> partners(std::string_view validation) const;

 private:
  struct Name {
    Side side = Side::none;
    bool has_side_word = false;
    std::size_t words = 0;
    std::string key;
  };
  using Names = std::map<std::string, Name, std::less<>>;
  Names names_;
  std::map<std::string, std::vector<Names::const_iterator>, std::less<>> training_;  // by key, in order of preference
};

}  // namespace smd::detail::rules
