// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace smd::fuzz {

/// Makes inputs from other inputs, as libFuzzer does but without feedback from the target. The n-th input is the same
/// on every machine and in every build.
class Mutator {
 public:
  /// Precondition: `seeds` is not empty.
  Mutator(std::vector<std::string> seeds, std::string_view target);

  std::vector<std::uint8_t> next();

 private:
  /// Returns a number below `bound`; 0 if `bound` is 0.
  std::size_t below(std::size_t bound);
  void change(std::string& bytes);
  void change_digits(std::string& bytes);
  void take_from_another(std::string& bytes);

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

}  // namespace smd::fuzz
