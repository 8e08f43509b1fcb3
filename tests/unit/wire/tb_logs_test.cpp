// SPDX-License-Identifier: Apache-2.0
// Recorded event files of TensorBoard's writers: every value that tests/fixtures/tb-logs expects, read by its name.
#include "hex.hpp"
#include "support/sha256.hpp"
#include "support/temp_dir.hpp"
#include "text/json.hpp"
#include "wire/framing.hpp"
#include "wire/little_endian.hpp"
#include "wire/summary.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <smd/elements.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;
using namespace smd::test;

namespace {

using nlohmann::json;

const std::filesystem::path logs = std::filesystem::path(SMD_TEST_FIXTURES) / "tb-logs";

/// The payloads of all event files in a folder.
std::vector<std::string> payloads(const std::string& name) {
  std::vector<std::string> all;
  for (const auto& file : std::filesystem::directory_iterator(logs / name)) {
    const std::string bytes = read_file(file.path());
    for (auto rest = bytes_of(bytes); !rest.empty();) {
      const auto frame = next_record(rest);
      REQUIRE(frame);
      all.emplace_back(reinterpret_cast<const char*>(frame->payload.data()), frame->payload.size());
      rest = rest.subspan(frame->payload.size() + frame_bytes);
    }
  }
  return all;
}

/// Payloads by tag, step and wall time.
using Found = std::map<std::tuple<std::string, std::int64_t, double>, std::string>;
Found find_values(const std::string& name) {
  Found found;
  EventOutline event;
  for (const std::string& payload : payloads(name)) {
    const Status status = outline_event(bytes_of(payload), event);
    REQUIRE_MESSAGE(status, status.problem().text);
    for (const SummaryValue& value : event.values) {
      found[{std::string(value.tag), event.step, event.wall_time}] = payload;
    }
  }
  return found;
}

json expected(const std::string& name) {
  return json::parse(read_file(logs / (name + ".expected.json")))["trials"]["."]["tensors"];
}

double number_in(const json& value) {
  if (value.is_boolean()) {
    return value.get<bool>() ? 1 : 0;
  }
  if (value.is_string()) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto text = value.get<std::string>();
    return text == "NaN" ? std::numeric_limits<double>::quiet_NaN() : text[0] == '-' ? -infinity : infinity;
  }
  return value.get<double>();
}

/// All that is no list, from front to back.
void flatten(const json& value, std::vector<json>& into) {
  if (!value.is_array()) {
    into.push_back(value);
    return;
  }
  for (const json& item : value) {
    flatten(item, into);
  }
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T number;
  REQUIRE((at + 1) * sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + at * sizeof number, sizeof number);
  return number;
}

/// float16 by its formula.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 != 0 ? -size : size;
}

/// Whether the nearest number of a type with steps of 2^`step` of the number's size is meant.
bool nearest(double got, double wanted, int step, double least) {
  return std::isnan(wanted)
             ? std::isnan(got)
             : got == wanted || std::fabs(got - wanted) <= std::max(std::ldexp(std::fabs(wanted), -step), least);
}

template <class T>
bool same(T got, double wanted) {
  return std::isnan(wanted) ? got != got : got == static_cast<T>(wanted);
}

/// The element at `at` is what is expected.
bool element_is(Dtype dtype, std::span<const std::byte> bytes, std::size_t at, const json& wanted) {
  return visit_element_type(dtype, [&]<class Stored>(std::type_identity<Stored>) -> bool {
    if constexpr (std::is_same_v<Stored, std::complex<float>>) {
      return same(load<float>(bytes, at), number_in(wanted));  // one part
    } else if constexpr (std::is_floating_point_v<Stored>) {
      return same(load<Stored>(bytes, at), number_in(wanted));
    } else if constexpr (std::is_same_v<Stored, Half>) {
      return nearest(half_value(load<std::uint16_t>(bytes, at)), number_in(wanted), 11, 0x1p-25);
    } else if constexpr (std::is_same_v<Stored, BFloat16>) {
      return nearest(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(bytes, at)} << 16), number_in(wanted), 8,
                     0);
    } else if constexpr (std::is_same_v<Stored, bool>) {
      return load<std::uint8_t>(bytes, at) == number_in(wanted);
    } else if constexpr (std::is_integral_v<Stored>) {
      return load<Stored>(bytes, at) == wanted.get<Stored>();
    } else {
      return false;
    }
  });
}

void check_values(const Value& value, const json& wanted) {
  std::vector<json> items;
  flatten(wanted, items);
  if (value.dtype == Dtype::string) {
    const auto texts = strings({value.dtype, value.shape, value.bytes});
    REQUIRE(texts.size() == items.size());
    for (std::size_t at = 0; at < items.size(); ++at) {
      CHECK(texts[at] == items[at].get<std::string>());
    }
    return;
  }
  const std::size_t stored = value.bytes.size() / item_size(value.dtype) * (is_complex(value.dtype) ? 2 : 1);
  CHECK(stored + value.repeats == items.size());
  for (std::size_t at = 0; at < items.size(); ++at) {
    CAPTURE(at);
    CHECK(element_is(value.dtype, value.bytes, std::min(at, stored - 1), items[at]));
  }
}

/// The message of the value that `payload` holds under `tag`.
std::span<const std::byte> message_in(const std::string& payload, std::string_view tag, EventOutline& event) {
  REQUIRE(outline_event(bytes_of(payload), event));
  const auto found = std::find_if(event.values.begin(), event.values.end(),
                                  [&](const SummaryValue& value) { return value.tag == tag; });
  REQUIRE(found != event.values.end());
  return found->message;
}

double element(const Value& value, std::int64_t row, std::int64_t column) {
  return load<double>(value.bytes, static_cast<std::size_t>(3 * row + column));
}

