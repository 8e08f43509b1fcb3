// SPDX-License-Identifier: Apache-2.0
// Writes trials of any size, byte for byte as the reference's hook would: for measurements, never as expected results.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "wire/encode.hpp"
#include "wire/framing.hpp"

namespace {

using smd::Dtype;
using smd::TensorView;
namespace wire = smd::detail::wire;

constexpr std::string_view usage = R"(usage: generate_trial [OPTION]... FOLDER
Writes a trial into FOLDER, which must not be there yet.
  --steps N      steps of the job (20)
  --stride N     distance between saved steps (1)
  --tensors N    tensors a step, the first of them the scalar `loss` (20)
  --workers N    workers, each with files of its own (1)
  --elements N   float32 elements of every other tensor (4)
  --modes M      global; train; train-eval: every fourth step evaluates (train)
  --shapes       also save every tensor's shape by itself
  --distinct     no two index files alike: every step has other sizes
  --crc          true checksums of the payloads, not the reference's fixed footer
  --big BYTES    one tensor `big` of so many bytes instead of the others
  --running      leave out the end marker
)";

struct Options {
  std::string folder;
  std::int64_t steps = 20;
  std::int64_t stride = 1;
  std::int64_t tensors = 20;
  std::int64_t workers = 1;
  std::int64_t elements = 4;
  std::string modes = "train";
  bool shapes = false;
  bool distinct = false;
  wire::Protection protection = wire::Protection::unprotected;
  std::int64_t big = 0;
  bool running = false;
};

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
    throw std::invalid_argument("not a number: " + std::string(text));
  }
  return value;
}

Options parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (++i == arguments.size()) {
        throw std::invalid_argument(std::string(argument) + " wants a value");
      }
      return arguments[i];
    };
    if (argument == "--steps") {
      options.steps = number(value());
    } else if (argument == "--stride") {
      options.stride = number(value());
    } else if (argument == "--tensors") {
      options.tensors = number(value());
    } else if (argument == "--workers") {
      options.workers = number(value());
    } else if (argument == "--elements") {
      options.elements = number(value());
    } else if (argument == "--modes") {
      options.modes = value();
    } else if (argument == "--shapes") {
      options.shapes = true;
    } else if (argument == "--distinct") {
      options.distinct = true;
    } else if (argument == "--crc") {
      options.protection = wire::Protection::checksum;
    } else if (argument == "--big") {
      options.big = number(value());
    } else if (argument == "--running") {
      options.running = true;
    } else if (argument.starts_with("-") || !options.folder.empty()) {
      throw std::invalid_argument("not understood: " + std::string(argument));
    } else {
      options.folder = argument;
    }
  }
  if (options.folder.empty()) {
    throw std::invalid_argument("no folder given");
  }
  if (options.modes != "global" && options.modes != "train" && options.modes != "train-eval") {
    throw std::invalid_argument("--modes: global, train or train-eval");
  }
  constexpr std::int64_t told_apart = std::int64_t{1} << 20;
  if (options.distinct && (options.tensors < 6 || options.steps > told_apart)) {
    throw std::invalid_argument("--distinct wants at least 6 tensors and at most 1048576 steps");
  }
  return options;
}

