// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "s3/signing.hpp"

/// Removes secrets from the server's texts, which may repeat parts of the request: the Authorization header, the
/// session token.
namespace smd::detail::storage::s3 {

/// Replaces the key id, the secret and the session token by `***`, also in the form that they have in a URL.
[[nodiscard]] std::string without_credentials(std::string text, const Credentials& credentials);

/// As above, for a text from a server: also replaces signatures, of this request or another. Signatures are 64
/// hexadecimal digits, as are digests.
[[nodiscard]] std::string scrubbed(std::string text, const Credentials& credentials);
/// Replaces only signatures, if the credentials are not known.
[[nodiscard]] std::string without_signatures(std::string_view text);

/// Replaces one secret.
[[nodiscard]] std::string without(std::string text, std::string_view secret);
/// Returns whether a text contains the secret.
[[nodiscard]] bool holds_secret(std::string_view text, std::string_view secret);

}  // namespace smd::detail::storage::s3
