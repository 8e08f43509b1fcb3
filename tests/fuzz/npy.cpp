// SPDX-License-Identifier: Apache-2.0
// The first byte selects how to treat the input: as a .npy file, as a .npz file, or as elements to write and read
// back.
#include <smd/error.hpp>

#include "save/array.hpp"
#include "source.hpp"
#include "target.hpp"
#include "tensor/npy.hpp"
#include "text/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace smd;
using namespace smd::tool;

namespace {

constexpr Dtype npy_dtypes[] = {Dtype::float32, Dtype::float64, Dtype::int32,     Dtype::uint8,      Dtype::int16,
                                Dtype::int8,    Dtype::string,  Dtype::complex64, Dtype::int64,      Dtype::boolean,
                                Dtype::uint16,  Dtype::uint32,  Dtype::uint64,    Dtype::complex128, Dtype::float16};

std::string written(const TensorView& view) {
  const tensor::NpyType type = tensor::stacked_npy_type(view.dtype(), {view.bytes()});
  std::string file = tensor::npy_header(type, view.shape());
  SMD_REQUIRE(file.size() % 64 == 0);  // NumPy guarantees that elements are aligned
  (void)tensor::write_npy_elements(view.dtype(), type, view.bytes(), [&](std::span<const std::byte> part) {
    file.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  return file;
}

bool same(const TensorValue& value, const TensorView& view) {
  const auto shape = view.shape();
  return value.dtype() == view.dtype() &&
         std::equal(value.shape().begin(), value.shape().end(), shape.begin(), shape.end()) &&
         std::equal(value.bytes().begin(), value.bytes().end(), view.bytes().begin(), view.bytes().end());
}

void check(const TensorValue& value) {
  const auto count = element_count(value.shape());
  SMD_REQUIRE(count && value.shape().size() <= limits::dimensions);
  if (value.dtype() == Dtype::string) {
    SMD_REQUIRE(strings(value.view()).size() == *count);
  } else {
    SMD_REQUIRE(value.bytes().size() == *count * item_size(value.dtype()));
  }
  // An array that was read can be written, and is the same when read again.
  SMD_REQUIRE(same(save::parse_npy(written(value.view()), "again"), value.view()));
}

void round_trip(fuzz::Source& source) {
  save::Array array;
  array.dtype = npy_dtypes[source.number() % std::size(npy_dtypes)];
  const unsigned axes = source.number() % 5;
  std::uint64_t count = 1;
  for (unsigned i = 0; i < axes; ++i) {
    array.shape.push_back(source.number() % 6);
    count *= static_cast<std::uint64_t>(array.shape.back());
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (array.dtype == Dtype::string) {
      // ASCII without a NUL at the end, which NumPy's format does not distinguish from padding.
      std::string text(source.text(source.number() % 9));
      for (char& letter : text) {
        letter = static_cast<char>((static_cast<unsigned char>(letter) & 0x7F) | 1);
      }
      save::append_string(array.bytes, text);
      continue;
    }
    for (std::size_t k = 0; k < item_size(array.dtype); ++k) {
      const auto byte = source.number();
      array.bytes.push_back(static_cast<std::byte>(array.dtype == Dtype::boolean ? byte & 1 : byte));
    }
  }
  SMD_REQUIRE(same(save::parse_npy(written(array.view()), "written"), array.view()));
}

}  // namespace

SMD_FUZZ_ENTRY(npy)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  const save::Owner borrowed(data, [](const void*) {});  // as from a file: nothing is copied
  try {
    switch (source.number() % 3) {
      case 0:
        check(save::parse_npy(source.rest(), "a.npy", borrowed));
        break;
      case 1:
        for (const auto& [key, value] : save::parse_npz(source.rest(), "a.npz", borrowed)) {
          check(value);
        }
        break;
      default:
        round_trip(source);
        break;
    }
  } catch (const ReadError& error) {
    const ProblemKind kind = error.problem.kind;
    SMD_REQUIRE((kind == ProblemKind::damaged || kind == ProblemKind::io) && !error.problem.text.empty());
  }
  return 0;
}
