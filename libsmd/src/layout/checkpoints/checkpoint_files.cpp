// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_files.hpp"

#include "layout/checkpoints/checkpoint_names.hpp"
#include "layout/checkpoints/trainer_state.hpp"
#include "layout/folder_walk.hpp"
#include "text/limits.hpp"
#include "text/path.hpp"
#include "wire/first_bytes.hpp"
#include "wire/little_endian.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace smd::detail::layout {

namespace {

/// Bytes that are read when a file is opened: enough for most headers, so that a remote store needs one request.
constexpr std::size_t first_bytes = std::size_t{64} << 10;

/// Returns `bytes` bytes from `offset`, in memory of `buffer`. A file that ends before is a problem.
Outcome<std::string_view> read_text(const storage::File& file, std::uint64_t offset, std::uint64_t bytes,
                                    Buffer& buffer) {
  const auto size = static_cast<std::size_t>(bytes);
  std::byte* const memory = buffer.reserve(std::max<std::size_t>(size, 1));
  if (memory == nullptr) {
    return Problem{ProblemKind::io, {}, offset, "memory ran out"};
  }
  const auto got = file.read_at(offset, {memory, size});
  if (!got) {
    return got.problem();
  }
  if (*got < size) {
    return Problem{ProblemKind::io, {}, offset + *got, "the file became shorter while it was read"};
  }
  return std::string_view(reinterpret_cast<const char*>(buffer.first(size).data()), size);
}

/// Returns the text of a JSON file of at most `limits::json_bytes`.
Outcome<std::string_view> read_whole(const storage::File& file, Buffer& buffer) {
  if (file.size() > limits::json_bytes) {
    return damaged("longer than the limit (json_bytes)", limits::json_bytes);
  }
  return read_text(file, 0, file.size(), buffer);
}

/// Takes what a file of PyTorch says.
void take(pytorch::TorchFile&& torch, TensorFileHeader& into) {
  into.header.entries = std::move(torch.tensors);
  into.header.problems = std::move(torch.problems);
  into.header.cut = std::move(torch.cut);
  into.torch = std::make_shared<const pytorch::TorchFile>(std::move(torch));
}

void read_safetensors(const storage::File& file, std::span<const std::byte> first, TensorFileHeader& into) {
  std::array<std::byte, wire::safetensors_length_bytes> bytes{};
  std::copy_n(first.begin(), std::min(first.size(), bytes.size()), bytes.begin());
  const auto length = wire::load_little<std::uint64_t>(bytes);
  if (!wire::check_safetensors_length(length, file.size(), into.header)) {
    return;
  }
  Buffer buffer;
  const auto json = read_text(file, wire::safetensors_length_bytes, length, buffer);
  if (json) {
    into.header = wire::parse_safetensors(*json, file.size());
    const auto source = std::make_shared<storage::ElementSource>();
    source->stamp = into.stamp;
    into.source = source;
  } else {
    into.unreadable = json.problem();
  }
}

/// A checkpoint of torch.distributed.checkpoint without its `.metadata` is as old as the newest of its other files.
std::chrono::system_clock::time_point newest_beside(storage::Storage& storage, const std::string& path) {
  const std::string folder(text::folder_of(path));
  std::chrono::system_clock::time_point newest;
  const auto entries = storage.list(folder);
  for (const storage::DirEntry& entry : entries ? *entries : std::vector<storage::DirEntry>()) {
    newest = std::max(newest, storage.written_at(text::path_in(folder, entry.name)).value_or(newest));
  }
  return newest;
}

}  // namespace

TensorFileHeader read_header(storage::Storage& storage, const std::string& path, const AgeOf& age,
                             const pytorch::Stop& stop) {
  static std::atomic<std::uint64_t> readings = 0;
  TensorFileHeader result;
  result.reading = ++readings;
  result.written = storage.written_at(path).value_or(std::chrono::system_clock::time_point());
  if (text::leaf_of(path) == distributed_name) {
    result.stamp = storage.file_stamp(path);
    take(pytorch::read_distributed(storage, path, stop), result);
    result.written = result.header.cut ? newest_beside(storage, path) : result.written;
    return result;
  }
  const auto file = storage.open_at(path, 0, first_bytes);
  if (!file) {
    result.stamp = storage.file_stamp(path);
    result.unreadable = file.problem();
    return result;
  }
  result.stamp = (*file)->stamp();
  const std::uint64_t size = (*file)->size();
  result.hole = age(path, result.written) < young && (*file)->ends_in_hole();
  const auto first = read_first_bytes(**file, wire::telling_bytes);
  if (!first) {
    result.unreadable = first.problem();
    return result;
  }
  const wire::KnownFile* const known = wire::known_file(*first, path);
  const bool named_safetensors = path.ends_with(safetensors_ending);
  if (wire::looks_like_safetensors(*first)) {
    read_safetensors(**file, *first, result);
  } else if (pytorch::may_be_torch_file(*first) && (known == nullptr || known->kind != wire::FileKind::npz)) {
    take(pytorch::read_torch_file({**file, 0, size}, stop), result);
  } else if (is_doubtful(path) && !wire::may_stand_for_checkpoint(known)) {
    result.foreign = true;
  } else if (known != nullptr && (!named_safetensors || size >= wire::safetensors_length_bytes)) {
    if (known->kind == wire::FileKind::empty || result.hole) {
      result.header.cut = damaged(say(*known), 0);
    } else {
      result.header.problems.add(damaged(say(*known), 0));
    }
  } else if (named_safetensors) {
    read_safetensors(**file, *first, result);
  } else {
    result.header.problems.add(damaged("is neither a file of PyTorch nor of safetensors", 0));
  }
  return result;
}

Outcome<std::string_view> read_json_text(storage::Storage& storage, const std::string& path, Buffer& buffer) {
  const auto file = storage.open_at(path, 0, first_bytes);
  return file ? read_whole(**file, buffer) : Outcome<std::string_view>(file.problem());
}

TrainerStep read_trainer_step(storage::Storage& storage, const std::string& path, bool young) {
  const auto file = storage.open_at(path, 0, first_bytes);
  if (!file) {
    return {{}, file.problem()};
  }
  const std::uint64_t size = (*file)->size();
  Buffer buffer;
  if (!young && size > first_bytes) {
    const auto beginning = read_text(**file, 0, first_bytes, buffer);
    if (!beginning) {
      return {{}, beginning.problem()};
    }
    if (const auto step = global_step_of(*beginning)) {
      return {step, {}};
    }
  }
  const auto text = read_whole(**file, buffer);
  if (!text) {
    return {{}, text.problem()};
  }
  const auto step = global_step_of(*text);
  if (step && !young) {
    return {step, {}};
  }
  const auto log = parse_trainer_log(*text);
  if (!log) {
    Problem problem = log.problem();
    const bool cut = young && problem.offset == text->size();
    problem.kind = cut ? ProblemKind::not_yet : problem.kind;
    return step && !cut ? TrainerStep{step, {}} : TrainerStep{{}, std::move(problem)};
  }
  if (!step && !log->empty()) {
    return {{}, make_problem(ProblemKind::remark, "has no global_step: its log is left out")};
  }
  return {step, {}};
}

}  // namespace smd::detail::layout
