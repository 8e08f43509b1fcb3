// SPDX-License-Identifier: Apache-2.0
#include "pytorch/globals.hpp"

#include "pytorch/describe.hpp"
#include "pytorch/pickle.hpp"
#include "text/ascii.hpp"

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
    {"torch.distributed.checkpoint.filesystem", Meaning::opaque, "_StorageInfo _StoragePrefix"},
    {"torch.jit._pickle", Meaning::opaque, "build_intlist build_tensorlist restore_type_tag"},
    {"numpy.core.multiarray", Meaning::numpy_scalar, "scalar"},
    {"numpy.core.multiarray", Meaning::numpy_array, "_reconstruct"},
    {"numpy.ma.core", Meaning::numpy_array, "_mareconstruct"},
    {"numpy.core.numeric", Meaning::numpy_from_buffer, "_frombuffer"},
    {"numpy", Meaning::numpy_dtype, "dtype"},
    {"numpy", Meaning::opaque, "ndarray"},
};

/// Modules that run programs, open files or sockets, or evaluate text; also as a part of any dotted name.
constexpr std::string_view dangerous_modules =
    "_aix_support _ctypes _frozen_importlib _frozen_importlib_external _imp _pickle _posixsubprocess _socket "
    "_testcapi _winapi _xxinterpchannels _xxsubinterpreters asyncio bdb cPickle cloudpickle code codeop commands "
    "ctypes dill doctest ensurepip ftplib http httplib httpx imaplib imp importlib joblib marshal nt os pdb pickle "
    "pip pkgutil popen2 poplib posix psutil pty requests runpy shelve shutil smtplib socket socketserver ssl "
    "subprocess sys telnetlib tempfile timeit urllib urllib2 webbrowser zipimport";

/// The same of modules whose names other packages have too: what follows begins the whole dotted name.
constexpr std::string_view dangerous_prefixes =
    "bz2 cProfile dbm distutils fileinput gzip hydra.utils idlelib linecache logging.config lzma mmap multiprocessing "
    "numpy.ctypeslib numpy.distutils numpy.f2py profile pydoc setuptools sqlite3 tarfile torch._dynamo "
    "torch._inductor torch.distributed.rpc torch.fx._lazy_graph_module torch.fx.graph_module torch.hub "
    "torch.jit.unsupported_tensor_ops torch.multiprocessing torch.ops torch.package torch.utils.bottleneck "
    "torch.utils.collect_env torch.utils.cpp_extension trace xmlrpc zipfile";

/// Functions and classes of any module that do, and attributes that lead to such.
constexpr std::string_view dangerous_functions =
    "CodeType DataSource FileIO FileOpener FileStore FunctionType PackageExporter PackageImporter PyTorchFileReader "
    "PyTorchFileWriter TCPStore __base__ __bases__ __builtins__ __class__ __code__ __dict__ __func__ __getattr__ "
    "__getattribute__ __globals__ __import__ __loader__ __mro__ __self__ __subclasses__ _get_command_stdout "
    "_load_from_bytes attrgetter breakpoint chmod compile compile_file delattr download_url_to_file eval exec "
    "exec_command execfile exit from_file fromfile fromregex genfromtxt getattr globals input load load_inline "
    "load_library load_state_dict_from_url load_url loads loadtxt locals memmap methodcaller mkdir myeval open "
    "open_code open_memmap popen quit read_bytes read_pickle read_text rmdir rmtree runcall runctx runstring save "
    "savetxt savez savez_compressed setattr spawnv_passfds symlink_to sympify system tofile touch unlink unsafe_load "
    "vars write_bytes write_text";

/// What module `torch` itself has for data, besides the types that are read, and classes of storages and tensors.
constexpr std::string_view torch_words =
    "Generator ScriptObject Size bits16 bits1x8 bits2x4 bits4x2 bits8 channels_last channels_last_3d complex32 "
    "contiguous_format device dtype finfo float4_e2m1fn_x2 iinfo int1 int2 int3 int4 int5 int6 int7 jagged layout "
    "memory_format per_channel_affine per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine "
    "per_tensor_symmetric preserve_format qint32 qint8 qscheme quint2x4 quint4x2 quint8 sparse_bsc sparse_bsr "
    "sparse_coo sparse_csc sparse_csr strided uint1 uint2 uint3 uint4 uint5 uint6 uint7";

