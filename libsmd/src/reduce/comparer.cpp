// SPDX-License-Identifier: Apache-2.0
#include <smd/difference.hpp>
#include <smd/value_reader.hpp>

#include "reduce/doubles.hpp"
#include "reduce/exact_sum.hpp"
#include "types/refuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

namespace {

using detail::reduce::ExactSum;
using detail::reduce::Int128;
using detail::reduce::PairSums;
using detail::reduce::Tolerance;
using detail::reduce::Uint128;
using detail::reduce::whole_elements;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Pairs that a kernel takes at once: few enough that sums in double precision are accurate to 1e-12.
constexpr std::size_t kernel_pairs = 8192;
constexpr std::size_t decoded_pairs = detail::reduce::block_size;
/// Squares of numbers between these are normal doubles, and sums of `kernel_pairs` of them are finite.
constexpr double largest_squared = 0x1p500;
constexpr double smallest_squared = 0x1p-480;

bool has_kernel(Dtype type) noexcept {
  return type == Dtype::float64 || type == Dtype::float32 || type == Dtype::float16 || type == Dtype::bfloat16;
}

bool is_wide_integer(Dtype type) noexcept { return type == Dtype::int64 || type == Dtype::uint64; }
bool is_whole(Dtype type) noexcept { return is_real(type) && !is_floating(type); }
bool may_be_nan(Dtype type) noexcept { return is_floating(type) || is_complex(type); }

/// Returns whether a sum of squares of `n` doubles is within the bounds, or all of them are 0.
bool fits(double sum, const std::byte* source, std::size_t n) noexcept {
  if (sum != 0) {
    return sum >= smallest_squared * smallest_squared && sum <= largest_squared * largest_squared;
  }
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < n; ++i) {
    any |= detail::reduce::bits_at(source, i) << 1;  // without the sign
  }
  return any == 0;
}

/// One side of a run.
struct Run {
  Dtype type;  ///< As stored.
  const std::byte* bytes;

  [[nodiscard]] const std::byte* at(std::size_t element) const noexcept { return bytes + element * item_size(type); }
};

Int128 load_whole(const Run& run, std::size_t element, double decoded) noexcept {
  if (!is_wide_integer(run.type)) {
    return static_cast<std::int64_t>(decoded);
  }
  return detail::reduce::integer_from(run.type == Dtype::int64, detail::reduce::bits_at(run.bytes, element));
}

/// A number without rounding: a 64-bit integer, or the number that was decoded from any other element.
long double load_exactly(const Run& run, std::size_t element, double decoded) noexcept {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  return is_wide_integer(run.type) ? static_cast<long double>(load_whole(run, element, decoded)) : decoded;
}

struct Parts {
  double real = 0;
  double imaginary = 0;

  [[nodiscard]] bool finite() const noexcept { return std::isfinite(real) && std::isfinite(imaginary); }
  [[nodiscard]] bool nan() const noexcept { return std::isnan(real) || std::isnan(imaginary); }
};

/// A sum of squares and products of any doubles, including those whose squares leave double's range. Terms are added
/// without rounding, so their order does not matter.
class WideSum {
 public:
  /// Precondition: finite.
  void add(double value) noexcept { middle_.add(value); }

  /// Precondition: finite, and 0 or at least 2^-2148 in magnitude: the square of a double.
  void add(long double value) {
    const int exponent = value == 0 ? 0 : std::ilogb(value);
    if (exponent >= 900) {
      add_in_parts(ends().large, std::ldexp(value, large_scale));
    } else if (exponent < -900) {
      add_in_parts(ends().small, std::ldexp(value, small_scale));
    } else {
      add_in_parts(middle_, value);
    }
  }

  void add(const WideSum& other) {
    middle_.add(other.middle_);
    if (other.ends_) {
      ends().large.add(other.ends_->large);
      ends().small.add(other.ends_->small);
    }
  }

  [[nodiscard]] long double value() const noexcept {
    long double sum = value_of(middle_);
    if (ends_) {
      sum += std::ldexp(value_of(ends_->large), -large_scale) + std::ldexp(value_of(ends_->small), -small_scale);
    }
    return sum;
  }

