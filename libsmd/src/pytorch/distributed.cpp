// SPDX-License-Identifier: Apache-2.0
#include "pytorch/torch_file.hpp"

#include "pytorch/describe.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace smd::detail::pytorch {

namespace {

/// Which chunk of which tensor: at an offset, or, if the file does not say, of an index.
struct ChunkKey {
  std::string_view tensor;
  std::vector<std::int64_t> offsets;
  std::int64_t index = -1;

  auto operator<=>(const ChunkKey&) const = default;
};

/// A part of a tensor. The bytes from `offset` to `offset + length` of its file are a file of `torch.save`, which
/// contains one tensor of the chunk's sizes.
struct Chunk {
  std::vector<std::int64_t> offsets;  ///< Where it begins in the tensor, along each axis.
  Shape sizes;
  std::string file;  ///< A plain name, in the folder of `.metadata`.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Returns whether chunks cover each element of a tensor once. Precondition: none is empty.
///
/// Between two neighbouring bounds along an axis nothing changes, so that the chunks there tile a slice of one
/// dimension less. Takes at most `budget` steps; more are for chunks that are made to need very many.
bool tile(const Shape& shape, const std::vector<const Chunk*>& chunks, std::size_t axis, std::uint64_t& budget) {
  if (axis == shape.size()) {
    return chunks.size() == 1;
  }
  std::vector<std::int64_t> bounds = {0, shape[axis]};
  for (const Chunk* const chunk : chunks) {
    bounds.push_back(chunk->offsets[axis]);
    bounds.push_back(chunk->offsets[axis] + chunk->sizes[axis]);
  }
  sort_each_once(bounds);
  std::vector<std::vector<const Chunk*>> slices(bounds.size() - 1);
  for (const Chunk* const chunk : chunks) {
    const auto first = std::ranges::lower_bound(bounds, chunk->offsets[axis]) - bounds.begin();
    for (auto i = static_cast<std::size_t>(first); bounds[i] < chunk->offsets[axis] + chunk->sizes[axis]; ++i) {
      if (budget == 0) {
        return false;
      }
      --budget;
      slices[i].push_back(chunk);
    }
  }
  // Slices with the same chunks are alike.
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if ((i == 0 || slices[i] != slices[i - 1]) && !tile(shape, slices[i], axis + 1, budget)) {
      return false;
    }
  }
  return true;
}

class MetadataReader {
 public:
  MetadataReader(storage::Storage& storage, const std::string& path, const Pickle& pickle, const Stop& stop,
                 TorchFile& checkpoint)
      : storage_(storage),
        folder_(path.substr(0, path.rfind('/') + 1)),
        pickle_(pickle),
        stop_(stop),
        checkpoint_(checkpoint) {}

  void read() {
    for (const auto& [key, place] : pickle_.pairs(pickle_.find(pickle_.root(), "storage_data"))) {
      ChunkKey which;
      which.tensor = pickle_.text(pickle_.find(key, "fqn"));
      if (!pickle_.take_sizes(pickle_.find(key, "offset"), which.offsets)) {
        which.offsets.clear();
        which.index = pickle_.integer(pickle_.find(key, "index")).value_or(0);
      }
      places_[std::move(which)] = {place, false};
    }
    wire::FileTensorsMaker tensors;
    const Ref described = pickle_.find(pickle_.root(), "state_dict_metadata");
    if (pickle_.kind(described) == Kind::none) {
      return checkpoint_.problems.add(damaged("has no state_dict_metadata", pickle_.offset(pickle_.root())));
    }
    std::vector<Pickle::Pair> objects = pickle_.pairs(described);
    drop_replaced(pickle_, objects);
    for (const auto& [key, object] : objects) {
      const std::string_view name = pickle_.text(key).substr(0, limits::name_bytes);
      const Ref parts = pickle_.find(object, "chunks");
      const GlobalName* const made = pickle_.global(pickle_.callee(object));
      if (parts == Pickle::nothing && made != nullptr && made->name == "BytesStorageMetadata") {
        told_.insert(name);
        continue;
      }
      if (object == Pickle::nothing) {
        continue;
      }
      ValueType type;
      wire::FileTensors::Position where;
      std::vector<Chunk> chunks;
      if (const char* const why = read_type(pickle_.text(key), object, type)) {
        tell(name, damaged(why, pickle_.offset(object)));
        type.shape.clear();
      } else if (const char* const fault = read_chunks(name, type.shape, parts, chunks)) {
        tell(name, damaged(fault, pickle_.offset(object)));
      } else {
        where.length = *element_count(type.shape) * item_size(type.dtype);
        where.sound = !type.unread_type.empty() || place_chunks(name, chunks, type);
      }
      tensors.add(name, type, where);
    }
    for (const auto& [which, place] : places_) {
      const std::string_view name = std::string_view(which.tensor).substr(0, limits::name_bytes);
      if (!place.used && told_.insert(name).second) {
        tell(name, damaged("storage_data has a part of it that state_dict_metadata lacks"));
      }
    }
    checkpoint_.tensors = std::move(tensors).make(nullptr);
  }

