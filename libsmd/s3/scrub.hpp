// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "s3/signing.hpp"

/// What a server says may repeat what was sent to it: the Authorization header, the session token.
namespace smd::detail::storage::s3 {

/// The text with `***` in place of the key id, the secret and the session token, each also as it stands in a URL.
[[nodiscard]] std::string without_credentials(std::string text, const Credentials& credentials);

/// The same of a text that a server wrote: without signatures too, of this request or of another. These are 64
/// hexadecimal digits, as are digests.
[[nodiscard]] std::string scrubbed(std::string text, const Credentials& credentials);
/// Only signatures: where the credentials are not known.
[[nodiscard]] std::string without_signatures(std::string text);

/// The same of any one secret.
[[nodiscard]] std::string without(std::string text, std::string_view secret);
/// Whether there would be anything to replace.
[[nodiscard]] bool holds_secret(std::string_view text, std::string_view secret);

}  // namespace smd::detail::storage::s3
