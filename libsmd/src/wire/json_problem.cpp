// SPDX-License-Identifier: Apache-2.0
#include "wire/json_problem.hpp"

#include "text/escape.hpp"
#include "wire/first_bytes.hpp"

#include <smd/limits.hpp>

#include <span>

namespace smd::detail {

Problem json_problem(const text::JsonError& error, std::string_view text) {
  const wire::KnownFile* const known =
      wire::known_file(std::as_bytes(std::span(text.substr(0, wire::telling_bytes))), {});
  if (!text.empty() && known != nullptr && known->kind != wire::FileKind::text) {
    return damaged(say(*known), 0);
  }
  switch (error.fault) {
    case text::JsonFault::too_deep:
      return damaged("nested deeper than " + std::to_string(limits::json_depth) + " levels");
    case text::JsonFault::cut_off:
      return damaged("the JSON document is cut off", error.offset);
    case text::JsonFault::number:
      return damaged("the number " + printable(error.number) + " is beyond a double", error.offset);
    case text::JsonFault::no_object:
      return damaged("not a JSON object", error.offset);
    case text::JsonFault::no_memory:
      return {ProblemKind::io, {}, {}, "memory ran out"};
    case text::JsonFault::malformed:
      break;
  }
  return damaged("not valid JSON from here on", error.offset);
}

}  // namespace smd::detail
