// SPDX-License-Identifier: Apache-2.0
// docgen SOURCE_DIR OUT_DIR: writes the manual pages and completions for the option tables into
// OUT_DIR/{man,completions}, and the documents in docs with tables of such facts. Runs at build time only.
#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

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
  for (const auto* definition : all) {
    write(out / "man" / (std::string(definition->name) + ".1"), smd::docgen::command_page(*definition));
  }
  for (const auto& entry : fs::directory_iterator(source / "man")) {
    if (entry.path().extension() == ".in") {
      write(out / "man" / entry.path().stem(), smd::docgen::filled_page(read(entry.path())));
    }
  }
  for (const auto& entry : fs::directory_iterator(source / "docs")) {
    if (entry.path().extension() == ".in") {
      write(out / "docs" / entry.path().stem(), smd::docgen::filled_document(read(entry.path()), all));
    }
  }
  const fs::path templates = source / "tools/docgen/completions";
  write(out / "completions/bash/smd", smd::docgen::bash_completion(all, read(templates / "smd.bash.in")));
  write(out / "completions/zsh/_smd", smd::docgen::zsh_completion(all, read(templates / "smd.zsh.in")));
  write(out / "completions/fish/__smd_values.fish", smd::docgen::fish_functions(all, read(templates / "smd.fish.in")));
  for (const auto* definition : all) {
    write(out / "completions/fish" / (std::string(definition->name) + ".fish"),
          smd::docgen::fish_completion(*definition));
  }
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
