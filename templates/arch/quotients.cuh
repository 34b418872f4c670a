#pragma once

// Divisions and square roots of an update. Compilers put a branch behind each of them, for numbers whose
// quotient or root needs more care: tiny, huge, zero, infinite or NaN. Quick ones take the usual way and
// remember whether some number was odd, so that one branch is enough for many of them: it makes all
// again, exactly. Away from odd numbers the bits are the same.
struct Exact {
    static constexpr bool odd = false;

    template <class T> __device__ __forceinline__ T reciprocal(T x) { return T(1) / x; }
    template <class T> __device__ __forceinline__ T quotient(T a, T b) { return a / b; }
    __device__ __forceinline__ float root(float x) { return sqrtf(x); }
    __device__ __forceinline__ double root(double x) { return sqrt(x); }
};

// Each operation is that of the compilers' usual way (NVRTC 13.0, sm_75 to sm_120), and what is odd
// includes all for which they leave it.
struct Quick {
    bool odd = false;

    __device__ __forceinline__ float reciprocal(float x) {
        const float near = guess(x), error = fmaf(-x, near, 1.0f);
        odd |= !(fabsf(error) < 1e-3f);
        return fmaf(near, error, near);
    }
    __device__ __forceinline__ double reciprocal(double x) {
        const double r = near(x, __double2hiint(x) + 0x300402);
        return fma(r, fma(-x, r, 1.0), r);
    }
    __device__ __forceinline__ float quotient(float a, float b) {
        const float r = reciprocal(b), q = a * r;
        odd |= !((fabsf(q) > 1e-18f && fabsf(q) < 1e18f && fabsf(b) < 1e18f && fabsf(b) > 1e-9f) || a == 0.0f);
        return copysignf(fmaf(r, fmaf(-b, q, a), q), q);
    }
    __device__ __forceinline__ double quotient(double a, double b) {
        const double about = near(b, 1), r = fma(about, fma(-b, about, 1.0), about), q = a * r;
        odd |= !((fabs(q) > 1e-140 && fabs(q) < 1e140 && fabs(b) < 1e140 && fabs(b) > 1e-100) || a == 0.0);
        return copysign(fma(r, fma(-b, q, a), q), q);
    }
    __device__ __forceinline__ float root(float x) {
        float r;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
        const float near = x * r;
        odd |= !(x > 1e-30f && x < 1e30f);
        return fmaf(fmaf(-near, near, x), 0.5f * r, near);
    }
    __device__ __forceinline__ double root(double x) {
        double r;
        asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
        r = __hiloint2double(__double2hiint(r), __double2hiint(x) - 0x3500000);
        const double error = fma(x, -(r * r), 1.0), near = fma(fma(error, 0.375, 0.5), r * error, r);
        const double root = x * near;
        odd |= !(x > 1e-290 && x < 1e290);
        return fma(fma(root, -root, x), near * 0.5, root);
    }

  private:
    static __device__ __forceinline__ float guess(float x) {
        float r;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
        return r;
    }
    // But for the last correction; `low`: bits where the guess has none.
    __device__ __forceinline__ double near(double x, int low) {
        double r;
        asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
        r = __hiloint2double(__double2hiint(r), low);
        const double error = fma(-x, r, 1.0);
        odd |= !(fabs(error) < 1e-3);
        return fma(r, fma(error, error, error), r);
    }
};

// A point whose update divides so.
template <class Numbers, class At> struct By : At {
    Numbers &numbers;
    template <class T> __device__ __forceinline__ T reciprocal(T x) const { return numbers.reciprocal(x); }
    template <class T> __device__ __forceinline__ T quotient(T a, T b) const { return numbers.quotient(a, b); }
    template <class T> __device__ __forceinline__ T root(T x) const { return numbers.root(x); }
};
