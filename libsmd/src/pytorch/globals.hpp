// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::pytorch {

class Pickle;

/// What a call of a function or class means.
enum class Meaning : std::uint8_t {
  opaque,             ///< Unknown, or without a tensor of its own: what it contains is still looked at.
  mapping,            ///< `collections.OrderedDict` and its like.
  first,              ///< The value is the first argument: `torch.Size`, `_rebuild_parameter`.
  tensor,             ///< (storage, offset, size, stride, requires_grad, hooks, metadata)
  tensor_of_dtype,    ///< The same, with a dtype before the metadata.
  quantised,          ///< (storage, offset, size, stride, quantiser, …)
  meta,               ///< (dtype, size, stride, …): no elements.
  sparse,             ///< (layout, (indices, values, size)), or two lists of indices.
  from_type,          ///< (function, type, arguments, state)
  numpy_scalar,       ///< (dtype, bytes)
  numpy_array,        ///< Its state is (version, shape, dtype, Fortran order, bytes).
  numpy_from_buffer,  ///< (bytes, dtype, shape, order)
  numpy_dtype,        ///< (code, …); its state has the byte order.
  encode,             ///< (text, 'latin1')
};

/// The name of a function or class that a pickle refers to.
struct GlobalName {
  std::string module;        ///< As the newest versions of Python, NumPy and PyTorch call it.
  std::string name;          ///< May reach through attributes: `os.system`.
  std::uint64_t offset = 0;  ///< Of its first use in the pickle.
  Meaning meaning = Meaning::opaque;
};

[[nodiscard]] GlobalName global_name(std::string_view module, std::string_view name, std::uint64_t offset);

/// A name that an unsafe load would look up and may call.
struct ListedGlobal {
  std::string name;          ///< `posix.system`
  std::uint64_t offset = 0;  ///< Of its first use.
  bool dangerous = false;    ///< It may run a program, open files or sockets, or evaluate text.
};

/// Returns the names of a pickle that are not PyTorch's and NumPy's own data classes, each once.
[[nodiscard]] std::vector<ListedGlobal> listed_globals(const Pickle& pickle);

}  // namespace smd::detail::pytorch
