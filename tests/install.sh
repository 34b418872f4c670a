#!/bin/sh
# Installs the build into a folder with a space in its name, moves it, and builds and runs tests/install/
# against it by find_package and by pkg-config. Takes: the build folder. CC and CXX are the compilers to use.
. "$(dirname "$0")/cases.sh"
build=$1
CC=${CC:-cc}
CXX=${CXX:-c++}
export CC CXX
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
first="$folder/first place"
prefix="$folder/second place"
log=$folder/log
program=$folder/program
export SG_CACHE="$folder/cache" XDG_CACHE_HOME="$folder/cache" XDG_DATA_HOME="$folder/data"
# Nothing of the checkout is to be found by chance.
cd "$folder" || exit 1

# does COMMAND…: it succeeds; its output is in $log.
does() {
    "$@" >"$log" 2>&1 || flunk "$* failed: $(cat "$log")"
}

# there FILE…: exist below the prefix.
there() {
    for file in "$@"; do
        [ -s "$prefix/$file" ] || flunk "there is no $file"
    done
}

# computes COMMAND…: the program runs and says what it must.
computes() {
    does "$@"
    for line in 'sum of (2, 3, 4) is 423, of (4, 5) 45' "stencilgen $version, compiled against $version"; do
        grep -qxF "$line" "$log" || flunk "$* does not say '$line': $(cat "$log")"
    done
}

# needs FILE PATTERN: its dynamic libraries are those, and those of the C and C++ compilers.
needs() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$folder/needed"
    grep -q '^libc\.so' "$folder/needed" || flunk "$1 does not look like a program or library"
    bad=$(grep -vE "^(libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|ld-linux.*|$2)\.so" "$folder/needed")
    [ -z "$bad" ] || flunk "$1 needs $bad"
}

begin 'cmake --install'
version=$(sed -n 's/^#define SG_VERSION "\(.*\)"/\1/p' "$SOURCE/runtime/stencilgen.h")
does cmake --install "$build" --prefix "$first"
if [ ! -d "$first" ]; then finish; fi
mv "$first" "$prefix"
lib=$(cd "$prefix" && dirname "$(find . -name stencilgen.pc)" | sed 's|^\./||; s|/pkgconfig$||')
library=$(readlink -f "$prefix/$lib/libstencilgen.so")
there include/stencilgen.h bin/stencilgen share/man/man1/stencilgen.1 \
    "$lib/libstencilgen.so" "$lib/libstencilgen.so.${version%%.*}" "$lib/libstencilgen.so.$version" \
    "$lib/libstencilgen.a" "$lib/pkgconfig/stencilgen.pc" \
    "$lib/cmake/stencilgen/stencilgen-config.cmake" \
    "$lib/cmake/stencilgen/stencilgen-config-version.cmake" \
    share/stencilgen/annotations/stencilgen.lua share/stencilgen/annotations/functions.lua \
    share/doc/stencilgen/README.md share/doc/stencilgen/LICENSE share/doc/stencilgen/docs/spec.md \
    share/doc/stencilgen/examples/heat3d.c
