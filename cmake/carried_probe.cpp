// A program that needs one symbol of each library that tempera's programs are linked with:
// checks/carried_libraries looks at what it asks of the machine.
#include <gmp.h>
#include <mpfr.h>
#include <utf8proc.h>

#include <cstdio>
#include <stdexcept>
#include <thread>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <cuda_runtime_api.h>
#include <pcre2.h>

int main() {
  try {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
    char version[64] = {};
    pcre2_config(PCRE2_CONFIG_VERSION, version);
    std::thread([&] {
      std::printf("%d %s %s %s %s\n", devices, version, utf8proc_version(), mpfr_get_version(),
                  gmp_version);
    }).join();
    mpz_t number;
    mpz_init(number);
    mpz_clear(number);
    throw std::runtime_error("the end");
  } catch (const std::exception&) {
    return 0;
  }
}
