// SPDX-License-Identifier: Apache-2.0
// Parts of values: elements at strides, as places and slices have them.
#include "values/reader.hpp"

#include "base/parallel.hpp"
#include "text/limits.hpp"
#include "wire/little_endian.hpp"

#include <boost/iterator/counting_iterator.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

namespace smd::detail::values {

namespace {

/// Elements of a part that are gathered at a time. Of a transposed value each block takes a run of every stored row,
/// with a read of its own: many elements make the runs long.
constexpr std::uint64_t part_block_bytes = std::uint64_t{48} << 20;
constexpr std::size_t cache_line_bytes = 64;
/// Reading as many bytes more takes a local file as long as one call more.
constexpr std::int64_t skipped_bytes = 4096;

/// Returns the axes with more than one element by falling distance in the value, and all ascending there, so that the
/// value is read once from front to back. Adds to the places of the first element what turning axes round takes.
std::vector<Axis> ascending_axes(const StridedPart& part, std::int64_t& from, std::int64_t& to) {
  const std::vector<std::int64_t> places = whole_strides(part.shape);
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < part.shape.size(); ++axis) {
    Axis one = {part.shape[axis], part.strides[axis], places[axis]};
    if (one.size == 1) {
      continue;
    }
    if (one.from < 0) {
      from += one.from * (one.size - 1);
      to += one.to * (one.size - 1);
      one.from = -one.from;
      one.to = -one.to;
    }
    axes.push_back(one);
  }
  std::ranges::stable_sort(axes, [](const Axis& a, const Axis& b) { return a.from > b.from; });
  return axes;
}

/// Advances to the next places. Returns false after the last ones.
bool advance(std::span<const Axis> axes, std::vector<std::int64_t>& at, std::int64_t& from, std::int64_t& to) noexcept {
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    from += axes[axis].from;
    to += axes[axis].to;
    if (++at[axis] < axes[axis].size) {
      return true;
    }
    from -= axes[axis].from * axes[axis].size;
    to -= axes[axis].to * axes[axis].size;
    at[axis] = 0;
  }
  return false;
}

/// Calls f with the size as a constant if it is one of an element, so that copies are single instructions.
template <typename F>
bool with_item_size(std::size_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>());
    case 2:
      return f(std::integral_constant<std::size_t, 2>());
    case 4:
      return f(std::integral_constant<std::size_t, 4>());
    case 8:
      return f(std::integral_constant<std::size_t, 8>());
    case 16:
      return f(std::integral_constant<std::size_t, 16>());
  }
  return false;
}

/// Copies runs of so many bytes that lie at strides, in bytes too.
void copy_runs(std::size_t bytes, std::int64_t runs, const std::byte* from, std::int64_t from_stride, std::byte* to,
               std::int64_t to_stride) noexcept {
  const auto copy_each = [&](auto size) {
    for (std::int64_t i = 0; i < runs; ++i) {
      std::memcpy(to + i * to_stride, from + i * from_stride, size);
    }
    return true;
  };
  if (!with_item_size(bytes, copy_each)) {
    copy_each(bytes);  // adjacent elements
  }
}

/// Writes a line of the cache of each column: as many elements as it holds, one of each stored line.
bool copy_columns(std::size_t item, std::int64_t columns, const std::byte* from, std::int64_t from_stride,
                  std::byte* to, std::int64_t to_stride) noexcept {
  return with_item_size(item, [&](auto size) {
    for (std::int64_t k = 0; k < columns; ++k) {
      std::array<std::byte, cache_line_bytes> line;
      for (std::size_t i = 0; i < line.size() / size; ++i) {
        std::memcpy(line.data() + i * size, from + k * size + i * from_stride, size);
      }
      std::memcpy(to + k * to_stride, line.data(), line.size());
    }
    return true;
  });
}

}  // namespace

