// SPDX-License-Identifier: Apache-2.0
// Numbers that a log holds, many of one tensor: their text is made by several threads.
#include "value_view.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <smd/column.hpp>
#include <span>
#include <utility>

namespace smd::tool::tensor {

namespace {

constexpr std::size_t piece_numbers = 4096;  // whose text fits the L2 cache

/// What one thread makes the text of: numbers of one worker and type.
struct Piece {
  std::span<const ColumnPart> parts;
  std::size_t count = 0;
  const RowPattern* text = nullptr;
};

bool alike(const ColumnPart& a, const ColumnPart& b) noexcept {
  return a.worker() == b.worker() && a.dtype() == b.dtype();
}

char* write_row(char* out, const RowPattern& pattern, const ColumnPart& part, std::size_t i) {
  for (const RowPattern::Number& number : pattern.numbers) {
    out += number.before.copy(out, std::string::npos);
    switch (static_cast<NumberColumn>(number.column)) {
      case NumberColumn::step:
      case NumberColumn::mode_step:
        out = write_number(out, part.step(i).value, pattern.precision);
        break;
      case NumberColumn::wall_time:
        out = std::isnan(part.wall_time(i)) ? std::copy_n("NA", 2, out)
                                            : write_number(out, part.wall_time(i), pattern.precision);
        break;
      case NumberColumn::value:
        out =
            part.dtype() == Dtype::float32
                ? write_number(out, std::bit_cast<float>(static_cast<std::uint32_t>(part.number(i))), pattern.precision)
                : write_number(out, std::bit_cast<double>(part.number(i)), pattern.precision);
        break;
    }
  }
  return out + pattern.end.copy(out, std::string::npos);
}

/// Overwrites the start of `text`, which grows as needed, with the rows of a piece. Returns their bytes.
std::size_t write_rows(const Piece& piece, std::string& text) {
  std::size_t most = piece.text->end.size();  // bytes of a row
  for (const RowPattern::Number& number : piece.text->numbers) {
    most += number.before.size() + number_chars;
  }
  std::size_t used = 0;
  for (const ColumnPart& part : piece.parts) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (text.size() - used < most) {
        text.resize(std::max(2 * text.size(), text.size() + most));
      }
      used = static_cast<std::size_t>(write_row(text.data() + used, *piece.text, part, i) - text.data());
    }
  }
  return used;
}

}  // namespace

bool show_held_numbers(const Trial& trial, std::string_view tensor, unsigned jobs, ValueView& view,
                       Progress& progress) {
  const std::optional<smd::ScalarColumn> column = smd::ScalarColumn::held(trial, tensor);
  if (!column) {
    return false;
  }
  const std::span<const ColumnPart> parts = column->parts();
  std::deque<RowPattern> texts;  // parts that are alike share one
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ColumnPart& part = parts[i];
    if (i == 0 || !alike(parts[i - 1], part)) {
      ValueKey key;
      key.tensor = tensor;
      key.worker = part.worker();
      const bool shown = part.dtype() == Dtype::float32 || part.dtype() == Dtype::float64;
      std::optional<RowPattern> text = shown ? view.text_of_numbers(key, part.dtype()) : std::nullopt;
      if (!text) {
        return false;
      }
      texts.push_back(*std::move(text));
    }
    count += part.size();
    if (count >= piece_numbers || i + 1 == parts.size() || !alike(part, parts[i + 1])) {
      pieces.push_back({parts.subspan(begin, i + 1 - begin), count, &texts.back()});
      begin = i + 1;
      count = 0;
    }
  }
  if (pieces.empty()) {
    return false;
  }
  const ParallelLoop loop = reading_loop(trial, pieces.size(), {.jobs = jobs});
  std::vector<std::string> rows(loop.slots());
  std::vector<std::size_t> bytes(loop.slots());
  parallel_for_each(
      loop, [&](const LoopIndex& at) { bytes[at.slot] = write_rows(pieces[at.index], rows[at.slot]); },
      [&](const LoopIndex& at) {
        view.append(std::string_view(rows[at.slot]).substr(0, bytes[at.slot]), pieces[at.index].count);
        progress.advance(pieces[at.index].count);
        return true;
      });
  return true;
}

}  // namespace smd::tool::tensor
