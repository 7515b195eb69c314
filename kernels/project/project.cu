// project.cu: positions from one coordinate reference system to another, a step at a time.
//
// steps.cuh is generated from the description that the CPU's code is generated from: the same IEEE
// operations in the same order, none of them contracted.
//
// buffer  elements   what
// x, y    n          ordinates, overwritten
#include "project/steps.cuh"

struct ProjectArgs {
  i64 n;
  double parameters[PARAMETERS];
};

// Each kernel: one thread, one position.
KERNEL __launch_bounds__(BLOCK) project_to_mercator(
    double *__restrict__ x, double *__restrict__ y, const __grid_constant__ ProjectArgs args) {
  const i64 i = thread_index();
  if (i < args.n) mercatorForward(x[i], y[i], args.parameters);
}

KERNEL __launch_bounds__(BLOCK) project_from_mercator(
    double *__restrict__ x, double *__restrict__ y, const __grid_constant__ ProjectArgs args) {
  const i64 i = thread_index();
  if (i < args.n) mercatorInverse(x[i], y[i], args.parameters);
}

KERNEL __launch_bounds__(BLOCK) project_to_transverse(
    double *__restrict__ x, double *__restrict__ y, const __grid_constant__ ProjectArgs args) {
  const i64 i = thread_index();
  if (i < args.n) transverseForward(x[i], y[i], args.parameters);
}

KERNEL __launch_bounds__(BLOCK) project_from_transverse(
    double *__restrict__ x, double *__restrict__ y, const __grid_constant__ ProjectArgs args) {
  const i64 i = thread_index();
  if (i < args.n) transverseInverse(x[i], y[i], args.parameters);
}
