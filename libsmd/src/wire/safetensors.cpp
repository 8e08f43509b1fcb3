// SPDX-License-Identifier: Apache-2.0
#include "wire/safetensors.hpp"

#include "text/escape.hpp"
#include "text/json_reader.hpp"
#include "text/mapped.hpp"
#include "text/repeated.hpp"
#include "wire/first_bytes.hpp"
#include "wire/little_endian.hpp"

#include <smd/shape.hpp>

#include <algorithm>
#include <iterator>
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

/// An entry that is not yet checked.
struct RawEntry {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t at = 0;  ///< Offset after its name in the header, which is shorter than 4 GB.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const char* fault = nullptr;
  bool has_range = false;
  bool sound = false;
  bool again = false;  ///< An entry before has its name.
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
  SafetensorsParser(std::string_view json, std::uint64_t file_bytes)
      : json_(json), data_(safetensors_length_bytes + json_.size()), file_bytes_(file_bytes) {}

  SafetensorsHeader parse() && {
    constexpr std::size_t usual_bytes = 100;  // of an entry
    raw_.reserve(std::min(json_.size() / usual_bytes, limits::safetensors_tensors));
    if (read()) {
      find_repeated();
      tell_faults();
      check_ranges();
      keep();
    }
    return std::move(header_);
  }

 private:
  void fail(std::uint64_t at, std::string text) {
    header_.problems.add(damaged(std::move(text), safetensors_length_bytes + at));
  }

  /// Returns false after an error, which is in `header_.problems`.
  bool read() {
    bool too_many = false;
    const auto error = reader_.read(json_, [&](std::string_view name, text::JsonValue& value) {
      if (name == "__metadata__") {
        read_metadata(value);
      } else if (too_many = raw_.size() == limits::safetensors_tensors; too_many) {
        fail(value.offset(), "the header names more tensors than the limit (safetensors_tensors)");
        text::JsonReader::leave();
      } else {
        read_entry(name, value);
      }
    });
    if (error && !too_many) {
      Problem problem = wire::json_problem(*error);
      problem.text.insert(0, "the header: ");
      problem.offset = safetensors_length_bytes + error->offset;
      header_.problems.add(std::move(problem));
    }
    return !error;
  }

  /// Checks that the metadata are strings by name, or null, and discards them.
  void read_metadata(text::JsonValue& value) {
    const bool again = std::exchange(has_metadata_, true);
    bool strings = true;
    const bool right =
        value.members([&](std::string_view, text::JsonValue& one) { strings &= one.text().has_value(); });
    if (again || !strings || !(right || value.is_null())) {
      fail(value.offset(), "__metadata__ stands there twice, or is not strings by name");
    }
  }

  void read_entry(std::string_view name, text::JsonValue& value) {
    RawEntry& raw = raw_.emplace_back();
    raw.at = static_cast<std::uint32_t>(value.offset());
    if (name.size() > limits::name_bytes) {
      raw.fault = "its name is longer than the limit (name_bytes)";
      name = name.substr(0, text::quoted_bytes);
    }
    raw.name = name;
    std::string_view type;
    type_.shape.clear();
    bool dtype = false;
    bool shape = false;
    bool range = false;
    const bool object = value.members([&](std::string_view key, text::JsonValue& member) {
      if (key == "dtype") {
        set(raw, std::exchange(dtype, true), "dtype stands there twice");
        read_dtype(raw, member, type);
      } else if (key == "shape") {
        set(raw, std::exchange(shape, true), "shape stands there twice");
        read_shape(raw, member);
      } else if (key == "data_offsets") {
        set(raw, std::exchange(range, true), "data_offsets stands there twice");
        read_range(raw, member);
      }
    });
    set(raw, !object, "its entry is not an object");
    set(raw, !dtype, "its entry has no dtype");
    set(raw, !shape, "its entry has no shape");
    set(raw, !range, "its entry has no data_offsets");
    if (known_ == std::end(safetensors_types) || known_->name != type) {  // most entries have that of the one before
      known_ = std::ranges::find(safetensors_types, type, &SafetensorsType::name);
    }
    const bool known = known_ != std::end(safetensors_types);
    const bool is_read = known && known_->dtype;
    set(raw, known && element_bytes(type_.shape, known_->bits) != raw.end - raw.begin,
        "dtype, shape and data_offsets disagree");
    type_.dtype = is_read ? *known_->dtype : Dtype::float32;
    type_.unread_type = is_read ? std::string_view() : type;
    raw.type = tensors_.type_of(type_);
  }

  /// Records the first fault of an entry.
  static void set(RawEntry& raw, bool wrong, const char* fault) {
    if (wrong && raw.fault == nullptr) {
      raw.fault = fault;
    }
  }

  static void read_dtype(RawEntry& raw, text::JsonValue& value, std::string_view& type) {
    const auto name = value.text();
    set(raw, !name, "dtype is not a string");
    set(raw, name && name->empty(), "dtype is empty");
    type = text::beginning(name.value_or(type), text::quoted_bytes);
  }

  /// Reads a list of natural numbers. Returns false if the value is not such a list.
  template <class Take>
  static bool read_numbers(text::JsonValue& value, Take take) {
    bool right = true;
    const bool list = value.items([&](text::JsonValue& item) {
      const auto number = item.number();
      right = right && number && number->natural && take(*number->natural);
    });
    return list && right;
  }

