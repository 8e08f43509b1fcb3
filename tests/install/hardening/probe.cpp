// SPDX-License-Identifier: Apache-2.0
// An array on the stack, filled with a length that only the caller knows: stack protector and _FORTIFY_SOURCE apply.
#include <cstdio>
#include <cstring>

int probe(const char* text, std::size_t size) {
  char copy[16];
  std::memcpy(copy, text, size);
  return std::puts(copy);
}

int main(int argc, char** argv) { return probe(argv[0], static_cast<std::size_t>(argc)); }
