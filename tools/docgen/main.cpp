// SPDX-License-Identifier: Apache-2.0
// docgen SOURCE_DIR OUT_DIR: writes the manual pages and completions, of the option tables and man/*.in, into
// OUT_DIR/{man,completions}, and the documents in docs with tables of such facts. Runs at build time only.
#include <algorithm>
#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/mapped.hpp"
#include "docgen.hpp"
#include "smd_commands.hpp"

namespace {

namespace fs = boost::filesystem;

/// Returns the documented commands, in the order of the manual.
smd::docgen::Definitions commands() {
#define SMD_DEFINITION(name, command) &(command).definition(),
  return {SMD_COMMANDS(SMD_DEFINITION)};
#undef SMD_DEFINITION
}

std::string read(const fs::path& path) {
  std::ifstream file(path.string(), std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the sections of a file in man; errors name it.
smd::docgen::Sections read_sections(const fs::path& path, const smd::docgen::Slots& slots,
                                    std::span<const std::string> titles = {}) {
  const std::string text = read(path);
  try {
    return smd::docgen::sections(text, slots, titles);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}

/// Returns whether a file in man is a page with slots. The others are parts of pages that docgen makes.
bool is_page(const fs::path& path) {
  const fs::path section = path.stem().extension();
  return path.extension() == ".in" && !section.empty() && section != ".1";
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path.string(), std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

void generate(const fs::path& source, const fs::path& out) {
  const auto all = commands();
  const fs::path man = source / "man";
  smd::docgen::Slots shared;
  for (const auto& [title, text] : read_sections(man / "shared.in", {})) {
    if (!smd::docgen::is_slot(title)) {
      throw std::runtime_error((man / "shared.in").string() + ": a title here has capitals and _ alone: " + title);
    }
    shared.emplace(title, text);
  }
  std::vector<std::string> groups;
  for (const auto* definition : all) {
    for (const auto& group : definition->groups()) {
      groups.emplace_back(group.title);
    }
  }
  const std::vector<std::string> rules =
      smd::tool::mapped(smd::docgen::rule_words(), [](const auto& rule) { return rule.names.front(); });
  const auto notes = read_sections(man / "groups.in", {{"TAGS", smd::docgen::tag_list()}}, groups);
  const auto choices = read_sections(man / "choices.in", {}, rules);
  for (const auto* definition : all) {
    const std::string page = std::string(definition->name) + ".1";
    write(out / "man" / page,
          smd::docgen::command_page(*definition, read_sections(man / (page + ".in"), shared), notes));
    write(out / "completions/fish" / (std::string(definition->name) + ".fish"),
          smd::docgen::fish_completion(*definition));
  }
  for (const auto& entry : fs::directory_iterator(man)) {
    const fs::path page = entry.path().stem();
    const auto is_it = [&](const auto* definition) { return page.stem().string() == definition->name; };
    if (entry.path().extension() == ".in" && page.extension() == ".1" && std::none_of(all.begin(), all.end(), is_it)) {
      throw std::runtime_error(entry.path().string() + ": there is no such command");
    }
    if (is_page(entry.path())) {
      write(out / "man" / entry.path().stem(), smd::docgen::filled_page(read(entry.path()), choices));
    }
  }
  for (const auto& entry : fs::directory_iterator(source / "docs")) {
    if (entry.path().extension() == ".in") {
      write(out / "docs" / entry.path().stem(), smd::docgen::filled_document(read(entry.path()), all, choices));
    }
  }
  const fs::path templates = source / "tools/docgen/completions";
  write(out / "completions/bash/smd", smd::docgen::bash_completion(all, read(templates / "smd.bash.in")));
  write(out / "completions/zsh/_smd", smd::docgen::zsh_completion(all, read(templates / "smd.zsh.in")));
  write(out / "completions/fish/__smd_values.fish", smd::docgen::fish_functions(all, read(templates / "smd.fish.in")));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: docgen SOURCE_DIR OUT_DIR\n", stderr);
    return 2;
  }
  try {
    generate(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "docgen: %s\n", error.what());
    return 1;
  }
}
