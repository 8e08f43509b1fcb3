// SPDX-License-Identifier: Apache-2.0
// A run file of W&B, a CSV or JSON lines, opened through the public interface: first cut somewhere, then whole. The
// second look must know what a single one knows, and problems must name places within the file. The first byte says
// which form it is, and whether checksums are made right, so that what they protect is reached; the next two where it
// is cut. seeds.py makes such inputs.
#include <smd/error.hpp>
#include <smd/tensor.hpp>
#include <smd/trial.hpp>

#include "source.hpp"
#include "target.hpp"
#include "wire/wandb_record.hpp"
#include "work_folder.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

using namespace smd;

namespace {

constexpr std::array<std::string_view, 4> names = {"run-a.wandb", "metrics.csv", "metrics.jsonl", "metrics.json"};

/// Makes the checksum of each chunk right, as far as the lengths lead.
std::string repaired(std::string bytes) {
  using namespace detail::wire;
  for (std::size_t at = wandb_header_bytes; at + wandb_header_bytes <= bytes.size();) {
    const std::size_t left = wandb_block_bytes - at % wandb_block_bytes;
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[at + i])}; };
    const std::size_t length = byte(4) | byte(5) << 8;
    if (left < wandb_header_bytes || byte(6) == 0) {
      at += left;
      continue;
    }
    if (length > left - wandb_header_bytes || at + wandb_header_bytes + length > bytes.size()) {
      break;
    }
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + at + 6), static_cast<uInt>(length + 1)));
    std::memcpy(bytes.data() + at, &crc, sizeof crc);
    at += wandb_header_bytes + length;
  }
  return bytes;
}

std::optional<Trial> opened(const std::string& path, bool as_it_stands) {
  try {
    return Trial::open(path, {.jobs = 1, .as_it_stands = as_it_stands, .auto_refresh = false});
  } catch (const Error& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
    return std::nullopt;
  }
}

using Key = std::tuple<std::string, GlobalStep>;  // tensor, step

/// Each value that counts, and the places of reductions, once.
std::map<Key, std::vector<Place>> entries_of(const Trial& trial) {
  std::map<Key, std::vector<Place>> entries;
  trial.for_each_entry({.include_incomplete = true}, [&](const TensorEntry& entry) {
    std::vector<Place>& places = entries[Key(entry.tensor, entry.step)];
    SMD_REQUIRE(places.empty());
    if (entry.value) {
      places.push_back(*entry.value);
    }
    for (const SavedReduction& reduction : entry.reductions) {
      places.push_back(reduction.place);
    }
    SMD_REQUIRE(!places.empty());
    return true;
  });
  return entries;
}

/// Not by wall times: of most logs they are NaN.
bool same_places(const std::map<Key, std::vector<Place>>& a, const std::map<Key, std::vector<Place>>& b) {
  const auto same = [](const Place& one, const Place& other) {
    return one.form() == other.form() && one.offset == other.offset && one.length == other.length &&
           one.number == other.number;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& one, const auto& other) {
    return one.first == other.first &&
           std::equal(one.second.begin(), one.second.end(), other.second.begin(), other.second.end(), same);
  });
}

void check_problems(const Trial& trial, std::size_t size) {
  for (const Problem& problem : trial.problems()) {
    SMD_REQUIRE(!problem.text.empty() && problem.offset.value_or(0) <= size);
  }
}

void read_some(const Trial& trial) {
  std::vector<WantedValue> wanted;
  std::vector<std::string> texts = trial.tensor_names();
  for (const auto& [key, places] : entries_of(trial)) {
    if (wanted.size() < 64) {
      const auto name = std::find(texts.begin(), texts.end(), std::get<0>(key));
      if (name != texts.end()) {
        wanted.push_back({places.front(), *name});
      }
    }
  }
  trial.read(wanted,
             [](std::size_t, ReadResult&& result) {
               SMD_REQUIRE(result.value.has_value() != result.problem.has_value());
               return true;
             },
             {.jobs = 1});
}

}  // namespace

SMD_FUZZ_ENTRY(metric_logs)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  const unsigned flags = source.number();
  const std::string_view name = names[flags % names.size()];
  const std::size_t cut = source.number<std::uint16_t>();
  std::string content(source.rest());
  if ((flags & names.size()) != 0 && name == names.front()) {
    content = repaired(std::move(content));
  }
  const fuzz::WorkFolder& folder = fuzz::empty_work_folder();
  SMD_REQUIRE(folder.write(name, std::string_view(content).substr(0, cut * (content.size() + 1) >> 16)));
  std::optional<Trial> grown = opened(folder.path(), false);
  SMD_REQUIRE(folder.write(name, content));
  if (std::optional<Trial> whole = opened(folder.path(), false); whole && grown) {
    grown->refresh();
    whole->refresh();  // opening keeps metrics of the machine back
    SMD_REQUIRE(same_places(entries_of(*grown), entries_of(*whole)));
    SMD_REQUIRE(grown->steps(true) == whole->steps(true) && grown->tensor_names() == whole->tensor_names());
  }
  if (const std::optional<Trial> stands = opened(folder.path(), true)) {
    check_problems(*stands, content.size());
    read_some(*stands);
  }
  return 0;
}
