// SPDX-License-Identifier: Apache-2.0
// A checkpoint of torch.distributed.checkpoint: `.metadata`, then the files of chunks that it may name, with separators
// between. Chunks of a sound tensor cover each element once, by a count of its own, and such a tensor is read, or why
// it cannot be is said. seeds.py makes such inputs.
#include "pytorch/torch_file.hpp"

#include "storage/storage.hpp"
#include "values/reader.hpp"

#include <smd/shape.hpp>

#include "source.hpp"
#include "target.hpp"
#include "work_folder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::pytorch;

namespace {

constexpr std::uint64_t most_elements = 1 << 16;

constexpr std::array<std::string_view, 3> chunk_files = {"__0_0.distcp", "__1_0.distcp", "__0_1.distcp"};

/// Adds 1 to each element of a tensor that a chunk holds, along this axis and those after it.
void count_elements(const storage::ElementChunk& chunk, const Shape& shape, std::size_t axis, std::size_t at,
                    std::vector<std::uint8_t>& times) {
  if (axis == shape.size()) {
    ++times[at];
    return;
  }
  const auto size = static_cast<std::size_t>(shape[axis]);
  const Shape& part = chunk.place.type->shape;
  SMD_REQUIRE(chunk.begin[axis] >= 0 && part[axis] > 0 && chunk.begin[axis] + part[axis] <= shape[axis]);
  for (std::int64_t i = 0; i < part[axis]; ++i) {
    count_elements(chunk, shape, axis + 1, at * size + static_cast<std::size_t>(chunk.begin[axis] + i), times);
  }
}

void check_distributed(const wire::FileTensor& tensor, values::Reader& reader) {
  const Shape shape(tensor.shape.begin(), tensor.shape.end());
  const auto count = element_count(shape);
  SMD_REQUIRE(count && tensor.strides.empty());
  if (!tensor.unread_type.empty() || *count > most_elements) {
    return;
  }
  std::vector<std::uint8_t> times(*count);
  for (const storage::ElementChunk& chunk : tensor.source->chunks) {
    SMD_REQUIRE(chunk.place.type->dtype == tensor.dtype);
    count_elements(chunk, shape, 0, 0, times);
  }
  SMD_REQUIRE(times == std::vector<std::uint8_t>(*count, 1));
  const ValueType type{ValueForm::elements, tensor.dtype, shape, {}, {}, {}, tensor.source};
  const Place place{std::make_shared<const std::string>(".metadata"), std::make_shared<const ValueType>(type),
                    tensor.offset, tensor.length};
  std::vector<std::byte> elements(*count * item_size(tensor.dtype));
  const bool read = reader.open(place, tensor.name) && reader.read(0, elements);
  SMD_REQUIRE(read || (reader.problem() && !reader.problem()->text.empty()));
}

}  // namespace

SMD_FUZZ_ENTRY(distributed)(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view separator = "%%NEXT%%";
  fuzz::Source source(data, size);
  const fuzz::WorkFolder& folder = fuzz::empty_work_folder();
  SMD_REQUIRE(folder.write(".metadata", source.piece(separator)));
  for (std::size_t i = 0; i < chunk_files.size() && !source.empty(); ++i) {
    SMD_REQUIRE(folder.write(chunk_files[i], source.piece(separator)));
  }
  const auto opened = storage::open_local(folder.path());
  SMD_REQUIRE(opened);
  const TorchFile checkpoint = read_distributed(**opened, ".metadata");
  values::Reader reader(**opened, true, {});
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    if (checkpoint.tensors[i].sound) {
      check_distributed(checkpoint.tensors[i], reader);
    }
  }
  for (const Problem& problem : checkpoint.problems.kept()) {
    SMD_REQUIRE(!problem.text.empty());
  }
  return 0;
}
