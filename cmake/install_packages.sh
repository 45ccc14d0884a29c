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

# install_python_packages GROUP… installs the rows of PyPI that are missing into build/venv, which it makes.
install_python_packages() {
  local tree missing=() who source name group there
  tree=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
  [ -x "$tree/build/venv/bin/pip" ] || python3 -m venv "$tree/build/venv" || return 1
  there=$("$tree/build/venv/bin/pip" --disable-pip-version-check list --format freeze | sed 's/==.*//' | tr 'A-Z_' 'a-z-')
  while read -r who source name; do
    case $who in '' | \#*) continue ;; esac
    for group in "$@"; do
      if [ "$who" = "$group" ] && [ "$source" = pypi ] && ! grep -qx "${name//_/-}" <<<"$there"; then
        missing+=("$name")
      fi
    done
  done <"$tree/packages.txt"
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing ${missing[*]} into build/venv"
  "$tree/build/venv/bin/pip" --disable-pip-version-check --quiet install "${missing[@]}"
}
