// The sums of a thread that holds rows of packs and adds plane by plane along its walk.
constexpr int depth = plan::low_z + 1 + plan::high_z;

// [j][i][o][k] gathers output o of point i of row j, k - high_z planes from the one at hand.
using Sums = Real[plan::lane_y][row_points][plan::outputs][depth];

// After a plane: each sum comes one plane nearer to its point.
__device__ __forceinline__ void shift(Sums &sum) {
#pragma unroll
    for (int j = 0; j < plan::lane_y; ++j)
#pragma unroll
        for (int i = 0; i < row_points; ++i)
#pragma unroll
            for (int o = 0; o < plan::outputs; ++o) {
#pragma unroll
                for (int k = 0; k + 1 < depth; ++k)
                    sum[j][i][o][k] = sum[j][i][o][k + 1];
                sum[j][i][o][depth - 1] = 0;
            }
}