/// Packages whose classes hold data. Functions of theirs do not count.
constexpr std::string_view data_packages =
    "numpy.dtypes numpy.ma numpy.random torch._tensor torch.ao.nn torch.ao.quantization.fake_quantize "
    "torch.ao.quantization.observer torch.ao.quantization.qconfig torch.ao.quantization.stubs "
    "torch.distributed._shard torch.distributed._tensor torch.distributed.checkpoint.metadata "
    "torch.distributed.tensor torch.distributions torch.nn torch.optim torch.quantization.fake_quantize "
    "torch.quantization.observer torch.quantization.qconfig torch.quantization.stubs torch.storage "
    "torch.utils.data.dataset";

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

/// Returns whether a dotted name is one of these, or lies in it.
bool is_in_package(std::string_view packages, const std::string& name) {
  return any_part(packages, ' ', [&, dotted = name + "."](std::string_view one) {
    return dotted.starts_with(one) && dotted[one.size()] == '.';
  });
}

bool is_dangerous(const GlobalName& global) {
  if (global.module == "torch.hub" && global.name == "load") {
    return false;  // only a remark: it asks before it runs what is not trusted
  }
  return is_in_package(dangerous_prefixes, global.module + "." + global.name) ||
         any_part(global.name, '.', is_dangerous_word) ||
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

/// Returns whether a name is a class that holds data, or a constant, of PyTorch, NumPy or a TorchScript archive.
bool is_data_class(const GlobalName& global) {
  const auto is_no_class = [](std::string_view part) {
    const std::string_view word = part.substr(std::min(part.find_first_not_of('_'), part.size()));
    return word.empty() || !text::is_upper(word[0]);
  };
  if (global.module == "torch" || global.module == "torch.cuda") {
    const bool is_class = global.name.ends_with("Storage") || global.name.ends_with("Tensor");
    return torch_dtype(global.name) || has_word(torch_words, global.name) ||
           (is_class && global.name.find('.') == global.name.npos);
  }
  return is_in_package("__torch__", global.module) ||
         (is_in_package(data_packages, global.module) && !any_part(global.name, '.', is_no_class));
}

bool is_plain_identifier(std::string_view text) noexcept {
  return !text.empty() && text::is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return text::is_alphanumeric(c) || c == '_'; });
}

/// Returns whether a Global is used only as Python 3.11 writes members of enumerations: called with a Global that is
/// not dangerous and the plain name of a member.
bool reads_members_only(const Pickle& pickle, const GlobalName& getattr) {
  const auto is_getattr = [&](Ref value) { return pickle.global(value) == &getattr; };
  for (Ref node = 0; node < pickle.nodes(); ++node) {
    const Pickle::First arguments = pickle.first_items(pickle.arguments(node));
    const GlobalName* const of = pickle.global(arguments[0]);
    const std::string_view member = pickle.text(arguments[1]);
    const bool harmless =
        !is_getattr(pickle.callee(node)) || (of != nullptr && !is_dangerous(*of) && arguments[2] == Pickle::nothing &&
                                             is_plain_identifier(member) && !is_dangerous_word(member));
    std::vector<Ref> others = pickle.items(node);
    for (const Pickle::Pair& pair : pickle.pairs(node)) {
      others.insert(others.end(), {pair.key, pair.value, is_getattr(node) ? node : pair.value});
    }
    others.insert(others.end(), {pickle.arguments(node), pickle.identity(node)});
    if (!harmless || std::ranges::any_of(others, is_getattr)) {
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
    const bool known = find_known(global) != nullptr ||
                       (global.module == "builtins" && global.name == "getattr" && reads_members_only(pickle, global));
    const bool dangerous = !known && is_dangerous(global);
    if (dangerous || !(known || is_data_class(global))) {
      listed.push_back({global.module + "." + global.name, global.offset, dangerous});
    }
  }
  return listed;
}

}  // namespace smd::detail::pytorch
