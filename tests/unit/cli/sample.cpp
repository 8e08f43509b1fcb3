// SPDX-License-Identifier: Apache-2.0
// A command for command_test.py: prints what its operands say.
//
//   strings          awkward strings, one a row
//   floats           random numbers of all kinds, with their bits
//   halves           all 65,536 float16 and bfloat16
//   hold             starts to print, says "ready" on standard error, then waits for the end of standard input
//   echo …           the operands after it as rows, those that `-` stands for too
//   repeat           one warning ten times
//   oops, memory, logic
//                    throws what a library would
//   missing          raises status 1 and 4
#include "app.hpp"
#include "operands/operands.hpp"
#include "sample_command.hpp"

#include <unistd.h>

#include <bit>
#include <cstdint>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace smd::tool;  // NOLINT: a test of most headers

class Sample {
 public:
  static Sample from(const CommandLine& line) {
    Sample sample;
    sample.output_ = OutputOptions::from(line);
    sample.what_ = line.operands().front();
    sample.rest_.assign(line.operands().begin() + 1, line.operands().end());
    return sample;
  }

  ExitStatus run(Diagnostics& messages) {
    if (what_ == "repeat") {
      for (int i = 0; i < 10; ++i) {
        messages.warning("the same \x1b[31m again");
      }
      messages.warning("another");
      messages.info("an info");
      messages.debug("a detail");
      return ExitStatus::yes;
    }
    if (what_ == "memory") {
      throw std::bad_alloc();
    }
    if (what_ == "logic") {
      throw std::logic_error("basic_string::substr: secret text");
    }
    if (what_ == "oops") {
      throw smd::TensorUnavailable("'los' was not saved", "los", {});
    }
    if (what_ == "missing") {
      messages.fail("TensorUnavailable", "'x' was not saved", ExitStatus::no);
      messages.fail("Damaged", "a file", ExitStatus::damaged);
      return ExitStatus::yes;
    }
    OutputFile out = output_.open();
    if (what_ == "echo") {
      static constexpr Column columns[] = {{"operand"}};
      RowWriter writer(out, output_, columns, false, messages);
      OperandSource operands = operand_source(rest_, output_.null_separated, messages);
      while (const std::optional<std::string> operand = operands.next()) {
        writer.row({*operand});
      }
      writer.finish();
    } else if (what_ == "strings") {
      print_strings(out, messages);
    } else if (what_ == "floats") {
      print_floats(out, messages);
    } else if (what_ == "halves") {
      print_halves(out, messages);
    } else {
      out.write("begun");
      out.flush();
      messages.warning("ready");
      char byte = 0;
      while (read(STDIN_FILENO, &byte, 1) > 0) {
      }
    }
    out.close();
    return ExitStatus::yes;
  }

 private:
  // Every string of up to two of these, in order: command_test.py makes the same.
  void print_strings(OutputFile& out, Diagnostics& messages) const {
    static constexpr Column columns[] = {{"number"}, {"text"}};
    RowWriter writer(out, output_, columns, false, messages);
    const std::vector<std::string> parts = {
        "a", "\t", "\n", "\r", "\\", "\"", "'", ",", " ", ";", "=", "\x01", "\x7f", "\xC3\xA9", "\xF0\x9F\x98\x80",
        "n", "/",  ""};
    int number = 0;
    for (const std::string& first : parts) {
      for (const std::string& second : parts) {
        writer.row({number++, first + second});
      }
    }
    writer.finish();
  }

  void print_floats(OutputFile& out, Diagnostics& messages) const {
    static constexpr Column columns[] = {{"bits64"}, {"f64"}, {"bits32"}, {"f32"}, {"i64"}};
    RowWriter writer(out, output_, columns, false, messages);
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t bits = random();
      const auto half = static_cast<std::uint32_t>(bits);
      writer.row(
          {bits, std::bit_cast<double>(bits), half, std::bit_cast<float>(half), static_cast<std::int64_t>(bits)});
    }
    writer.finish();
  }

  void print_halves(OutputFile& out, Diagnostics& messages) const {
    static constexpr Column columns[] = {{"bits"}, {"f16"}, {"bf16"}};
    RowWriter writer(out, output_, columns, false, messages);
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto number = static_cast<std::uint16_t>(bits);
      writer.row({bits, smd::Half{number}, smd::BFloat16{number}});
    }
    writer.finish();
  }

  OutputOptions output_;
  std::string what_;
  std::vector<std::string> rest_;
};

ExitStatus print_sample(Sample& sample, Diagnostics& messages) { return sample.run(messages); }

}  // namespace

int main(int argc, char** argv) { return run_command({test::sample_definition, setup<print_sample>}, argc, argv); }
