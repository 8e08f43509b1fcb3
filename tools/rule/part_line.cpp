// SPDX-License-Identifier: Apache-2.0
#include "part_line.hpp"

#include <fmt/format.h>

namespace smd::tool::rule {

namespace {

/// FNV-1a, 64 bits (RFC 9923).
class Digest {
 public:
  void add(std::string_view text) noexcept {
    for (const char c : text) {
      add_byte(static_cast<unsigned char>(c));
    }
    add_byte(0);  // separates texts, which hold no NUL
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  void add_byte(unsigned char byte) noexcept { hash_ = (hash_ ^ byte) * 0x100000001B3; }
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

}  // namespace

std::string to_json(const PartLine& part) {
  return fmt::format(
      R"({{"record":"part","part":{},"parts":{},"trials":{},"several":{},"whole":"{}","records":{},"status":{}}})",
      part.shard.index, part.shard.count, part.trials, part.several, part.whole, part.records,
      static_cast<int>(part.status));
}

std::string digest_of(std::span<const std::string> trials, const std::vector<RuleRequest>& requests) {
  Digest digest;
  for (const std::string& trial : trials) {
    digest.add(trial);
  }
  for (const RuleRequest& request : requests) {
    digest.add("");
    digest.add(request.name());
    digest.add(request.configuration.rule_to_invoke);
    for (const auto& [name, text] : request.configuration.parameters) {
      digest.add(name);
      digest.add(text);
    }
  }
  return fmt::format("{:016x}", digest.value());
}

}  // namespace smd::tool::rule
