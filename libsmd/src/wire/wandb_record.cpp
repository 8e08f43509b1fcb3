// SPDX-License-Identifier: Apache-2.0
#include "wire/wandb_record.hpp"

#include "base/crc32.hpp"
#include "wire/little_endian.hpp"
#include "wire/message.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::detail::wire {

namespace {

using protozero::pbf_reader;

constexpr std::array<unsigned char, wandb_header_bytes> file_header = {':', 'W', '&', 'B', 0xE1, 0xBE, 0};

/// Takes the items at the beginning of a message that have one key and one value (field 1 or 2, then 16) and less than
/// 128 bytes, as nearly all have. Returns what follows them.
pbf_reader take_plain_items(pbf_reader message, WandbRecord& record) {
  constexpr std::size_t before = 2;        // bytes before a key: field and length
  constexpr std::size_t before_value = 3;  // field, of two bytes, and length
  constexpr std::size_t most = 127;
  const auto number_at = [](const char* at) { return static_cast<std::size_t>(static_cast<unsigned char>(*at)); };
  const char* at = message.data().data();
  const char* const end = at + message.data().size();
  while (end - at > static_cast<std::ptrdiff_t>(before) && *at == '\x0A' && number_at(at + 1) <= most) {
    const char* const item = at + before;
    const std::size_t size = number_at(at + 1);
    if (size < before + before_value || size > static_cast<std::size_t>(end - item) ||
        (*item != '\x0A' && *item != '\x12')) {
      break;
    }
    const std::size_t key = number_at(item + 1);
    const std::size_t value_at = before + key + before_value;
    const char* const value = item + value_at;
    if (value_at > size || value[-3] != '\x82' || value[-2] != '\x01' || number_at(value - 1) != size - value_at) {
      break;
    }
    record.items.push_back({record.keys.size(), 1, {value, size - value_at}});
    record.keys.emplace_back(item + before, key);
    at = item + size;
  }
  return pbf_reader{at, static_cast<std::size_t>(end - at)};
}

void take_item(pbf_reader item, WandbRecord& record, std::vector<WandbRecord::Item>& items) {
  WandbRecord::Item taken{.first_key = record.keys.size()};
  std::string_view key;
  for_each_field(item, [&](pbf_reader& field) {
    if (field.tag() == 1) {
      key = text_of(field);
    } else if (field.tag() == 2) {
      record.keys.push_back(text_of(field));
    } else if (field.tag() == 16) {
      taken.json = text_of(field);
    }
  });
  if (record.keys.size() == taken.first_key) {
    record.keys.push_back(key);
  }
  taken.keys = record.keys.size() - taken.first_key;
  items.push_back(taken);
}

void take_history(pbf_reader& field, WandbRecord& record) {
  if (field.tag() == 1) {
    take_item(message_of(field), record, record.items);
  } else if (field.tag() == 2) {
    record.step = 0;
    for_each_of(1, message_of(field),
                [&](pbf_reader& step) { record.step = static_cast<std::int64_t>(varint_of(step)); });
  }
}

void take_stats(pbf_reader& field, WandbRecord& record) {
  if (field.tag() == 2) {
    std::array<std::int64_t, 2> parts{};
    for_each_field(message_of(field), [&](pbf_reader& time) {
      if (time.tag() == 1 || time.tag() == 2) {
        const std::size_t part = time.tag() - 1;  // before the field is read: the right side is evaluated first
        parts[part] = static_cast<std::int64_t>(varint_of(time));
      }
    });
    record.time = static_cast<double>(parts[0]) + static_cast<double>(parts[1]) * 1e-9;
  } else if (field.tag() == 3) {
    take_item(message_of(field), record, record.items);
  }
}

void take_config(pbf_reader& field, WandbRecord& record) {
  if (field.tag() == 1 || field.tag() == 2) {
    const bool removed = field.tag() == 2;
    take_item(message_of(field), record, removed ? record.removed : record.items);
  }
}

void take_run(pbf_reader& field, WandbRecord& record) {
  if (field.tag() == 4) {
    for_each_field(message_of(field), [&](pbf_reader& config) { take_config(config, record); });
  }
}

void take_alert(pbf_reader& field, WandbRecord& record) {
  if (field.tag() <= record.says.size()) {
    const std::size_t part = field.tag() - 1;  // the same
    record.says[part] = text_of(field);
  }
}

void take_exit(pbf_reader& field, WandbRecord& record) {
  if (field.tag() == 1) {
    record.exit_code = static_cast<std::int32_t>(varint_of(field));
  } else if (field.tag() == 3) {
    record.kind = varint_of(field) != 0 ? WandbRecord::Kind::other : record.kind;
  }
}

/// A kind of record: the field of the message that holds it, and what takes a field of it.
struct RecordForm {
  std::uint32_t field;
  WandbRecord::Kind kind;
  void (*take)(pbf_reader& field, WandbRecord& record);
};
constexpr std::array record_forms = {
    RecordForm{2, WandbRecord::Kind::history, take_history}, RecordForm{5, WandbRecord::Kind::config, take_config},
    RecordForm{7, WandbRecord::Kind::stats, take_stats},     RecordForm{10, WandbRecord::Kind::alert, take_alert},
    RecordForm{17, WandbRecord::Kind::run, take_run},        RecordForm{18, WandbRecord::Kind::exit, take_exit},
};

}  // namespace

