// SPDX-License-Identifier: Apache-2.0
#include "s3/aws_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "text/descriptor.hpp"
#include "text/environment.hpp"
#include "text/escape.hpp"
#include "text/system_problem.hpp"
#include "text/trim.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::string_view too_long_text = "longer than 1 MiB";

std::string_view trimmed(std::string_view text) noexcept { return text::trimmed(text, " \t\r"); }

/// Returns NAME for `[default]`, `[profile NAME]` in the config file and `[NAME]` in the credentials file; nullopt for
/// other sections.
std::optional<std::string> section_name(std::string_view line, bool config) {
  line = trimmed(line.substr(1, std::min(line.find(']'), line.size()) - 1));
  if (!config || line == "default") {
    return std::string(line);
  }
  constexpr std::string_view word = "profile";
  if (!line.starts_with(word) || line.size() == word.size() ||
      (line[word.size()] != ' ' && line[word.size()] != '\t')) {
    return std::nullopt;
  }
  line = trimmed(line.substr(word.size()));
  if (line.size() >= 2 && (line.front() == '"' || line.front() == '\'') && line.back() == line.front()) {
    line = line.substr(1, line.size() - 2);
  }
  return std::string(line);
}

void parse(std::string_view text, bool config, std::map<std::string, Profile, std::less<>>& profiles) {
  Profile* profile = nullptr;
  while (!text.empty()) {
    const std::string_view line = text::next_part(text, "\n");
    const std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') {
      continue;
    }
    if (content.front() == '[') {
      const auto name = section_name(content, config);
      profile = name ? &profiles[*name] : nullptr;
      continue;
    }
    const std::size_t equals = content.find('=');
    // Indented lines belong to the setting above (`s3 =`), not to the profile.
    if (profile == nullptr || equals == content.npos || line.front() == ' ' || line.front() == '\t') {
      continue;
    }
    (*profile)[std::string(trimmed(content.substr(0, equals)))] = std::string(trimmed(content.substr(equals + 1)));
  }
}

std::optional<std::string> file_of(const char* variable, const char* leaf) {
  if (auto path = text::environment(variable)) {
    return path;
  }
  const auto home = text::environment("HOME");
  return home ? std::optional(*home + "/.aws/" + leaf) : std::nullopt;
}

}  // namespace

Outcome<std::string> read_small_file(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  auto text = fd ? read_to_end(fd.get(), most_bytes) : std::nullopt;
  if (!text) {
    return system_problem(errno, {});
  }
  return text->size() <= most_bytes ? Outcome(*std::move(text)) : damaged(std::string(too_long_text));
}

std::string setting(const Profile& profile, std::string_view name) {
  const auto found = profile.find(name);
  return found == profile.end() ? std::string() : found->second;
}

std::string AwsFiles::content_of(const std::optional<std::string>& path) {
  auto content = path ? read_small_file(*path) : std::string();
  if (content) {
    return std::move(*content);
  }
  if (content.problem().kind != ProblemKind::not_found) {
    (content.problem().text == too_long_text ? too_long_ : unreadable_)
        .push_back(in_quotes(*path) + " is not used: " + content.problem().text);
  }
  return {};
}

AwsFiles AwsFiles::load() {
  AwsFiles files;
  parse(files.content_of(file_of("AWS_CONFIG_FILE", "config")), true, files.profiles_);
  parse(files.content_of(file_of("AWS_SHARED_CREDENTIALS_FILE", "credentials")), false, files.profiles_);
  return files;
}

std::string AwsFiles::unread() const {
  std::string text;
  for (const auto* const list : {&too_long_, &unreadable_}) {
    for (const std::string& each : *list) {
      text += "; " + each;
    }
  }
  return text;
}

std::optional<Profile> AwsFiles::profile(std::string_view name) const {
  const auto found = profiles_.find(name);
  return found == profiles_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace smd::detail::storage::s3
