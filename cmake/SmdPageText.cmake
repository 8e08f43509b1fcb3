# SPDX-License-Identifier: Apache-2.0
# smd_digest(OUT TEXT): the SHA-256 digest of a text in base64, as a Content-Security-Policy names it.
function(smd_digest out text)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 digits "${text}")
  set(base64 "")
  foreach(at RANGE 0 63 3)  # three hexadecimal digits are two of base64
    string(SUBSTRING "${digits}00" ${at} 3 three)
    foreach(digit "0x${three} >> 6" "0x${three} & 63")
      math(EXPR index "${digit}")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND base64 "${letter}")
    endforeach()
  endforeach()
  string(REGEX REPLACE "A$" "=" base64 "${base64}")  # the 33rd byte is no part of the digest
  set(${out} "${base64}" PARENT_SCOPE)
endfunction()

# smd_write_page_text(HEADER): writes the style and script of smd-report's page, without the comments in front.
function(smd_write_page_text header)
  foreach(file draw/chart.css report/page.css report/page.js)
    set(path "${PROJECT_SOURCE_DIR}/tools/${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    string(REGEX REPLACE "^((//|/\\*)[^\n]*\n)+" "" text "${text}")
    cmake_path(GET file FILENAME name)
    string(REPLACE "." "_" name "${name}")
    set(${name} "${text}")
  endforeach()
  smd_digest(style_digest "${page_css}${chart_css}")
  smd_digest(script_digest "${page_js}")
  configure_file("${PROJECT_SOURCE_DIR}/tools/report/page_text.hpp.in" "${header}" @ONLY)
endfunction()
