# Sourced by image/bare_debian and cmake/aarch64_root: debian_mirror prints the mirror of Debian that this machine uses.
debian_mirror() {
  local lists mirror
  # A system has one form of the list or the other.
  lists=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true)
  mirror=$(sed -nE 's/^deb (\[[^]]*\] )?(https?:[^ ]+) bookworm main.*/\2/p; s/^URIs: (https?:[^ ]+).*/\1/p' <<<"$lists" | sed -n 1p)
  mirror=${mirror:-http://deb.debian.org/debian}
  echo "${mirror%/}"
}