  void read_shape(RawEntry& raw, text::JsonValue& value) {
    Shape& shape = type_.shape;
    shape.clear();
    static_assert(limits::dimensions == 64);  // as the message says
    const char* fault = "shape is not a list of sizes";
    const bool right = read_numbers(value, [&](std::uint64_t size) {
      if (size > INT64_MAX) {
        fault = "shape has a size above 9223372036854775807";
        return false;
      }
      if (shape.size() == limits::dimensions) {
        fault = "shape has more dimensions than the limit (dimensions) of 64";
        return false;
      }
      shape.push_back(static_cast<std::int64_t>(size));
      return true;
    });
    set(raw, !right, fault);
  }

  static void read_range(RawEntry& raw, text::JsonValue& value) {
    std::size_t count = 0;
    const bool right = read_numbers(value, [&](std::uint64_t offset) {
      (count == 0 ? raw.begin : raw.end) = offset;
      return ++count <= 2;
    });
    // Larger than any file, but the sums below do not overflow.
    raw.has_range = right && count == 2 && raw.begin <= raw.end && raw.end <= UINT64_MAX / 2;
    set(raw, !raw.has_range, "data_offsets is not a begin and an end behind it");
  }

  /// Removes all but the first entry of a repeated name, and marks that one as faulty.
  void find_repeated() {
    const auto name_of = [this](std::uint32_t i) { return raw_[i].name; };
    for (const auto& [first, other] : text::repeated_names(static_cast<std::uint32_t>(raw_.size()), name_of)) {
      raw_[first].fault = "it stands there twice";
      raw_[other].again = true;
    }
    std::erase_if(raw_, [](const RawEntry& raw) { return raw.again; });
  }

  void tell_faults() {
    for (RawEntry& raw : raw_) {
      raw.sound = raw.fault == nullptr && raw.end <= data_bytes();
      if (raw.fault != nullptr) {
        fail(raw.at, "tensor " + in_quotes(raw.name) + ": " + raw.fault);
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
    sort_if_needed(order, before);
    const bool all_known = order.size() == raw_.size();
    std::uint64_t reached = 0;
    for (RawEntry* const raw : order) {
      if (raw->begin < reached) {
        header_.problems.add(damaged("tensor " + in_quotes(raw->name) + " overlaps another", data_ + raw->begin));
        raw->sound = raw->sound && raw->begin == raw->end;
      } else if (raw->begin > reached && all_known) {
        header_.problems.add(
            damaged("hole of " + std::to_string(raw->begin - reached) + " bytes before tensor " + in_quotes(raw->name),
                    data_ + reached));
      }
      reached = std::max(reached, raw->end);
    }
    RawEntry* next = nullptr;  // the next one that has elements
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      RawEntry* const raw = *at;
      if (raw->begin != raw->end) {
        raw->sound = raw->sound && (next == nullptr || next->begin >= raw->end);
        next = raw;
      }
    }
    if (reached > data_bytes()) {
      header_.cut = damaged("the file is truncated: it has " + std::to_string(file_bytes_) + " of " +
                                std::to_string(data_ + reached) + " bytes",
                            file_bytes_);
    } else if (reached < data_bytes() && all_known) {
      header_.problems.add(
          damaged(std::to_string(data_bytes() - reached) + " bytes too many after the last tensor", data_ + reached));
    }
  }

  /// Copies the entries to the header.
  void keep() {
    std::size_t bytes = 0;
    for (const RawEntry& raw : raw_) {
      bytes += raw.name.size();
    }
    tensors_.reserve(raw_.size(), bytes);
    for (const RawEntry& raw : raw_) {
      tensors_.add(raw.name,
                   {.offset = data_ + raw.begin, .length = raw.end - raw.begin, .type = raw.type, .sound = raw.sound});
    }
    header_.entries = std::move(tensors_).make(nullptr);
  }

  SafetensorsHeader header_;
  std::string_view json_;
  text::JsonReader reader_;
  std::uint64_t data_;  ///< Where elements begin in the file.
  std::uint64_t file_bytes_;
  bool has_metadata_ = false;
  std::vector<RawEntry> raw_;
  FileTensorsMaker tensors_;
  ValueType type_;                                              ///< Of the entry that is read,
  const SafetensorsType* known_ = std::end(safetensors_types);  ///< and what its dtype names.
};

bool looks_like_safetensors(std::span<const std::byte> first) noexcept {
  if (first.size() < safetensors_length_bytes) {
    return false;
  }
  const std::string_view json(reinterpret_cast<const char*>(first.data()) + safetensors_length_bytes,
                              first.size() - safetensors_length_bytes);
  const std::size_t begin = json.find_first_not_of(" \t\r\n");
  return load_little<std::uint64_t>(first.first<safetensors_length_bytes>()) <= limits::safetensors_header_bytes &&
         begin != json.npos && json[begin] == '{';
}

bool check_safetensors_length(std::uint64_t length, std::uint64_t file_bytes, SafetensorsHeader& header) {
  if (file_bytes < safetensors_length_bytes) {
    header.cut = damaged(
        file_bytes == 0 ? "the file is empty"
                        : "the file has " + std::to_string(file_bytes) + " bytes, too few for the length of a header",
        0);
  } else if (length > limits::safetensors_header_bytes) {
    header.problems.add(damaged("the header's length " + std::to_string(length) + " is above the limit of " +
                                    std::to_string(limits::safetensors_header_bytes) +
                                    ": no safetensors file, or a damaged one",
                                0));
  } else if (length > file_bytes - safetensors_length_bytes) {
    header.cut = damaged("the file is truncated: it has " + std::to_string(file_bytes) + " bytes, its header alone " +
                             std::to_string(length),
                         0);
  } else {
    return true;
  }
  return false;
}

SafetensorsHeader parse_safetensors(std::string_view json, std::uint64_t file_bytes) {
  return SafetensorsParser(json, file_bytes).parse();
}

}  // namespace smd::detail::wire
