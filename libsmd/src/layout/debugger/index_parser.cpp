// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/index_parser.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <smd/limits.hpp>
#include <utility>

#include "base/buffer.hpp"
#include "layout/debugger/json_text.hpp"
#include "text/escape.hpp"

namespace smd::detail::layout {

static_assert(Buffer::padding >= simdjson::SIMDJSON_PADDING);

namespace {

namespace dom = simdjson::dom;

/// The start of an index file as the reference writes it, up to and including the comma after `meta`.
struct PlainMeta {
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::string_view event_file;
  std::size_t end = 0;
};

bool skip(std::string_view& text, std::string_view expected) noexcept {
  if (!text.starts_with(expected)) {
    return false;
  }
  text.remove_prefix(expected.size());
  return true;
}

/// Upper-case names only, as in index files; blanks around them are allowed.
std::optional<Mode> index_mode(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return std::nullopt;
  }
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  const std::optional<Mode> mode = parse_mode(text);
  return mode && to_string(*mode) == text ? mode : std::nullopt;
}

/// Recognises the exact form that the reference writes. Nullopt for anything else, which the full parser reads.
std::optional<PlainMeta> plain_meta(std::string_view text) noexcept {
  PlainMeta meta;
  std::string_view rest = text;
  if (!skip(rest, R"({"meta": {"mode": ")")) {
    return std::nullopt;
  }
  const std::size_t mode_end = rest.find('"');
  if (mode_end > 8) {  // also if there is none: npos
    return std::nullopt;
  }
  const std::optional<Mode> mode = index_mode(rest.substr(0, mode_end));
  rest.remove_prefix(mode_end);
  if (!mode || !skip(rest, R"(", "mode_step": )")) {
    return std::nullopt;
  }
  meta.mode = *mode;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), meta.mode_step);
  const bool leading_zero = rest.starts_with("0") && end - rest.data() > 1;
  if (error != std::errc{} || leading_zero || rest.starts_with("-0")) {
    return std::nullopt;
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!skip(rest, R"(, "event_file_name": ")")) {
    return std::nullopt;
  }
  std::size_t length = 0;
  while (length < rest.size() && rest[length] != '"') {
    const char c = rest[length];
    if (c < ' ' || c > '~' || c == '\\') {
      return std::nullopt;
    }
    ++length;
  }
  meta.event_file = rest.substr(0, length);
  rest.remove_prefix(length);
  if (!skip(rest, R"("}, )")) {
    return std::nullopt;
  }
  meta.end = text.size() - rest.size();
  return meta;
}

/// Approximate limit of the memory for recent payload texts.
constexpr std::size_t recent_bytes = std::size_t{64} << 20;

/// A recent payload text, and the payload parsed from it. The text starts where `PlainMeta` ends.
struct Recent {
  std::string text;
  std::uint32_t payload = no_id;
};

std::string quoted(const std::optional<std::string_view>& name) {
  return name ? "'" + printable(*name) + "'" : std::string("without a name");
}

std::optional<std::string_view> text_of(const dom::element& value) noexcept {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? std::optional(text) : std::nullopt;
}

/// Returns a signed 64-bit JSON integer. Nullopt for other values.
std::optional<std::int64_t> number_of(const dom::element& value) noexcept {
  std::int64_t number = 0;
  return value.is<std::int64_t>() && value.get(number) == simdjson::SUCCESS ? std::optional(number) : std::nullopt;
}

