// SPDX-License-Identifier: Apache-2.0
#include "pytorch/pickle.hpp"

#include "pytorch/globals.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::pytorch;
using namespace std::string_literals;

namespace {

Pickle read(const std::string& bytes) {
  static std::vector<std::string> kept;  // texts of a pickle are parts of its bytes
  kept.reserve(100);
  auto pickle = Pickle::read(kept.emplace_back(bytes), {});
  REQUIRE(pickle);
  return *std::move(pickle);
}

Problem refused(const std::string& bytes) {
  const auto pickle = Pickle::read(bytes, {});
  REQUIRE_FALSE(pickle);
  return pickle.problem();
}

/// The names that --check lists, with an exclamation mark if they are dangerous.
std::string listed(const std::string& bytes) {
  std::string all;
  for (const ListedGlobal& global : listed_globals(read(bytes))) {
    all += (all.empty() ? "" : " ") + global.name + (global.dangerous ? "!" : "");
  }
  return all;
}

}  // namespace

TEST_CASE("pickle: numbers as every opcode writes them") {
  const auto integer = [](const std::string& bytes) {
    const Pickle pickle = read(bytes);
    return pickle.integer(pickle.root());
  };
  CHECK(integer("K\xFF.") == 255);
  CHECK(integer("M\1\2.") == 513);             // 1 + 2 * 256
  CHECK(integer("J\xFE\xFF\xFF\xFF.") == -2);  // two's complement
  CHECK(integer("\x8A\2\0\x80."s) == -32768);  // the same, two bytes
  CHECK(integer("\x8A\0."s) == 0);             // of no bytes
  CHECK(integer("I-7\n.") == -7);
  CHECK(integer("L12345678901L\n.") == 12345678901);
  CHECK_FALSE(integer("\x8A\x09\0\0\0\0\0\0\0\0\1."s).has_value());  // 2^64
  const Pickle real = read("G\x3F\xF8\0\0\0\0\0\0."s);               // big-endian
  CHECK(real.real(real.root()) == 1.5);
}

TEST_CASE("pickle: integers beyond 64 bits are rounded as Python's float rounds them") {
  const auto real = [](const std::string& bytes) {
    const Pickle pickle = read(bytes);
    return pickle.real(pickle.root());
  };
  CHECK(real("\x8A\x09\0\0\0\0\0\0\0\x80\0."s) == 0x1p63);
  CHECK(real("\x8A\x09\0\0\0\0\0\0\0\0\1."s) == 0x1p64);
  CHECK(real("\x8A\x0B\0\0\0\0\0\0\0\0\1\0\0."s) == 0x1p64);  // more bytes than are needed
  const std::string half = "\x08\0\0\0\0\0\0\1."s;            // 2^64 + 2^11: half of what the last bit counts
  CHECK(real("\x8A\x09\0"s + half) == 0x1p64);                // to the even one
  CHECK(real("\x8A\x09\1"s + half) == 0x1.0000000000001p64);
  CHECK(real("\x8A\x09\xFF\xF7\xFF\xFF\xFF\xFF\xFF\xFF\xFE."s) == -0x1.0000000000001p64);
  CHECK(real("\x8A\x0D\0\0\0\x40\xEA\xED\x74\x46\xD0\x9C\x2C\x9F\x0C."s) == 1e30);
  CHECK(real("\x8A\x0D\0\0\0\xC0\x15\x12\x8B\xB9\x2F\x63\xD3\x60\xF3."s) == -1e30);
  CHECK(real("\x8B\x82\0\0\0"s + std::string(129, '\0') + "\1.") == std::numeric_limits<double>::infinity());
  CHECK(real("L1" + std::string(30, '0') + "L\n.") == 1e30);
  CHECK(real("I-9223372036854775809\n.") == -0x1p63);
}

