// SPDX-License-Identifier: Apache-2.0
#include "pytorch/pickle.hpp"

#include "text/escape.hpp"
#include "text/limits.hpp"
#include "text/number.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <system_error>
#include <utility>

namespace smd::detail::pytorch {

static_assert(limits::pickle_bytes <= std::uint64_t{1} << 28, "a node has 28 bits for its offset");

std::optional<std::int64_t> Pickle::integer(Ref value) const noexcept {
  if (kind(value) != Kind::integer) {
    return std::nullopt;
  }
  constexpr unsigned above = 32 - small_bits;
  return is_node(value) ? static_cast<std::int64_t>(bits(value)) : static_cast<std::int32_t>(value << above) >> above;
}

std::optional<double> Pickle::real(Ref value) const noexcept {
  return kind(value) == Kind::real || kind(value) == Kind::huge ? std::optional(std::bit_cast<double>(bits(value)))
                                                                : std::nullopt;
}

std::optional<bool> Pickle::boolean(Ref value) const noexcept {
  return kind(value) == Kind::boolean ? std::optional(nodes_[value].a != 0) : std::nullopt;
}

std::string_view Pickle::text(Ref value) const noexcept {
  const Node node = is_node(value) ? nodes_[value] : Node();
  return node.kind != Kind::text && node.kind != Kind::bytes ? std::string_view()
         : node.a < bytes_.size()                            ? std::string_view(bytes_.data() + node.a, node.b)
                                  : std::string_view(unescaped_.data() + (node.a - bytes_.size()), node.b);
}

std::optional<std::uint64_t> Pickle::text_offset(Ref value) const noexcept {
  const bool stands_there =
      (kind(value) == Kind::text || kind(value) == Kind::bytes) && nodes_[value].a < bytes_.size();
  return stands_there ? std::optional<std::uint64_t>(nodes_[value].a) : std::nullopt;
}

const GlobalName* Pickle::global(Ref value) const noexcept {
  return kind(value) == Kind::global ? &globals_[nodes_[value].a] : nullptr;
}

Meaning Pickle::meaning(Ref call) const noexcept {
  const GlobalName* const name = global(callee(call));
  return name == nullptr ? Meaning::opaque : name->meaning;
}

template <class Take>
void Pickle::for_each_pair(Ref value, Take take) const {
  const std::uint32_t last = is_node(value) ? nodes_[value].c : 0;
  for (std::uint32_t segment = last; segment != 0;) {
    segment = items_[segment + 1];
    for (std::uint32_t at = segment + 2, left = items_[segment]; left > 0; --left, at += 2) {
      if (!take(items_[at], items_[at + 1])) {
        return;
      }
    }
    segment = segment == last ? 0 : segment;
  }
}

std::vector<Pickle::Pair> Pickle::pairs(Ref value) const {
  std::vector<Pair> pairs;
  for_each_pair(value, [&](Ref key, Ref item) {
    pairs.push_back({key, item});
    return true;
  });
  return pairs;
}

template <class Take>
void Pickle::for_each_item(Ref sequence, Take take) const {
  if (kind(sequence) == Kind::tuple) {
    auto at = items_.begin() + nodes_[sequence].a;
    for (std::uint32_t left = nodes_[sequence].b; left > 0 && take(*at); --left) {
      ++at;
    }
  }
  for_each_pair(kind(sequence) == Kind::list ? sequence : nothing,
                [&](Ref key, Ref item) { return key != appended || take(item); });
}

std::vector<Ref> Pickle::items(Ref sequence) const {
  std::vector<Ref> items;
  for_each_item(sequence, [&](Ref item) {
    items.push_back(item);
    return true;
  });
  return items;
}

Pickle::First Pickle::first_items(Ref sequence) const {
  First first;
  first.fill(nothing);
  std::size_t count = 0;
  for_each_item(sequence, [&](Ref item) {
    first[count++] = item;
    return count < first.size();
  });
  return first;
}

bool Pickle::take_sizes(Ref value, std::vector<std::int64_t>& sizes) const {
  value = meaning(value) == Meaning::first ? first_items(arguments(value))[0] : value;
  sizes.clear();
  bool right = kind(value) == Kind::tuple || kind(value) == Kind::list;
  for_each_item(value, [&](Ref item) {
    sizes.push_back(integer(item).value_or(-1));
    right = right && sizes.back() >= 0 && sizes.size() <= limits::dimensions;
    return right;
  });
  return right;
}

Ref Pickle::find(Ref value, std::string_view key, bool in_states) const noexcept {
  constexpr int most = 64;
  Ref found = nothing;
  int looked = 0;
  for_each_pair(value, [&](Ref name, Ref item) {
    const Ref here = name == state && in_states ? find(item, key, false) : text(name) == key ? item : nothing;
    found = here == nothing ? found : here;
    return ++looked < most;
  });
  return found;
}

namespace {

bool is_surrogate(std::string_view text) noexcept {
  return text.size() >= 3 && text[0] == '\xED' && (text[1] & 0xE0) == 0xA0 && (text[2] & 0xC0) == 0x80;
}

/// Returns whether a text is UTF-8, in which Python also writes surrogates.
bool is_python_text(std::string_view text) noexcept {
  for (;;) {
    std::size_t at = text.find('\xED');
    while (at != text.npos && !is_surrogate(text.substr(at))) {
      at = text.find('\xED', at + 1);
    }
    if (at == text.npos || !valid_utf8(text.substr(0, at))) {
      return at == text.npos && valid_utf8(text);
    }
    text.remove_prefix(at + 3);
  }
}

/// Appends what a line of protocol 0 stands for: a text in Latin-1 with `\u0000`, or the literal of Python 2, without
/// its quotes, as `repr` writes it. Returns false if it is wrong.
bool unescape(std::string_view line, bool literal, std::string& to) {
  constexpr std::string_view escapes = "\\'\"nrt";
  constexpr std::string_view meant = "\\'\"\n\r\t";
  while (!line.empty()) {
    const char escape = line[0] == '\\' && line.size() > 1 ? line[1] : '\0';
    const std::size_t digits = literal ? (escape == 'x' ? 2 : 0) : escape == 'u' ? 4 : escape == 'U' ? 8 : 0;
    std::uint32_t point = static_cast<unsigned char>(line[0]);
    std::size_t used = 1;
    if (digits != 0) {
      const std::string_view number = line.substr(2, digits);
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), point, 16);
      used = 2 + digits;
      if (number.size() != digits || error != std::errc() || end != number.data() + digits || point > 0x10FFFF) {
        return false;
      }
    } else if (literal && escape != '\0') {
      const std::size_t known = escapes.find(escape);
      used = 2;
      if (known == escapes.npos) {
        return false;
      }
      point = static_cast<unsigned char>(meant[known]);
    }
    if (literal) {
      to += static_cast<char>(point);
    } else {
      append_utf8(to, point);
    }
    line.remove_prefix(used);
  }
  return true;
}

}  // namespace