/// A histogram's sums, or edges if it is a table, and its buckets against the expected reductions.
void check_histogram(const std::string& payload, const std::string& tag, const Value& value, const json& wanted) {
  EventOutline event;
  const auto message = message_in(payload, tag, event);
  REQUIRE(value.dtype == Dtype::float64);
  REQUIRE(value.shape.size() == 2);
  REQUIRE(value.shape[1] == 3);
  const std::int64_t count = value.shape[0];
  if (event.values.front().kind == SummaryKind::tensor) {
    const auto edges = bucket_span(message);
    REQUIRE(edges);
    CHECK(edges->has_value() == wanted.contains("min"));
    if (*edges) {
      CHECK(same((*edges)->min, number_in(wanted["min"])));
      CHECK(same((*edges)->max, number_in(wanted["max"])));
    }
    return;
  }
  const auto sums = histogram_sums(message);
  REQUIRE(sums);
  CHECK(same(sums->min, number_in(wanted["min"])));
  CHECK(same(sums->max, number_in(wanted["max"])));
  CHECK(same(sums->sum, number_in(wanted["sum"])));
  CHECK(nearest(std::sqrt(sums->sum_squares), number_in(wanted["l2"]), 50, 0));
  REQUIRE(count > 0);
  CHECK(same(element(value, 0, 0), sums->min));
  if (std::isfinite(sums->max)) {  // an infinity lies in no bucket
    CHECK(same(element(value, count - 1, 1), sums->max));
  }
  CHECK(element(value, 0, 2) > 0);
  CHECK(element(value, count - 1, 2) > 0);
  double elements = element(value, 0, 2);
  for (std::int64_t row = 1; row < count; ++row) {
    CHECK(element(value, row, 0) == element(value, row - 1, 1));
    elements += element(value, row, 2);
  }
  // Buckets count numbers; a NaN or an infinity among the elements is in none.
  CHECK((elements == sums->num || (!std::isfinite(sums->sum) && elements < sums->num)));
}

}  // namespace

TEST_CASE("every value of the recorded logs is read by its name") {
  for (const char* const name : {"pt_scalars", "pt_new_style", "pt_add_tensor", "mixed_values", "pt_media",
                                 "pt_histograms", "odd_tags", "odd_steps"}) {
    CAPTURE(name);
    const Found found = find_values(name);
    std::size_t seen = 0;
    const json tensors = expected(name);
    for (const auto& [tag, tensor] : tensors.items()) {
      const std::string& of = tag;  // structured bindings cannot be captured
      CAPTURE(of);
      const json& worker = tensor["workers"]["worker_0"];
      for (std::size_t at = 0; at < worker["steps"].size(); ++at) {
        const auto step = worker["steps"][at].get<std::int64_t>();
        CAPTURE(step);
        const auto place = found.find({tag, step, worker["wall_times"][at].get<double>()});
        REQUIRE(place != found.end());
        const std::string& payload = place->second;
        const auto value = parse_value(bytes_of(payload), tag, ValueKinds::summaries);
        REQUIRE_MESSAGE(value, value.problem().text);
        CHECK(value->step == step);
        CHECK(value->wall_time == worker["wall_times"][at].get<double>());
        ++seen;
        if (tensor["kind"] == "histogram") {
          check_histogram(payload, tag, *value, worker["reductions"][at]);
          continue;
        }
        CHECK(to_string(value->dtype) == tensor["dtype"].get<std::string>());
        CHECK(value->shape == tensor.value("shape", Shape{}));
        if (worker.contains("sha256")) {
          CHECK(sha256(value->bytes.subspan(4)) == worker["sha256"][at][0].get<std::string>());
          continue;
        }
        check_values(*value, worker["values"][at]);
        EventOutline event;
        if (const auto message = message_in(payload, tag, event); !message.empty() && tensor["kind"] == "scalar") {
          const auto scalar = scalar_of_tensor(message);
          REQUIRE(scalar);
          CHECK(scalar->dtype == value->dtype);
          std::array<std::byte, 8> bytes{};
          store_little(bytes.data(), scalar->bits);
          CHECK(element_is(scalar->dtype, bytes, 0, worker["values"][at]));
        }
      }
    }
    CHECK(seen > 3);
  }
}

TEST_CASE("the plugins and settings of the recorded logs") {
  std::map<std::string, SummaryMetadata> metadata;
  std::vector<std::string> texts;  // which the metadata borrow
  for (const std::string& name : {std::string("mixed_values"), std::string("pt_hparams/1700000003.25")}) {
    for (std::string& payload : payloads(name)) {
      texts.push_back(std::move(payload));
    }
  }
  EventOutline event;
  for (const std::string& payload : texts) {
    REQUIRE(outline_event(bytes_of(payload), event));
    for (const SummaryValue& value : event.values) {
      if (value.metadata) {
        metadata[std::string(value.tag)] = *value.metadata;
      }
    }
  }
  CHECK(metadata.at("pr").plugin == "pr_curves");
  CHECK(metadata.at("pr").data_class == 2);
  CHECK(metadata.at("classed").plugin == "my_scalars");
  CHECK(metadata.at("classed").data_class == 1);
  CHECK(metadata.at("flag").plugin == "scalars");
  CHECK(metadata.at("flag").data_class == 0);
  CHECK_FALSE(metadata.contains("nothing_inside"));
  // add_hparams({"lr": 0.1, "bsize": 32, "net": "mlp", "bn": True}, …); PyTorch stores True as 1
  std::string settings;
  for (const Hyperparameter& parameter : hyperparameters(metadata.at("_hparams_/session_start_info").content)) {
    settings += std::string(parameter.name) + "=" + parameter.json + " ";
  }
  CHECK(settings == "bn=1 bsize=32 lr=0.1 net=\"mlp\" ");
}
