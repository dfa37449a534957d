/* A plain C loop over the cells: log density, and its gradient in one factor. */
#include <math.h>
#include <stdint.h>

static void gaussian(double y, double x, double trials, double *value, double *slope) {
    (void)trials;
    *value = -0.5 * (y - x) * (y - x);
    *slope = y - x;
}

static void softplus(double y, double x, double trials, double *value, double *slope) {
    (void)trials;
    double decay = exp(-fabs(x));
    double residual = y - (fmax(x, 0.0) + log1p(decay));
    *value = -0.5 * residual * residual;
    *slope = residual * (x >= 0.0 ? 1.0 / (1.0 + decay) : decay / (1.0 + decay));
}

static void binomial(double y, double x, double trials, double *value, double *slope) {
    double decay = exp(-fabs(x));
    *value = y * x - trials * (fmax(x, 0.0) + log1p(decay));
    *slope = y - trials * (x >= 0.0 ? 1.0 / (1.0 + decay) : decay / (1.0 + decay));
}

#define GRADIENT(NAME)                                                                                          \
    double NAME##_gradient(int64_t lines, int64_t r, double trials, const int64_t *starts, const int32_t *indices, \
                           const double *values, const double *left, const double *right, double *out) {        \
        double total = 0.0;                                                                                     \
        for (int64_t i = 0; i < lines; i++) {                                                                   \
            const double *a = left + i * r;                                                                     \
            double *g = out + i * r;                                                                            \
            for (int64_t c = 0; c < r; c++) g[c] = 0.0;                                                         \
            for (int64_t k = starts[i]; k < starts[i + 1]; k++) {                                               \
                const double *b = right + (int64_t)indices[k] * r;                                              \
                double x = 0.0, value, slope;                                                                   \
                for (int64_t c = 0; c < r; c++) x += a[c] * b[c];                                               \
                NAME(values[k], x, trials, &value, &slope);                                                     \
                total += value;                                                                                 \
                for (int64_t c = 0; c < r; c++) g[c] += slope * b[c];                                           \
            }                                                                                                   \
        }                                                                                                       \
        return total;                                                                                           \
    }

GRADIENT(gaussian)
GRADIENT(softplus)
GRADIENT(binomial)
