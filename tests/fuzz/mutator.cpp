// SPDX-License-Identifier: Apache-2.0
#include "mutator.hpp"

#include "target.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd::fuzz {

namespace {

constexpr std::size_t largest = 16384;  // as run.sh's -max_len

// Numbers at the limits of types.
constexpr std::string_view numbers[] = {"0",
                                        "-1",
                                        "1",
                                        "255",
                                        "65536",
                                        "1e",
                                        "-0",
                                        "2147483648",
                                        "-2147483649",
                                        "9223372036854775807",
                                        "",
                                        "NaN",
                                        "18446744073709551616"};

// Bytes that have a meaning in formats.
constexpr char marks[] = {'\0', '\n', '\x7f', '"', '\'', '{', '}', '[', ']', ',', ':', '/', '\\', '-', '<', '&'};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Mutator::Mutator(std::vector<std::string> seeds, std::string_view target) : seeds_(std::move(seeds)) {
  SMD_REQUIRE(!seeds_.empty());
  std::uint64_t seed = 1;
  for (const char c : target) {
    seed = seed * 31 + static_cast<unsigned char>(c);
  }
  random_.seed(seed);
}

std::vector<std::uint8_t> Mutator::next() {
  std::string bytes = seeds_[below(seeds_.size())];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    change(bytes);
  }
  bytes.resize(std::min(bytes.size(), largest));
  return {bytes.begin(), bytes.end()};
}

// Not std::uniform_int_distribution, which differs between libraries.
std::size_t Mutator::below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound); }

void Mutator::change(std::string& bytes) {
  const std::size_t at = below(bytes.size());
  switch (below(8)) {
    case 0:  // a bit
      if (!bytes.empty()) {
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      }
      break;
    case 1:  // a byte
      if (!bytes.empty()) {
        bytes[at] = static_cast<char>(below(256));
      }
      break;
    case 2:  // a byte with a meaning
      bytes.insert(at, 1, marks[below(std::size(marks))]);
      break;
    case 3:
      bytes.erase(at, 1 + below(16));
      break;
    case 4:  // truncates
      bytes.resize(at);
      break;
    case 5:  // repeats a part
      bytes.insert(below(bytes.size()), bytes.substr(at, 1 + below(64)));
      break;
    case 6:
      change_digits(bytes);
      break;
    default:
      take_from_another(bytes);
  }
}

void Mutator::change_digits(std::string& bytes) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size()));
  const auto first = std::find_if(begin, bytes.end(), is_digit);
  const auto last = std::find_if_not(first, bytes.end(), is_digit);
  bytes.replace(first, last, numbers[below(std::size(numbers))]);
}

void Mutator::take_from_another(std::string& bytes) {
  const std::string& other = seeds_[below(seeds_.size())];
  const std::size_t from = below(other.size());
  const std::size_t size = std::min(1 + below(256), other.size() - from);
  const std::size_t at = below(bytes.size());
  bytes.replace(at, below(2) == 0 ? 0 : size, other, from, size);
}

}  // namespace smd::fuzz
