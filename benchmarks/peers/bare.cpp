// SPDX-License-Identifier: Apache-2.0
// The minimum of work for a query, by hand and without a library, to compare the commands with.
//
// clang-format off
//   bench_bare names FOLDER            list the names in the folders of FOLDER
//   bench_bare index FOLDER THREADS    the same; open, read and close each file, relative to its folder, in one buffer
//   bench_bare events FOLDER THREADS OFFSET LENGTH STEPS PASSES
//                                      open, one pread of LENGTH bytes at OFFSET and close, for every step below STEPS
//   bench_bare ranges TRIAL LIST THREADS
//                                      open each file of the list once, pread each of its ranges
//   bench_bare trees FOLDER THREADS PART...
//                                      of each folder in FOLDER, list the folders PART and those in them; open, read and
//                                      close each file
// clang-format on
//
// `events` computes the path of each file instead of listing: steps 0, 1, … as the generator numbers them, worker 0.
// Prints what it read and the seconds of its best pass.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bare: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(3);
}

std::vector<std::string> list(const std::string& path) {
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr) {
    fail(path);
  }
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') {
      names.emplace_back(entry->d_name);
    }
  }
  ::closedir(folder);
  return names;
}

struct Total {
  std::atomic<std::uint64_t> files = 0;
  std::atomic<std::uint64_t> bytes = 0;
  void reset() noexcept { files = bytes = 0; }
};
Total total;

struct Folder {
  std::string path;
  std::vector<std::string> files;
};

std::vector<Folder> list_folders(const std::string& path) {
  std::vector<Folder> folders;
  for (const std::string& name : list(path)) {
    folders.push_back({path + "/" + name, list(path + "/" + name)});
  }
  return folders;
}

/// Calls `work(piece)` for every piece below `pieces`, on this many threads.
void share_out(unsigned threads, std::size_t pieces, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t piece = next++; piece < pieces; piece = next++) {
      work(piece);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) {
    others.emplace_back(run);
  }
  run();
  for (std::thread& thread : others) {
    thread.join();
  }
}

constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

std::uint64_t read_file(int folder, const char* name, char* buffer) {
  const int fd = ::openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    fail(name);
  }
  std::uint64_t bytes = 0;
  ssize_t n = 0;
  while ((n = ::read(fd, buffer, buffer_bytes)) > 0) {
    bytes += static_cast<std::uint64_t>(n);
    if (static_cast<std::size_t>(n) < buffer_bytes) {
      break;  // a file that fits needs no second read
    }
  }
  ::close(fd);
  return bytes;
}

void read_index(const std::string& path, unsigned threads) {
  struct Piece {
    const Folder* folder;
    std::size_t begin;
    std::size_t end;
  };
  const std::vector<Folder> folders = list_folders(path);
  std::vector<Piece> pieces;
  for (const Folder& folder : folders) {
    constexpr std::size_t grain = 256;
    for (std::size_t begin = 0; begin < folder.files.size(); begin += grain) {
      pieces.push_back({&folder, begin, std::min(begin + grain, folder.files.size())});
    }
  }
  total.reset();
  share_out(threads, pieces.size(), [&](std::size_t i) {
    thread_local std::vector<char> buffer(buffer_bytes);
    const Piece& piece = pieces[i];
    const int fd = ::open(piece.folder->path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
      fail(piece.folder->path);
    }
    std::uint64_t sum = 0;
    for (std::size_t file = piece.begin; file < piece.end; ++file) {
      sum += read_file(fd, piece.folder->files[file].c_str(), buffer.data());
    }
    ::close(fd);
    total.bytes += sum;
    total.files += piece.end - piece.begin;
  });
}

void read_events(const std::string& path, unsigned threads, off_t offset, std::size_t length, std::size_t steps) {
  const int root = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) {
    fail(path);
  }
  constexpr std::size_t grain = 256;
  total.reset();
  share_out(threads, (steps + grain - 1) / grain, [&](std::size_t piece) {
    std::vector<char> buffer(length);
    char name[64];
    std::uint64_t sum = 0;
    for (std::size_t step = piece * grain; step < std::min((piece + 1) * grain, steps); ++step) {
      std::snprintf(name, sizeof name, "%012zu/%012zu_worker_0.tfevents", step, step);
      const int fd = ::openat(root, name, O_RDONLY | O_CLOEXEC);
      if (fd < 0) {
        fail(name);
      }
      sum += static_cast<std::uint64_t>(std::max<ssize_t>(::pread(fd, buffer.data(), length, offset), 0));
      ::close(fd);
    }
    total.bytes += sum;
    total.files += std::min((piece + 1) * grain, steps) - piece * grain;
  });
  ::close(root);
}

