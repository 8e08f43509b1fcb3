// SPDX-License-Identifier: Apache-2.0
// Performs the input as calls of a hook. The public interface must read back the given values, those with the name of a
// saved reduction as that reduction, and a full check must find nothing.
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include "layout/name_table.hpp"
#include "source.hpp"
#include "target.hpp"
#include "work_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace smd;

namespace {

constexpr Dtype dtypes[] = {Dtype::float32, Dtype::float64,   Dtype::int32,      Dtype::uint8,  Dtype::int16,
                            Dtype::int8,    Dtype::complex64, Dtype::int64,      Dtype::qint8,  Dtype::bfloat16,
                            Dtype::uint16,  Dtype::boolean,   Dtype::complex128, Dtype::uint32, Dtype::float16};

struct Given {
  Dtype dtype;
  Shape shape;
  std::vector<std::byte> bytes;
};
using Saved = std::map<std::pair<std::int64_t, std::string>, Given>;

Given take_value(fuzz::Source& source) {
  Given given;
  given.dtype = dtypes[source.number() % std::size(dtypes)];
  const unsigned axes = source.number() % 4;
  std::uint64_t bytes = item_size(given.dtype);
  for (unsigned i = 0; i < axes; ++i) {
    given.shape.push_back(source.number() % 5);
    bytes *= static_cast<std::uint64_t>(given.shape.back());
  }
  for (std::uint64_t i = 0; i < bytes; ++i) {
    const auto byte = source.number();
    given.bytes.push_back(static_cast<std::byte>(given.dtype == Dtype::boolean ? byte & 1 : byte));
  }
  return given;
}

Saved run_job(fuzz::Source& source, const std::string& path) {
  HookConfig config{.out_dir = path, .save_config = SaveConfigMode{.save_interval = 1}};
  const unsigned flags = source.number();
  config.checksum = (flags & 1) != 0;
  config.save_all = true;
  config.end_marker = true;
  if ((flags & 2) != 0) {
    config.reduction_config = parse_reduction_config("min,max,mean,abs_mean,l2", true, (flags & 4) != 0);
  }
  Hook hook(config);
  Saved saved;
  for (int calls = 0; !source.empty() && calls < 64; ++calls) {
    switch (source.number() % 6) {
      case 0:
        hook.next_step();
        break;
      case 1:
        hook.set_mode(static_cast<Mode>(1 + source.number() % 4));
        break;
      case 2:
        hook.save_shape(source.text(source.number() % 16), {source.number(), 1});
        break;
      default: {
        const std::string name(source.text(source.number() % 32));
        Given given = take_value(source);
        try {
          if (hook.save_tensor(name, {given.dtype, given.shape, given.bytes})) {
            saved[{hook.step().value, name}] = std::move(given);
          }
        } catch (const InvalidArgument&) {  // a name that is not UTF-8, or empty
        }
        break;
      }
    }
  }
  hook.close();
  return saved;
}

}  // namespace

SMD_FUZZ_ENTRY(hook_round_trip)(const std::uint8_t* data, std::size_t size) {
  const fuzz::WorkFolder& folder = fuzz::empty_work_folder();
  fuzz::Source source(data, size);
  Saved saved;
  try {
    saved = run_job(source, folder.path());
  } catch (const InvalidArgument&) {  // an invalid shape or name
    return 0;
  } catch (const StepAlreadySaved&) {
    return 0;
  }
  const CheckReport report = check_trial(folder.path(), {.jobs = 1}, [](const Problem& problem) {
    SMD_REQUIRE(problem.kind == ProblemKind::note || problem.kind == ProblemKind::warning ||
                problem.kind == ProblemKind::remark);
  });
  SMD_REQUIRE(!report.damaged && report.unprotected <= report.records);
  const Trial trial = Trial::open(folder.path(), {.jobs = 1});
  SMD_REQUIRE(trial.ended());
  for (const auto& [key, given] : saved) {
    const auto [tensor, reduction] = detail::layout::parse_stored_name(key.second);
    const Tensor read = trial.tensor(tensor);
    const GlobalStep step(key.first);
    const TensorValue value = reduction ? read.reduction_values(step).at(std::string(*reduction)) : read.value(step);
    SMD_REQUIRE(value.dtype() == given.dtype && value.shape() == given.shape);
    SMD_REQUIRE(std::equal(value.bytes().begin(), value.bytes().end(), given.bytes.begin(), given.bytes.end()));
  }
  return 0;
}
