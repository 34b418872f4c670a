# Writes a C file that defines `const char SYMBOL[]`, the text of a file, for each pair of file and symbol in FILES, below
# ROOT. Run with cmake -P. The texts are string literals, which compile ten times as fast as lists of numbers.
set(output "")
while(FILES)
  list(POP_FRONT FILES file symbol)
  file(READ "${ROOT}/${file}" text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "?" "\\?" text "${text}") # no trigraphs
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  get_filename_component(name "${file}" NAME)
  string(APPEND output "/* Made from ${name}. */\nextern const char ${symbol}[];\n"
                       "const char ${symbol}[] = \"${text}\";\n")
endwhile()
file(WRITE "${OUTPUT}" "${output}")