std::optional<std::string_view> wandb_header_problem(std::span<const std::byte> first) noexcept {
  constexpr std::size_t version_at = 6;
  const auto same = [&](std::size_t bytes) {
    return first.size() < bytes ||
           std::ranges::equal(first.first(bytes), std::as_bytes(std::span(file_header)).first(bytes));
  };
  if (first.size() >= version_at && !same(version_at)) {
    return "is no run file of W&B: it begins with other bytes";
  }
  return same(file_header.size()) ? std::nullopt
                                  : std::optional<std::string_view>("is a run file of W&B of another version than 0");
}

Outcome<WandbChunk> wandb_chunk(std::span<const std::byte> rest, std::size_t left) {
  constexpr std::size_t length_at = 4;
  constexpr std::size_t type_at = 6;
  const auto cut = [] { return make_problem(ProblemKind::not_yet, "the file ends inside a record"); };
  if (rest.size() < wandb_header_bytes) {
    return cut();
  }
  const auto crc = load_little<std::uint32_t>(rest);
  const auto length = std::size_t{load_little<std::uint16_t>(rest.subspan(length_at))};
  const auto type = std::to_integer<std::uint8_t>(rest[type_at]);
  if (crc == 0 && length == 0 && type == 0) {
    return WandbChunk{};
  }
  if (length > left - wandb_header_bytes) {
    return damaged(fmt::format("a chunk of {} bytes is longer than its block", length));
  }
  if (length > rest.size() - wandb_header_bytes) {
    return cut();
  }
  const std::span<const std::byte> checked = rest.subspan(type_at, 1 + length);
  const std::uint32_t actual = crc32(checked);
  if (actual != crc) {
    return damaged(fmt::format("checksum of a chunk: {:08x}, but its bytes have {:08x}", crc, actual));
  }
  if (type < static_cast<std::uint8_t>(WandbChunk::Type::full) ||
      type > static_cast<std::uint8_t>(WandbChunk::Type::last)) {
    return damaged(fmt::format("a chunk of type {}, which no writer knows", type));
  }
  return WandbChunk{static_cast<WandbChunk::Type>(type), checked.subspan(1)};
}

Status parse_wandb_record(std::span<const std::byte> payload, WandbRecord& record) {
  record.kind = WandbRecord::Kind::other;
  record.items.clear();
  record.removed.clear();
  record.keys.clear();
  record.step.reset();
  record.time = 0;
  record.says = {};
  record.exit_code = 0;
  return guarded([&]() -> Status {
    for_each_field(reader_of(payload), [&](pbf_reader& reader) {
      const auto* const form = std::ranges::find(record_forms, reader.tag(), &RecordForm::field);
      if (form != record_forms.end()) {
        record.kind = form->kind;
        const pbf_reader message = message_of(reader);
        for_each_field(form->kind == WandbRecord::Kind::history ? take_plain_items(message, record) : message,
                       [&](pbf_reader& field) { form->take(field, record); });
      }
    });
    return ok();
  });
}

Status flatten(const WandbRecord& record, FlatJson& values, std::size_t& typed) {
  values.clear();
  for (const WandbRecord::Item& item : record.items) {
    if (!values.add(record.keys_of(item), item.json)) {
      return damaged("a value in the record is no JSON");
    }
  }
  typed = values.fold_typed();
  return ok();
}

Outcome<Value> parse_wandb_value(std::span<const std::byte> chunks, std::uint64_t offset, std::string_view name) {
  std::vector<std::byte> payload;
  for (bool ended = false; !ended;) {
    const std::size_t left = wandb_block_bytes - offset % wandb_block_bytes;
    const auto chunk = left < wandb_header_bytes || chunks.size() < wandb_header_bytes
                           ? Outcome<WandbChunk>(WandbChunk())
                           : wandb_chunk(chunks.first(std::min(left, chunks.size())), left);
    if (!chunk) {
      return chunk.problem();
    }
    const bool skipped = left < wandb_header_bytes;
    const std::size_t bytes = skipped ? left : wandb_header_bytes + chunk->payload.size();
    if (bytes > chunks.size() ||
        (!skipped && (chunk->type == WandbChunk::Type::none || chunk->begins() != payload.empty()))) {
      return damaged("the file has changed: no record of that length is here any more");
    }
    payload.insert(payload.end(), chunk->payload.begin(), chunk->payload.end());
    ended = !skipped && chunk->ends();
    chunks = chunks.subspan(bytes);
    offset += bytes;
  }
  WandbRecord record;
  FlatJson values;
  std::size_t typed = 0;
  if (Status parsed = parse_wandb_record(payload, record); !parsed) {
    return std::move(parsed.problem());
  }
  if (Status flat = flatten(record, values, typed); !flat) {
    return std::move(flat.problem());
  }
  Value value;
  value.dtype = Dtype::float64;
  for (const FlatJson::Value& one : values.values()) {
    if (one.kind == FlatJson::Kind::number && values.name(one) == "_timestamp") {
      value.wall_time = one.number;
    }
    const bool array = one.kind == FlatJson::Kind::array;
    if ((!array && one.kind != FlatJson::Kind::histogram) || values.name(one) != name) {
      continue;
    }
    const std::span<const double> numbers = values.numbers(one);
    const auto size = static_cast<std::int64_t>(numbers.size());
    value.shape = array ? Shape{size} : Shape{size / 3, 3};
    std::ranges::copy(std::as_bytes(numbers), value.own(numbers.size_bytes()).data());
  }
  return value.owned ? Outcome<Value>(std::move(value))
                     : Outcome<Value>(damaged("the record here has no array of that name"));
}

}  // namespace smd::detail::wire
