// SPDX-License-Identifier: Apache-2.0
// A program that knows the built-in rules.
#include <cstdio>
#include <smd/remote.hpp>
#include <smd/rule_registry.hpp>

int main() {
  const std::size_t rules = smd::rule_descriptions().size();
  std::printf("%zu rules\n", rules);
  return rules > 20 && smd::is_remote_path("s3://bucket/trial") ? 0 : 1;
}
