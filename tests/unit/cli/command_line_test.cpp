// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include "cli/option_hints.hpp"
#include "sample_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using smd::tool::CommandLine;
using smd::tool::test::parse;
using smd::tool::test::Strings;
using smd::tool::test::usage_error;

TEST_CASE("options and operands mix; -- ends options; - is an operand") {
  const CommandLine line = parse({"a", "-q", "b", "--json", "-", "--", "-v", "--bogus", "--name="});
  CHECK(line.operands() == Strings{"a", "b", "-", "-v", "--bogus", "--name="});
  CHECK(line.has("quiet"));
  CHECK(line.has("json"));
  CHECK_FALSE(line.has("verbose"));
}

TEST_CASE("values in all four ways, whatever they look like") {
  CHECK(parse({"--step=1:2", "t"}).value("step") == "1:2");
  CHECK(parse({"--step", "1:2", "t"}).value("step") == "1:2");
  CHECK(parse({"-s1:2", "t"}).value("step") == "1:2");
  CHECK(parse({"-s", "1:2", "t"}).value("step") == "1:2");
  CHECK(parse({"-s", "-3:", "t"}).value("step") == "-3:");
  CHECK(parse({"-s-1", "t"}).value("step") == "-1");
  CHECK(parse({"--step=-1", "t"}).value("step") == "-1");
  CHECK(parse({"-n", "--quiet", "t"}).value("name") == "--quiet");
  CHECK(parse({"-n", "--", "t"}).value("name") == "--");
  CHECK(parse({"--name=a=b", "t"}).value("name") == "a=b");
  CHECK(parse({"-n=x", "t"}).value("name") == "=x");
  CHECK(parse({"-n", "", "t"}).value("name") == "");
  CHECK(parse({"-n", "--name=", "t"}).value("name") == "--name=");
  CHECK(parse({"-qn", "x", "t"}).value("name") == "x");
  CHECK(parse({"-qvvnx", "t"}).value("name") == "x");
}

TEST_CASE("no option swallows the operand after its value, an empty one neither") {
  const CommandLine line = parse({"-n", "x", "t", "--name=", "u", "-e", "y", "v"});
  CHECK(line.operands() == Strings{"t", "u", "v"});
  CHECK(line.values("name") == Strings{"x", ""});
}

TEST_CASE("the last value wins; lists add up; counts count") {
  const CommandLine line = parse({"-w", "a", "-n", "x", "-w", "b", "-n", "y", "-vv", "-v", "t"});
  CHECK(line.value("worker") == "b");
  CHECK(line.values("worker") == Strings{"b"});
  CHECK(line.values("name") == Strings{"x", "y"});
  CHECK(line.count("verbose") == 3);
}

TEST_CASE("only mode, step and columns split on commas") {
  const CommandLine line = parse({"-s", "1,2", "-s", "5:9", "-m", "train,eval", "--columns", "a,b", "-n", "x,y", "-e",
                                  "a{1,2}", "-x", "p,q", "-c", "c,d", "-w", "w,1", "t"});
  CHECK(line.values("step") == Strings{"1", "2", "5:9"});
  CHECK(line.values("mode") == Strings{"train", "eval"});
  CHECK(line.values("columns") == Strings{"a", "b"});
  CHECK(line.values("name") == Strings{"x,y"});
  CHECK(line.values("regex") == Strings{"a{1,2}"});
  CHECK(line.values("exclude") == Strings{"p,q"});
  CHECK(line.values("collection") == Strings{"c,d"});
  CHECK(line.values("worker") == Strings{"w,1"});
}

TEST_CASE("operands and values in brackets or quotes stay as they are") {
  const CommandLine line = parse({"[a,b]", "-n", "[c,d]", "\"q\"", "'r'", "@f", "%x", "/w", "++"});
  CHECK(line.operands() == Strings{"[a,b]", "\"q\"", "'r'", "@f", "%x", "/w", "++"});
  CHECK(line.values("name") == Strings{"[c,d]"});
}

TEST_CASE("of formats the last stands, in either form") {
  using smd::tool::OutputOptions;
  CHECK(OutputOptions::from(parse({"--json", "-f", "csv", "t"})).format == "csv");
  CHECK(OutputOptions::from(parse({"-f", "csv", "--jsonl", "t"})).format == "jsonl");
  CHECK(OutputOptions::from(parse({"--csv", "--tsv", "t"})).format == "tsv");
}

