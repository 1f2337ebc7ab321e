// Preloaded into the server: the machine seems to have as many cores as the variable CORES says.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

long sysconf(int name) {
  long (*real)(int) = dlsym(RTLD_NEXT, "sysconf");
  const char *cores = getenv("CORES");
  return name == _SC_NPROCESSORS_ONLN && cores ? atol(cores) : real(name);
}
