// SPDX-License-Identifier: Apache-2.0
#include "held_numbers.hpp"

#include "rows/idle_objects.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <smd/snapshot.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool::tensor {

namespace {

constexpr std::size_t piece_numbers = 4096;  // whose text fits the L2 cache

/// What one thread makes the text of: numbers of one worker and type.
struct Piece {
  std::span<const HeldNumbers> numbers;
  std::size_t count = 0;
  const NumberText* text = nullptr;
};

bool alike(const HeldNumbers& a, const HeldNumbers& b) noexcept {
  return a.worker() == b.worker() && a.dtype() == b.dtype();
}

std::vector<Piece> pieces_of(std::span<const HeldNumbers> numbers) {
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    count += numbers[i].size();
    if (count >= piece_numbers || i + 1 == numbers.size() || !alike(numbers[i], numbers[i + 1])) {
      pieces.push_back({numbers.subspan(begin, i + 1 - begin), count});
      begin = i + 1;
      count = 0;
    }
  }
  return pieces;
}

/// Makes the text of a piece.
class PieceWork : public TrialPart {
 public:
  /// Overwrites `into`, whose memory is reused.
  PieceWork(const Piece& piece, std::unique_ptr<std::string> into) : piece_(piece), out_(std::move(into)) {}

  void work(BlockReader& /*reader*/) override {
    const RowPattern& pattern = piece_.text->pattern;
    std::size_t most = pattern.end.size();  // bytes of a row
    for (const RowPattern::Number& number : pattern.numbers) {
      most += number.before.size() + number_chars;
    }
    std::size_t used = 0;
    for (const HeldNumbers& numbers : piece_.numbers) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (out_->size() - used < most) {
          out_->resize(std::max(2 * out_->size(), out_->size() + most));
        }
        used = static_cast<std::size_t>(write_row(out_->data() + used, numbers, i) - out_->data());
      }
    }
    out_->resize(used);
  }
  [[nodiscard]] std::unique_ptr<std::string> take_text() noexcept { return std::move(out_); }

 private:
  char* write_row(char* out, const HeldNumbers& numbers, std::size_t i) const {
    const RowPattern& pattern = piece_.text->pattern;
    for (std::size_t k = 0; k < pattern.numbers.size(); ++k) {
      out += pattern.numbers[k].before.copy(out, std::string::npos);
      switch (piece_.text->columns[k]) {
        case NumberColumn::step:
          out = write_number(out, numbers.step(i).value, pattern.precision);
          break;
        case NumberColumn::wall_time:
          out = write_number(out, numbers.wall_time(i), pattern.precision);
          break;
        case NumberColumn::value:
          out = numbers.dtype() == Dtype::float32
                    ? write_number(out, std::bit_cast<float>(static_cast<std::uint32_t>(numbers.number(i))),
                                   pattern.precision)
                    : write_number(out, std::bit_cast<double>(numbers.number(i)), pattern.precision);
          break;
      }
    }
    return out + pattern.end.copy(out, std::string::npos);
  }

  Piece piece_;
  std::unique_ptr<std::string> out_;
};

/// Sets the texts of all pieces; pieces that are alike share one. Returns the texts; empty if the view has none.
std::deque<NumberText> set_texts(std::span<Piece> pieces, std::string_view tensor, const TrialSnapshot& snapshot,
                                 ValueView& view) {
  std::deque<NumberText> texts;
  const HeldNumbers* last = nullptr;
  for (Piece& piece : pieces) {
    const HeldNumbers& numbers = piece.numbers.front();
    if (last == nullptr || !alike(*last, numbers)) {
      ValueKey key;
      key.tensor = tensor;
      key.worker = snapshot.worker(numbers.worker());
      std::optional<NumberText> text = view.text_of_numbers(key, numbers.dtype());
      if (!text) {
        return {};
      }
      texts.push_back(*std::move(text));
    }
    piece.text = &texts.back();
    last = &numbers;
  }
  return texts;
}

}  // namespace

bool show_held_numbers(const Trial& trial, std::string_view tensor, unsigned jobs, ValueView& view,
                       Progress& progress) {
  const TrialSnapshot snapshot = TrialSnapshot::take(trial);
  const std::optional<std::uint32_t> id = snapshot.find_tensor(tensor);
  const auto numbers = id ? snapshot.held_numbers(*id) : std::nullopt;
  if (!numbers) {
    return false;
  }
  std::vector<Piece> pieces = pieces_of(*numbers);
  const std::deque<NumberText> texts = set_texts(pieces, tensor, snapshot, view);
  if (texts.empty()) {
    return false;
  }
  IdleObjects<std::string> idle;
  trial.parallel_for_each(
      pieces.size(),
      [&](std::size_t i) {
        std::unique_ptr<std::string> text = idle.take();
        return std::make_unique<PieceWork>(pieces[i], text ? std::move(text) : std::make_unique<std::string>());
      },
      [&](std::size_t i, std::unique_ptr<TrialPart>&& part) {
        std::unique_ptr<std::string> text = static_cast<PieceWork&>(*part).take_text();
        view.append(*text, pieces[i].count);
        progress.advance(pieces[i].count);
        idle.put(std::move(text));
        return true;
      },
      {.jobs = jobs});
  return true;
}

}  // namespace smd::tool::tensor
