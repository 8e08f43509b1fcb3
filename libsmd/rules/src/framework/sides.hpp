// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/words.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Tells training from validation by names, for trials whose steps have no modes.
namespace smd::detail::rules {

using text::Side;

/// A tensor with one number for each step. Its name is `RUN/TAG`; without a run, the tag.
struct ScalarName {
  std::string name;
  std::size_t run_length = 0;  ///< Length of RUN; 0: there is none.
};

/// The sides (training or validation) of a trial's names, and which names form pairs. A name's key is the name without
/// the words for a side: names of both sides with the same key form a pair.
class Sides {
 public:
  explicit Sides(std::span<const ScalarName> names);

  /// Returns `train`, `eval` or `none`; `none` for an unknown name.
  [[nodiscard]] Side of(std::string_view name) const;
  /// Returns whether a name has another side in `later`, made when there were more names.
  [[nodiscard]] bool differ(const Sides& later) const;
  /// Returns the names of a side, in byte order.
  [[nodiscard]] std::vector<std::string_view> names(Side side) const;
  /// Returns the training names with the key of a validation name, the preferred one first.
  [[nodiscard]] std::vector<std::string_view> partners(std::string_view validation) const;

 private:
  struct Name {
    Side side = Side::none;
    bool has_side_word = false;
    std::size_t words = 0;
    std::string key;
  };
  std::map<std::string, Name, std::less<>> names_;
  std::map<std::string, std::vector<std::string_view>> training_;  // of `names_`, by key, in order of preference
};

}  // namespace smd::detail::rules
