// SPDX-License-Identifier: Apache-2.0
#include "wire/safetensors.hpp"

#include "text/escape.hpp"
#include "text/json_scanner.hpp"

#include <smd/shape.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace smd::detail::wire {

namespace {

struct SafetensorsType {
  std::string_view name;
  unsigned bits;
  std::optional<Dtype> dtype;  ///< Nullopt if elements of this type are listed but not read.
};

// clang-format off
constexpr SafetensorsType safetensors_types[] = {
    {"BOOL", 8, Dtype::boolean},
    {"U8", 8, Dtype::uint8},
    {"I8", 8, Dtype::int8},
    {"U16", 16, Dtype::uint16},
    {"I16", 16, Dtype::int16},
    {"U32", 32, Dtype::uint32},
    {"I32", 32, Dtype::int32},
    {"U64", 64, Dtype::uint64},
    {"I64", 64, Dtype::int64},
    {"F16", 16, Dtype::float16},
    {"BF16", 16, Dtype::bfloat16},
    {"F32", 32, Dtype::float32},
    {"F64", 64, Dtype::float64},
    {"C64", 64, Dtype::complex64},
    {"F8_E4M3", 8, Dtype::float8_e4m3fn},
    {"F8_E5M2", 8, Dtype::float8_e5m2},
    {"F8_E8M0", 8, Dtype::float8_e8m0fnu},
    {"F8_E4M3FNUZ", 8, Dtype::float8_e4m3fnuz},
    {"F8_E5M2FNUZ", 8, Dtype::float8_e5m2fnuz},
    {"F4", 4, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
};
// clang-format on

/// An entry that is not yet checked. Its texts are in the header, its sizes in a list for all entries.
struct RawEntry {
  SafetensorsEntry entry;
  std::uint32_t first_size = 0;
  std::uint32_t dimensions = 0;
  std::uint32_t at = 0;  ///< Offset after its name in the header, which is shorter than 4 GB.
  bool has_range = false;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const char* fault = nullptr;
};

/// Returns the number of bytes that elements take. Nullopt if it is not whole or exceeds 63 bits.
std::optional<std::uint64_t> element_bytes(const Shape& shape, unsigned bits) noexcept {
  constexpr unsigned bits_of_byte = 8;
  const std::optional<std::uint64_t> count = element_count(shape);
  if (!count || *count > (std::uint64_t{1} << 63) / bits || *count * bits % bits_of_byte != 0) {
    return std::nullopt;
  }
  return *count * bits / bits_of_byte;
}

}  // namespace

class SafetensorsParser {
 public:
  SafetensorsParser(std::string json, std::uint64_t file_bytes)
      : header_(holding(std::move(json))),
        json_(*header_.json_),
        scanner_(json_),
        data_(safetensors_length_bytes + json_.size()),
        file_bytes_(file_bytes) {}

  SafetensorsHeader parse() && {
    constexpr std::size_t usual_bytes = 100;  // of an entry
    raw_.reserve(std::min(json_.size() / usual_bytes, limits::safetensors_tensors));
    if (read()) {
      for (RawEntry& raw : raw_) {
        raw.entry.shape = std::span(header_.sizes_).subspan(raw.first_size, raw.dimensions);
      }
      find_repeated();
      check_types();
      check_ranges();
      header_.entries.reserve(raw_.size());
      for (const RawEntry& raw : raw_) {
        header_.entries.push_back(raw.entry);
      }
    } else {
      header_.json_.reset();
    }
    return std::move(header_);
  }

 private:
  static SafetensorsHeader holding(std::string json) {
    SafetensorsHeader header;
    header.json_ = std::make_unique<const std::string>(std::move(json));
    return header;
  }

  bool fail(std::uint64_t at, std::string text) {
    header_.problems.add(damaged(std::move(text), safetensors_length_bytes + at));
    return false;
  }

  bool read() {
    if (const std::size_t bad = text::first_bad_utf8(json_); bad != json_.size()) {
      return fail(bad, "the header is not UTF-8");
    }
    if (read_all()) {
      return true;
    }
    return scanner_.failed() &&
           fail(scanner_.offset(), std::string("the header is no JSON object: ") + scanner_.error());
  }

