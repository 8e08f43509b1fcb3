// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/index_parser.hpp"

#include "base/buffer.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"
#include "text/trim.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace smd::detail::layout {

static_assert(Buffer::padding >= simdjson::SIMDJSON_PADDING);

namespace {

using text::JsonValue;

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
  text = text::trimmed(text);
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
  const auto ends_plain_text = [](char c) { return c < ' ' || c > '~' || c == '\\' || c == '"'; };
  meta.event_file = {rest.begin(), std::ranges::find_if(rest, ends_plain_text)};
  rest.remove_prefix(meta.event_file.size());
  if (!skip(rest, R"("}, )")) {
    return std::nullopt;
  }
  meta.end = text.size() - rest.size();
  return meta;
}

/// Approximate limit of the memory for recent payload texts.
constexpr std::size_t recent_bytes = std::size_t{64} << 20;

/// Returns a signed 64-bit integer. Nullopt for other values.
std::optional<std::int64_t> number_of(JsonValue& value) {
  const auto number = value.number();
  return number ? number->integer : std::nullopt;
}

/// What a file says of itself.
struct Meta {
  bool is_object = false;
  bool is_empty = true;
  std::optional<std::string_view> mode;
  std::optional<std::int64_t> mode_step;
  std::optional<std::string_view> event_file;

  static Meta read(JsonValue& value) {
    Meta meta;
    meta.is_object = value.members([&](std::string_view key, JsonValue& member) {
      meta.is_empty = false;
      if (key == "mode") {
        meta.mode = member.text();
      } else if (key == "mode_step") {
        meta.mode_step = member.integer();
      } else if (key == "event_file_name") {
        meta.event_file = member.text();
      }
    });
    return meta;
  }
};

}  // namespace

struct IndexParser::EntryList {
  bool is_list = false;
  ProblemList refused{limits::problems_per_file};
};

Outcome<ParsedIndex> IndexParser::parse(std::span<const std::byte> bytes, std::string_view expected_event_path,
                                        ProblemList& refused) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  const std::optional<PlainMeta> plain = plain_meta(text);
  if (plain) {
    // The text after `meta` of most steps is exactly that of an earlier one.
    const std::string_view rest = text.substr(plain->end);
    for (const Recent& seen : recent_) {
      if (seen.text == rest && !rest.empty()) {
        ParsedIndex index{plain->mode, plain->mode_step, seen.payload, no_id};
        if (plain->event_file != expected_event_path) {
          index.event_file = tables_.paths.add(plain->event_file);
        }
        return index;
      }
    }
  }
  Outcome<ParsedIndex> index = parse_fully(text, expected_event_path, refused);
  if (index && plain && refused.empty()) {
    remember(text.substr(plain->end), index->payload);
  }
  return index;
}

/// Replaces the oldest text, and drops more of the oldest while all take more than `recent_bytes`.
void IndexParser::remember(std::string_view text, std::uint32_t payload) {
  if (text.size() > recent_bytes) {
    return;
  }
  std::size_t bytes = text.size();
  for (std::size_t age = 1; age < recent_.size(); ++age) {  // from newest to oldest
    Recent& seen = recent_[(next_recent_ + recent_.size() - age) % recent_.size()];
    bytes += seen.text.capacity();
    if (bytes > recent_bytes) {
      seen.text = std::string();
    }
  }
  Recent& slot = recent_[next_recent_];
  next_recent_ = (next_recent_ + 1) % recent_.size();
  slot.text.assign(text);
  slot.payload = payload;
}

Outcome<ParsedIndex> IndexParser::parse_fully(std::string_view text, std::string_view expected, ProblemList& refused) {
  names_.clear();
  starts_.clear();
  lengths_.clear();
  shapes_.clear();
  if (text.empty()) {
    return damaged("the file is empty", 0);
  }
  if (!json_) {
    // Texts that are not Unicode cost only their entry, as do numbers of any size.
    json_.emplace(text::JsonReader::Options{.half_pairs = text::JsonReader::HalfPairs::left_out});
  }
  // The last value of a repeated key counts, as in the reference.
  std::optional<Meta> meta;
  bool second_meta = false;
  std::optional<EntryList> tensors;
  std::optional<EntryList> saved_shapes;
  const auto error = json_->read(text, [&](std::string_view key, JsonValue& value) {
    if (key == "meta") {
      second_meta = meta.has_value();
      meta = Meta::read(value);
    } else if (key == "tensor_payload") {
      names_.clear();
      starts_.clear();
      lengths_.clear();
      tensors = read_list(value, key, [this](JsonValue& entry, auto& name) { return read_tensor(entry, name); });
    } else if (key == "shape_payload") {
      shapes_.clear();
      saved_shapes = read_list(value, key, [this](JsonValue& entry, auto& name) { return read_shape(entry, name); });
    }
  });
  if (error) {
    return wire::json_problem(*error, text);
  }
  const std::optional<Mode> mode = meta && meta->mode ? index_mode(*meta->mode) : std::nullopt;
  const char* const wrong =
      !meta                                    ? "there is no 'meta'"
      : !meta->is_object                       ? "'meta' is not an object"
      : meta->is_empty                         ? "'meta' is empty"
      : !mode                                  ? "'meta' names no mode (TRAIN, EVAL, PREDICT or GLOBAL)"
      : !meta->mode_step                       ? "'meta' holds no 'mode_step' of 64 bits"
      : !tensors && !saved_shapes              ? "there is neither 'tensor_payload' nor 'shape_payload'"
      : meta->event_file && !tensors           ? "'meta' names an event file, but there is no 'tensor_payload'"
      : tensors && !tensors->is_list           ? "'tensor_payload' is not a list"
      : saved_shapes && !saved_shapes->is_list ? "'shape_payload' is not a list"
      : !meta->event_file && !names_.empty()   ? "'meta' holds no 'event_file_name', but tensors are listed"
                                               : nullptr;
  if (wrong != nullptr) {
    return damaged(wrong);
  }
  for (auto* const list : {&tensors, &saved_shapes}) {
    if (*list) {
      refused.add(std::move((*list)->refused));
    }
  }
  ParsedIndex index{*mode, *meta->mode_step, no_id, no_id};
  if (!names_.empty() || !shapes_.empty()) {
    index.payload = keep_payload();
  }
  if (meta->event_file && *meta->event_file != expected) {
    index.event_file = tables_.paths.add(*meta->event_file);
  }
  if (second_meta) {
    // Because of the note, the file is not remembered as a plain one: the text after its first 'meta' is not enough.
    refused.add(make_problem(ProblemKind::note, "'meta' occurs more than once; the last one counts"));
  }
  return index;
}

