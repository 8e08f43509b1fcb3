// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/local_storage.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What the tests of local storage share.
namespace smd::test {

using detail::storage::LocalOptions;
using detail::storage::Resolve;
using detail::storage::Storage;

inline std::unique_ptr<Storage> open_storage(const std::string& path, const LocalOptions& options = {}) {
  auto storage = detail::storage::open_local(path, options);
  REQUIRE(storage);
  return *std::move(storage);
}

/// The ways of resolving names that this system has.
inline std::vector<Resolve> ways() {
  const detail::Descriptor here(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (detail::storage::best_resolve(here.get()) == Resolve::kernel) {
    return {Resolve::kernel, Resolve::by_component};
  }
  MESSAGE("no openat2 here: only the walk by component is tested");
  return {Resolve::by_component};
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// All of a file, or why it could not be had.
struct Read {
  explicit Read(detail::Outcome<std::unique_ptr<detail::storage::File>> file) {
    if (!file) {
      problem = file.problem();
      return;
    }
    std::vector<std::byte> bytes((*file)->size());
    const auto n = (*file)->read_at(0, bytes);
    if (!n) {
      problem = n.problem();
      return;
    }
    opened = true;
    text = text_of(std::span(bytes).first(*n));
  }

  bool opened = false;
  std::string text;
  Problem problem;
};

inline void link_to(const std::string& target, const std::string& path) {
  REQUIRE(::symlink(target.c_str(), path.c_str()) == 0);
}

}  // namespace smd::test
