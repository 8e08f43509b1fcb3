// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/globals.hpp"
#include "types/outcome.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Files of PyTorch, and the pickles in them, which are described and never run.
namespace smd::detail::pytorch {

/// Asked now and then during long work; true ends it with a problem of kind `stopped`.
using Stop = std::function<bool()>;

/// A value of a pickle: a small integer itself, or the number of a node.
using Ref = std::uint32_t;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  huge,  ///< An integer beyond 64 bits.
  real,
  text,
  bytes,  ///< Also a text of Python 2.
  tuple,
  // To these can be added.
  list,  ///< Also a set.
  mapping,
  global,
  call,        ///< What a Global, or another value, would return for some arguments.
  persistent,  ///< An object that the pickle's reader provides, such as a storage.
};

/// The values that a pickle describes (Python's pickle.py, protocols 0 to 5), as plain nodes: reading one calls,
/// imports and looks up nothing. A value may be reached by many ways, and may contain itself. Texts are parts of the
/// pickle's bytes, which must stay valid.
class Pickle {
 public:
  /// Reads one pickle from the first bytes of `bytes`, up to its STOP, in time and memory linear in its length. What
  /// cannot be read, or is beyond a limit of `smd::limits`, is damaged, at the offset of an opcode. If `bytes` end too
  /// soon the problem is `not_yet`: only the caller knows whether more come.
  static Outcome<Pickle> read(std::string_view bytes, const Stop& stop);

  [[nodiscard]] Ref root() const noexcept { return root_; }
  /// Returns the pickle's length.
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  /// Each number below is that of a node.
  [[nodiscard]] Ref nodes() const noexcept { return static_cast<Ref>(nodes_.size()); }
  [[nodiscard]] const std::vector<GlobalName>& globals() const noexcept { return globals_; }

  /// Stands for a value that is not there. Its kind is none.
  static constexpr Ref nothing = 0xC0000000;
  [[nodiscard]] Kind kind(Ref value) const noexcept {
    return is_node(value) ? nodes_[value].kind : value == nothing ? Kind::none : Kind::integer;
  }
  /// Returns the offset of the opcode that made a node; 0 for a small integer.
  [[nodiscard]] std::uint64_t offset(Ref value) const noexcept { return is_node(value) ? nodes_[value].offset : 0; }
  // Nullopt, null, or an empty text, if the value is of another kind.
  [[nodiscard]] std::optional<std::int64_t> integer(Ref value) const noexcept;
  [[nodiscard]] std::optional<double> real(Ref value) const noexcept;  ///< Also a huge integer, rounded.
  [[nodiscard]] std::optional<bool> boolean(Ref value) const noexcept;
  [[nodiscard]] std::string_view text(Ref value) const noexcept;  ///< Also bytes.
  /// Returns where a text or bytes stand in the pickle; nullopt if they were escaped.
  [[nodiscard]] std::optional<std::uint64_t> text_offset(Ref value) const noexcept;
  [[nodiscard]] const GlobalName* global(Ref value) const noexcept;
  /// Of a call.
  [[nodiscard]] Ref callee(Ref call) const noexcept { return kind(call) == Kind::call ? nodes_[call].a : nothing; }
  [[nodiscard]] Ref arguments(Ref call) const noexcept { return kind(call) == Kind::call ? nodes_[call].b : nothing; }
  /// Returns what a call of a Global means; opaque for anything else.
  [[nodiscard]] Meaning meaning(Ref call) const noexcept;
  /// Of a persistent object.
  [[nodiscard]] Ref identity(Ref persistent) const noexcept {
    return kind(persistent) == Kind::persistent ? nodes_[persistent].a : nothing;
  }

  /// What was added to a value: a key and its value; or `appended` and an item; or `state` and a state, such as its
  /// attributes.
  struct Pair {
    Ref key = nothing;
    Ref value = nothing;
  };
  static constexpr Ref appended = 0xC0000001;
  static constexpr Ref state = 0xC0000002;
  [[nodiscard]] std::vector<Pair> pairs(Ref value) const;
  /// Returns the items of a tuple or list; none of anything else.
  [[nodiscard]] std::vector<Ref> items(Ref sequence) const;
  /// The first of them, with `nothing` for those that it lacks.
  using First = std::array<Ref, 8>;
  [[nodiscard]] First first_items(Ref sequence) const;
  /// Takes sizes, offsets or strides: a tuple or list of whole numbers from 0, or a `torch.Size` of one. Returns false
  /// for anything else, and for more than `limits::dimensions`.
  [[nodiscard]] bool take_sizes(Ref value, std::vector<std::int64_t>& sizes) const;
  /// Returns the value of a key or attribute; `nothing` if there is none. Looks at a few dozen pairs at most, for what
  /// has few.
  [[nodiscard]] Ref find(Ref value, std::string_view key, bool in_states = true) const noexcept;

 private:
  friend class PickleReader;
  /// Meaning of a, b, c: a boolean or a Global's index: a; a number's bits (of a huge one: those of a double): a and b;
  /// a text's offset in `bytes_`, or behind its end in `unescaped_`, and length: a, b; where a tuple's items begin, and
  /// their number: a, b; a call's callee and arguments: a, b; an identity: a. c is the last segment of pairs, or 0.
  struct Node {
    Kind kind : 4 = Kind::none;
    std::uint32_t offset : 28 = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
  };

  // A small integer has 30 bits, below 10 in the highest ones; nodes have 0 in the highest.
  static constexpr std::uint32_t small_mark = 0x80000000;
  static constexpr unsigned small_bits = 30;
  [[nodiscard]] static constexpr bool is_node(Ref value) noexcept { return value < small_mark; }
  [[nodiscard]] std::uint64_t bits(Ref node) const noexcept {
    return std::uint64_t{nodes_[node].a} << 32 | nodes_[node].b;
  }
  /// Calls `take(key, value)` for pairs until it returns false.
  template <class Take>
  void for_each_pair(Ref value, Take take) const;
  template <class Take>
  void for_each_item(Ref sequence, Take take) const;

  std::string_view bytes_;
  std::string unescaped_;  ///< Texts that had escapes.
  std::deque<Node> nodes_;
  /// Items of tuples, and segments of pairs: the number of pairs, the next segment (of the last one: the first), the
  /// pairs.
  std::deque<std::uint32_t> items_;
  std::vector<GlobalName> globals_;
  Ref root_ = 0;
  std::size_t length_ = 0;
};

}  // namespace smd::detail::pytorch