/// Reads a list by `read(entry, name)`, which returns why an entry is refused, or an empty text.
template <class Read>
IndexParser::EntryList IndexParser::read_list(JsonValue& value, std::string_view list, Read read) {
  EntryList result;
  std::size_t position = 0;
  result.is_list = value.items([&](JsonValue& entry) {
    std::optional<std::string_view> name;
    const std::string why = read(entry, name);
    if (!why.empty() && result.refused.full(ProblemKind::damaged)) {
      result.refused.count(ProblemKind::damaged);
    } else if (!why.empty()) {
      result.refused.add(damaged("entry " + std::to_string(position) + " of '" + std::string(list) + "' (" +
                                 (name ? in_quotes(*name) : std::string("without a name")) + ") refused: " + why));
    }
    ++position;
  });
  return result;
}

std::string IndexParser::read_tensor(JsonValue& value, std::optional<std::string_view>& name) {
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> length;
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "tensorname") {
      name = member.text();
    } else if (key == "start_idx") {
      start = number_of(member);
    } else if (key == "length") {
      length = number_of(member);
    }
  });
  constexpr std::int64_t most = static_cast<std::int64_t>(limits::record_bytes) + 16;
  if (!is_object) {
    return "not an object";
  }
  if (!name) {
    return "'tensorname' is missing or no valid text";
  }
  if (name->size() > limits::name_bytes) {
    name = name->substr(0, 40);
    return "its name is longer than the limit (name_bytes)";
  }
  if (!start || *start < 0) {
    return "'start_idx' is missing, negative or no integer of 63 bits";
  }
  if (!length || *length <= 0) {
    return "'length' is missing, not positive or no integer of 63 bits";
  }
  if (*length > most) {
    return "'length' " + std::to_string(*length) + " is more than a record may have (record_bytes)";
  }
  names_.push_back(name_id(*name));
  starts_.push_back(static_cast<std::uint64_t>(*start));
  lengths_.push_back(static_cast<std::uint64_t>(*length));
  return {};
}

std::string IndexParser::read_shape(JsonValue& value, std::optional<std::string_view>& name) {
  std::optional<std::string_view> original;
  Shape shape;
  std::string wrong = "'shape' is missing or not a list";
  const bool is_object = value.members([&](std::string_view key, JsonValue& member) {
    if (key == "tensorname") {
      name = member.text();
    } else if (key == "originalname") {
      original = member.text();
    } else if (key == "shape") {
      shape.clear();
      wrong.clear();
      const bool is_list = member.items([&](JsonValue& size) {
        const std::optional<std::int64_t> number = number_of(size);
        if (!number || *number < 0) {
          wrong = "'shape' holds something else than sizes";
        } else if (shape.size() == limits::dimensions) {
          wrong = "'shape' has more than " + std::to_string(limits::dimensions) + " dimensions";
        } else {
          shape.push_back(*number);
        }
      });
      if (!is_list) {
        wrong = "'shape' is missing or not a list";
      }
    }
  });
  if (!is_object) {
    return "not an object";
  }
  if (!name || name->size() > limits::name_bytes || original.value_or("").size() > limits::name_bytes) {
    name = name ? std::optional(name->substr(0, 40)) : name;
    return "'tensorname' is missing, no valid text or longer than the limit (name_bytes)";
  }
  if (wrong.empty() && !element_count(shape)) {
    wrong = "'shape' has more elements than 63 bits can count";
  }
  if (!wrong.empty()) {
    return wrong;
  }
  SavedShape saved{name_id(*name), no_id, std::move(shape)};
  if (original && *original != *name) {
    saved.original = tables_.names.add(*original);
  }
  shapes_.push_back(std::move(saved));
  return {};
}

std::uint32_t IndexParser::name_id(std::string_view name) {
  // The previous list nearly always has the same name at the same position.
  if (last_list_ != no_id) {
    const NameList& last = tables_.name_lists[last_list_];
    if (names_.size() < last.size() && tables_.names[last[names_.size()]] == name) {
      return last[names_.size()];
    }
  }
  return tables_.names.add(name);
}

std::uint32_t IndexParser::keep_payload() {
  Payload payload = tables_.arena.columns(starts_, lengths_);
  if (last_list_ == no_id || tables_.name_lists[last_list_] != names_) {
    last_list_ = name_lists_.id_of(names_, Fnv::of(names_));
  }
  payload.names = last_list_;
  if (!shapes_.empty()) {
    Fnv hash;
    for (const SavedShape& saved : shapes_) {
      hash.add(saved.name);
      hash.add(saved.shape);
    }
    payload.shapes = shape_lists_.id_of(shapes_, hash.value);
  }
  tables_.payloads.push_back(payload);
  return static_cast<std::uint32_t>(tables_.payloads.size() - 1);
}

}  // namespace smd::detail::layout
