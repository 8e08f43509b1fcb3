// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace smd::detail::reduce {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

}  // namespace smd::detail::reduce