 private:
  /// The sums of terms above 2^900 and below 2^-900 in magnitude, scaled into range.
  struct Ends {
    ExactSum large;
    ExactSum small;
  };

  // The square of the largest double becomes 2^748, that of the smallest 2^-948.
  static constexpr int large_scale = -1300;
  static constexpr int small_scale = 1200;

  static void add_in_parts(ExactSum& sum, long double value) {
    const auto high = static_cast<double>(value);
    sum.add(high);
    sum.add(static_cast<double>(value - static_cast<long double>(high)));
  }

  static long double value_of(const ExactSum& sum) {
    const detail::reduce::DoubleDouble pair = sum.pair();
    return static_cast<long double>(pair.hi) + static_cast<long double>(pair.lo);
  }

  [[nodiscard]] Ends& ends() {
    if (!ends_) {
      ends_ = std::make_unique<Ends>();
    }
    return *ends_;
  }

  ExactSum middle_;
  std::unique_ptr<Ends> ends_;  // few sums need it
};

/// Sums of pairs. `Number`: long double where squares may leave double's range.
template <class Number>
struct SumsOfPairs {
  Number magnitude{};
  Number square{};
  Number square_a{};
  Number square_b{};
  Number product{};

  /// Adds other sums, also of kernels.
  template <class Sums>
  void add(const Sums& sums) {
    magnitude.add(sums.magnitude);
    square.add(sums.square);
    square_a.add(sums.square_a);
    square_b.add(sums.square_b);
    product.add(sums.product);
  }
  /// Adds a pair, by itself.
  void add(double d, double a, double b) noexcept {
    magnitude += Number{d};
    square += Number{d} * Number{d};
    square_a += Number{a} * Number{a};
    square_b += Number{b} * Number{b};
    product += Number{a} * Number{b};
  }
};

}  // namespace

struct __attribute__((visibility("hidden"))) Comparer::Impl {
  DifferenceOptions options;
  Tolerance tolerance;
  std::uint64_t size = 0;
  std::uint64_t differing = 0;
  std::uint64_t finite = 0;    // pairs in the sums
  std::uint64_t left_out = 0;  // pairs of equal runs
  std::uint64_t text = 0;      // pairs without numbers
  std::optional<std::uint64_t> first = {};
  bool equal_bytes = true;
  bool same_dtype = true;
  bool infinite = false;  // a pair that is not finite differs
  bool overflow = false;  // a difference of finite numbers is infinite
  double max_abs = 0;
  double max_rel = 0;
  SumsOfPairs<WideSum> all = {};

  /// `scale`: by which `d` and `b` were multiplied.
  [[nodiscard]] bool beyond(double d, double b, double scale = 1) const noexcept {
    return d > tolerance.atol * scale + tolerance.rtol * std::abs(b);
  }
  [[nodiscard]] bool same_special(double a, double b) const noexcept {
    return a == b || (options.equal_nan && std::isnan(a) && std::isnan(b));
  }
  void differs_at(std::uint64_t index) noexcept {
    ++differing;
    first = first.value_or(index);
  }
  void see(double d, double size_of_b, double scale = 1) noexcept {
    max_abs = std::max(max_abs, d / scale);
    if (d > 0) {
      max_rel = std::max(max_rel, d / size_of_b);
    }
  }

  void add_text(const TensorView& a, const TensorView& b) {
    const std::vector<std::string_view> texts_a = strings(a);
    const std::vector<std::string_view> texts_b = strings(b);
    for (std::size_t i = 0; i < std::max(texts_a.size(), texts_b.size()); ++i) {
      if (i >= texts_a.size() || i >= texts_b.size() || texts_a[i] != texts_b[i]) {
        differs_at(size + i);
      }
    }
  }