  /// Returns false after an error, which is in `header_.problems` or in the scanner.
  bool read_all() {
    scanner_.enter_object();
    for (std::string_view name; scanner_.next_member(name);) {
      if (name == "__metadata__") {
        read_metadata();
      } else if (raw_.size() == limits::safetensors_tensors) {
        return fail(scanner_.offset(), "the header names more tensors than safetensors_tensors = " +
                                           std::to_string(limits::safetensors_tensors));
      } else {
        read_entry(name);
      }
      if (scanner_.failed()) {
        return false;
      }
    }
    return scanner_.finish();
  }

  /// Checks that the metadata are strings by name, or null, and discards them.
  void read_metadata() {
    const std::uint64_t at = scanner_.offset();
    bool right = !std::exchange(has_metadata_, true);
    if (scanner_.peek() == text::JsonKind::null) {
      scanner_.skip();
    } else if (scanner_.peek() != text::JsonKind::object) {
      right = false;
      scanner_.skip();
    } else {
      scanner_.enter_object();
      for (std::string_view key; scanner_.next_member(key);) {
        right = right && scanner_.peek() == text::JsonKind::string;
        scanner_.skip();
      }
    }
    if (!right && !scanner_.failed()) {
      fail(at, "__metadata__ stands there twice, or is not strings by name");
    }
  }

  void read_entry(std::string_view name) {
    RawEntry& raw = raw_.emplace_back();
    raw.at = static_cast<std::uint32_t>(scanner_.offset());
    if (name.size() > limits::name_bytes) {
      raw.fault = "its name is longer than name_bytes";
      name = name.substr(0, text::quoted_bytes);
    }
    raw.entry.name = lasting(name);
    const std::size_t begin = scanner_.offset();
    if (read_usual_entry(raw)) {
      return;
    }
    scanner_.go_back(begin);
    header_.sizes_.resize(raw.first_size);
    if (scanner_.peek() != text::JsonKind::object) {
      raw.fault = "its entry is not an object";
      scanner_.skip();
      return;
    }
    bool dtype = false;
    bool shape = false;
    bool range = false;
    scanner_.enter_object();
    for (std::string_view key; scanner_.next_member(key);) {
      if (key == "dtype") {
        set(raw, std::exchange(dtype, true), "dtype stands there twice");
        read_dtype(raw);
      } else if (key == "shape") {
        set(raw, std::exchange(shape, true), "shape stands there twice");
        read_shape(raw);
      } else if (key == "data_offsets") {
        set(raw, std::exchange(range, true), "data_offsets stands there twice");
        read_range(raw);
      } else {
        scanner_.skip();
      }
    }
    set(raw, !dtype, "its entry has no dtype");
    set(raw, !shape, "its entry has no shape");
    set(raw, !range, "its entry has no data_offsets");
  }

  /// Reads an entry in the form that all writers use: three valid members in one order. Returns false for any other.
  bool read_usual_entry(RawEntry& raw) {
    std::vector<std::int64_t>& sizes = header_.sizes_;
    raw.first_size = static_cast<std::uint32_t>(sizes.size());
    std::string_view type;
    if (!scanner_.pass('{') || !scanner_.pass_name("dtype") || !scanner_.pass_string(type) || type.empty() ||
        type.size() > text::quoted_bytes || !scanner_.pass(',') || !scanner_.pass_name("shape") ||
        !scanner_.pass('[')) {
      return false;
    }
    for (bool ended = scanner_.pass(']'); !ended;) {
      std::uint64_t size = 0;
      if (sizes.size() - raw.first_size == limits::dimensions || !scanner_.pass_natural(size)) {
        return false;
      }
      sizes.push_back(static_cast<std::int64_t>(size));
      ended = scanner_.pass(']');
      if (!ended && !scanner_.pass(',')) {
        return false;
      }
    }
    if (!scanner_.pass(',') || !scanner_.pass_name("data_offsets") || !scanner_.pass('[') ||
        !scanner_.pass_natural(raw.begin) || !scanner_.pass(',') || !scanner_.pass_natural(raw.end) ||
        raw.end < raw.begin || !scanner_.pass(']') || !scanner_.pass('}')) {
      raw.begin = raw.end = 0;
      return false;
    }
    raw.has_range = true;
    raw.dimensions = static_cast<std::uint32_t>(sizes.size() - raw.first_size);
    raw.entry.unread_type = type;
    return true;
  }

  /// Returns a text of the scanner with the lifetime of the header: copies it if it had escapes.
  std::string_view lasting(std::string_view text) {
    return scanner_.stands_in_text(text) ? text : std::string_view(header_.unescaped_.emplace_front(text));
  }

