// SPDX-License-Identifier: Apache-2.0
#include "wire/first_bytes.hpp"

#include "text/limits.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>

using namespace smd::detail::wire;
namespace limits = smd::limits;
using namespace std::string_literals;

namespace {

std::string told(const std::string& bytes, std::string_view name = "file") {
  const KnownFile* const known = known_file(std::as_bytes(std::span(bytes)), name);
  return known == nullptr ? "" : std::string(known->what);
}

/// The local header of a ZIP archive's first member (APPNOTE 4.3.7): 26 bytes, the lengths of name and extra field.
std::string zip_with(const std::string& member) {
  return "PK\3\4" + std::string(22, '\0') + static_cast<char>(member.size()) + "\0\0\0"s + member;
}

}  // namespace

TEST_CASE("first bytes tell what a file is") {
  CHECK(told("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a") == "a Git LFS pointer");
  CHECK(told("<!DOCTYPE html><html>") == "a web page");
  CHECK(told("\n  <html>") == "a web page");
  CHECK(told("\xEF\xBB\xBF<?xml version=\"1.0\"?><Error>") == "a web page");
  CHECK(told(zip_with("archive/data.pkl")) == "a PyTorch checkpoint");
  CHECK(told(zip_with("weight.npy")) == "an npz archive of NumPy");
  CHECK(told(zip_with("config.json")) == "a ZIP archive");
  CHECK(told(zip_with("archive/byteorder")) == "a PyTorch checkpoint");
  CHECK(told(zip_with(""), "model.pt") == "a PyTorch checkpoint");
  CHECK(told("PK\5\6" + std::string(18, '\0')) == "a ZIP archive");
  CHECK(told("\x80\x04\x95\x0A"s + std::string(8, '\0')) == "a plain pickle");
  CHECK(told("\x1F\x8B\x08") == "compressed with gzip");
  CHECK(told("GGUF\3\0\0\0"s) == "a GGUF model");
  CHECK(told("\x89HDF\r\n\x1A\n") == "an HDF5 file");
  CHECK(told("SQLite format 3\0"s) == "an SQLite database");
  CHECK(told("\x08\x07\x12\x07pytorch") == "an ONNX model");
  CHECK(told("\x93NUMPY\1\0"s) == "an array of NumPy");
  CHECK(told("") == "empty");
  CHECK(told(std::string(64, '\0')) == "all zeros");
  CHECK(told(std::string(limits::row_bytes, '\0')) == "all zeros up to the limit (row_bytes)");
  CHECK(told("step,value\n0,1\n") == "text");
  CHECK(told("caf\xC3") == "text");  // the last character is cut
  std::string tar(512, '\0');
  CHECK(told(tar.replace(0, 3, "run").replace(257, 5, "ustar")) == "a tar archive");
}

TEST_CASE("a stream of PyTorch, of each protocol of pickle") {
  // pickle.dumps(0x1950a86a20f9469cfc6c, protocol), and the version behind it
  const std::string number = "\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.";
  const std::string frame = "\x95\x0D\0\0\0\0\0\0\0"s;
  for (const std::string& stream : {"\x80\x02" + number, "\x80\x03" + number, "\x80\x04" + frame + number,
                                    "\x80\x05" + frame + number, "L119547037146038801333356L\n."s}) {
    CHECK(told(stream) == "a PyTorch checkpoint");
    CHECK(told(stream + "\x80\x02M\xE9\x03.") == "a PyTorch checkpoint");
    CHECK(told(stream.substr(0, stream.size() - 1)) != "a PyTorch checkpoint");
  }
}

TEST_CASE("first bytes: an archive of PyTorch by the name of its file") {
  const std::string archive = "PK\3\4";
  for (const char* const name : {"a.pth", "a.pt.tar", "a.pth.tar"}) {
    CHECK(known_file(std::as_bytes(std::span(archive)), name)->kind == FileKind::pytorch);
  }
}

TEST_CASE("first bytes that tell nothing") {
  CHECK(told("\x82").empty());
  CHECK(told("\x18\0\0\0\0\0\0\0\xA3\x7F\x4B\x22"s).empty());  // an event file
  CHECK(told("\x40\0\0\0\0\0\0\0{\"w\""s).empty());            // safetensors
  CHECK(told("\x08\x07\x12\0"s).empty());
  CHECK(told("text\0with NUL"s).empty());
}

TEST_CASE("the words of a message") {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1";
  CHECK(say(*known_file(std::as_bytes(std::span(pointer)), "x")) == "is a Git LFS pointer: git lfs pull fetches it");
  CHECK(say(*known_file({}, "x")) == "is empty");
}