  void add_real(const Run& a, const Run& b, std::size_t n) {
    const bool wide_integers = is_wide_integer(a.type) || is_wide_integer(b.type);
    if (a.type == b.type && has_kernel(a.type)) {
      for (std::size_t start = 0; start < n; start += kernel_pairs) {
        const std::size_t part = std::min(kernel_pairs, n - start);
        add_block(a.type, a.at(start), b.at(start), part, size + start, a.type == Dtype::float64);
      }
    } else if (wide_integers && is_whole(a.type) && is_whole(b.type)) {
      add_pairs<true, double>(a, b, size, n, [&](std::size_t i, double x, double y) {
        const Int128 whole_a = load_whole(a, i, x);
        const Int128 whole_b = load_whole(b, i, y);
        return static_cast<double>(static_cast<Uint128>(whole_a > whole_b ? whole_a - whole_b : whole_b - whole_a));
      });
    } else if (wide_integers) {  // and the others are floating-point numbers
      add_pairs<false, long double>(a, b, size, n, [&](std::size_t i, double x, double y) {
        return static_cast<double>(std::abs(load_exactly(a, i, x) - load_exactly(b, i, y)));
      });
    } else {
      const bool wide = a.type == Dtype::float64 || b.type == Dtype::float64;
      alignas(64) double values_a[decoded_pairs + detail::reduce::block_padding];
      alignas(64) double values_b[decoded_pairs + detail::reduce::block_padding];
      for (std::size_t start = 0; start < n; start += decoded_pairs) {
        const std::size_t part = std::min(decoded_pairs, n - start);
        detail::reduce::to_doubles(a.type, a.at(start), part, values_a);
        detail::reduce::to_doubles(b.type, b.at(start), part, values_b);
        add_block(Dtype::float64, reinterpret_cast<const std::byte*>(values_a),
                  reinterpret_cast<const std::byte*>(values_b), part, size + start, wide);
      }
    }
  }

  /// Adds at most `kernel_pairs` pairs of a type that has kernels, from the pair `index` on. `wide`: the type has the
  /// range of float64.
  void add_block(Dtype type, const std::byte* a, const std::byte* b, std::size_t n, std::uint64_t index, bool wide) {
    PairSums sums{.max_rel = max_rel};
    detail::reduce::kernels().compare(type, a, b, n, tolerance, sums);
    if (!std::isfinite(sums.square_a) || !std::isfinite(sums.square_b)) {
      return wide ? add_slowly<long double>(a, b, type, n, index) : add_slowly<double>(a, b, type, n, index);
    }
    // Squares of elements out of bounds, or of differences this small, are inaccurate.
    if (wide && (!fits(sums.square_a, a, n) || !fits(sums.square_b, b, n) ||
                 (sums.max_abs > 0 && sums.max_abs < smallest_squared))) {
      return add_slowly<long double>(a, b, type, n, index);
    }
    if (sums.differing > 0 && !first) {
      // Only once in a value, so comparing single pairs is fast enough.
      const std::size_t item = item_size(type);
      PairSums one;
      std::size_t at = 0;
      for (; one.differing == 0; ++at) {
        detail::reduce::kernels().compare(type, a + at * item, b + at * item, 1, tolerance, one);
      }
      first = index + at - 1;
    }
    differing += sums.differing;
    finite += n;
    max_abs = std::max(max_abs, sums.max_abs);
    max_rel = std::max(max_rel, sums.max_rel);
    all.add(sums);
  }

