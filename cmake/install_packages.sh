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
