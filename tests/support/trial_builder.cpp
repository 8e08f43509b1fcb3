// SPDX-License-Identifier: Apache-2.0
#include "support/trial_builder.hpp"

#include "layout/debugger/trial_paths.hpp"
#include "wire/encode.hpp"
#include "wire/framing.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace smd::test {

namespace layout = detail::layout;
namespace wire = detail::wire;

std::string index_path(std::int64_t step, std::string_view worker) { return layout::index_path(step, worker); }

std::string events_path(std::int64_t step, std::string_view worker) { return layout::event_path(step, worker); }

StepFiles encode_step(const BuiltStep& step) {
  StepFiles files;
  nlohmann::ordered_json payload = nlohmann::ordered_json::array();
  const auto add = [&](const std::string& name, const TensorView& view) {
    std::string event;
    wire::append_event(event,
                       {.tag = name,
                        .wall_time = step.wall_time.value_or(1.7e9 + static_cast<double>(step.step)),
                        .step = step.step,
                        .mode_step = step.mode_step,
                        .mode = static_cast<std::int64_t>(step.mode)},
                       view);
    const std::size_t start = files.events.size();
    wire::append_record(files.events, std::as_bytes(std::span(event)),
                        step.checksums ? wire::Protection::checksum : wire::Protection::unprotected);
    payload.push_back({{"tensorname", name}, {"start_idx", start}, {"length", files.events.size() - start}});
  };
  for (const auto& [name, elements] : step.tensors) {
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(elements.size())};
    add(name, TensorView(Dtype::float32, shape, std::as_bytes(std::span(elements))));
  }
  for (const BuiltValue& value : step.values) {
    add(value.name, TensorView(value.dtype, value.shape, std::as_bytes(std::span(value.bytes))));
  }
  nlohmann::ordered_json shapes = nlohmann::ordered_json::array();
  for (const auto& [name, shape] : step.shapes) {
    shapes.push_back({{"tensorname", name}, {"originalname", name}, {"shape", shape}});
  }
  // The reference's spacing, which the parser's fast path recognises.
  files.index = "{\"meta\": {\"mode\": \"" + std::string(to_string(step.mode)) +
                "\", \"mode_step\": " + std::to_string(step.mode_step) + ", \"event_file_name\": \"" +
                events_path(step.step, step.worker) + "\"}, \"tensor_payload\": " + payload.dump() +
                ", \"shape_payload\": " + shapes.dump() + "}";
  return files;
}

TrialBuilder& TrialBuilder::file(std::string_view name, std::string_view content) {
  const std::filesystem::path path = std::filesystem::path(root_) / name;
  std::filesystem::create_directories(path.parent_path());
  const std::filesystem::path temporary = path.string() + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) {
      throw std::runtime_error("cannot write " + temporary.string());
    }
  }
  std::filesystem::rename(temporary, path);
  return *this;
}

TrialBuilder& TrialBuilder::collections(std::string_view worker, int num_workers) {
  const nlohmann::json document = {
      {"collections",
       {{"default", {{"name", "default"}, {"include_regex", {".*"}}, {"tensor_names", nlohmann::json::array()}}}}},
      {"_meta", {{"num_workers", num_workers}}}};
  return file("collections/000000000/" + std::string(worker) + "_collections.json", document.dump());
}

TrialBuilder& TrialBuilder::step(const BuiltStep& step) {
  const StepFiles files = encode_step(step);
  if (!files.events.empty()) {
    file(events_path(step.step, step.worker), files.events);
  }
  return file(index_path(step.step, step.worker), files.index);
}

TrialBuilder& TrialBuilder::end() { return file("training_job_end.ts", ""); }

}  // namespace smd::test