/// Fills what a chunk has of the elements from `first` on.
Status Reader::read_chunk(std::size_t i, std::uint64_t first, std::span<std::byte> into) {
  const storage::ElementChunk& chunk = source_->chunks[i];
  const Shape& sizes = chunk.place.type->shape;
  const Shape& whole = place_->type->shape;
  const std::vector<std::int64_t> places = whole_strides(whole);
  const std::size_t item = item_size(dtype_);
  const std::uint64_t end = first + into.size() / item;
  // A row of it lies together in the tensor.
  std::uint64_t row_size = 1;
  std::size_t outer = whole.size();
  for (bool full = true; full && outer > 0;) {
    --outer;
    row_size *= static_cast<std::uint64_t>(sizes[outer]);
    full = sizes[outer] == whole[outer];
  }
  std::uint64_t rows = 1;
  for (std::size_t axis = 0; axis < outer; ++axis) {
    rows *= static_cast<std::uint64_t>(sizes[axis]);
  }
  const auto position = [&](std::uint64_t row) {
    std::int64_t at = whole.empty() ? 0 : chunk.begin[outer] * places[outer];
    for (std::size_t axis = outer; axis-- > 0;) {
      const auto size = static_cast<std::uint64_t>(sizes[axis]);
      at += (chunk.begin[axis] + static_cast<std::int64_t>(row % size)) * places[axis];
      row /= size;
    }
    return static_cast<std::uint64_t>(at);
  };
  using Row = boost::counting_iterator<std::uint64_t>;
  const auto first_behind = [&](std::uint64_t place) {  // the first row that ends behind it
    return *std::partition_point(Row(0), Row(rows),
                                 [&](std::uint64_t row) { return position(row) + row_size <= place; });
  };
  const std::uint64_t row = first_behind(first);
  if (row == rows || position(row) >= end) {
    return ok();
  }
  const std::uint64_t last = std::min(first_behind(end - 1), rows - 1);
  const std::uint64_t last_row = position(last) < end ? last : last - 1;
  const auto within = [&](std::uint64_t one,
                          std::uint64_t place) {  // the element of the chunk at a place, or next to it
    return one * row_size + std::clamp(place, position(one), position(one) + row_size) - position(one);
  };
  const std::uint64_t begin = within(row, first);
  const std::size_t bytes = static_cast<std::size_t>(within(last_row, end) - begin) * item;
  std::byte* const data = record_.reserve(bytes);
  if (data == nullptr) {
    return make_problem(ProblemKind::io, "memory ran out");
  }
  if (chunks_.size() == limits::open_files && !chunks_.contains(i)) {
    chunks_.clear();
  }
  std::unique_ptr<Reader>& reader = chunks_[i];
  if (!reader) {
    reader = std::make_unique<Reader>(storage_, verify_, kinds_, options_);
    (void)reader->open(chunk.place, tag_);
  }
  if (!reader->read(begin, {data, bytes})) {
    return *reader->problem();
  }
  const std::byte* from = data;
  for (std::uint64_t one = row; one <= last_row; ++one) {
    const std::uint64_t place = std::max(position(one), first);
    const std::size_t size = static_cast<std::size_t>(std::min(position(one) + row_size, end) - place) * item;
    std::memcpy(into.data() + static_cast<std::size_t>(place - first) * item, from, size);
    from += size;
  }
  return ok();
}