  /// Adds pairs of real elements, one by one. `begin`: the index of the first. `distance(i, x, y)`: returns |x - y| of
  /// pair `i` of the runs. `whole`: all are integers, so that nothing need be checked for special numbers.
  template <bool whole, class Number, class Distance>
  void add_pairs(const Run& a, const Run& b, std::uint64_t begin, std::size_t n, const Distance& distance) {
    alignas(64) double values_a[decoded_pairs + detail::reduce::block_padding];
    alignas(64) double values_b[decoded_pairs + detail::reduce::block_padding];
    for (std::size_t start = 0; start < n; start += decoded_pairs) {
      const std::size_t part = std::min(decoded_pairs, n - start);
      detail::reduce::to_doubles(a.type, a.at(start), part, values_a);
      detail::reduce::to_doubles(b.type, b.at(start), part, values_b);
      SumsOfPairs<Number> sums;
      for (std::size_t i = 0; i < part; ++i) {
        const double x = values_a[i];
        const double y = values_b[i];
        if (!whole && (!std::isfinite(x) || !std::isfinite(y))) {
          if (!same_special(x, y)) {
            differs_at(begin + start + i);
            infinite = true;
          }
          continue;
        }
        ++finite;
        const double d = distance(start + i, x, y);
        if (!whole && !std::isfinite(d)) {  // of opposite signs, near the end of the range
          overflow = true;
          differs_at(begin + start + i);
          sums.add(0, x, y);
          continue;
        }
        see(d, std::abs(y));
        sums.add(d, x, y);
        if (beyond(d, y)) {
          differs_at(begin + start + i);
        }
      }
      all.add(sums);
    }
  }

  /// Adds pairs of doubles, or of a shorter type that has kernels, with special numbers or squares out of range.
  template <class Number>
  void add_slowly(const std::byte* a, const std::byte* b, Dtype type, std::size_t n, std::uint64_t index) {
    add_pairs<false, Number>({type, a}, {type, b}, index, n,
                             [](std::size_t, double x, double y) { return std::abs(x - y); });
  }

  void add_complex(const Run& a, const Run& b, std::size_t n) {
    constexpr std::size_t most = 512;
    std::array<double, most> real_a;
    std::array<double, most> imaginary_a;
    std::array<double, most> real_b;
    std::array<double, most> imaginary_b;
    for (std::size_t start = 0; start < n; start += most) {
      const std::size_t part = std::min(most, n - start);
      detail::reduce::to_parts(a.type, a.at(start), part, real_a.data(), imaginary_a.data());
      detail::reduce::to_parts(b.type, b.at(start), part, real_b.data(), imaginary_b.data());
      for (std::size_t i = 0; i < part; ++i) {
        add_complex_pair({real_a[i], imaginary_a[i]}, {real_b[i], imaginary_b[i]}, size + start + i);
      }
    }
  }

  void add_complex_pair(const Parts& x, const Parts& y, std::uint64_t index) {
    if (!x.finite() || !y.finite()) {
      const bool same = x.nan() && y.nan() ? options.equal_nan : x.real == y.real && x.imaginary == y.imaginary;
      if (!same) {
        differs_at(index);
        infinite = true;
      }
      return;
    }
    ++finite;
    // A modulus or a difference may be beyond double's range though the parts are not: then quarters are compared.
    const double largest = std::max({std::abs(x.real), std::abs(x.imaginary), std::abs(y.real), std::abs(y.imaginary)});
    const double scale = largest > 0x1p1021 ? 0.25 : 1;
    const double d = std::hypot(x.real * scale - y.real * scale, x.imaginary * scale - y.imaginary * scale);
    const double size_of_b = std::hypot(y.real * scale, y.imaginary * scale);
    see(d, size_of_b, scale);
    if (beyond(d, size_of_b, scale)) {
      differs_at(index);
    }
    using Wide = long double;
    const Wide real = Wide{x.real} - Wide{y.real};
    const Wide imaginary = Wide{x.imaginary} - Wide{y.imaginary};
    const Wide squared = real * real + imaginary * imaginary;
    all.magnitude.add(std::sqrt(squared));
    all.square.add(squared);
    all.square_a.add(Wide{x.real} * Wide{x.real} + Wide{x.imaginary} * Wide{x.imaginary});
    all.square_b.add(Wide{y.real} * Wide{y.real} + Wide{y.imaginary} * Wide{y.imaginary});
    all.product.add(Wide{x.real} * Wide{y.real} + Wide{x.imaginary} * Wide{y.imaginary});
  }