 private:
  void tell(std::string_view name, Problem problem) {
    told_.insert(name);
    problem.text.insert(0, "tensor " + in_quotes(name) + ": ");
    checkpoint_.problems.add(std::move(problem));
  }

  /// Takes from what may still be done; also of a part that many tensors share.
  void spend(std::uint64_t steps) noexcept { budget_ -= std::min(budget_, steps); }

  /// Returns why a tensor cannot be read; null if it can.
  const char* read_type(std::string_view name, Ref object, ValueType& type) {
    const GlobalName* const dtype = pickle_.global(dtype_of(pickle_.find(object, "properties")));
    if (name.size() > limits::name_bytes || dtype == nullptr ||
        !pickle_.take_sizes(pickle_.find(object, "size"), type.shape)) {
      return "its name is longer than the limit (name_bytes), or its type or size cannot be understood";
    }
    const auto known = torch_dtype(dtype->name);
    type.dtype = known.value_or(Dtype::float32);
    type.unread_type = known ? "" : dtype->name;
    const auto count = element_count(type.shape);
    return count && *count < std::uint64_t{1} << 58 ? nullptr : "its size is larger than any file";
  }

  /// The same.
  const char* read_chunks(std::string_view name, const Shape& shape, Ref parts, std::vector<Chunk>& chunks) {
    if (budget_ == 0) {
      return "its chunks take too long to look at";
    }
    const std::vector<Ref> items = pickle_.items(parts);
    spend(items.size());
    for (const Ref part : items) {
      if (const char* const why = read_chunk_of(name, shape, part, chunks)) {
        return why;
      }
    }
    std::ranges::sort(chunks, [](const Chunk& a, const Chunk& b) { return a.offsets < b.offsets; });
    std::erase_if(chunks, [](const Chunk& chunk) { return element_count(chunk.sizes) == 0; });
    const std::vector<const Chunk*> filled = mapped(chunks, [](const Chunk& chunk) { return &chunk; });
    const bool empty = element_count(shape) == 0;
    return (empty ? filled.empty() : tile(shape, filled, 0, budget_)) ? nullptr
           : budget_ == 0                                             ? "its chunks take too long to look at"
                                                                      : "its chunks do not tile it";
  }

  /// The type is an attribute, or the first item of a state that is a tuple.
  [[nodiscard]] Ref dtype_of(Ref properties) {
    Ref dtype = pickle_.find(properties, "dtype");
    const std::vector<Pickle::Pair> pairs = budget_ == 0 ? std::vector<Pickle::Pair>() : pickle_.pairs(properties);
    spend(pairs.size());
    for (const auto& [key, value] : pairs) {
      dtype = dtype == Pickle::nothing && key == Pickle::state ? pickle_.first_items(value)[0] : dtype;
    }
    return dtype;
  }

  const char* read_chunk_of(std::string_view name, const Shape& shape, Ref object, std::vector<Chunk>& chunks) {
    const auto index = static_cast<std::int64_t>(chunks.size());
    Chunk& chunk = chunks.emplace_back();
    bool inside = pickle_.take_sizes(pickle_.find(object, "offsets"), chunk.offsets) &&
                  pickle_.take_sizes(pickle_.find(object, "sizes"), chunk.sizes) &&
                  chunk.offsets.size() == shape.size() && chunk.sizes.size() == shape.size();
    for (std::size_t axis = 0; inside && axis < shape.size(); ++axis) {
      inside = chunk.offsets[axis] <= shape[axis] && chunk.sizes[axis] <= shape[axis] - chunk.offsets[axis];
    }
    const auto by_offset = places_.find({name, chunk.offsets, -1});
    const auto place = by_offset != places_.end() ? by_offset : places_.find({name, {}, index});
    if (!inside || place == places_.end()) {
      return inside ? "a chunk has no place" : "a chunk reaches beyond it, or cannot be understood";
    }
    const Ref stored = place->second.stored;
    place->second.used = true;
    chunk.file = pickle_.text(pickle_.find(stored, "relative_path"));
    const auto offset = pickle_.integer(pickle_.find(stored, "offset"));
    const auto length = pickle_.integer(pickle_.find(stored, "length"));
    if (pickle_.kind(pickle_.find(stored, "transform_descriptors")) != Kind::none) {
      return "its chunks are transformed (transform_descriptors), which is not read";
    }
    if (!storage::is_plain_name(chunk.file) || !offset || !length || *offset < 0 || *length < 0) {
      return "the file of a chunk is not a plain name in this folder, or its place cannot be understood";
    }
    chunk.offset = static_cast<std::uint64_t>(*offset);
    chunk.length = static_cast<std::uint64_t>(*length);
    return nullptr;
  }

