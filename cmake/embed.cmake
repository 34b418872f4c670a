# Writes a C file that defines `const char SYMBOL[]`, the text of INPUT. Run with cmake -P.
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,){20})" "\\1\n" bytes "${bytes}")
get_filename_component(name "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "/* Made from ${name}. */\nextern const char ${SYMBOL}[];\n"
                       "const char ${SYMBOL}[] = {\n${bytes}0};\n")
