#!/bin/sh
# Create the virtual environment $1 with the pinned packages and splitlab itself (editable).
set -eu
venv=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
    done
    echo "splitlab needs Python 3.11 or newer; none was found (name one: make PYTHON=/path/to/python3 ...)" >&2
    return 1
}

# step TEXT COMMAND ...: say what is done; what the command prints is shown only where it fails.
step() {
    echo "  $1" >&2
    shift
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "setting up $venv failed at: $*" >&2
        exit 1
    fi
}

python=$(find_python)
pip="$venv/bin/python -m pip install --disable-pip-version-check --quiet"
echo "setting up $venv with $("$python" --version), once; it takes a minute or two:" >&2
step "1 of 3: creating the virtual environment (about 5 s)" "$python" -m venv --clear "$venv"
# $pip is split into words on purpose.
step "2 of 3: downloading and installing $(grep -c '^[A-Za-z]' requirements.txt) packages (about a minute)" $pip -r requirements.txt
# "compat": a path file. The other way loads modules at every start of Python, before an interrupt is dealt with.
step "3 of 3: installing splitlab itself (about 5 s)" $pip --no-deps --no-build-isolation \
    --config-settings editable_mode=compat -e .
echo "$venv is ready; kernels are compiled when they are first needed, and kept (up to a minute, which is shown)" >&2
