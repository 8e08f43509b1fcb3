// SPDX-License-Identifier: Apache-2.0
// replay TARGET PATH...: hands files, and all files of folders, to a fuzz target, as libFuzzer would; without Clang and
// in every build, so that whatever was found once stays found.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using Target = int (*)(const std::uint8_t*, std::size_t);

#define SMD_FUZZ_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "targets.inc"
#undef SMD_FUZZ_TARGET

namespace {

Target find_target(const char* wanted) {
#define SMD_FUZZ_TARGET(name)            \
  if (std::strcmp(wanted, #name) == 0) { \
    return fuzz_##name;                  \
  }
#include "targets.inc"
#undef SMD_FUZZ_TARGET
  return nullptr;
}

std::vector<std::filesystem::path> files_of(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i) {
    if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
        files.push_back(entry.path());
      }
    } else if (std::filesystem::exists(argv[i])) {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const Target target = argc > 1 ? find_target(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET FILE_OR_FOLDER...\n");
    return 2;
  }
  // What commands print is of no interest here.
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  target(nullptr, 0);
  int count = 0;
  for (const std::filesystem::path& path : files_of(argc, argv)) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::fprintf(stderr, "%s\n", path.c_str());
    // A copy of exactly its size, so that a byte read past the end is noticed.
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    target(exact.data(), exact.size());
    ++count;
  }
  std::fprintf(stderr, "%d inputs\n", count);
  return 0;
}
