// SPDX-License-Identifier: Apache-2.0
// Reads the input as a pickle: every value that it has can be looked at, and all are within what was read.
#include "pytorch/pickle.hpp"

#include "pytorch/describe.hpp"
#include "pytorch/torch_file.hpp"
#include "storage/element_source.hpp"
#include "support/memory_file.hpp"

#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::pytorch;

SMD_FUZZ_ENTRY(pickle)(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto pickle = Pickle::read(bytes, {});
  if (!pickle) {
    SMD_REQUIRE(pickle.problem().offset && *pickle.problem().offset <= size && !pickle.problem().text.empty());
    return 0;
  }
  SMD_REQUIRE(pickle->length() > 0 && pickle->length() <= size);
  for (Ref node = 0; node < pickle->nodes(); ++node) {
    SMD_REQUIRE(pickle->offset(node) < size);
    SMD_REQUIRE(pickle->text(node).size() <= 2 * size);  // a byte of `V`'s line is a character of Latin-1
    SMD_REQUIRE(pickle->items(node).size() <= size);
    SMD_REQUIRE(pickle->pairs(node).size() <= size);
    (void)storage_facts(*pickle, node);
  }
  for (const ListedGlobal& global : listed_globals(*pickle)) {
    SMD_REQUIRE(global.offset < size);
  }
  Storages none;
  TorchFile file;
  describe(*pickle, none, file, {});
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const wire::FileTensor tensor = file.tensors[i];
    SMD_REQUIRE(!tensor.sound || (tensor.source && !tensor.source->find(test::MemoryFile(bytes), tensor.offset)));
  }
  return 0;
}