  /// Records the first fault of an entry.
  static void set(RawEntry& raw, bool wrong, const char* fault) {
    if (wrong && raw.fault == nullptr) {
      raw.fault = fault;
    }
  }

  void read_dtype(RawEntry& raw) {
    std::string_view name;
    if (scanner_.peek() != text::JsonKind::string) {
      set(raw, true, "dtype is not a string");
      scanner_.skip();
    } else if (scanner_.string(name)) {
      set(raw, name.empty(), "dtype is empty");
      raw.entry.unread_type = lasting(text::beginning(name, text::quoted_bytes));
    }
  }

  /// Reads a list of natural numbers. Returns false if the value is not such a list.
  template <class Take>
  bool read_numbers(Take take) {
    if (scanner_.peek() != text::JsonKind::array) {
      scanner_.skip();
      return false;
    }
    bool right = true;
    scanner_.enter_array();
    while (scanner_.next_item()) {
      text::JsonNumber number;
      if (scanner_.peek() == text::JsonKind::number) {
        scanner_.number(number);
      } else {
        scanner_.skip();
      }
      right = right && number.is_natural && take(number.natural);
    }
    return right;
  }

  void read_shape(RawEntry& raw) {
    std::vector<std::int64_t>& sizes = header_.sizes_;
    raw.first_size = static_cast<std::uint32_t>(sizes.size());
    const bool right = read_numbers([&](std::uint64_t size) {
      if (size > INT64_MAX || sizes.size() - raw.first_size == limits::dimensions) {
        return false;
      }
      sizes.push_back(static_cast<std::int64_t>(size));
      return true;
    });
    raw.dimensions = static_cast<std::uint32_t>(sizes.size() - raw.first_size);
    set(raw, !right, "shape is not a list of sizes");
  }

  void read_range(RawEntry& raw) {
    std::size_t count = 0;
    const bool right = read_numbers([&](std::uint64_t offset) {
      (count == 0 ? raw.begin : raw.end) = offset;
      return ++count <= 2;
    });
    // Larger than any file, but the sums below do not overflow.
    raw.has_range = right && count == 2 && raw.begin <= raw.end && raw.end <= UINT64_MAX / 2;
    set(raw, !raw.has_range, "data_offsets is not a begin and an end behind it");
  }

  [[nodiscard]] std::string quote(const RawEntry& raw) const { return "'" + printable(raw.entry.name) + "'"; }

  /// Returns true only if it is certain that no name is repeated; false also if many names have the same hash.
  [[nodiscard]] bool each_name_once() const {
    constexpr std::size_t most_steps = 64;
    struct Slot {
      std::uint32_t entry = UINT32_MAX;
      std::uint32_t hash = 0;
    };
    std::vector<Slot> slots(std::bit_ceil(raw_.size() * 2 + 1));
    for (std::uint32_t i = 0; i < raw_.size(); ++i) {
      const std::string_view name = raw_[i].entry.name;
      const std::size_t hash = std::hash<std::string_view>()(name);
      const auto mark = static_cast<std::uint32_t>(hash >> 32);
      std::size_t at = hash & (slots.size() - 1);
      for (std::size_t steps = 0; slots[at].entry != UINT32_MAX; ++steps, at = (at + 1) & (slots.size() - 1)) {
        if (steps == most_steps || (slots[at].hash == mark && raw_[slots[at].entry].entry.name == name)) {
          return false;
        }
      }
      slots[at] = {i, mark};
    }
    return true;
  }