  /// Adds equal elements to the sums.
  void add_sums(const Run& both, std::size_t n) {
    const bool equal_nan = std::exchange(options.equal_nan, true);
    const bool decoded = !has_kernel(both.type);
    const std::size_t most = decoded ? decoded_pairs : kernel_pairs;
    alignas(64) double values[decoded_pairs + detail::reduce::block_padding];
    if (is_complex(both.type)) {
      add_complex(both, both, n);
      n = 0;
    }
    for (std::size_t start = 0; start < n; start += most) {
      const std::size_t part = std::min(most, n - start);
      if (decoded) {
        detail::reduce::to_doubles(both.type, both.at(start), part, values);
        add_square_sum(Dtype::float64, reinterpret_cast<const std::byte*>(values), part);
      } else {
        add_square_sum(both.type, both.at(start), part);
      }
    }
    options.equal_nan = equal_nan;
  }

  void add_square_sum(Dtype type, const std::byte* both, std::size_t n) {
    const double sum = detail::reduce::kernels().square_sum(type, both, n);
    if (!(sum >= smallest_squared * smallest_squared && sum <= largest_squared * largest_squared)) {
      // Zeros, special numbers, or squares out of range: taken as pairs of equal elements.
      return add_block(type, both, both, n, size, type == Dtype::float64);
    }
    finite += n;
    all.square_a.add(sum);
    all.square_b.add(sum);
    all.product.add(sum);
  }
};

Comparer::Comparer(const DifferenceOptions& options)
    : impl_(std::make_unique<Impl>(Impl{.options = options, .tolerance = {options.rtol, options.atol}})) {
  const bool valid = options.rtol >= 0 && options.rtol < infinity && options.atol >= 0 && options.atol < infinity;
  detail::refuse_if(!valid, "tolerances must be finite and not negative");
}
Comparer::Comparer(Comparer&&) noexcept = default;
Comparer& Comparer::operator=(Comparer&&) noexcept = default;
Comparer::~Comparer() = default;

void Comparer::add(const TensorView& a, const TensorView& b) {
  Impl& data = *impl_;
  const Dtype type_a = storage_type(a.dtype());
  const Dtype type_b = storage_type(b.dtype());
  const std::uint64_t n = a.size();
  detail::refuse_if(n != b.size(), "values of different sizes cannot be compared element by element");
  // Benchmark of equal bytes: differences.py, `smd-diff, 2 x 2 GiB, equal`.
  if (n > 0 && a.dtype() == b.dtype() && a.bytes().size() == b.bytes().size() &&
      (data.options.equal_nan || !may_be_nan(type_a)) &&
      (a.bytes().data() == b.bytes().data() ||
       std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0)) {
    data.size += n;
    if (type_a == Dtype::string) {
      data.text += n;
    } else if (!data.options.sums_of_equal && data.equal_bytes) {
      data.left_out += n;
    } else {
      data.add_sums({type_a, a.bytes().data()}, whole_elements(a));
    }
    return;
  }
  data.equal_bytes = data.equal_bytes && n == 0;
  data.same_dtype = data.same_dtype && a.dtype() == b.dtype();
  if (type_a == Dtype::string || type_b == Dtype::string) {
    data.text += n;
    if (type_a == type_b) {
      data.add_text(a, b);
    } else {  // of different kinds: every pair differs
      data.first = data.first || n == 0 ? data.first : data.size;
      data.differing += n;
    }
  } else {
    const Run run_a = {type_a, a.bytes().data()};
    const Run run_b = {type_b, b.bytes().data()};
    const auto count = std::min(whole_elements(a), whole_elements(b));
    if (is_complex(type_a) || is_complex(type_b)) {
      data.add_complex(run_a, run_b, count);
    } else {
      data.add_real(run_a, run_b, count);
    }
  }
  data.size += n;
}