/// The machine: a stack, marks on it, a memo. A function that fails sets `problem_`, after which nothing matters.
class PickleReader {
 public:
  PickleReader(std::string_view bytes, const Stop& stop) : bytes_(bytes), stop_(stop) {
    pickle_.bytes_ = bytes;
    pickle_.items_.push_back(0);  // no segment is the first one
    make(Kind::none);
    make(Kind::boolean, 0);
    make(Kind::boolean, 1);
    make(Kind::tuple);
  }

  Outcome<Pickle> read() && {
    constexpr std::uint32_t between_stops = 1U << 16;
    for (std::uint32_t steps = 0; !problem_ && !done_; ++steps) {
      if (steps % between_stops == 0 && stop_ && stop_()) {
        return make_problem(ProblemKind::stopped, "the reader was stopped");
      }
      opcode_ = at_;
      step(static_cast<unsigned char>(natural(1)));
    }
    if (problem_) {
      return *std::move(problem_);
    }
    pickle_.length_ = at_;
    return std::move(pickle_);
  }

 private:
  // The nodes that every pickle has.
  static constexpr Ref none = 0;
  static constexpr Ref no = 1;
  static constexpr Ref yes = 2;
  static constexpr Ref empty = 3;

  void fail(const std::string& text, ProblemKind kind = ProblemKind::damaged) {
    if (!problem_) {
      problem_ = Problem{kind, {}, opcode_, "its pickle cannot be read: " + text};
    }
  }
  bool check(bool right, const char* why) {
    if (!right) {
      fail(why);
    }
    return right;
  }