/// Gathers a transposed part: what is adjacent in it lies far apart in the value, along `outer`, and what lies together
/// there, along `inner`, is far apart in it. Elements of several rows are put together before they are written: one by
/// one, each would cost a line of the cache. Benchmark: differences.py, `smd-tensor -f raw, a transposed tensor of 1
/// GiB`.
Status Reader::transpose(std::span<const Axis> axes, const Axis& outer, const Axis& inner, std::int64_t from,
                         std::int64_t to, std::span<std::byte> into) {
  const std::size_t item = item_size(dtype_);
  const auto together = static_cast<std::int64_t>(cache_line_bytes / item);
  const auto bytes = [&](std::int64_t elements) { return elements * static_cast<std::int64_t>(item); };
  const auto line_bytes = static_cast<std::size_t>(bytes(inner.size));
  if (Status right = verified_ || verifies_while_reading_ ? ok() : verify(); !right) {
    return right;
  }
  // Each row costs a call: threads share them, where a call changes nothing but its line.
  const bool shares = verified_ && inner.from == 1 && held_ == nullptr && !storage_.remote() && !inflated() &&
                      (source_ == nullptr || source_->chunks.empty());
  const std::size_t most_jobs = std::max<std::size_t>(part_block_bytes / (together * line_bytes), 1);
  const auto jobs = shares ? static_cast<unsigned>(std::clamp<std::size_t>(options_.jobs, 1, most_jobs)) : 1;
  std::vector<std::vector<std::byte>> lines(jobs, std::vector<std::byte>(together * line_bytes));
  const auto gather_rows = [&](std::int64_t begin, std::int64_t end, std::byte* data) -> Status {
    for (std::int64_t i = begin; i < end; i += together) {
      const std::int64_t count = std::min(together, end - i);
      for (std::int64_t k = 0; k < count; ++k) {
        const auto first = static_cast<std::uint64_t>(from + (i + k) * outer.from);
        const std::span<std::byte> line(data + bytes(k * inner.size), line_bytes);
        if (inner.from == 1) {
          if (Status got = flat_read(first, line); !got) {
            return got;
          }
          continue;
        }
        const Bytes spread = flat_view(first, static_cast<std::uint64_t>(inner.from * (inner.size - 1) + 1));
        if (!spread) {
          return spread.problem();
        }
        copy_runs(item, inner.size, spread->data(), bytes(inner.from), line.data(), bytes(1));
      }
      std::byte* const target = into.data() + bytes(to + i);
      if (count == together && copy_columns(item, inner.size, data, bytes(inner.size), target, bytes(inner.to))) {
        continue;
      }
      for (std::int64_t k = 0; k < inner.size; ++k) {
        copy_runs(item, count, data + bytes(k), bytes(inner.size), target + bytes(k * inner.to), bytes(1));
      }
    }
    return ok();
  };
  // Few pieces: threads wait for each other at the end of each.
  const std::int64_t rows = std::max(outer.size / (std::int64_t{jobs} * 4 * together), std::int64_t{1}) * together;
  const auto pieces = static_cast<std::size_t>((outer.size - 1) / rows + 1);
  std::vector<std::int64_t> at(axes.size(), 0);
  Status all = ok();
  do {
    parallel_ordered(
        jobs, pieces, pieces,
        [&](std::size_t piece, unsigned worker) {
          const std::int64_t begin = static_cast<std::int64_t>(piece) * rows;
          return gather_rows(begin, std::min(begin + rows, outer.size), lines[worker].data());
        },
        [&](std::size_t, Status&& got) { return static_cast<bool>(all = std::move(got)); });
  } while (all && advance(axes, at, from, to));
  return all;
}