void Comparer::add(Extent& a, Extent& b, std::uint64_t first, std::uint64_t count) {
  const bool text_a = a.dtype() == Dtype::string;
  const bool text_b = b.dtype() == Dtype::string;
  if (a.size() != b.size() || a.size() == 0 || text_a != text_b) {
    add(TensorView(a.dtype(), a.shape(), {}), TensorView(b.dtype(), b.shape(), {}));
    return;
  }
  if (text_a) {
    const std::span<const std::byte> bytes_a = a.view(0, a.size());
    const std::span<const std::byte> bytes_b = b.view(0, b.size());
    if (!bytes_a.empty() && !bytes_b.empty()) {
      add(TensorView(a.dtype(), a.shape(), bytes_a), TensorView(b.dtype(), b.shape(), bytes_b));
    }
    return;
  }
  const std::size_t item_a = item_size(a.dtype());
  const std::size_t item_b = item_size(b.dtype());
  const std::uint64_t most = Extent::block_bytes / std::max(item_a, item_b);
  count = std::min(count, a.size() - std::min(first, a.size()));
  for (std::uint64_t done = 0; done < count;) {
    const std::span<const std::byte> bytes_a = a.view(first + done, std::min(most, count - done));
    const std::span<const std::byte> bytes_b = b.view(first + done, bytes_a.size() / item_a);
    const auto size = static_cast<std::int64_t>(std::min(bytes_a.size() / item_a, bytes_b.size() / item_b));
    if (size == 0) {
      return;
    }
    const auto elements = static_cast<std::size_t>(size);
    add(TensorView(a.dtype(), {&size, 1}, bytes_a.first(elements * item_a)),
        TensorView(b.dtype(), {&size, 1}, bytes_b.first(elements * item_b)));
    done += elements;
  }
}

void Comparer::merge(const Comparer& following) {
  Impl& data = *impl_;
  const Impl& other = *following.impl_;
  if (!data.first && other.first) {
    data.first = data.size + *other.first;
  }
  data.size += other.size;
  data.differing += other.differing;
  data.finite += other.finite;
  data.left_out += other.left_out;
  data.equal_bytes = data.equal_bytes && other.equal_bytes;
  data.same_dtype = data.same_dtype && other.same_dtype;
  data.text += other.text;
  data.infinite = data.infinite || other.infinite;
  data.overflow = data.overflow || other.overflow;
  data.max_abs = std::max(data.max_abs, other.max_abs);
  data.max_rel = std::max(data.max_rel, other.max_rel);
  data.all.add(other.all);
}

void Comparer::clear() { *impl_ = Impl{.options = impl_->options, .tolerance = impl_->tolerance}; }

bool Comparer::differs() const noexcept { return impl_->differing != 0; }
bool Comparer::equal_bytes() const noexcept { return impl_->equal_bytes; }
bool Comparer::complete() const noexcept { return impl_->left_out == 0; }

Difference Comparer::result() const {
  const Impl& data = *impl_;
  Difference result;
  result.size = data.size;
  result.differing = data.differing;
  result.first = data.first;
  result.same_dtype = data.same_dtype;
  if (data.text == data.size) {
    return result;
  }
  result.max_abs = data.infinite || data.overflow ? infinity : data.max_abs;
  result.max_rel = data.overflow ? infinity : data.max_rel;
  const long double square = data.overflow ? static_cast<long double>(infinity) : data.all.square.value();
  const long double diff = std::sqrt(square);
  result.l2_diff = static_cast<double>(diff);
  if (!complete()) {
    return result;
  }
  if (data.finite > 0) {
    const auto pairs = static_cast<long double>(data.finite);
    result.mean_abs = data.overflow ? infinity : static_cast<double>(data.all.magnitude.value() / pairs);
    result.rmse = static_cast<double>(std::sqrt(square / pairs));
  }
  const long double l2_a = std::sqrt(data.all.square_a.value());
  const long double l2_b = std::sqrt(data.all.square_b.value());
  result.l2_a = static_cast<double>(l2_a);
  result.l2_b = static_cast<double>(l2_b);
  result.rel_l2 = diff == 0 ? 0 : static_cast<double>(diff / l2_a);
  if (l2_a > 0 && l2_b > 0 && std::isfinite(*result.l2_a) && std::isfinite(*result.l2_b)) {
    result.cosine = static_cast<double>(data.all.product.value() / l2_a / l2_b);
  }
  return result;
}

}  // namespace smd
