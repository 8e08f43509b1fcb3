// SPDX-License-Identifier: Apache-2.0
#include "tensor/npz_writer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace smd::tool::tensor {

TEST_CASE("an archive of one stored member, byte by byte") {
  OutputFile out = OutputFile::memory();
  ZipWriter zip(out);
  const std::string content = "hello";
  zip.begin("é", 0x3610A686, 5);  // zlib.crc32(b"hello")
  zip.write(std::as_bytes(std::span(content)));
  zip.finish();
  // APPNOTE.TXT 4.3: local header, content, directory, end. Bit 11 marks the name as UTF-8; 0x21 is 1980-01-01.
  const auto bytes = [](const char* text, std::size_t size) { return std::string(text, size); };
  std::string expected =
      bytes("PK\3\4\x14\0\0\x08\0\0\0\0\x21\0\x86\xA6\x10\x36\5\0\0\0\5\0\0\0\2\0\0\0é", 32) + "hello";
  expected += bytes("PK\1\2\x14\3\x14\0\0\x08\0\0\0\0\x21\0\x86\xA6\x10\x36\5\0\0\0\5\0\0\0\2\0\0\0\0\0\0\0\0\0", 38);
  expected += bytes("\0\0\xA4\x81\0\0\0\0é", 10);
  expected += bytes("PK\5\6\0\0\0\0\1\0\1\0\x30\0\0\0\x25\0\0\0\0\0", 22);  // 48 bytes of directory at 37
  CHECK(out.take_text() == expected);
}

TEST_CASE("a member of 4 GiB has its sizes in the ZIP64 field") {
  OutputFile out = OutputFile::memory();
  ZipWriter zip(out);
  zip.begin("x", 0, 0xFFFFFFFF);  // its bytes are not needed to see the header
  const std::string header = out.take_text();
  REQUIRE(header.size() == 30 + 1 + 20);
  CHECK(header.substr(18, 8) == std::string(8, '\xFF'));
  CHECK(header.substr(31, 4) == std::string("\1\0\x10\0", 4));
  CHECK(header.substr(35, 8) == std::string("\xFF\xFF\xFF\xFF\0\0\0\0", 8));
}

}  // namespace smd::tool::tensor
