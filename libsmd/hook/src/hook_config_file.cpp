// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/hook_config.hpp>
#include <smd/limits.hpp>

#include "storage/descriptor.hpp"
#include "storage/system_problem.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace smd {
namespace {

using detail::storage::Descriptor;
using detail::storage::uninterrupted;

std::string read_text(const std::string& path) {
  const Descriptor file(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file) {
    throw ReadError(detail::storage::system_problem(errno, path));
  }
  std::string text;
  std::array<char, 16384> block;
  for (;;) {
    const ssize_t got = uninterrupted([&] { return ::read(file.get(), block.data(), block.size()); });
    if (got < 0) {
      throw ReadError(detail::storage::system_problem(errno, path));
    }
    if (got == 0) {
      return text;
    }
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > limits::json_bytes) {
      throw ReadError({ProblemKind::damaged, path, {}, "longer than the limit (json_bytes)"});
    }
  }
}

std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

/// Returns the file that an environment variable names, or the usual one if it exists; else nullopt.
std::optional<std::string> place(const char* variable, const char* usual) {
  if (auto named = environment(variable)) {
    return named;
  }
  return ::access(usual, F_OK) == 0 ? std::optional<std::string>(usual) : std::nullopt;
}

}  // namespace

HookConfig HookConfig::load(const std::string& path, Framework framework) {
  return parse(read_text(path), path, framework);
}

std::optional<HookConfig> HookConfig::from_environment(Framework framework) {
  const auto path = place("SMDEBUG_CONFIG_FILE_PATH", "/opt/ml/input/config/debughookconfig.json");
  if (!path) {
    return std::nullopt;
  }
  HookConfig config = load(*path, framework);
  if (environment("TRAINING_JOB_NAME") && config.out_dir.starts_with("s3://")) {
    config.out_dir = HookConfig().out_dir;  // the folder from which SageMaker uploads
  }
  if (const auto other = place("TENSORBOARD_CONFIG_FILE_PATH", "/opt/ml/input/config/tensorboardoutputconfig.json")) {
    // Parsed as if it were part of the configuration.
    const HookConfig tensorboard = parse("{\"TensorBoardOutputConfig\": " + read_text(*other) + "}", *other, framework);
    config.export_tensorboard = true;
    config.tensorboard_dir = tensorboard.tensorboard_dir;
  }
  return config;
}

}  // namespace smd
