// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/torch_file.hpp"
#include "storage/storage.hpp"

#include <string>

/// Checkpoints of torch.distributed.checkpoint: a file `.metadata`, and files of chunks beside it. Format:
/// https://github.com/pytorch/pytorch/blob/main/torch/distributed/checkpoint/metadata.py.
namespace smd::detail::pytorch {

/// Describes the checkpoint whose `.metadata` has a path. Its tensors lie in chunks (`storage::ElementSource::chunks`),
/// each of which is described too. Problems with a chunk name the chunk's file; offsets of others are those in
/// `.metadata`.
[[nodiscard]] TorchFile read_distributed(storage::Storage& storage, const std::string& path, const Stop& stop = {});

}  // namespace smd::detail::pytorch