for example in "$SOURCE"/examples/gallery/*.* "$SOURCE"/examples/python/*.py "$SOURCE"/docs/gallery/*.png; do
    there "share/doc/stencilgen/${example#"$SOURCE/"}"
done
specs=$(sed -n 's/^specs = .* else home.parents\[1\] \/ "\(.*\)" \/ "\(.*\)"$/\1\/\2/p' "$SOURCE/examples/python/grayscott_cupy.py")
there "share/$specs/grayscott.lua"
[ -z "$(find "$prefix" -type d -empty)" ] || flunk "there are empty folders: $(find "$prefix" -type d -empty)"
for part in "$SOURCE"/runtime/stencilgen/*.h; do
    there "include/stencilgen/$(basename "$part")"
done
for spec in "$SOURCE"/specs/*.lua; do
    there "share/stencilgen/specs/$(basename "$spec")"
done
[ "$(cd "$prefix" && find include bin -type f | grep -v '^include/stencilgen/[a-z]*\.h$' | wc -l)" = 2 ] ||
    flunk 'include and bin hold other files too'

# Documents are copied as they stand, and may hold the name of a checkout as short as /src.
begin 'nothing remembers where it was installed or built'
bad=$(grep -rIlF --exclude-dir=doc -e "$first" -e "$build" -e "$SOURCE" "$prefix")
[ -z "$bad" ] || flunk "$bad"

begin 'SONAME and what is needed'
readelf -d "$library" >"$log"
grep -F '(SONAME)' "$log" | grep -qF "[libstencilgen.so.${version%%.*}]" || flunk "$(grep SONAME "$log")"
! grep -E 'R(UN)?PATH' "$log" || flunk 'it has a search path of its own'
needs "$library" 'liblua-?5\.4|libmd|libsqlite3'
needs "$prefix/bin/stencilgen" 'liblua-?5\.4|libmd|libsqlite3'

begin 'find_package'
does cmake -G Ninja -S "$SOURCE/tests/install" -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug
does cmake --build cmake -j 2
for language in c cpp; do
    computes cmake/shared_$language
    needs cmake/shared_$language libstencilgen
    computes cmake/static_$language
    needs cmake/static_$language 'liblua-?5\.4|libmd|libsqlite3'
done

begin 'find_package without Lua, libmd and SQLite'
mkdir shared
cat >shared/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(shared_only LANGUAGES C)
find_package(stencilgen REQUIRED)
if(NOT TARGET stencilgen::stencilgen OR TARGET stencilgen::static)
  message(FATAL_ERROR "the shared library, and only that, was expected")
endif()
find_package(stencilgen COMPONENTS static)
if(stencilgen_FOUND)
  message(FATAL_ERROR "the component static cannot be there")
endif()
END
does env PKG_CONFIG_LIBDIR="$folder" PKG_CONFIG_PATH= \
    cmake -G Ninja -S shared -B shared/build -DCMAKE_PREFIX_PATH="$prefix"

# compiles LIBRARY PKG-CONFIG-OPTION…: $program from C, then from C++; runs it.
compiles() {
    wanted=$1
    shift
    # pkg-config quotes for the shell, which is what eval is for.
    flags=$(pkg-config "$@" --cflags --libs stencilgen) || flunk "pkg-config $* failed"
    rm -f "$program"
    eval "does \$CC -std=c11 -Wall -Werror -o '$program' '$SOURCE/tests/install/program.c' $flags"
    computes env LD_LIBRARY_PATH="$prefix/$lib" "$program"
    needs "$program" "$wanted"
    rm -f "$program"
    eval "does \$CXX -std=c++17 -Wall -Werror -o '$program' '$SOURCE/tests/install/program.cpp' $flags"
    computes env LD_LIBRARY_PATH="$prefix/$lib" "$program"
    needs "$program" "$wanted"
}
export PKG_CONFIG_PATH="$prefix/$lib/pkgconfig"

begin 'pkg-config, shared'
[ "$(pkg-config --modversion stencilgen)" = "$version" ] || flunk 'the version is not that of the header'
compiles libstencilgen

begin 'pkg-config, static'
compiles 'liblua-?5\.4|libmd|libsqlite3' --static --define-variable=library=:libstencilgen.a

# As the pages say it: in a shell that knows of the installation by PKG_CONFIG_PATH alone.
mkdir -p home reader
ln -s "$prefix" home/.local
cp "$SOURCE/tests/install/program.c" reader/solver.c
path=$(sed -n 's/.*`\(PKG_CONFIG_PATH=[^`]*\)`.*/\1/p' "$SOURCE/README.md")
for page in README.md docs/api.md; do
    grep -n '^    cc [a-z]*\.c ' "$SOURCE/$page" >lines
    [ -s lines ] || flunk "$page shows no compilation"
    while IFS= read -r line; do
        begin "the program of $page, line ${line%%:*}"
        line=$(echo "${line#*:}" | sed 's/cc [a-z]*\.c/$CC -o program solver.c/')
        does env -u LD_LIBRARY_PATH -u PKG_CONFIG_PATH HOME="$folder/home" \
            sh -euc "cd reader; rm -f program; export $path; $line"
        computes env -u LD_LIBRARY_PATH reader/program
    done <lines
done

begin 'pkg-config without Lua, libmd and SQLite'
does env PKG_CONFIG_LIBDIR="$folder" pkg-config --cflags --libs stencilgen

begin 'the installed command'
does "$prefix/bin/stencilgen" --device cpu --size 32x16x16 -o "$folder/made" \
    "$prefix/share/stencilgen/specs/heat13.lua"
grep -q 'check  *right' "$log" || flunk "it does not say that the kernel is right: $(cat "$log")"
[ -s made/heat13.cu ] || flunk 'there is no heat13.cu'

begin 'the manual'
if has man; then
    does man -l "$prefix/share/man/man1/stencilgen.1"
    grep -q -- --emit "$log" || flunk "$(cat "$log")"
fi
finish
