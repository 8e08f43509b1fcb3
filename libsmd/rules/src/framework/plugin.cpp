// SPDX-License-Identifier: Apache-2.0
#include <smd/rule_plugin.hpp>

#include "text/escape.hpp"
#include "text/mapped.hpp"

#include <smd/error.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <set>
#include <span>
#include <string_view>

namespace smd {

namespace {

constexpr const char* entry_point = "smd_rule_plugin_v1";

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw InvalidArgument(fmt::format("plug-in {}: {}", detail::printable(path), why));
}

/// Returns the loader's message without the file's name, which the caller adds.
std::string loader_error(const std::string& path) {
  const char* const text = dlerror();
  std::string words = text == nullptr ? "cannot be loaded" : detail::printable(text);
  if (words.starts_with(path + ": ")) {
    words.erase(0, path.size() + 2);
  }
  return words;
}

/// Returns whether a shared object for this machine ends before its segments do. The loader maps them unchecked, and
/// the process dies when it touches a missing page. For other files, the loader reports what is wrong.
bool is_cut_off(const std::string& path, std::uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  const auto read_at = [&file](std::uint64_t offset, auto& into) {
    return static_cast<bool>(file.seekg(static_cast<std::streamoff>(offset)) &&
                             file.read(reinterpret_cast<char*>(&into), sizeof into));
  };
  ElfW(Ehdr) header{};
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (!read_at(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != own_class || header.e_phentsize != sizeof(ElfW(Phdr))) {
    return false;
  }
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    if (header.e_phoff > size || !read_at(header.e_phoff + i * sizeof segment, segment)) {
      return true;
    }
    if (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)) {
      return true;
    }
  }
  return false;
}

std::string_view major_version(std::string_view version) { return version.substr(0, version.find('.')); }

void check(const std::string& path, const RulePlugin* plugin) {
  if (plugin == nullptr || plugin->size < sizeof(RulePlugin)) {
    refuse(path, fmt::format("{} gives no description of a plug-in", entry_point));
  }
  if (plugin->plugin_interface != rule_plugin_interface) {
    refuse(path, fmt::format("was made for interface {} of libsmd; this one has {}; compile it again",
                             plugin->plugin_interface, rule_plugin_interface));
  }
  if (plugin->libsmd_version == nullptr || major_version(plugin->libsmd_version) != major_version(version())) {
    refuse(path,
           fmt::format("was made for libsmd {}; this is {}; compile it again",
                       plugin->libsmd_version == nullptr ? "?" : detail::printable(plugin->libsmd_version), version()));
  }
  if (plugin->compiler_abi == nullptr || std::strcmp(plugin->compiler_abi, detail::plugin_compiler_abi) != 0) {
    refuse(path, "was compiled with another C++ standard library than libsmd; compile it with the same");
  }
  if (plugin->register_rules == nullptr) {
    refuse(path, "has no function that registers rules");
  }
}

}  // namespace

std::vector<std::string> load_rule_plugin(const std::string& path) {
  static std::mutex loading;
  static std::set<const RulePlugin*> loaded;
  const std::lock_guard lock(loading);
  if (path.empty()) {
    throw InvalidArgument("a plug-in's path is empty");
  }
  // Without a slash the loader would look in the system's directories.
  const std::string place = path.find('/') == std::string::npos ? "./" + path : path;
  struct stat status = {};
  const bool there = stat(place.c_str(), &status) == 0;
  if (there && !S_ISREG(status.st_mode)) {  // a FIFO would block the loader
    refuse(path, S_ISDIR(status.st_mode) ? "is a directory; name the shared object itself"
                                         : "is no regular file; name a shared object");
  }
  if (there && is_cut_off(place, static_cast<std::uint64_t>(status.st_size))) {
    refuse(path, "is cut off: it is shorter than its header says; copy or compile it again");
  }
  void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    refuse(path, loader_error(place));
  }
  void* const symbol = dlsym(library, entry_point);
  if (symbol == nullptr) {
    dlclose(library);
    refuse(path, fmt::format("has no {}: it is no plug-in, or one for another libsmd", entry_point));
  }
  const auto entry = reinterpret_cast<const RulePlugin* (*)()>(symbol);
  const RulePlugin* const plugin = entry();
  check(path, plugin);
  if (!loaded.insert(plugin).second) {
    return {};
  }
  const std::size_t before = rule_descriptions().size();
  try {
    plugin->register_rules();
  } catch (const std::exception& error) {
    refuse(path, detail::printable(error.what()));
  } catch (...) {
    refuse(path, "failed to register its rules");
  }
  const std::vector<RuleDescription> rules = rule_descriptions();
  // Rules are in the order of their registration.
  std::vector<std::string> brought = detail::mapped(std::span(rules).subspan(before), &RuleDescription::name);
  if (brought.empty()) {
    refuse(path, "registered no rule");
  }
  return brought;
}

}  // namespace smd
