// SPDX-License-Identifier: Apache-2.0
// Writes TensorBoard log directories of any size, byte for byte as PyTorch's SummaryWriter would (add_scalar), without
// the library: for measurements, never as expected results.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "peers/crc32c.hpp"

namespace {

constexpr std::string_view usage = R"(usage: generate_logs [OPTION]... FOLDER
Writes a log directory into FOLDER, which must not be there yet.
  --runs N    0: one run, FOLDER itself; else runs below it: run0, run1, ... (0)
  --tags N    scalars at each step (10)
  --steps N   steps of each run (1000)
)";

struct Options {
  std::string folder;
  std::int64_t runs = 0;
  std::int64_t tags = 10;
  std::int64_t steps = 1000;
};

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    std::int64_t* const number = word == "--runs"    ? &options.runs
                                 : word == "--tags"  ? &options.tags
                                 : word == "--steps" ? &options.steps
                                                     : nullptr;
    if (number == nullptr) {
      if (word.starts_with("-") || !options.folder.empty()) {
        throw std::invalid_argument(std::string(word));
      }
      options.folder = word;
      continue;
    }
    const std::string_view value = ++i < count ? words[i] : "";
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number);
    if (error != std::errc() || end != value.data() + value.size() || *number < 0) {
      throw std::invalid_argument(std::string(word) + " " + std::string(value));
    }
  }
  if (options.folder.empty()) {
    throw std::invalid_argument("no folder");
  }
  return options;
}

template <class T>
void append_bytes(std::string& to, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  to.append(bytes, sizeof(T));
}

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    to.push_back(static_cast<char>(value | 0x80));
  }
  to.push_back(static_cast<char>(value));
}

void append_message(std::string& to, char key, std::string_view message) {
  to.push_back(key);
  append_varint(to, message.size());
  to.append(message);
}

/// Keys of protobuf: field * 8 + wire type.
constexpr char key(int field, int wire_type) { return static_cast<char>(field * 8 + wire_type); }

void append_record(std::string& to, std::string_view payload) {
  const std::size_t start = to.size();
  append_bytes(to, static_cast<std::uint64_t>(payload.size()));
  append_bytes(to, bench::masked_crc32c(to.data() + start, sizeof(std::uint64_t)));
  to.append(payload);
  append_bytes(to, bench::masked_crc32c(payload.data(), payload.size()));
}

class Writer {
 public:
  explicit Writer(const Options& options) : options_(options) {
    for (std::int64_t tag = 0; tag < options.tags; ++tag) {
      tags_.push_back(tag == 0 ? "train/loss" : "metrics/m" + std::to_string(tag));
    }
  }

  void write_run(const std::string& folder) {
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/events.out.tfevents.1700000000.host.4242.0";
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
      throw std::runtime_error("cannot write " + path);
    }
    records_.clear();
    event_.clear();
    begin_event(0);
    append_message(event_, key(3, 2), "brain.Event:2");
    append_record(records_, event_);
    bool well = true;
    for (std::int64_t step = 0; step < options_.steps; ++step) {
      for (std::size_t tag = 0; tag < tags_.size(); ++tag) {
        add_scalar(step, tags_[tag], 2.0F / static_cast<float>(1 + step) + static_cast<float>(tag));
      }
      if (constexpr std::size_t block = 1 << 20; records_.size() >= block || step + 1 == options_.steps) {
        well = std::fwrite(records_.data(), 1, records_.size(), file) == records_.size() && well;
        records_.clear();
      }
    }
    if (std::fclose(file) != 0 || !well) {
      throw std::runtime_error("cannot write " + path);
    }
  }

 private:
  void begin_event(std::int64_t step) {
    event_.clear();
    event_.push_back(key(1, 1));
    append_bytes(event_, 1.7e9 + static_cast<double>(step) * 0.25);
    if (step != 0) {
      event_.push_back(key(2, 0));
      append_varint(event_, static_cast<std::uint64_t>(step));
    }
  }

  void add_scalar(std::int64_t step, std::string_view tag, float number) {
    value_.clear();
    append_message(value_, key(1, 2), tag);
    value_.push_back(key(2, 5));
    append_bytes(value_, number);
    summary_.clear();
    append_message(summary_, key(1, 2), value_);
    begin_event(step);
    append_message(event_, key(5, 2), summary_);
    append_record(records_, event_);
  }

  const Options& options_;
  std::vector<std::string> tags_;
  std::string value_;
  std::string summary_;
  std::string event_;
  std::string records_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  if (std::filesystem::exists(options.folder)) {
    throw std::invalid_argument(options.folder + " is there already");
  }
  Writer writer(options);
  if (options.runs == 0) {
    writer.write_run(options.folder);
  }
  for (std::int64_t run = 0; run < options.runs; ++run) {
    writer.write_run(options.folder + "/run" + std::to_string(run));
  }
  return 0;
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "generate_logs: %s\n%s", error.what(), usage.data());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "generate_logs: %s\n", error.what());
  return 3;
}