TEST_CASE("pickle: a value is shared through the memo, and may contain itself") {
  // l = []; t = (l, l); l.append(1) after both were taken
  const Pickle shared = read("]q\0h\0\x86q\1h\0K\1a0h\1."s);
  const auto items = shared.items(shared.root());
  REQUIRE(items.size() == 2);
  CHECK(items[0] == items[1]);
  CHECK(shared.integer(shared.items(items[0]).at(0)) == 1);
  const Pickle self = read("]q\0h\0a."s);
  CHECK(self.items(self.root()).at(0) == self.root());
}

TEST_CASE("pickle: texts of protocol 0") {
  const Pickle pickle = read("(Va\\u00e9\nS'x\\n\\x41'\nt.");
  const auto items = pickle.items(pickle.root());
  CHECK(pickle.text(items.at(0)) == "a\xC3\xA9");
  CHECK(pickle.text(items.at(1)) == "x\nA");
}

TEST_CASE("pickle: what is wrong is damaged at its opcode") {
  CHECK(refused("N\xFF.").offset == 1);
  CHECK(refused("h\5.").offset == 0);  // never put
  CHECK(refused("0.").offset == 0);    // nothing on the stack
  CHECK(refused("Nt.").offset == 1);   // no mark
  CHECK(refused("}NK\1NK\2s.").kind == ProblemKind::damaged);
  CHECK(refused("\x82\1.").kind == ProblemKind::damaged);  // an extension
  CHECK(refused("\x80\6.").kind == ProblemKind::damaged);  // a later protocol
  CHECK(refused("X\xFF\xFF\xFF\xFFtoo short").kind == ProblemKind::not_yet);
  CHECK(refused("X\1\0\0\0\xFF."s).kind == ProblemKind::damaged);  // not UTF-8
}

TEST_CASE("pickle: a memo index sizes no array") {
  const Pickle pickle = read(
      "K\7r\xFF\xFF\xFF\xFF"
      "0j\xFF\xFF\xFF\xFF.");
  CHECK(pickle.integer(pickle.root()) == 7);
}

TEST_CASE("pickle: a call stays a description") {
  const Pickle pickle = read("cposix\nsystem\nX\4\0\0\0true\x85R."s);
  const Ref call = pickle.root();
  CHECK(pickle.kind(call) == Kind::call);
  REQUIRE(pickle.global(pickle.callee(call)) != nullptr);
  CHECK(pickle.global(pickle.callee(call))->name == "system");
  CHECK(pickle.text(pickle.items(pickle.arguments(call)).at(0)) == "true");
}

TEST_CASE("globals: what is listed, and what is dangerous") {
  CHECK(listed("cposix\nsystem\n.") == "posix.system!");
  CHECK(listed("c__builtin__\neval\n.") == "builtins.eval!");  // as Python 2 calls it
  CHECK(listed("ctorch.serialization\nos.system\n.") == "torch.serialization.os.system!");
  CHECK(listed("cargparse\nNamespace\n.") == "argparse.Namespace");
  CHECK(listed("ctorch.hub\nload\n.") == "torch.hub.load");
  CHECK(listed("ctorch._utils\n_rebuild_tensor_v2\n.").empty());
  CHECK(listed("ctorch\nFloatStorage\n.").empty());
  CHECK(listed("cnumpy._core.multiarray\nscalar\n.").empty());
  CHECK(listed("ctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\n.").empty());
  CHECK(listed("ccollections\nOrderedDict\n.").empty());
}