TEST_CASE("usage errors say what is wrong") {
  CHECK(usage_error({"--bogus-thing", "t"}) == "unknown option '--bogus-thing'");
  CHECK(usage_error({"--regx=a", "t"}) == "unknown option '--regx'; did you mean '--regex'?");
  CHECK(usage_error({"--col", "x", "t"}).starts_with("unknown option '--col'"));  // no abbreviations
  CHECK(usage_error({"-Z", "t"}) == "unknown option '-Z'");
  CHECK(usage_error({"-qZ", "t"}) == "unknown option '-Z'");
  CHECK(usage_error({"-5", "t"}) == "unknown option '-5'; a step, even a negative one, follows -s: -s -5");
  CHECK(usage_error({"---", "t"}) == "unknown option '---'");
  CHECK(usage_error({"t", "-s"}) == "option '-s' needs a value");
  CHECK(usage_error({"t", "--step"}) == "option '--step' needs a value");
  CHECK(usage_error({"--quiet=no", "t"}) == "option '--quiet' takes no value");
  CHECK(usage_error({"--quiet=", "t"}) == "option '--quiet' takes no value");
  CHECK(usage_error({}) == "missing operand TRIAL");
  CHECK(usage_error({"-f", "xml", "t"}) == "--format: 'xml' is not one of table, tsv, csv, json, jsonl");
  CHECK(usage_error({"--color=maybe", "t"}) == "--color: 'maybe' is not one of auto, always, never");
  CHECK(usage_error({"-m", "train,test", "t"}) ==
        "--mode: 'test' is not one of train, eval, predict, global; did you mean 'eval'?");
  CHECK(usage_error({"-s", "1:x", "t"}) == "--step: '1:x' is not a step: N, A:B, A:B:S, first, last or all");
  CHECK(usage_error({"--every=0", "t"}).starts_with("--every: '0' is not between 1 and "));
  CHECK(usage_error({"--every=two", "t"}) == "--every: 'two' is not a whole number");
  CHECK(usage_error({"--precision", "100", "t"}) == "--precision: '100' is not between 1 and 99");
  CHECK(usage_error({"-j0", "t"}) == "--jobs: '0' is not between 1 and 1024");
  CHECK(usage_error({"t"}).empty());
}

TEST_CASE("a file whose ending names a format needs that format, or a choice") {
  CHECK(usage_error({"-o", "a/w.csv", "t"}) ==
        "--output: 'a/w.csv' would be written as tsv: give -f csv, or -f tsv if that is meant");
  CHECK(usage_error({"-o", "w.csv", "-f", "tsv", "t"}).empty());
  CHECK(usage_error({"-o", "w.csv", "--json", "t"}).empty());
  for (const char* name : {"w.tsv", "w.txt", "csv", "csv.d/w", "w.csv/"}) {
    CHECK(usage_error({"-o", name, "t"}).empty());
  }
}

TEST_CASE("a word that is not in a closed set: what was meant") {
  const auto hint = [](const char* word, const std::vector<std::string_view>& words) {
    return smd::tool::word_hint(word, words);
  };
  const std::vector<std::string_view> statistics = {"min", "max", "mean", "std", "abs_std", "variance", "l2"};
  CHECK(hint("avg", statistics) == "; did you mean 'mean'?");
  CHECK(hint("STDDEV", statistics) == "; did you mean 'std'?");
  CHECK(hint("STD", statistics) == "; did you mean 'std'?");  // and not abs_std
  CHECK(hint("meen", statistics) == "; did you mean 'mean'?");
  CHECK(hint("argmin", statistics).find("smd-tensor --stat") != std::string::npos);
  CHECK(hint("whatever", statistics).empty());
  CHECK(hint("avg", {"a", "b"}).empty());  // not a word of this set
  CHECK(usage_error({"--format=CSV", "t"}) ==
        "--format: 'CSV' is not one of table, tsv, csv, json, jsonl; did you mean 'csv'?");
  CHECK(usage_error({"-f", "parquet", "t"}).find("; try --csv or --jsonl") != std::string::npos);
  CHECK(smd::tool::not_one_of("x", std::vector<std::string_view>(50, "w")).ends_with(", w and 10 more"));
}

TEST_CASE("options of other programs: what there is in their place") {
  CHECK(usage_error({"--filter", "mean>1", "t"}).find("--where 'step > 5'") != std::string::npos);
  CHECK(usage_error({"--filter=mean>1", "t"}).find("--where 'step > 5'") != std::string::npos);
  CHECK(usage_error({"--json-lines", "t"}) == "unknown option '--json-lines'; try --jsonl");
  CHECK(usage_error({"--grep=loss", "t"}) == "unknown option '--grep'; -e RE selects tensors by a pattern");
  CHECK(usage_error({"--tail", "3", "t"}).find("-s -3:") != std::string::npos);
  CHECK(usage_error({"-R", "t"}).find("smd-ls --find") != std::string::npos);
  CHECK(usage_error({"-Z", "t"}) == "unknown option '-Z'");
}

TEST_CASE("--help and --version need no operand") {
  CHECK(parse({"--help"}).has("help"));
  CHECK(parse({"-h"}).has("help"));
  CHECK(parse({"--version"}).has("version"));
}