/// Copies the elements of a part, in its C order.
Status Reader::gather(const StridedPart& part, std::span<std::byte> into) {
  if (into.empty()) {
    return ok();
  }
  const std::size_t item = item_size(dtype_);
  std::int64_t from = part.offset;
  std::int64_t to = 0;
  std::vector<Axis> axes = ascending_axes(part, from, to);
  std::int64_t last = from;
  for (const Axis& axis : axes) {
    last += axis.from * (axis.size - 1);
  }
  std::int64_t run = 1;  // adjacent elements here and there
  while (!axes.empty() && axes.back().from == run && axes.back().to == run) {
    run *= axes.back().size;
    axes.pop_back();
  }
  const Axis inner = axes.empty() ? Axis{1, run, run} : axes.back();  // whose runs are copied together
  if (!axes.empty()) {
    axes.pop_back();
  }
  // What lies close together is read at once, with what lies between; from a remote file, all of it.
  const auto block = static_cast<std::int64_t>(block_bytes / item);
  const std::int64_t close = storage_.remote() ? block : skipped_bytes / static_cast<std::int64_t>(item);
  std::int64_t ahead = run;
  const auto reach = [&](const Axis& axis) {
    const bool closely = axis.from <= ahead + close;
    ahead += closely ? axis.from * (axis.size - 1) : 0;
    return closely;
  };
  bool more = reach(inner);
  for (std::size_t axis = axes.size(); more && axis-- > 0;) {
    more = reach(axes[axis]);
  }
  const bool stored = stored_bytes_ >= flat_size_ * item;  // no elements are repeated
  if (run == 1 && inner.from > 0 && stored && ahead <= block && !axes.empty() && axes.back().to == 1 &&
      axes.back().from > ahead + close) {
    const Axis outer = axes.back();
    axes.pop_back();
    return transpose(axes, outer, inner, from, to, into);
  }
  ahead = std::min(ahead, block);
  std::vector<std::int64_t> at(axes.size(), 0);
  std::span<const std::byte> window;
  std::int64_t window_first = 0;
  do {
    std::int64_t done = 0;  // elements of the current run
    for (std::int64_t i = 0; i < inner.size;) {
      const std::int64_t first = from + i * inner.from + done;
      const std::int64_t there = window_first + static_cast<std::int64_t>(window.size() / item) - first;
      if (first < window_first || there <= 0) {
        const std::int64_t wanted = std::min(std::max(ahead, run - done), last + 1 - first);
        const Bytes read = flat_view(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(wanted));
        if (!read) {
          return read.problem();
        }
        window = *read;
        window_first = first;
        continue;
      }
      std::byte* const target = into.data() + static_cast<std::size_t>(to + i * inner.to + done) * item;
      const std::byte* const source = window.data() + static_cast<std::size_t>(first - window_first) * item;
      if (done == 0 && there >= run) {
        const std::int64_t fit = inner.from == 0 ? inner.size : (there - run) / inner.from + 1;
        const std::int64_t runs = std::min(inner.size - i, fit);
        copy_runs(static_cast<std::size_t>(run) * item, runs, source, inner.from * static_cast<std::int64_t>(item),
                  target, inner.to * static_cast<std::int64_t>(item));
        i += runs;
        continue;
      }
      const std::int64_t count = std::min(run - done, there);
      std::memcpy(target, source, static_cast<std::size_t>(count) * item);
      done = done + count == run ? 0 : done + count;
      i += done == 0 ? 1 : 0;
    }
  } while (advance(axes, at, from, to));
  return ok();
}

/// Returns elements of the part from `first` on: as many whole rows as fit a block.
Reader::Bytes Reader::part_view(std::uint64_t first) {
  const std::size_t item = item_size(dtype_);
  if (first - part_first_ >= part_count_) {  // also if it is before
    const std::vector<std::int64_t> places = whole_strides(shape_);
    StridedPart rows = *part_;
    std::uint64_t rest = first;
    std::size_t axis = 0;
    // One index on each axis whose rows are too long, then a range of rows, then all of theirs.
    for (; axis + 1 < shape_.size() && static_cast<std::uint64_t>(places[axis]) * item > part_block_bytes; ++axis) {
      const auto place = static_cast<std::uint64_t>(places[axis]);
      rows.offset += static_cast<std::int64_t>(rest / place) * rows.strides[axis];
      rows.shape[axis] = 1;
      rest %= place;
    }
    std::uint64_t count = 1;
    if (!shape_.empty()) {
      const auto place = static_cast<std::uint64_t>(places[axis]);
      const auto row = static_cast<std::int64_t>(rest / place);
      const auto most = static_cast<std::int64_t>(std::max<std::uint64_t>(part_block_bytes / (place * item), 1));
      rows.offset += row * rows.strides[axis];
      rows.shape[axis] = std::min(shape_[axis] - row, most);
      rest %= place;
      count = static_cast<std::uint64_t>(rows.shape[axis]) * place;
    }
    part_count_ = 0;
    std::byte* const data = part_block_.reserve(count * item);
    if (data == nullptr) {
      return make_problem(ProblemKind::io, "memory ran out");
    }
    if (Status got = gather(rows, {data, static_cast<std::size_t>(count * item)}); !got) {
      return std::move(got.problem());
    }
    part_first_ = first - rest;
    part_count_ = count;
  }
  const std::uint64_t skipped = first - part_first_;
  return std::span<const std::byte>(part_block_.data() + skipped * item, (part_count_ - skipped) * item);
}

