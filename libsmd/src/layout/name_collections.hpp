// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace smd::detail::layout {

/// What the values of a tensor are.
enum class ValueKind : std::uint8_t {
  number,
  histogram,
  image,
  audio,
  text,
  tensor,
  parameter,  ///< Of a model itself: a weight, a bias or neither, and nothing else.
  further,    ///< Saved beside a model's parameters: only in the collection `all`.
  watched,    ///< A histogram of a model's parameter.
  counter,    ///< A number that counts: in `metrics`.
  system,     ///< A metric of the machine: only in `system`, which nothing asks for by default.
};

/// Returns the bit of a kind in a set of kinds.
constexpr std::uint16_t bit_of(ValueKind kind) noexcept {
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(kind));
}

/// A tensor and what some of its values are.
struct NamedValues {
  std::string tensor;
  ValueKind kind = ValueKind::number;
};

/// What tensors are sorted into: first what a layout of models alone has, then also what one with numbers has.
inline constexpr std::array<std::string_view, 10> collections_of_names = {
    "all", "weights", "biases", "losses", "scalars", "gradients", "histograms", "images", "audio", "text"};
inline constexpr std::size_t collections_of_models = 3;
inline constexpr std::size_t collections_with_numbers = 5;

inline constexpr std::string_view system_collection = "system";

/// Adds tensors to collections by their names and kinds, for layouts that save no collections. `all` and `losses` exist
/// even if empty. `before` may be null; it is returned if nothing changes.
[[nodiscard]] std::shared_ptr<const CollectionsInfo> add_to_collections(std::shared_ptr<const CollectionsInfo> before,
                                                                        std::span<const NamedValues> values);

}  // namespace smd::detail::layout