  /// Finds the elements of all chunks. Returns false, with a problem, if those of one cannot be read.
  bool place_chunks(std::string_view name, const std::vector<Chunk>& chunks, ValueType& type) {
    const auto source = std::make_shared<storage::ElementSource>();
    source->has_checksums = true;
    for (const Chunk& chunk : chunks) {
      const OpenFile& file = opened(chunk.file);
      auto described = file.file ? describe_chunk(**file.file, type, chunk) : Outcome<TorchFile>(file.file.problem());
      if (!described) {
        Problem problem = std::move(described.problem());
        problem.kind = problem.kind == ProblemKind::not_found ? ProblemKind::damaged : problem.kind;
        problem.text =
            file.file ? problem.text : "the file of a chunk is not there, or cannot be opened: " + problem.text;
        tell(name, in_file(std::move(problem), *file.path));
        return false;
      }
      const wire::FileTensor tensor = described->tensors[0];
      source->has_checksums = source->has_checksums && tensor.source != nullptr && tensor.source->has_checksums;
      Place place = {file.path, {}, tensor.offset, tensor.length};
      place.type = std::make_shared<const ValueType>(ValueType{ValueForm::elements,
                                                               tensor.dtype,
                                                               chunk.sizes,
                                                               {tensor.strides.begin(), tensor.strides.end()},
                                                               {},
                                                               {},
                                                               tensor.source});
      source->chunks.push_back({chunk.offsets, std::move(place)});
    }
    type.source = source;
    return true;
  }

  struct OpenFile {
    std::shared_ptr<const std::string> path;  ///< Relative to the trial.
    Outcome<std::unique_ptr<storage::File>> file;
  };
  const OpenFile& opened(const std::string& name) {
    const auto known = files_.find(name);
    if (known != files_.end()) {
      return known->second;
    }
    if (files_.size() == limits::open_files) {
      files_.clear();
    }
    auto path = std::make_shared<const std::string>(folder_ + name);
    auto file = storage_.open(*path);
    return files_.emplace(name, OpenFile{std::move(path), std::move(file)}).first->second;
  }

  /// Describes a chunk. It must be one tensor with the type and sizes that `.metadata` says.
  [[nodiscard]] Outcome<TorchFile> describe_chunk(const storage::File& file, const ValueType& type,
                                                  const Chunk& chunk) const {
    if (chunk.offset > file.size() || chunk.length > file.size() - chunk.offset) {
      return damaged("the file has no bytes where the chunk should be", file.size());
    }
    TorchFile described = read_torch_file({file, chunk.offset, chunk.offset + chunk.length}, stop_);
    const auto problems = described.problems.kept();
    const auto fault =
        std::ranges::find_if(problems, [](const Problem& problem) { return problem.kind != ProblemKind::remark; });
    if (described.cut || fault != problems.end()) {
      return described.cut ? *described.cut : *fault;
    }
    const bool one = described.tensors.size() == 1 && described.tensors[0].sound;
    const wire::FileTensor tensor = one ? described.tensors[0] : wire::FileTensor();
    if (!one || tensor.dtype != type.dtype || !tensor.unread_type.empty() ||
        !std::ranges::equal(tensor.shape, chunk.sizes)) {
      return damaged("the chunk has another shape or type than .metadata says", chunk.offset);
    }
    return described;
  }

  storage::Storage& storage_;
  std::string folder_;
  const Pickle& pickle_;
  const Stop& stop_;
  TorchFile& checkpoint_;
  struct StoredChunk {
    Ref stored = Pickle::nothing;
    bool used = false;  ///< A tensor has it.
  };
  std::map<ChunkKey, StoredChunk> places_;
  std::set<std::string_view> told_;              ///< Names of what is no tensor, and of tensors with a problem.
  std::uint64_t budget_ = limits::pickle_nodes;  ///< Steps that may still be taken to look at chunks.
  std::map<std::string, OpenFile> files_;
};

}  // namespace

TorchFile read_distributed(storage::Storage& storage, const std::string& path, const Stop& stop) {
  TorchFile checkpoint;
  const auto metadata = storage.open(path);
  const std::uint64_t size = metadata ? std::min((*metadata)->size(), limits::pickle_bytes) : 0;
  const auto bytes = metadata ? read_bytes(**metadata, 0, size, stop) : metadata.problem();
  auto pickle = bytes ? Pickle::read(*bytes, stop) : bytes.problem();
  if (pickle) {
    checkpoint.globals = listed_globals(*pickle);
    MetadataReader(storage, path, *pickle, stop, checkpoint).read();
  } else if (pickle.problem().kind == ProblemKind::not_found) {
    checkpoint.cut = damaged("the checkpoint is incomplete, .metadata, which is written last, is not there");
  } else if (pickle.problem().kind == ProblemKind::not_yet) {
    pickle.problem().kind = ProblemKind::damaged;
    checkpoint.cut = std::move(pickle.problem());
  } else {
    checkpoint.problems.add(std::move(pickle.problem()));
  }
  return checkpoint;
}

}  // namespace smd::detail::pytorch
