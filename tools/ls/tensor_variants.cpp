// SPDX-License-Identifier: Apache-2.0
#include "tensor_variants.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace smd::tool::ls {
namespace {

constexpr std::size_t most_records = 64;  // of one tensor

/// Records that agree in this are taken to have one shape and dtype.
struct RecordKind {
  std::string_view worker;
  std::uint64_t length = 0;
  std::shared_ptr<const ValueType> type;  // holds both, or is null

  bool operator==(const RecordKind& other) const {
    const bool same = type == other.type || (type && other.type && *type == *other.type);
    return same && worker == other.worker && length == other.length;
  }
};

struct Seen {
  std::vector<RecordKind> records;
  std::optional<Shape> shape;  // saved by itself
};

/// Entries of a step come in the order of names, so that the next one is mostly the next row.
class Rows {
 public:
  explicit Rows(const std::vector<TensorFacts>& facts) : facts_(facts) {}

  std::optional<std::size_t> find(std::string_view tensor) {
    for (const std::size_t guess : {at_, at_ + 1, std::size_t{0}}) {
      if (guess < facts_.size() && facts_[guess].summary.tensor == tensor) {
        at_ = guess;
        return at_;
      }
    }
    const auto place =
        std::lower_bound(facts_.begin(), facts_.end(), tensor,
                         [](const TensorFacts& row, std::string_view name) { return row.summary.tensor < name; });
    if (place == facts_.end() || place->summary.tensor != tensor) {
      return std::nullopt;
    }
    at_ = static_cast<std::size_t>(place - facts_.begin());
    return at_;
  }

 private:
  const std::vector<TensorFacts>& facts_;
  std::size_t at_ = 0;
};

}  // namespace

void find_variants(const Trial& trial, const EntryQuery& query, std::vector<TensorFacts>& facts) {
  std::vector<Seen> seen(facts.size());
  Rows rows(facts);
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    const std::optional<std::size_t> row = rows.find(entry.tensor);
    if (!row) {
      return true;
    }
    Seen& of_tensor = seen[*row];
    TensorFacts& tensor = facts[*row];
    if (entry.shape) {
      tensor.shape_varies = tensor.shape_varies || (of_tensor.shape && *of_tensor.shape != *entry.shape);
      of_tensor.shape = entry.shape;
    }
    if (!entry.value || of_tensor.records.size() == most_records) {
      return true;
    }
    RecordKind kind{entry.worker, entry.value->length, entry.value->type};
    if (std::find(of_tensor.records.rbegin(), of_tensor.records.rend(), kind) == of_tensor.records.rend()) {
      of_tensor.records.push_back(std::move(kind));
      tensor.others.push_back(*entry.value);
    }
    return true;
  });
}

}  // namespace smd::tool::ls