  // The bytes of opcodes.

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      fail("it ends too soon, or a length is wrong", ProblemKind::not_yet);
      return {};
    }
    return {bytes_.data() + std::exchange(at_, at_ + count), count};
  }
  /// Reads a little-endian number.
  std::uint64_t natural(std::size_t size) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const char byte : take(size)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  std::string_view counted(std::size_t size) { return take(natural(size)); }
  std::string_view line() {
    const std::string_view line = take(std::min(bytes_.find('\n', at_), bytes_.size()) - at_);
    take(1);
    return line;
  }
  /// Reads a number. Returns false if it is too large.
  template <class T>
  bool read_number(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    check(!text.empty() && end == text.data() + text.size() && error != std::errc::invalid_argument,
          "a number is written wrongly");
    return error != std::errc::result_out_of_range;
  }
  std::uint64_t line_index() {
    std::uint64_t index = 0;
    check(read_number(line(), index), "a memo index is too large");
    return index;
  }

  // The stack.

  bool has(std::size_t count) {
    return check(stack_.size() - (marks_.empty() ? 0 : marks_.back()) >= count, "nothing is on the stack");
  }
  bool has_room() {
    return check(stack_.size() + marks_.size() < limits::pickle_stack,
                 "more values are on its stack than the limit (pickle_stack)");
  }
  void push(Ref value) {
    if (has_room()) {
      stack_.push_back(value);
    }
  }
  Ref top() { return has(1) ? stack_.back() : none; }
  /// Takes the last values from the stack. They are valid until the next call.
  std::span<const Ref> pop_last(std::size_t count) {
    popped_.clear();
    if (has(count)) {
      popped_.assign(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
      stack_.resize(stack_.size() - count);
    }
    return popped_;
  }
  Ref pop() {
    const Ref value = top();
    if (!problem_) {
      stack_.pop_back();
    }
    return value;
  }
  /// Takes the last mark and the values above it.
  std::span<const Ref> pop_mark() {
    const std::size_t begin = marks_.empty() ? stack_.size() : marks_.back();
    if (check(!marks_.empty(), "no mark is on the stack")) {
      marks_.pop_back();
    }
    return pop_last(stack_.size() - begin);
  }

  // Nodes.

  Ref make(Kind kind, std::uint64_t a = 0, std::uint64_t b = 0) {
    if (!check(pickle_.nodes_.size() < limits::pickle_nodes, "it has more values than the limit (pickle_nodes)")) {
      return none;
    }
    Pickle::Node& node = pickle_.nodes_.emplace_back();
    node.kind = kind;
    node.offset = static_cast<std::uint32_t>(opcode_) & 0x0FFFFFFF;
    node.a = static_cast<std::uint32_t>(a);
    node.b = static_cast<std::uint32_t>(b);
    return pickle_.nodes() - 1;
  }
  Ref integer(std::int64_t value) {
    constexpr std::int64_t beyond = std::int64_t{1} << (Pickle::small_bits - 1);
    constexpr std::uint32_t mask = (1U << Pickle::small_bits) - 1;
    const auto bits = static_cast<std::uint64_t>(value);
    return value >= -beyond && value < beyond ? Pickle::small_mark | (static_cast<std::uint32_t>(bits) & mask)
                                              : make(Kind::integer, bits >> 32, bits);
  }
  Ref integer(std::string_view text) {
    std::int64_t value = 0;
    return read_number(text, value) ? integer(value) : real(text::number_of(text).value_or(0), Kind::huge);
  }
  Ref real(double value, Kind kind = Kind::real) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return make(kind, bits >> 32, bits);
  }
  /// Makes an integer of bytes in two's complement.
  Ref long_integer(std::string_view bytes) {
    std::int64_t value = !bytes.empty() && static_cast<signed char>(bytes.back()) < 0 ? -1 : 0;
    for (std::size_t at = bytes.size(); at-- > 0;) {
      if (value < -(std::int64_t{1} << 55) || value >= std::int64_t{1} << 55) {
        // A double has fewer bits than `value`: of those below, it only matters whether one is set.
        const std::string_view below = bytes.substr(0, at + 1);
        value |= below.find_first_not_of('\0') == below.npos ? 0 : 1;
        constexpr std::size_t beyond_bytes = 1024;  // of any double
        return real(std::ldexp(value, static_cast<int>(8 * std::min(below.size(), beyond_bytes))), Kind::huge);
      }
      value = value * 256 + static_cast<unsigned char>(bytes[at]);
    }
    return integer(value);
  }
  Ref bytes(std::string_view bytes, Kind kind = Kind::bytes) {
    return make(kind, static_cast<std::uint64_t>(bytes.data() - bytes_.data()), bytes.size());
  }
  Ref text(std::string_view text) {
    check(is_python_text(text), "a text is not UTF-8");
    return bytes(text, Kind::text);
  }
  Ref escaped(std::string_view line, bool literal) {
    std::string& to = pickle_.unescaped_;
    const std::size_t begin = to.size();
    const bool quoted = line.size() >= 2 && line[0] == line.back() && (line[0] == '\'' || line[0] == '"');
    check((!literal || quoted) && unescape(quoted && literal ? line.substr(1, line.size() - 2) : line, literal, to),
          "a text is written wrongly");
    return make(literal ? Kind::bytes : Kind::text, bytes_.size() + begin, to.size() - begin);
  }
  Ref tuple(std::span<const Ref> values) {
    if (values.empty() || !may_add(values.size())) {
      return empty;
    }
    const std::size_t begin = pickle_.items_.size();
    pickle_.items_.insert(pickle_.items_.end(), values.begin(), values.end());
    return make(Kind::tuple, begin, values.size());
  }
  Ref global(std::string_view module, std::string_view name) {
    key_.assign(module).append(1, '\n').append(name);
    const auto known = known_globals_.find(key_);
    if (known != known_globals_.end() ||
        !check(pickle_.globals_.size() < limits::pickle_globals,
               "it names more functions and classes than the limit (pickle_globals)")) {
      return problem_ ? none : known->second;
    }
    pickle_.globals_.push_back(global_name(module, name, opcode_));
    return known_globals_[key_] = make(Kind::global, pickle_.globals_.size() - 1);
  }

  bool may_add(std::size_t count) {
    return check(pickle_.items_.size() + count <= limits::pickle_items,
                 "it has more items than the limit (pickle_items)");
  }
  void add(Ref to, Ref key, Ref value) {
    std::deque<std::uint32_t>& items = pickle_.items_;
    if (!check(Pickle::is_node(to) && pickle_.kind(to) >= Kind::list, "something is added to what can hold nothing") ||
        !may_add(4)) {
      return;
    }
    std::uint32_t& last = pickle_.nodes_[to].c;
    if (last == 0 || last + 2 + 2 * items[last] != items.size()) {
      const auto segment = static_cast<std::uint32_t>(items.size());
      items.insert(items.end(), {0, last == 0 ? segment : items[last + 1]});
      items[(last == 0 ? segment : last) + 1] = segment;
      last = segment;
    }
    ++items[last];
    items.push_back(key);
    items.push_back(value);
  }
  void add_items(Ref to, std::span<const Ref> values) {
    for (const Ref value : values) {
      add(to, Pickle::appended, value);
    }
  }
  void add_pairs(Ref to, std::span<const Ref> values) {
    check(values.size() % 2 == 0, "a key has no value");
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      add(to, values[i], values[i + 1]);
    }
  }

  // The memo.

  void put(std::uint64_t index) {
    while (index >= memo_.size() && index <= at_) {  // what was read has room for so many
      memo_.push_back(Pickle::nothing);
    }
    const bool near = index < memo_.size();
    if (near || check(far_memo_.size() < limits::pickle_stack, "its memo has too many holes")) {
      Ref& place = near ? memo_[index] : far_memo_.emplace(index, Pickle::nothing).first->second;
      memo_count_ += place == Pickle::nothing ? 1 : 0;
      place = top();
    }
  }
  Ref get(std::uint64_t index) {
    const bool near = index < memo_.size();
    const auto far = near ? far_memo_.end() : far_memo_.find(index);
    const Ref value = near ? memo_[index] : far != far_memo_.end() ? far->second : Pickle::nothing;
    if (value == Pickle::nothing) {
      fail("memo " + std::to_string(index) + " was never put");
    }
    return value;
  }

  /// Obeys one opcode.
  void step(unsigned char opcode) {
    switch (opcode) {
      case '.':
        pickle_.root_ = pop();
        done_ = true;
        return;
      case '(':
        return has_room() ? marks_.push_back(stack_.size()) : void();
      case '0':
        return !marks_.empty() && stack_.size() == marks_.back() ? marks_.pop_back() : void(pop());
      case '1':
        return void(pop_mark());
      case '2':
        return push(top());
      case 'N':
        return push(none);
      case 0x88:
        return push(yes);
      case 0x89:
        return push(no);
      case 'I': {
        const std::string_view number = line();
        return push(number == "00" ? no : number == "01" ? yes : integer(number));
      }
      case 'L': {
        const std::string_view number = line();
        return push(integer(number.substr(0, number.size() - (number.ends_with('L') ? 1 : 0))));
      }
      case 'K':
      case 'M':
        return push(integer(static_cast<std::int64_t>(natural(opcode == 'K' ? 1 : 2))));
      case 'J':
        return push(integer(std::int64_t{static_cast<std::int32_t>(natural(4))}));
      case 0x8A:
      case 0x8B:
        return push(long_integer(counted(opcode == 0x8A ? 1 : 4)));
      case 'F': {
        double value = 0;
        read_number(line(), value);
        return push(real(value));
      }
      case 'G':
        return push(real(std::bit_cast<double>(boost::endian::endian_reverse(natural(sizeof(double))))));
      case 'S':
      case 'V':
        return push(escaped(line(), opcode == 'S'));
      case 'C':
      case 'U':
        return push(bytes(counted(1)));
      case 'B':
      case 'T':
        return push(bytes(counted(4)));
      case 0x8E:
      case 0x96:
        return push(bytes(counted(8)));
      case 0x8C:
        return push(text(counted(1)));
      case 'X':
        return push(text(counted(4)));
      case 0x8D:
        return push(text(counted(8)));
      case ')':
        return push(empty);
      case 't':
        return push(tuple(pop_mark()));
      case 0x85:
      case 0x86:
      case 0x87:
        return push(tuple(pop_last(opcode - std::size_t{0x84})));
      case ']':
      case 0x8F:
        return push(make(Kind::list));
      case '}':
        return push(make(Kind::mapping));
      case 'l':
      case 0x91:
      case 'd': {
        const std::span<const Ref> values = pop_mark();
        push(make(opcode == 'd' ? Kind::mapping : Kind::list));
        return opcode == 'd' ? add_pairs(top(), values) : add_items(top(), values);
      }
      case 'a':
      case 'e':
      case 0x90: {
        const std::span<const Ref> items = opcode == 'a' ? pop_last(1) : pop_mark();
        return add_items(top(), items);
      }
      case 's':
      case 'u': {
        const std::span<const Ref> pairs = opcode == 's' ? pop_last(2) : pop_mark();
        return add_pairs(top(), pairs);
      }
      case 'b': {
        const Ref state = pop();
        return add(top(), Pickle::state, state);
      }
      case 'c': {
        const std::string_view module = line();
        return push(global(module, line()));
      }
      case 0x93: {
        const Ref name = pop();
        const Ref module = pop();
        check(pickle_.kind(name) == Kind::text && pickle_.kind(module) == Kind::text, "a Global has no name");
        return push(global(pickle_.text(module), pickle_.text(name)));
      }
      case 'R':
      case 0x81:
      case 0x92: {
        const Ref named = opcode == 0x92 ? pop() : none;
        const Ref arguments = pop();
        push(make(Kind::call, pop(), arguments));
        return opcode == 0x92 ? add(top(), Pickle::state, named) : void();
      }
      case 'i': {
        const std::string_view module = line();
        const Ref called = global(module, line());
        return push(make(Kind::call, called, tuple(pop_mark())));
      }
      case 'o': {
        const std::span<const Ref> values = pop_mark();
        const bool right = check(!values.empty(), "an object has no class");
        return right ? push(make(Kind::call, values[0], tuple(values.subspan(1)))) : void();
      }
      case 'P':
        return push(make(Kind::persistent, text(line())));
      case 'Q':
        return push(make(Kind::persistent, pop()));
      case 'p':
        return put(line_index());
      case 'q':
      case 'r':
        return put(natural(opcode == 'q' ? 1 : 4));
      case 0x94:
        return put(memo_count_);
      case 'g':
        return push(get(line_index()));
      case 'h':
      case 'j':
        return push(get(natural(opcode == 'h' ? 1 : 4)));
      case 0x80:
        return void(check(natural(1) <= 5, "its protocol is above 5"));
      case 0x95:
        return void(take(8));  // a hint, which a reader may ignore
      case 0x82:
      case 0x83:
      case 0x84:
        return fail("a registered extension stands for what is not in the file");
      case 0x97:
      case 0x98:
        return fail("a buffer out of band is not in the file");
      default:
        return fail("unknown opcode " + std::to_string(opcode));
    }
  }

  std::string_view bytes_;
  const Stop& stop_;
  std::size_t at_ = 0;
  std::uint64_t opcode_ = 0;  ///< Where it stands.
  bool done_ = false;
  std::optional<Problem> problem_;
  Pickle pickle_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;  ///< Sizes of the stack.
  std::vector<Ref> popped_;
  std::vector<Ref> memo_;
  std::map<std::uint64_t, Ref> far_memo_;  ///< Indexes for which an array would be larger than what was read.
  std::uint64_t memo_count_ = 0;
  std::map<std::string, Ref, std::less<>> known_globals_;
  std::string key_;
};

Outcome<Pickle> Pickle::read(std::string_view bytes, const Stop& stop) {
  return PickleReader(bytes.substr(0, limits::pickle_bytes), stop).read();
}

}  // namespace smd::detail::pytorch
