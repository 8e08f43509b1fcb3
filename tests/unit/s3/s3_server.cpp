// SPDX-License-Identifier: Apache-2.0
#include "s3_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

extern char** environ;  // POSIX's name

namespace smd::test {

AwsEnvironment::AwsEnvironment() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (name.starts_with("AWS_") || name == "HOME" || name == "SMD_CACHE_DIR" || name.ends_with("_proxy") ||
        name.ends_with("_PROXY")) {
      before_[name] = std::getenv(name.c_str());
      names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    ::unsetenv(name.c_str());
  }
  set("HOME", home_.path());
  set("AWS_EC2_METADATA_DISABLED", "true");
  set("AWS_ACCESS_KEY_ID", key_id);
  set("AWS_SECRET_ACCESS_KEY", secret_key);
}

AwsEnvironment::~AwsEnvironment() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with("AWS_") || text.starts_with("HOME=") || text.starts_with("SMD_CACHE_DIR=") ||
        text.find("_proxy=") != text.npos) {
      names.emplace_back(text.substr(0, text.find('=')));
    }
  }
  for (const std::string& name : names) {
    ::unsetenv(name.c_str());
  }
  for (const auto& [name, value] : before_) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
}

void AwsEnvironment::set(const char* name, const std::string& value) const { ::setenv(name, value.c_str(), 1); }
void AwsEnvironment::unset(const char* name) const { ::unsetenv(name); }

S3Server::S3Server(const std::vector<std::string>& arguments) {
  dir_.make_dir("root/bucket");
  faults("[]");
  dir_.write("log", "");
  std::vector<std::string> words{SMD_PYTHON,      "-B",    SMD_S3_SERVER, dir_ / "root", "--faults",
                                 dir_ / "faults", "--log", dir_ / "log"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int error = ::posix_spawn(&child_, SMD_PYTHON, &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char byte = 0;
  while (error == 0 && ::read(ends[0], &byte, 1) == 1 && byte != '\n') {
    port_.push_back(byte);
  }
  ::close(ends[0]);
  if (port_.empty()) {
    throw std::runtime_error("the S3 server did not start");
  }
}

S3Server::~S3Server() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

void S3Server::put(std::string_view key, std::string_view content, std::string_view bucket) const {
  // Objects appear complete, each with an inode of its own, so that the server sees the change.
  const std::string path = dir_ / "root/" + std::string(bucket) + "/" + std::string(key);
  std::filesystem::create_directories(path.substr(0, path.rfind('/')));
  std::filesystem::rename(dir_.write("next-object", content), path);
}

void S3Server::faults(std::string_view json) {
  // Another inode each time, so that the server sees the change.
  const std::string next = dir_.write("faults." + std::to_string(fault_files_++), json);
  std::filesystem::rename(next, dir_ / "faults");
}

std::vector<nlohmann::json> S3Server::log() {
  const std::string text = read_file(dir_ / "log");
  std::vector<nlohmann::json> entries;
  for (std::size_t end; (end = text.find('\n', log_read_)) != text.npos; log_read_ = end + 1) {
    entries.push_back(nlohmann::json::parse(text.substr(log_read_, end - log_read_)));
  }
  return entries;
}

detail::storage::s3::Settings S3Server::settings(const RemoteOptions& options) const {
  RemoteOptions here = options;
  if (here.endpoint_url.empty()) {
    here.endpoint_url = url();
  }
  auto made = detail::storage::s3::Settings::make(here, 0);
  if (!made) {
    throw std::runtime_error(made.problem().text);
  }
  made->patience.first_pause = std::chrono::milliseconds(1);
  made->patience.most_pause = std::chrono::milliseconds(2);
  made->patience.metadata = std::chrono::seconds(30);  // a busy machine must not look like a missing service
  return *made;
}

}  // namespace smd::test