/// As `number_of`, but also accepts a text of digits, as the reference does.
std::optional<std::int64_t> integer_of(const dom::element& value) noexcept {
  const std::optional<std::string_view> text = text_of(value);
  if (!text) {
    return number_of(value);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc{} && end == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

}  // namespace

struct IndexParser::Impl {
  IndexTables tables;
  dom::parser json;
  std::string repaired;
  std::array<Recent, 8> recent;
  std::size_t next_recent = 0;
  std::unordered_multimap<std::uint64_t, std::uint32_t> lists_by_hash;
  std::unordered_multimap<std::uint64_t, std::uint32_t> shapes_by_hash;

  // The file being parsed.
  ProblemList* refused = nullptr;
  std::vector<std::uint32_t> names;
  std::vector<std::uint64_t> starts;
  std::vector<std::uint32_t> lengths;
  std::vector<SavedShape> shapes;
  std::uint32_t last_list = no_id;

  Outcome<ParsedIndex> parse(std::string_view text, std::string_view expected, ProblemList& refused_entries);
  void remember(std::string_view text, std::uint32_t payload);
  Outcome<ParsedIndex> parse_fully(std::string_view text, std::string_view expected);
  Outcome<ParsedIndex> read_root(const dom::object& root, std::string_view expected);
  void read_tensor(const dom::element& element, std::size_t position);
  void read_shape(const dom::element& element, std::size_t position);
  void refuse(std::string_view list, std::size_t position, const std::optional<std::string_view>& name,
              const std::string& why);
  [[nodiscard]] std::uint32_t name_id(std::string_view name);
  [[nodiscard]] std::uint32_t keep_names();
  [[nodiscard]] std::uint32_t keep_shapes();
  [[nodiscard]] std::uint32_t keep_payload();
};

IndexParser::IndexParser() : impl_(std::make_unique<Impl>()) {}
IndexParser::~IndexParser() = default;
IndexParser::IndexParser(IndexParser&&) noexcept = default;
IndexParser& IndexParser::operator=(IndexParser&&) noexcept = default;

void IndexParser::trim() noexcept {
  impl_->json = dom::parser();
  impl_->repaired = std::string();
}

IndexTables& IndexParser::tables() noexcept { return impl_->tables; }

Outcome<ParsedIndex> IndexParser::parse(std::span<const std::byte> text, std::string_view expected_event_path,
                                        ProblemList& refused) {
  return impl_->parse({reinterpret_cast<const char*>(text.data()), text.size()}, expected_event_path, refused);
}

Outcome<ParsedIndex> IndexParser::Impl::parse(std::string_view text, std::string_view expected,
                                              ProblemList& refused_entries) {
  refused = &refused_entries;
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  const std::optional<PlainMeta> plain = plain_meta(text);
  if (plain) {
    // The text after `meta` of most steps is exactly that of an earlier one.
    const std::string_view rest = text.substr(plain->end);
    for (const Recent& seen : recent) {
      if (seen.text == rest && !rest.empty()) {
        ParsedIndex index{plain->mode, plain->mode_step, seen.payload, no_id};
        if (plain->event_file != expected) {
          index.event_file = tables.paths.add(plain->event_file);
        }
        return index;
      }
    }
  }
  Outcome<ParsedIndex> index = parse_fully(text, expected);
  if (index && plain && refused_entries.empty()) {
    remember(text.substr(plain->end), index->payload);
  }
  return index;
}

/// Replaces the oldest text, and drops more of the oldest while all take more than `recent_bytes`.
void IndexParser::Impl::remember(std::string_view text, std::uint32_t payload) {
  if (text.size() > recent_bytes) {
    return;
  }
  std::size_t bytes = text.size();
  for (std::size_t age = 1; age < recent.size(); ++age) {  // from newest to oldest
    Recent& seen = recent[(next_recent + recent.size() - age) % recent.size()];
    bytes += seen.text.capacity();
    if (bytes > recent_bytes) {
      seen.text = std::string();
    }
  }
  Recent& slot = recent[next_recent];
  next_recent = (next_recent + 1) % recent.size();
  slot.text.assign(text);
  slot.payload = payload;
}

Outcome<ParsedIndex> IndexParser::Impl::parse_fully(std::string_view text, std::string_view expected) {
  names.clear();
  starts.clear();
  lengths.clear();
  shapes.clear();
  if (text.empty()) {
    return damaged("the file is empty", 0);
  }
  if (json.capacity() < text.size() || json.max_depth() != limits::json_depth) {
    if (json.allocate(std::max<std::size_t>(text.size(), 64 * 1024), limits::json_depth) != simdjson::SUCCESS) {
      return Problem{ProblemKind::io, {}, {}, "memory ran out"};
    }
  }
  dom::element root;
  auto error = json.parse(text.data(), text.size(), false).get(root);
  if (error == simdjson::STRING_ERROR || error == simdjson::NUMBER_ERROR) {
    // Valid JSON may hold texts that are not Unicode and numbers of any size: only their entry is lost, not the file.
    repaired = blank_out_unrepresentable(text);
    repaired.reserve(repaired.size() + simdjson::SIMDJSON_PADDING);
    error = json.parse(repaired.data(), repaired.size(), false).get(root);
  }
  if (error == simdjson::MEMALLOC) {
    return Problem{ProblemKind::io, {}, {}, "memory ran out"};
  }
  if (error == simdjson::DEPTH_ERROR) {
    return damaged_json({text::JsonFault::too_deep, 0, {}});
  }
  if (error != simdjson::SUCCESS) {
    return invalid_json(text);
  }
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    return damaged("not a JSON object", 0);
  }
  return read_root(object, expected);
}

