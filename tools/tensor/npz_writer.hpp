// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "member_name.hpp"
#include "npy.hpp"
#include "zip_writer.hpp"

namespace smd::tool::tensor {

/// An .npz archive: one .npy member per array.
class NpzWriter {
 public:
  NpzWriter(OutputFile& out, Diagnostics& messages) : zip_(out), messages_(messages) {}

  /// Adds an array whose elements are those of all `parts` in order; all are of one type. `numpy.load(…)` will know it
  /// by `key`, as `MemberNames` writes it.
  void add(std::string_view key, Dtype dtype, std::span<const std::int64_t> shape,
           const std::vector<std::span<const std::byte>>& parts);
  void finish();

 private:
  ZipWriter zip_;
  Diagnostics& messages_;
  MemberNames names_;
  std::size_t encoded_ = 0;
  std::string first_encoded_;
  std::vector<std::string> left_out_;  // keys of strings that are not text
};

}  // namespace smd::tool::tensor
