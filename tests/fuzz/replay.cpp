// SPDX-License-Identifier: Apache-2.0
// fuzz_replay [--mutations N] TARGET PATH...: passes files, and all files in folders, to a fuzz target, as libFuzzer
// would, but in every build and without Clang, so that earlier findings are tested again. Then passes N inputs made
// from these at random, the same N each time.
#include "mutator.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
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

/// Returns the files in an order that does not depend on the folder.
std::vector<std::filesystem::path> files_of(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    if (std::filesystem::is_directory(path)) {
      const auto before = static_cast<std::ptrdiff_t>(files.size());
      for (const auto& entry : std::filesystem::directory_iterator(path)) {
        files.push_back(entry.path());
      }
      std::sort(files.begin() + before, files.end());
    } else if (std::filesystem::exists(path)) {
      files.emplace_back(path);
    }
  }
  return files;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()};
}

/// A file with the current input, in case the process ends without a message.
class Last {
 public:
  explicit Last(const std::string& target) : path_("fuzz-last-" + target), file_(std::fopen(path_.c_str(), "wb")) {
    if (file_ == nullptr) {
      std::perror(path_.c_str());
      std::exit(3);
    }
    std::fprintf(stderr, "what is tried is in %s\n", std::filesystem::absolute(path_).c_str());
  }
  Last(const Last&) = delete;
  Last& operator=(const Last&) = delete;
  ~Last() {
    std::fclose(file_);
    std::filesystem::remove(path_);
  }

  void keep(const std::vector<std::uint8_t>& input) const {
    std::rewind(file_);
    if (!input.empty()) {
      std::fwrite(input.data(), 1, input.size(), file_);
    }
    std::fflush(file_);
    if (ftruncate(fileno(file_), static_cast<off_t>(input.size())) != 0) {
      std::perror(path_.c_str());
    }
  }

 private:
  std::string path_;
  std::FILE* file_;
};

void mutate(Target target, const std::string& name, std::vector<std::string> seeds, unsigned long count) {
  const Last last(name);
  smd::fuzz::Mutator mutator(std::move(seeds), name);
  for (unsigned long i = 0; i < count; ++i) {
    const std::vector<std::uint8_t> input = mutator.next();
    last.keep(input);
    target(input.data(), input.size());
  }
  std::fprintf(stderr, "%lu mutations\n", count);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  unsigned long mutations = 0;
  if (words.size() > 1 && words[0] == "--mutations") {
    mutations = std::strtoul(words[1].c_str(), nullptr, 10);
    words.erase(words.begin(), words.begin() + 2);
  }
  const Target target = words.empty() ? nullptr : find_target(words[0].c_str());
  if (target == nullptr) {
    std::fprintf(stderr, "usage: fuzz_replay [--mutations N] TARGET FILE_OR_FOLDER...\n");
    return 2;
  }
  // Output of commands is discarded.
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  target(nullptr, 0);
  std::vector<std::string> seeds;
  for (const std::filesystem::path& path : files_of({words.begin() + 1, words.end()})) {
    seeds.push_back(content(path));
    std::fprintf(stderr, "%s\n", path.c_str());
    // A copy of exactly its size, so that any access past its end is detected.
    const std::vector<std::uint8_t> exact(seeds.back().begin(), seeds.back().end());
    target(exact.data(), exact.size());
  }
  std::fprintf(stderr, "%zu inputs\n", seeds.size());
  if (mutations > 0) {
    mutate(target, words[0], std::move(seeds), mutations);
  }
  return 0;
}
