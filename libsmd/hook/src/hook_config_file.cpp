// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/hook_config.hpp>

#include "config_section.hpp"
#include "text/descriptor.hpp"
#include "text/environment.hpp"
#include "text/limits.hpp"
#include "text/system_problem.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace smd {
namespace {

using detail::Descriptor;
using detail::uninterrupted;

std::string read_text(const std::string& path) {
  const Descriptor file(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  auto text = file ? detail::read_to_end(file.get(), limits::json_bytes) : std::nullopt;
  if (!text) {
    throw ReadError(detail::system_problem(errno, path));
  }
  if (text->size() > limits::json_bytes) {
    throw ReadError({ProblemKind::damaged, path, {}, "longer than the limit (json_bytes)"});
  }
  return *std::move(text);
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

HookConfig HookConfig::load(const std::string& path, Framework framework) {
  return parse(read_text(path), path, framework);
}

std::optional<HookConfig> HookConfig::from_environment(Framework framework) {
  const auto named = text::environment("SMDEBUG_CONFIG_FILE_PATH");
  constexpr const char* usual = "/opt/ml/input/config/debughookconfig.json";
  if (!named && !is_there(usual)) {
    return std::nullopt;
  }
  HookConfig config = load(named.value_or(usual), framework);
  if (detail::hook::in_sagemaker()) {
    if (config.out_dir.starts_with("s3://")) {
      config.out_dir = HookConfig().out_dir;  // the folder from which SageMaker uploads
    }
    config.export_tensorboard = false;  // only the file below counts
    config.tensorboard_dir.clear();
  }
  const std::string board =
      text::environment("TENSORBOARD_CONFIG_FILE_PATH").value_or("/opt/ml/input/config/tensorboardoutputconfig.json");
  if (is_there(board)) {
    // Parsed as if it were part of a configuration.
    const HookConfig other = parse("{\"TensorBoardOutputConfig\": " + read_text(board) + "}", board, framework);
    config.export_tensorboard = other.export_tensorboard || config.export_tensorboard;
    config.tensorboard_dir = other.export_tensorboard ? other.tensorboard_dir : config.tensorboard_dir;
  }
  return config;
}

}  // namespace smd
