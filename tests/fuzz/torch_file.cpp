// SPDX-License-Identifier: Apache-2.0
// Describes the input as a file of PyTorch: what is sound lies in it, also by a count that knows nothing of how it was
// found, and can be verified.
#include "pytorch/torch_file.hpp"

#include <smd/shape.hpp>

#include "support/memory_file.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::pytorch;

namespace {

void check(const wire::FileTensor& tensor, const test::MemoryFile& file) {
  const Shape shape(tensor.shape.begin(), tensor.shape.end());
  const auto count = element_count(shape);
  SMD_REQUIRE(count.has_value());
  if (!tensor.unread_type.empty()) {
    return;
  }
  std::uint64_t span = *count == 0 ? 0 : 1;
  for (std::size_t axis = 0; axis < shape.size() && *count != 0 && !tensor.strides.empty(); ++axis) {
    SMD_REQUIRE(tensor.strides[axis] >= 0);
    span += static_cast<std::uint64_t>((shape[axis] - 1) * tensor.strides[axis]);
  }
  SMD_REQUIRE(tensor.length == (tensor.strides.empty() ? *count : span) * item_size(tensor.dtype));
  if (!tensor.source->held.empty() || *count == 0) {
    SMD_REQUIRE(*count == 0 || tensor.source->held.size() == tensor.length);
    return;
  }
  const auto begin = tensor.source->find(file, tensor.offset);
  if (begin) {
    SMD_REQUIRE(*begin <= file.size() && tensor.length <= file.size() - *begin);
    (void)tensor.source->verify(file, tensor.offset, {});
  }
}

}  // namespace

SMD_FUZZ_ENTRY(torch_file)(const std::uint8_t* data, std::size_t size) {
  const test::MemoryFile file(std::string(reinterpret_cast<const char*>(data), size));
  const TorchFile described = read_torch_file({file, 0, size});
  for (std::size_t i = 0; i < described.tensors.size(); ++i) {
    if (described.tensors[i].sound) {
      check(described.tensors[i], file);
    }
  }
  for (const Problem& problem : described.problems.kept()) {
    SMD_REQUIRE(!problem.text.empty());
  }
  return 0;
}
