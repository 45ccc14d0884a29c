/* The paper's local move L_k at power 2 for `tempera check`, in whole numbers: cc -O2 -o metropolis metropolis.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[65536];
static int horizon, terminals, terminal[64];

/* Reads a line and, where `key` stands in it, the whole numbers of the list or value that follows. */
static int read_numbers(const char* key, unsigned long long* numbers) {
  int count = 0;
  if (fgets(line, sizeof line, stdin) == NULL) exit(0);
  for (char* at = strstr(line, key) + strlen(key); *at != ']' && *at != '}';)
    if (*at >= '0' && *at <= '9') numbers[count++] = strtoull(at, &at, 10);
    else ++at;
  return count;
}
static void write_list(const char* key, const unsigned long long* numbers, int count) {
  printf("{\"%s\":[", key);
  for (int i = 0; i < count; ++i) printf(i ? ",%llu" : "%llu", numbers[i]);
  printf("]}\n"), fflush(stdout);
}
static unsigned long long draw(const unsigned long long* tickets, int count) {
  unsigned long long winner;
  write_list("draw", tickets, count);
  return read_numbers("\"winner\":", &winner), winner;
}
/* Next-token tickets squared, and z = (sum of squares) / (sum squared) as two factors of a ratio. */
static int proposal(const unsigned long long* x, int t, unsigned long long* squares,
                    unsigned long long* up, unsigned long long* down) {
  unsigned long long sum = 0, of_squares = 0;
  write_list("next", x, t);
  const int count = read_numbers("\"tickets\":", squares);
  for (int v = 0; v < count; ++v) sum += squares[v], of_squares += squares[v] *= squares[v];
  *up *= of_squares, *down *= sum * sum;
  return count;
}
static int is_open(const unsigned long long* x, int length) {
  for (int i = 0; i < terminals && length > 0; ++i)
    if (x[length - 1] == (unsigned long long)terminal[i]) return 0;
  return length < horizon;
}
int main(void) {
  unsigned long long x[128], y[128], row[1024], numbers[1024];
  read_numbers("\"horizon\":", numbers), horizon = (int)numbers[0];
  char* at = strstr(line, "\"terminal\":");
  for (at += 11; *at != ']';)
    if (*at >= '0' && *at <= '9') terminal[terminals++] = (int)strtol(at, &at, 10);
    else ++at;
  for (;;) {
    const int length = read_numbers("\"state\":", x);
    unsigned long long up = 1, down = 1;
    for (int r = 0; r < horizon; ++r) row[r] = 1;
    const int r = (int)draw(row, horizon);
    int end = length;
    memcpy(y, x, sizeof x);
    if (r < length) {
      for (end = r; is_open(y, end); ++end) y[end] = draw(row, proposal(y, end, row, &up, &down));
      for (int t = r; t < length; ++t) proposal(x, t, row, &down, &up);
      const unsigned long long decision[] = {up < down ? up : down, up < down ? down - up : 0};
      if (draw(decision, 2) == 1) memcpy(y, x, sizeof x), end = length;
    }
    write_list("end", y, end);
  }
}
