// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

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
  further,    ///< Beside a model's own: in `all` only.
};

/// A tensor and what some of its values are.
struct NamedValues {
  std::string tensor;
  ValueKind kind = ValueKind::number;
};

/// Puts tensors into collections by their names and by what they hold: neither a log
/// directory nor a checkpoint says anything of collections.
/// `all` and `losses` exist even if nothing is in them. `before` may be null; it is returned if nothing changes.
[[nodiscard]] std::shared_ptr<const CollectionsInfo> add_to_collections(std::shared_ptr<const CollectionsInfo> before,
                                                                        std::span<const NamedValues> values);

}  // namespace smd::detail::layout