/// Reads ranges from a list of lines `FILE OFFSET LENGTH`, as `smd-ls --locations` prints them, sorted by file: opens
/// each file once, and reads each range with its own pread into one buffer.
void read_ranges(const std::string& root, const std::string& list, unsigned threads) {
  struct Range {
    off_t offset;
    std::size_t length;
  };
  struct File {
    std::string name;
    std::vector<Range> ranges;
  };
  std::vector<File> files;
  std::FILE* const lines = std::fopen(list.c_str(), "r");
  if (lines == nullptr) {
    fail(list);
  }
  char name[512];
  unsigned long long offset = 0;
  unsigned long long length = 0;
  while (std::fscanf(lines, "%511s %llu %llu", name, &offset, &length) == 3) {
    if (files.empty() || files.back().name != name) {
      files.push_back({name, {}});
    }
    files.back().ranges.push_back({static_cast<off_t>(offset), static_cast<std::size_t>(length)});
  }
  std::fclose(lines);
  total.reset();
  share_out(threads, files.size(), [&](std::size_t i) {
    thread_local std::vector<char> buffer;
    const int fd = ::open((root + "/" + files[i].name).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      fail(files[i].name);
    }
    std::uint64_t sum = 0;
    for (const Range& range : files[i].ranges) {
      buffer.resize(std::max(buffer.size(), range.length));
      sum += static_cast<std::uint64_t>(std::max<ssize_t>(::pread(fd, buffer.data(), range.length, range.offset), 0));
    }
    ::close(fd);
    total.bytes += sum;
    ++total.files;
  });
}

/// Reads the files of a folder, and of the folders in it.
void read_tree(int parent, const char* name, char* buffer, std::uint64_t& files, std::uint64_t& bytes) {
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    fail(name);
  }
  DIR* const folder = ::fdopendir(fd);
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    if (entry->d_type == DT_DIR) {
      read_tree(fd, entry->d_name, buffer, files, bytes);
    } else {
      ++files;
      bytes += read_file(fd, entry->d_name, buffer);
    }
  }
  ::closedir(folder);
}

void read_trees(const std::string& path, unsigned threads, const std::vector<std::string>& parts) {
  const std::vector<std::string> names = list(path);
  const int root = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  total.reset();
  share_out(threads, names.size(), [&](std::size_t i) {
    thread_local std::vector<char> buffer(buffer_bytes);
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    for (const std::string& part : parts) {
      read_tree(root, (names[i] + "/" + part).c_str(), buffer.data(), files, bytes);
    }
    total.files += files;
    total.bytes += bytes;
  });
  ::close(root);
}

/// Returns the best of several passes, so that caches are warm. A pass prints what it read.
int best_of(unsigned long passes, const std::function<void()>& pass) {
  double best = 0;
  for (unsigned long i = 0; i < passes; ++i) {
    const auto start = std::chrono::steady_clock::now();
    pass();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = i == 0 || took < best ? took : best;
  }
  std::printf("{\"files\": %llu, \"bytes\": %llu, \"seconds\": %.6f}\n", static_cast<unsigned long long>(total.files),
              static_cast<unsigned long long>(total.bytes), best);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto number = [&](std::size_t i) { return std::strtoull(arguments[i].c_str(), nullptr, 10); };
  if (arguments.size() == 2 && arguments[0] == "names") {
    return best_of(1, [&] {
      total.reset();
      for (const Folder& folder : list_folders(arguments[1])) {
        total.files += folder.files.size();
      }
    });
  }
  if (arguments.size() == 3 && arguments[0] == "index") {
    return best_of(1, [&] { read_index(arguments[1], static_cast<unsigned>(number(2))); });
  }
  if (arguments.size() == 7 && arguments[0] == "events") {
    return best_of(number(6), [&] {
      read_events(arguments[1], static_cast<unsigned>(number(2)), static_cast<off_t>(number(3)), number(4), number(5));
    });
  }
  if (arguments.size() == 4 && arguments[0] == "ranges") {
    return best_of(1, [&] { read_ranges(arguments[1], arguments[2], static_cast<unsigned>(number(3))); });
  }
  if (arguments.size() > 3 && arguments[0] == "trees") {
    return best_of(1, [&] {
      read_trees(arguments[1], static_cast<unsigned>(number(2)), {arguments.begin() + 3, arguments.end()});
    });
  }
  std::fputs(
      "usage: bench_bare names FOLDER | index FOLDER THREADS\n"
      "     | events FOLDER THREADS OFFSET LENGTH STEPS PASSES\n"
      "     | ranges TRIAL LIST THREADS\n"
      "     | trees FOLDER THREADS PART...\n",
      stderr);
  return 2;
}