  /// Removes all but the first entry of a repeated name, and marks that one as faulty.
  void find_repeated() {
    if (each_name_once()) {
      return;
    }
    std::vector<std::uint32_t> order(raw_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const int names = raw_[a].entry.name.compare(raw_[b].entry.name);
      return names != 0 ? names < 0 : a < b;
    });
    std::vector<bool> again(raw_.size());
    bool any = false;
    for (std::size_t i = 1, first = 0; i < order.size(); ++i) {
      if (raw_[order[i]].entry.name != raw_[order[first]].entry.name) {
        first = i;
        continue;
      }
      again[order[i]] = any = true;
      raw_[order[first]].fault = "it stands there twice";
    }
    if (any) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < raw_.size(); ++i) {
        if (!again[i]) {
          std::swap(raw_[kept++], raw_[i]);
        }
      }
      raw_.resize(kept);
    }
  }

  void check_types() {
    const SafetensorsType* type = std::end(safetensors_types);
    Shape shape;
    for (RawEntry& raw : raw_) {
      SafetensorsEntry& entry = raw.entry;
      if (type == std::end(safetensors_types) || type->name != entry.unread_type) {  // most have the previous type
        type = std::find_if(std::begin(safetensors_types), std::end(safetensors_types),
                            [&](const SafetensorsType& one) { return one.name == entry.unread_type; });
      }
      if (type != std::end(safetensors_types)) {
        shape.assign(entry.shape.begin(), entry.shape.end());
        set(raw, element_bytes(shape, type->bits) != raw.end - raw.begin, "dtype, shape and data_offsets disagree");
        if (type->dtype) {
          entry.dtype = *type->dtype;
          entry.unread_type = {};
        }
      }
      entry.offset = data_ + raw.begin;
      entry.length = raw.end - raw.begin;
      entry.sound = raw.fault == nullptr && raw.end <= data_bytes();
      if (raw.fault != nullptr) {
        fail(raw.at, "tensor " + quote(raw) + ": " + raw.fault);
      }
    }
  }

  [[nodiscard]] std::uint64_t data_bytes() const noexcept { return file_bytes_ - data_; }

  /// Checks that the ranges, by offset, cover the data: the first begins at 0, each where the one before ends, and the
  /// last ends with the file.
  void check_ranges() {
    std::vector<RawEntry*> order;
    for (RawEntry& raw : raw_) {
      if (raw.has_range) {
        order.push_back(&raw);
      }
    }
    const auto before = [](const RawEntry* a, const RawEntry* b) {
      return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      std::sort(order.begin(), order.end(), before);
    }
    const bool all_known = order.size() == raw_.size();
    std::uint64_t reached = 0;
    for (RawEntry* const raw : order) {
      if (raw->begin < reached) {
        header_.problems.add(damaged("tensor " + quote(*raw) + " overlaps another", data_ + raw->begin));
        raw->entry.sound = raw->entry.sound && raw->begin == raw->end;
      } else if (raw->begin > reached && all_known) {
        header_.problems.add(
            damaged("hole of " + std::to_string(raw->begin - reached) + " bytes before tensor " + quote(*raw),
                    data_ + reached));
      }
      reached = std::max(reached, raw->end);
    }
    RawEntry* next = nullptr;  // the next one that has elements
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      RawEntry* const raw = *at;
      if (raw->begin == raw->end) {
        continue;
      }
      raw->entry.sound = raw->entry.sound && (next == nullptr || next->begin >= raw->end);
      next = raw;
    }
    if (reached > data_bytes()) {
      header_.cut = damaged("the file has " + std::to_string(file_bytes_) + " bytes, and its header tells of " +
                                std::to_string(data_ + reached),
                            file_bytes_);
    } else if (reached < data_bytes() && all_known) {
      header_.problems.add(
          damaged(std::to_string(data_bytes() - reached) + " bytes too many after the last tensor", data_ + reached));
    }
  }

  SafetensorsHeader header_;
  std::string_view json_;
  text::JsonScanner scanner_;
  std::uint64_t data_;  ///< Where elements begin in the file.
  std::uint64_t file_bytes_;
  bool has_metadata_ = false;
  std::vector<RawEntry> raw_;
};

bool check_safetensors_length(std::uint64_t length, std::uint64_t file_bytes, SafetensorsHeader& header) {
  if (file_bytes < safetensors_length_bytes) {
    header.cut =
        damaged("the file has " + std::to_string(file_bytes) + " bytes, too few for the length of a header", 0);
  } else if (length > limits::safetensors_header_bytes) {
    header.problems.add(damaged("the header's length " + std::to_string(length) + " is above the limit of " +
                                    std::to_string(limits::safetensors_header_bytes) +
                                    ": no safetensors file, or a damaged one",
                                0));
  } else if (length > file_bytes - safetensors_length_bytes) {
    header.cut = damaged(
        "the header's " + std::to_string(length) + " bytes do not end within the file's " + std::to_string(file_bytes),
        0);
  } else {
    return true;
  }
  return false;
}

SafetensorsHeader parse_safetensors(std::string json, std::uint64_t file_bytes) {
  return SafetensorsParser(std::move(json), file_bytes).parse();
}

}  // namespace smd::detail::wire
