// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace smd::detail::layout {

/// What values of a log directory are.
enum class ValueKind : std::uint8_t { number, histogram, image, audio, text, tensor };

/// A tensor and what some of its values are.
struct NamedValues {
  std::string tensor;
  ValueKind kind = ValueKind::number;
};

/// Puts tensors into collections by their names and by what they hold: a log directory says nothing of collections.
/// `all` and `losses` exist even if nothing is in them. `before` may be null; it is returned if nothing changes.
[[nodiscard]] std::shared_ptr<const CollectionsInfo> add_to_collections(std::shared_ptr<const CollectionsInfo> before,
                                                                        std::span<const NamedValues> values);

}  // namespace smd::detail::layout
