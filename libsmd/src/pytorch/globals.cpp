// SPDX-License-Identifier: Apache-2.0
#include "pytorch/globals.hpp"

#include "pytorch/pickle.hpp"

#include <algorithm>
#include <iterator>

namespace smd::detail::pytorch {

namespace {

struct KnownNames {
  std::string_view module;
  Meaning meaning;
  std::string_view names;  ///< With blanks between.
};

/// Functions and classes that occur in sound files.
constexpr KnownNames known_names[] = {
    {"builtins", Meaning::mapping, "dict"},
    {"builtins", Meaning::first, "list tuple set frozenset"},
    {"builtins", Meaning::encode, "bytes"},
    {"builtins", Meaning::opaque, "object"},
    {"collections", Meaning::mapping, "OrderedDict defaultdict Counter"},
    {"copyreg", Meaning::opaque, "_reconstructor"},
    {"_codecs", Meaning::encode, "encode"},
    {"torch", Meaning::first, "Size"},
    {"torch.nn.parameter", Meaning::first, "Parameter"},
    {"torch._utils", Meaning::first,
     "_rebuild_parameter _rebuild_parameter_with_state _rebuild_device_tensor_from_numpy "
     "_rebuild_device_tensor_from_cpu_tensor"},
    {"torch._utils", Meaning::tensor, "_rebuild_tensor _rebuild_tensor_v2"},
    {"torch._utils", Meaning::tensor_of_dtype, "_rebuild_tensor_v3"},
    {"torch._utils", Meaning::quantised, "_rebuild_qtensor"},
    {"torch._utils", Meaning::meta, "_rebuild_meta_tensor_no_storage"},
    {"torch._utils", Meaning::sparse, "_rebuild_sparse_tensor _rebuild_sparse_csr_tensor"},
    {"torch._utils", Meaning::opaque, "_rebuild_wrapper_subclass"},
    {"torch._tensor", Meaning::from_type, "_rebuild_from_type_v2"},
    {"torch.serialization", Meaning::opaque, "_get_layout"},
    {"torch.jit._pickle", Meaning::opaque, "build_intlist build_tensorlist restore_type_tag"},
    {"numpy.core.multiarray", Meaning::numpy_scalar, "scalar"},
    {"numpy.core.multiarray", Meaning::numpy_array, "_reconstruct"},
    {"numpy.core.numeric", Meaning::numpy_from_buffer, "_frombuffer"},
    {"numpy", Meaning::numpy_dtype, "dtype"},
    {"numpy", Meaning::opaque, "ndarray"},
};

/// Modules that run programs, open files or sockets, or evaluate text; also as a part of any dotted name.
constexpr std::string_view dangerous_modules =
    "_ctypes _pickle _posixsubprocess _socket asyncio bdb cPickle cloudpickle code codeop commands ctypes dill doctest "
    "ftplib http httplib imp importlib joblib marshal nt os pdb pickle pip pkgutil popen2 posix pty requests runpy "
    "shelve shutil smtplib socket socketserver ssl subprocess sys telnetlib tempfile timeit urllib urllib2 webbrowser "
    "zipimport";

/// Functions of any module that do.
constexpr std::string_view dangerous_functions =
    "CodeType FileIO FunctionType __builtins__ __getattribute__ __globals__ __import__ __loader__ __subclasses__ "
    "breakpoint compile delattr eval exec execfile exit getattr globals input locals open open_code popen quit "
    "runstring setattr system vars";

/// Splits a text at each of these characters, until `take(part)` returns true. Returns whether it did.
template <class Take>
bool any_part(std::string_view text, char separator, const Take& take) {
  for (;;) {
    const std::size_t end = text.find(separator);
    if (take(text.substr(0, end))) {
      return true;
    }
    if (end == text.npos) {
      return false;
    }
    text.remove_prefix(end + 1);
  }
}

bool has_word(std::string_view words, std::string_view word) {
  return any_part(words, ' ', [&](std::string_view one) { return one == word; });
}

bool is_dangerous_word(std::string_view word) {
  return has_word(dangerous_modules, word) || has_word(dangerous_functions, word);
}

bool is_dangerous(const GlobalName& global) {
  return any_part(global.name, '.', is_dangerous_word) ||
         any_part(global.module, '.', [](std::string_view word) { return has_word(dangerous_modules, word); });
}

/// Returns a module's name in the newest versions of Python, NumPy and PyTorch.
std::string today(std::string_view module) {
  constexpr std::string_view old_names[][2] = {
      {"__builtin__", "builtins"}, {"copy_reg", "copyreg"}, {"torch.tensor", "torch._tensor"}};
  constexpr std::string_view numpy_core = "numpy._core";
  for (const auto& [old, now] : old_names) {
    if (module == old) {
      return std::string(now);
    }
  }
  const bool renamed = (std::string(module) + ".").starts_with("numpy._core.");
  return renamed ? "numpy.core" + std::string(module.substr(numpy_core.size())) : std::string(module);
}

const KnownNames* find_known(const GlobalName& global) {
  const auto* const found = std::find_if(std::begin(known_names), std::end(known_names), [&](const KnownNames& known) {
    return known.module == global.module && has_word(known.names, global.name);
  });
  return found == std::end(known_names) ? nullptr : found;
}

/// Returns whether a name is a class or a constant of PyTorch or NumPy, by the way these are written.
bool is_data_class(const GlobalName& global) {
  const std::string package = global.module.substr(0, global.module.find('.'));
  const std::size_t first = global.name.find_first_not_of('_');
  const bool is_class = first != global.name.npos && global.name[first] >= 'A' && global.name[first] <= 'Z';
  return package == "__torch__" /* classes of a TorchScript archive */ ||
         (global.module == "torch" && global.name != "load") ||
         (is_class && (package == "torch" || package == "numpy"));
}

bool is_plain_identifier(std::string_view text) noexcept {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Returns whether a Global is used only as Python 3.11 writes members of enumerations: called with a Global that is
/// not dangerous and the plain name of a member.
bool reads_members_only(const Pickle& pickle, const GlobalName& getattr) {
  const auto is_getattr = [&](Ref value) { return pickle.global(value) == &getattr; };
  for (Ref node = 0; node < pickle.nodes(); ++node) {
    const Pickle::First arguments = pickle.first_items(pickle.arguments(node));
    const GlobalName* const of = pickle.global(arguments[0]);
    const std::string_view member = pickle.text(arguments[1]);
    const bool harmless = of != nullptr && !is_dangerous(*of) && arguments[2] == Pickle::nothing &&
                          is_plain_identifier(member) && !is_dangerous_word(member);
    std::vector<Ref> others = pickle.items(node);
    for (const Pickle::Pair& pair : pickle.pairs(node)) {
      others.insert(others.end(), {pair.key, pair.value, is_getattr(node) ? node : pair.value});
    }
    others.insert(others.end(), {pickle.arguments(node), pickle.identity(node)});
    if ((is_getattr(pickle.callee(node)) && !harmless) || std::any_of(others.begin(), others.end(), is_getattr)) {
      return false;
    }
  }
  return true;
}

}  // namespace

GlobalName global_name(std::string_view module, std::string_view name, std::uint64_t offset) {
  GlobalName global = {today(module), std::string(name), offset};
  const KnownNames* const known = find_known(global);
  global.meaning = known == nullptr ? Meaning::opaque : known->meaning;
  return global;
}

std::vector<ListedGlobal> listed_globals(const Pickle& pickle) {
  std::vector<ListedGlobal> listed;
  for (const GlobalName& global : pickle.globals()) {
    const bool dangerous = is_dangerous(global);
    if (global.module == "builtins" && global.name == "getattr" && reads_members_only(pickle, global)) {
      continue;
    }
    if (dangerous || (find_known(global) == nullptr && !is_data_class(global))) {
      listed.push_back({global.module + "." + global.name, global.offset, dangerous});
    }
  }
  return listed;
}

}  // namespace smd::detail::pytorch
