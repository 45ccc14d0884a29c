# Sourced by ./run and ./test: install_packages GROUP… installs the packages of packages.txt that are
# missing, and touches nothing when all are there.
install_packages() {
  local tree missing=() who source name group
  tree=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
  while read -r who source name; do
    case $who in '' | \#*) continue ;; esac
    for group in "$@"; do
      if [ "$who" = "$group" ] && [ "$source" = apt ] &&
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
        missing+=("$name")
      fi
    done
  done <"$tree/packages.txt"
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "these packages are missing and sudo is not there to install them: ${missing[*]}" >&2
      return 2
    }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# install_python_packages VENV GROUP… installs the rows of PyPI that are missing into VENV, a folder of build/, and makes it.
# uv does it: for all groups it takes less than half of pip's time.
install_python_packages() {
  local tree venv rows uv
  tree=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
  venv=$tree/build/$1 uv=$tree/build/venv/bin/uv
  mapfile -t rows < <(awk -v groups=" ${*:2} " '!/^#/ && $2 == "pypi" && index(groups, " " $1 " ") { print $3 }' "$tree/packages.txt")
  [ -x "$tree/build/venv/bin/pip" ] || python3 -m venv "$tree/build/venv" || return 1
  [ -x "$uv" ] || "$tree/build/venv/bin/pip" --disable-pip-version-check --quiet install uv || return 1
  [ -x "$venv/bin/python" ] || python3 -m venv --without-pip "$venv" || return 1
  # The system's certificates, as pip has them.
  "$uv" pip install --quiet --system-certs --python "$venv/bin/python" "${rows[@]}"
}