void Reader::narrow(const StridedPart& part) try {
  if (item_size(dtype_) == 0) {
    narrow_text(part);
    return;
  }
  StridedPart of_flat = part;
  if (part_ && size_ != 0 && element_count(part.shape).value_or(0) != 0) {
    // Strides and offset count elements of what was taken before: how far each goes along its axes.
    const std::vector<std::int64_t> places = whole_strides(shape_);
    bool inside = true;
    of_flat.offset = part_->offset;
    of_flat.strides.assign(part.strides.size(), 0);
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      const auto along = [&](std::int64_t distance) { return distance / places[axis] % shape_[axis]; };
      std::int64_t low = along(part.offset);
      std::int64_t high = low;
      of_flat.offset += low * part_->strides[axis];
      for (std::size_t of = 0; of < part.shape.size(); ++of) {
        const std::int64_t stride = part.shape[of] > 1 ? along(part.strides[of]) : 0;
        of_flat.strides[of] += stride * part_->strides[axis];
        (stride < 0 ? low : high) += stride * (part.shape[of] - 1);
      }
      inside = inside && low >= 0 && high < shape_[axis];
    }
    if (!inside) {  // it goes from row to row: the elements must lie one after another
      const std::size_t bytes = size_ * item_size(dtype_);
      std::shared_ptr<std::byte[]> elements = std::make_shared_for_overwrite<std::byte[]>(bytes);
      if (!read(0, {elements.get(), bytes})) {
        return;
      }
      owned_ = std::move(elements);
      hold({owned_.get(), bytes});
      flat_size_ = size_;
      source_ = nullptr;
      of_flat = part;
    }
  }
  part_ = std::move(of_flat);
  part_count_ = 0;
  shape_ = part.shape;
  size_ = element_count(shape_).value_or(0);
  repeats_ = 0;
} catch (const std::bad_alloc&) {
  fail(make_problem(ProblemKind::io, "memory ran out"));
}

void Reader::in_any_order() noexcept try {
  if (!part_ || size_ == 0) {
    return;
  }
  StridedPart stored;
  std::int64_t to = 0;
  stored.offset = part_->offset;
  for (const Axis& axis : ascending_axes(*part_, stored.offset, to)) {
    stored.shape.push_back(axis.size);
    stored.strides.push_back(axis.from);
  }
  shape_ = stored.shape;
  part_ = std::move(stored);
  part_count_ = 0;
  if (size_ == flat_size_ && part_->offset == 0 && part_->strides == whole_strides(shape_)) {
    part_.reset();
  }
} catch (const std::bad_alloc&) {
  fail(make_problem(ProblemKind::io, "memory ran out"));
}

/// Packs the texts of a part.
void Reader::narrow_text(const StridedPart& part) {
  std::vector<std::span<const std::byte>> texts;  // each after its length
  texts.reserve(size_);
  for (std::uint64_t at = 0; texts.size() < size_;) {
    const auto length = wire::load_little<std::uint32_t>(std::span(held_ + at, sizeof(std::uint32_t)));
    texts.emplace_back(held_ + at, sizeof length + length);
    at += texts.back().size();
  }
  std::vector<Axis> axes;
  const std::vector<std::int64_t> places = whole_strides(part.shape);
  for (std::size_t axis = 0; axis < part.shape.size(); ++axis) {
    axes.push_back({part.shape[axis], part.strides[axis], places[axis]});
  }
  std::vector<std::byte> packed;
  shape_ = part.shape;
  flat_size_ = size_ = element_count(shape_).value_or(0);
  std::vector<std::int64_t> at(axes.size(), 0);
  std::int64_t from = part.offset;
  std::int64_t to = 0;
  for (bool more = size_ != 0; more; more = advance(axes, at, from, to)) {
    const std::span<const std::byte> text = texts[static_cast<std::size_t>(from)];
    packed.insert(packed.end(), text.begin(), text.end());
  }
  owned_ = std::shared_ptr<std::byte[]>(new std::byte[packed.size() + 1]);
  std::ranges::copy(packed, owned_.get());
  hold({owned_.get(), packed.size()});
}

}  // namespace smd::detail::values
