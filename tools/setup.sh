# Sourced by tools/wirewise and tools/test: from a fresh Debian 12 or Ubuntu 24.04 to a built binary.
# Everything it says goes to standard error, so that a command's JSON stays alone on standard output.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
build="${WIREWISE_BUILD_FOLDER:-$root/build/default}"

say() { printf 'wirewise: %s\n' "$*" >&2; }

# has command:NAME | file:PATH
has() {
    local what="${1#*:}" include_path="${CPLUS_INCLUDE_PATH:-}" folder
    if [[ $1 == command:* ]]; then command -v "$what" >/dev/null; return; fi
    for folder in /usr/include /usr/local/include /usr/include/*-linux-gnu ${include_path//:/ }; do
        [[ -e $folder/$what ]] && return 0
    done
    return 1
}

# missing NEED...: the packages of those needs that are not there, one a line.
missing() {
    local need package shown
    while read -r need package shown; do
        [[ " $* " == *" $need "* ]] || continue
        has "$shown" || echo "$package"
    done < <(grep -v '^#' "$root/tools/packages.txt")
}

as_root() {
    if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
    command -v apt-get >/dev/null || return 1
    [[ $(id -u) == 0 ]] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

apt_install() {
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
    as_root "${apt[@]}" install --no-install-recommends "$@" >&2 2>/dev/null && return
    as_root "${apt[@]}" update >&2 && as_root "${apt[@]}" install --no-install-recommends "$@" >&2
}

# ensure_packages NEED...: installs what is missing, or says exactly what to install and ends with 2.
ensure_packages() {
    local wanted
    mapfile -t wanted < <(missing "$@")
    [[ ${#wanted[@]} == 0 ]] && return
    if may_install; then
        say "installing ${wanted[*]}"
        mapfile -t -O "${#wanted[@]}" wanted < <(missing wish)
        apt_install "${wanted[@]}" || true
        mapfile -t wanted < <(missing "$@")
        [[ ${#wanted[@]} == 0 ]] && return
    fi
    say "missing packages: ${wanted[*]}"
    say "install them, then call this again:  sudo apt-get update && sudo apt-get install -y ${wanted[*]}"
    exit 2
}

# configure ON|OFF: with or without tests. Prints only what CMake says about CUDA, and everything when it fails.
configure() {
    local log
    log="$build/configure.log"
    if [[ -e $build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"  # the tree was copied or moved
    fi
    if ! cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWIREWISE_BUILD_TESTS="$1" >"$log" 2>&1; then
        cat "$log" >&2
        say "configuring failed; the lines above say why"
        exit 1
    fi
    sed -n 's/^-- \(CUDA executor:.*\)/wirewise: \1/p' "$log" >&2
}

# fresh STAMP: nothing that goes into the build is newer than the stamp (folders too: a removed file counts).
fresh() {
    [[ -e $1 ]] && [[ -z $(find "$root/CMakeLists.txt" "$root/model" "$root/simulator" "$root/executor" \
        "$root/calibration" "$root/topologies" "$root/tools" ${2:+"$2"} -newer "$1" -print -quit) ]]
}
