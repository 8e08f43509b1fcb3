// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/archive.hpp"
#include "pytorch/globals.hpp"
#include "pytorch/pickle.hpp"
#include "text/limits.hpp"
#include "types/problem_list.hpp"
#include "wire/file_tensors.hpp"

#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// What a file of `torch.save` contains, in both of its forms: a ZIP archive, and the stream that PyTorch wrote before
/// 1.6 (https://github.com/pytorch/pytorch/blob/main/torch/serialization.py).
namespace smd::detail::pytorch {

/// A plain number or text of the outermost mapping.
struct Fact {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
  bool scalar = false;  ///< A number of its name measures training, or tells how far it is: `epoch`, `best_loss`.
};

/// Where the scales of a quantised tensor's channels are. They are not read with the description.
struct ChannelScales {
  std::string tensor;
  Dtype dtype = Dtype::float64;
  std::uint64_t offset = 0;  ///< As that of a tensor.
  std::uint64_t length = 0;  ///< In bytes.
};

/// Problems lack the file's name; their offsets count from its start, or from the pickle's if that is compressed.
struct TorchFile {
  wire::FileTensors tensors;  ///< Two may have one name.
  std::vector<Fact> facts;
  std::optional<std::int64_t> step;            ///< Which the facts state.
  std::optional<std::int64_t> epoch;           ///< The same.
  std::vector<ListedGlobal> globals;           ///< Of all pickles of the file.
  std::vector<ChannelScales> scales;           ///< Little-endian ones, of 16 MiB in all at most.
  std::shared_ptr<const MemberSource> source;  ///< Of what the file stores; null if that is unknown.
  ProblemList problems{limits::problems_per_file};
  /// The file ends too soon: it may still be written to. Not among `problems`.
  std::optional<Problem> cut;
};

/// Returns whether a file begins as those of `torch.save`, or as any ZIP archive. `first`: its first bytes.
[[nodiscard]] bool may_be_torch_file(std::span<const std::byte> first) noexcept;

/// Describes a file by its directory and its pickle alone: no element is read, and nothing that the pickle names is
/// called. Of a plain pickle, which is no such file, only its globals are listed. Takes time and memory linear in what
/// is read, within `smd::limits`.
[[nodiscard]] TorchFile read_torch_file(const FileSection& section, const Stop& stop = {});

/// Describes the checkpoint of torch.distributed.checkpoint whose `.metadata` has a path; its chunks are files beside
/// it: https://github.com/pytorch/pytorch/blob/main/torch/distributed/checkpoint/metadata.py. Its tensors lie in chunks
/// (`storage::ElementSource::chunks`), each of which is described too. Problems with a chunk name the chunk's file;
/// offsets of others are those in `.metadata`.
[[nodiscard]] TorchFile read_distributed(storage::Storage& storage, const std::string& path, const Stop& stop = {});

}  // namespace smd::detail::pytorch