std::string padded(std::int64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

void write_file(const std::string& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = fd >= 0;
  while (good && !bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    good = n >= 0 || errno == EINTR;
    bytes.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  if (!good || ::close(fd) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

/// Cheap numbers that resemble trained ones and are not all alike.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  float operator()() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<float>(static_cast<std::int64_t>(state_ >> 11)) * 0x1p-53F - 0.5F;
  }

 private:
  std::uint64_t state_;
};

struct NamedTensor {
  std::string name;
  bool scalar = false;
};

std::vector<NamedTensor> name_tensors(const Options& options) {
  if (options.big > 0) {
    return {{"big", false}};
  }
  std::vector<NamedTensor> tensors;
  for (std::int64_t i = 0; i < options.tensors; ++i) {
    if (i == 0) {
      tensors.push_back({"loss", true});
      continue;
    }
    const std::string parameter = "Net_layer" + padded((i - 1) / 4, 3) + ((i - 1) % 4 < 2 ? ".weight" : ".bias");
    tensors.push_back({((i - 1) % 2 == 0 ? "" : "gradient/") + parameter, false});
  }
  return tensors;
}

/// The collections file without the members: one `save_config` of a hook that saves every step.
void append_collection(std::string& out, std::string_view name, std::string_view pattern,
                       const std::vector<std::string>& members) {
  const std::string mode = R"({"save_interval": 1, "save_steps": [], "start_step": 0, "end_step": null})";
  out.append(out.ends_with('{') ? "\"" : ", \"").append(name).append(R"(": {"name": ")").append(name);
  out.append(R"(", "include_regex": [")").append(pattern).append(R"("], "tensor_names": [)");
  for (std::size_t i = 0; i < members.size(); ++i) {
    out.append(i == 0 ? "\"" : ", \"").append(members[i]).append("\"");
  }
  out.append(R"(], "reduction_config": null, "save_config": {)");
  for (const std::string_view of : {"TRAIN", "EVAL", "PREDICT", "GLOBAL"}) {
    out.append(of == "TRAIN" ? "\"" : ", \"").append(of).append("\": ").append(mode);
  }
  out.append(R"(}, "save_histogram": true})");
}

std::string collections_text(const Options& options, const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> losses;
  std::vector<std::string> weights;
  std::vector<std::string> gradients;
  for (const NamedTensor& tensor : tensors) {
    auto& members = tensor.scalar ? losses : tensor.name.starts_with("gradient/") ? gradients : weights;
    members.push_back(tensor.name);
  }
  std::string text = R"({"collections": {)";
  append_collection(text, "losses", "[Ll]oss", losses);
  append_collection(text, "weights", "^(?!gradient).*weight", weights);
  append_collection(text, "gradients", "^gradient", gradients);
  text += R"(}, "_meta": {"num_workers": )" + std::to_string(options.workers) + "}}";
  return text;
}

class Writer {
 public:
  explicit Writer(const Options& options) : options_(options), tensors_(name_tensors(options)) {
    const std::int64_t most = options.big > 0 ? options.big / 4 : options.elements + most_extra;
    numbers_.resize(static_cast<std::size_t>(most));
    Noise noise(1);
    for (float& value : numbers_) {
      value = noise();
    }
  }

  void write() {
    make_folder(options_.folder);
    make_folder(options_.folder + "/collections");
    make_folder(options_.folder + "/collections/000000000");
    make_folder(options_.folder + "/index");
    make_folder(options_.folder + "/events");
    for (std::int64_t worker = 0; worker < options_.workers; ++worker) {
      write_file(options_.folder + "/collections/000000000/worker_" + std::to_string(worker) + "_collections.json",
                 collections_text(options_, tensors_));
    }
    for (std::int64_t i = 0; i < options_.steps; ++i) {
      write_step(i);
    }
    if (!options_.running) {
      write_file(options_.folder + "/training_job_end.ts", {});
    }
  }

 private:
  static constexpr std::int64_t most_extra = 15;

  struct Place {
    std::string_view mode;
    std::int64_t mode_number = 0;
    std::int64_t mode_step = 0;
  };

  [[nodiscard]] Place place(std::int64_t i) const {
    if (options_.modes == "global") {
      return {"GLOBAL", 4, i * options_.stride};
    }
    if (options_.modes == "train") {
      return {"TRAIN", 1, i * options_.stride};
    }
    return i % 4 == 3 ? Place{"EVAL", 2, i / 4} : Place{"TRAIN", 1, i - (i + 1) / 4};
  }

  /// With --distinct the lengths of five tensors encode the step's number, four bits each, so that all later offsets
  /// differ.
  [[nodiscard]] std::int64_t elements(std::size_t tensor, std::int64_t i) const {
    if (options_.big > 0) {
      return options_.big / 4;
    }
    return options_.elements + (options_.distinct ? (i >> (4 * ((tensor - 1) % 5))) & most_extra : 0);
  }

  void write_step(std::int64_t i) {
    const std::int64_t step = i * options_.stride;
    const std::string digits = padded(step, 12);
    if (step / 1000 != prefix_ || i == 0) {
      prefix_ = step / 1000;
      index_folder_ = options_.folder + "/index/" + padded(prefix_, 9) + "/";
      make_folder(index_folder_);
    }
    make_folder(options_.folder + "/events/" + digits);
    for (std::int64_t worker = 0; worker < options_.workers; ++worker) {
      const std::string stem = digits + "_worker_" + std::to_string(worker);
      const std::string event_file = "events/" + digits + "/" + stem + ".tfevents";
      make_records(i, step, worker, event_file);
      write_file(options_.folder + "/" + event_file, records_);
      write_file(index_folder_ + stem + ".json", index_);
    }
  }

  void make_records(std::int64_t i, std::int64_t step, std::int64_t worker, const std::string& event_file) {
    const Place at = place(i);
    records_.clear();
    index_ = R"({"meta": {"mode": ")" + std::string(at.mode) + R"(", "mode_step": )" + std::to_string(at.mode_step) +
             R"(, "event_file_name": ")" + event_file + R"("}, "tensor_payload": [)";
    std::string shapes;
    float loss = 2.0F / static_cast<float>(1 + i) + static_cast<float>(worker) * 0.01F;
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const NamedTensor& tensor = tensors_[t];
      const std::int64_t count = tensor.scalar ? 1 : elements(t, i);
      const std::span<const std::int64_t> shape(&count, tensor.scalar ? 0 : 1);
      const std::span<const float> values =
          tensor.scalar ? std::span<const float>(&loss, 1) : std::span(numbers_).first(static_cast<std::size_t>(count));
      wire::EventHeader header;
      header.tag = tensor.name;
      header.wall_time = 1.6e9 + static_cast<double>(step) * 0.25;
      header.step = step;
      header.mode_step = at.mode_step;
      header.mode = at.mode_number;
      event_.clear();
      wire::append_event(event_, header, TensorView(Dtype::float32, shape, std::as_bytes(values)));
      const std::size_t start = records_.size();
      wire::append_record(records_, std::as_bytes(std::span(event_)), options_.protection);
      index_.append(t == 0 ? R"({"tensorname": ")" : R"(, {"tensorname": ")").append(tensor.name);
      index_.append(R"(", "start_idx": )").append(std::to_string(start));
      index_.append(R"(, "length": )").append(std::to_string(records_.size() - start)).append("}");
      if (options_.shapes) {
        shapes.append(t == 0 ? R"({"tensorname": ")" : R"(, {"tensorname": ")").append(tensor.name);
        shapes.append(R"(", "originalname": ")").append(tensor.name).append(R"(", "shape": [)");
        shapes.append(tensor.scalar ? "" : std::to_string(count)).append("]}");
      }
    }
    index_.append(R"(], "shape_payload": [)").append(shapes).append("]}");
  }

  const Options& options_;
  std::vector<NamedTensor> tensors_;
  std::vector<float> numbers_;
  std::int64_t prefix_ = 0;
  std::string index_folder_;
  std::string event_;
  std::string records_;
  std::string index_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse({argv + 1, argv + argc});
  struct stat status;
  if (::stat(options.folder.c_str(), &status) == 0) {
    throw std::invalid_argument(options.folder + " is there already");
  }
  Writer(options).write();
  return 0;
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "generate_trial: %s\n%s", error.what(), usage.data());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "generate_trial: %s\n", error.what());
  return 3;
}