Outcome<ParsedIndex> IndexParser::Impl::read_root(const dom::object& root, std::string_view expected) {
  // The last value of a repeated key counts, as in the reference.
  std::optional<dom::element> meta;
  std::optional<dom::element> tensors;
  std::optional<dom::element> saved_shapes;
  bool second_meta = false;
  for (const auto [key, value] : root) {
    if (key == "meta") {
      second_meta = meta.has_value();
      meta = value;
    } else if (key == "tensor_payload") {
      tensors = value;
    } else if (key == "shape_payload") {
      saved_shapes = value;
    }
  }
  if (!meta) {
    return damaged("there is no 'meta'");
  }
  dom::object meta_object;
  if (meta->get(meta_object) != simdjson::SUCCESS) {
    return damaged("'meta' is not an object");
  }
  if (meta_object.size() == 0) {
    return damaged("'meta' is empty");
  }
  std::optional<std::string_view> mode_text;
  std::optional<std::int64_t> mode_step;
  std::optional<std::string_view> event_file;
  for (const auto [key, value] : meta_object) {
    if (key == "mode") {
      mode_text = text_of(value);
    } else if (key == "mode_step") {
      mode_step = integer_of(value);
    } else if (key == "event_file_name") {
      event_file = text_of(value);
    }
  }
  const std::optional<Mode> mode = mode_text ? index_mode(*mode_text) : std::nullopt;
  if (!mode) {
    return damaged("'meta' names no mode (TRAIN, EVAL, PREDICT or GLOBAL)");
  }
  if (!mode_step) {
    return damaged("'meta' holds no 'mode_step' of 64 bits");
  }
  if (!tensors && !saved_shapes) {
    return damaged("there is neither 'tensor_payload' nor 'shape_payload'");
  }
  dom::array tensor_list;
  if (tensors && tensors->get(tensor_list) != simdjson::SUCCESS) {
    return damaged("'tensor_payload' is not a list");
  }
  dom::array shape_list;
  if (saved_shapes && saved_shapes->get(shape_list) != simdjson::SUCCESS) {
    return damaged("'shape_payload' is not a list");
  }
  std::size_t position = 0;
  if (tensors) {
    for (const dom::element element : tensor_list) {
      read_tensor(element, position++);
    }
  }
  if (saved_shapes) {
    position = 0;
    for (const dom::element element : shape_list) {
      read_shape(element, position++);
    }
  }
  if (!event_file && !names.empty()) {
    return damaged("'meta' holds no 'event_file_name', but tensors are listed");
  }
  ParsedIndex index{*mode, *mode_step, no_id, no_id};
  if (!names.empty() || !shapes.empty()) {
    index.payload = keep_payload();
  }
  if (event_file && *event_file != expected) {
    index.event_file = tables.paths.add(*event_file);
  }
  if (second_meta) {
    // Because of the note, the file is not remembered as a plain one: the text after its first 'meta' is not enough.
    refused->add({ProblemKind::note, {}, {}, "'meta' occurs more than once; the last one counts"});
  }
  return index;
}

void IndexParser::Impl::read_tensor(const dom::element& element, std::size_t position) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    refuse("tensor_payload", position, {}, "not an object");
    return;
  }
  std::optional<std::string_view> name;
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> length;
  for (const auto [key, value] : object) {
    if (key == "tensorname") {
      name = text_of(value);
    } else if (key == "start_idx") {
      start = number_of(value);
    } else if (key == "length") {
      length = number_of(value);
    }
  }
  constexpr std::int64_t most = static_cast<std::int64_t>(limits::record_bytes) + 16;
  if (!name) {
    refuse("tensor_payload", position, name, "'tensorname' is missing or no valid text");
  } else if (name->size() > limits::name_bytes) {
    refuse("tensor_payload", position, name->substr(0, 40), "its name is longer than 64 KiB");
  } else if (!start || *start < 0) {
    refuse("tensor_payload", position, name, "'start_idx' is missing, negative or no integer of 63 bits");
  } else if (!length || *length <= 0) {
    refuse("tensor_payload", position, name, "'length' is missing, not positive or no integer of 63 bits");
  } else if (*length > most) {
    refuse("tensor_payload", position, name,
           "'length' " + std::to_string(*length) + " is more than a record may have (2 GiB)");
  } else {
    names.push_back(name_id(*name));
    starts.push_back(static_cast<std::uint64_t>(*start));
    lengths.push_back(static_cast<std::uint32_t>(*length));
  }
}