TEST_CASE("globals: of PyTorch and NumPy, only what holds data passes in silence") {
  const auto of = [](const std::string& module, const std::string& name) {
    return listed("c" + module + "\n" + name + "\n.");
  };
  for (const char* const name : {"float8_e4m3fnuz", "uint16", "device", "Size", "UntypedStorage", "channels_last",
                                 "per_tensor_affine", "sparse_csr", "Tensor", "ComplexHalfStorage", "Generator"}) {
    CHECK_MESSAGE(of("torch", name).empty(), name);
  }
  for (const char* const module : {"torch.nn.modules.linear", "torch.optim.adamw", "torch.ao.nn.quantized",
                                   "torch.distributed.tensor", "torch.distributions.normal", "__torch__.net"}) {
    CHECK_MESSAGE(of(module, "Linear").empty(), module);
  }
  CHECK(of("numpy.dtypes", "Float64DType").empty());
  CHECK(of("torch.nn.modules.linear", "Linear.forward") == "torch.nn.modules.linear.Linear.forward");
  CHECK(of("torch.nn.functional", "relu") == "torch.nn.functional.relu");
  CHECK(of("torch.distributed", "HashStore") == "torch.distributed.HashStore");
  CHECK(of("torch", "jit.Tensor") == "torch.jit.Tensor");
  CHECK(of("torch.nn", "") == "torch.nn.");
  CHECK(of("torch.nnx", "Linear") == "torch.nnx.Linear");
}

TEST_CASE("globals: names that run, open or evaluate, by whatever module they are reached") {
  constexpr const char* reached[][2] = {
      {"torch", "storage._load_from_bytes"},
      {"torch", "ops.load_library"},
      {"torch", "hub.load"},
      {"torch", "serialization.load"},
      {"torch", "save"},
      {"torch", "utils.cpp_extension.load_inline"},
      {"torch", "load"},
      {"torch._C", "PyTorchFileWriter"},
      {"torch.distributed", "TCPStore"},
      {"torch.package", "PackageImporter"},
      {"torch.distributed.rpc", "rpc_sync"},
      {"torch._inductor.codecache", "anything"},
      {"torch.fx.graph_module", "reduce_graph_module"},
      {"numpy", "DataSource"},
      {"numpy", "memmap"},
      {"numpy", "load"},
      {"numpy.f2py.crackfortran", "myeval"},
      {"cProfile", "run"},
      {"pydoc", "pipepager"},
      {"trace", "Trace.run"},
      {"multiprocessing.util", "spawnv_passfds"},
      {"operator", "attrgetter"},
      {"pathlib", "Path.unlink"},
      {"zipfile", "ZipFile"},
      {"builtins", "object.__class__"},
      {"torch.utils.collect_env", "run"},
      {"torch.jit.unsupported_tensor_ops", "execWrapper"},
      {"torch.utils.bottleneck.__main__", "run_prof"},
      {"ensurepip", "_run_pip"},
      {"uuid", "_get_command_stdout"},
      {"psutil", "Popen"},
      {"_xxsubinterpreters", "run_string"},
      {"_frozen_importlib", "_gcd_import"},
      {"pandas", "read_pickle"},
      {"yaml", "unsafe_load"},
      {"hydra.utils", "instantiate"},
      {"logging.config", "dictConfig"},
      {"httpx", "get"},
      {"sympy", "sympify"},
  };
  for (const auto& [module, name] : reached) {
    CHECK(listed("c"s + module + "\n" + name + "\n.") == module + "."s + name + "!");
  }
  // A word that others use too is no danger in their packages.
  for (const char* const module :
       {"ultralytics.hub.session", "huggingface_hub", "my.profile", "net.trace", "profiler"}) {
    CHECK(listed("c"s + module + "\nThing\n.") == module + ".Thing"s);
  }
  CHECK(listed("cpathlib\nPosixPath\n.") == "pathlib.PosixPath");
}

TEST_CASE("globals: a member of an enumeration, as Python 3.11 writes it, is no attack") {
  const std::string of = "cmy.kinds\nKind\n";
  CHECK(listed("cbuiltins\ngetattr\n" + of + "X\3\0\0\0RED\x86R."s) == "my.kinds.Kind");
  CHECK(listed("cbuiltins\ngetattr\n" + of + "X\6\0\0\0system\x86R."s) == "builtins.getattr! my.kinds.Kind");
  CHECK(listed("cbuiltins\ngetattr\n" + of + "X\3\0\0\0_id\x86R."s) == "builtins.getattr! my.kinds.Kind");
}