void IndexParser::Impl::read_shape(const dom::element& element, std::size_t position) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    refuse("shape_payload", position, {}, "not an object");
    return;
  }
  std::optional<std::string_view> name;
  std::optional<std::string_view> original;
  std::optional<dom::element> dims;
  for (const auto [key, value] : object) {
    if (key == "tensorname") {
      name = text_of(value);
    } else if (key == "originalname") {
      original = text_of(value);
    } else if (key == "shape") {
      dims = value;
    }
  }
  dom::array sizes;
  if (!name || name->size() > limits::name_bytes || original.value_or("").size() > limits::name_bytes) {
    refuse("shape_payload", position, name ? std::optional(name->substr(0, 40)) : name,
           "'tensorname' is missing, no valid text or longer than 64 KiB");
    return;
  }
  if (!dims || dims->get(sizes) != simdjson::SUCCESS) {
    refuse("shape_payload", position, name, "'shape' is missing or not a list");
    return;
  }
  Shape shape;
  for (const dom::element size : sizes) {
    const std::optional<std::int64_t> number = number_of(size);
    if (!number || *number < 0) {
      refuse("shape_payload", position, name, "'shape' holds something else than sizes");
      return;
    }
    if (shape.size() == limits::dimensions) {
      refuse("shape_payload", position, name,
             "'shape' has more than " + std::to_string(limits::dimensions) + " dimensions");
      return;
    }
    shape.push_back(*number);
  }
  if (!element_count(shape)) {
    refuse("shape_payload", position, name, "'shape' has more elements than 63 bits can count");
    return;
  }
  SavedShape saved{name_id(*name), no_id, std::move(shape)};
  if (original && *original != *name) {
    saved.original = tables.names.add(*original);
  }
  shapes.push_back(std::move(saved));
}

void IndexParser::Impl::refuse(std::string_view list, std::size_t position, const std::optional<std::string_view>& name,
                               const std::string& why) {
  if (refused->full(ProblemKind::damaged)) {
    refused->count(ProblemKind::damaged);
    return;
  }
  refused->add(damaged("entry " + std::to_string(position) + " of '" + std::string(list) + "' (" + quoted(name) +
                       ") refused: " + why));
}

std::uint32_t IndexParser::Impl::name_id(std::string_view name) {
  // The previous list nearly always has the same name at the same position.
  if (last_list != no_id) {
    const NameList& last = tables.name_lists[last_list];
    if (names.size() < last.size() && tables.names[last[names.size()]] == name) {
      return last[names.size()];
    }
  }
  return tables.names.add(name);
}

std::uint32_t IndexParser::Impl::keep_names() {
  if (last_list != no_id && tables.name_lists[last_list] == names) {
    return last_list;
  }
  Fnv hash;
  for (const std::uint32_t id : names) {
    hash.add(id);
  }
  const auto [first, last] = lists_by_hash.equal_range(hash.value);
  for (auto it = first; it != last; ++it) {
    if (tables.name_lists[it->second] == names) {
      return last_list = it->second;
    }
  }
  last_list = static_cast<std::uint32_t>(tables.name_lists.size());
  tables.name_lists.push_back(names);
  lists_by_hash.emplace(hash.value, last_list);
  return last_list;
}

std::uint32_t IndexParser::Impl::keep_shapes() {
  Fnv hash;
  for (const SavedShape& saved : shapes) {
    hash.add(saved.name);
    for (const std::int64_t size : saved.shape) {
      hash.add(static_cast<std::uint64_t>(size));
    }
  }
  const auto [first, last] = shapes_by_hash.equal_range(hash.value);
  for (auto it = first; it != last; ++it) {
    if (tables.shape_lists[it->second] == shapes) {
      return it->second;
    }
  }
  const auto id = static_cast<std::uint32_t>(tables.shape_lists.size());
  tables.shape_lists.push_back(shapes);
  shapes_by_hash.emplace(hash.value, id);
  return id;
}

std::uint32_t IndexParser::Impl::keep_payload() {
  Payload payload;
  payload.names = keep_names();
  payload.count = static_cast<std::uint32_t>(names.size());
  payload.wide = std::any_of(starts.begin(), starts.end(),
                             [](std::uint64_t start) { return start > std::numeric_limits<std::uint32_t>::max(); });
  payload.starts = tables.arena.keep(starts, payload.wide);
  std::uint32_t* const length_column = tables.arena.take(lengths.size(), false);
  std::copy(lengths.begin(), lengths.end(), length_column);
  payload.lengths = length_column;
  if (!shapes.empty()) {
    payload.shapes = keep_shapes();
  }
  tables.payloads.push_back(payload);
  return static_cast<std::uint32_t>(tables.payloads.size() - 1);
}

}  // namespace smd::detail::layout
