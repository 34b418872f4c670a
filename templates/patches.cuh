// A block's tile for temporal blocking in 3D: rows of patches, a patch a thread, that walk z with a
// halo for all their steps, and their places in shared memory.
//
//        tile   [ halo | output points | halo ]     along x and y
//        patch  lane_x × lane_y points, `lanes` of them in a row, whole rows in a warp

// In shared memory: a ring of planes from memory (of a wave, a second one of its older level), two
// planes of each level but the last, and a row of each patch that is on its way to memory.
struct tile {
    static constexpr int pack = plan::lane_x * sizeof(Real) > 16 ? int(16 / sizeof(Real))
                                                                 : plan::lane_x;
    static constexpr int packs = plan::lane_x / pack;
    static constexpr int lanes = plan::lanes; // that a row has
    static constexpr int width = lanes * plan::lane_x;
    static constexpr int patches = plan::threads / lanes; // one below the other
    static constexpr int height = patches * plan::lane_y;
    static constexpr int plane = width * height;
    static constexpr int halo_y = plan::time * plan::low_y, halo_z = plan::time * plan::low_z;
    // Rows of a patch that a level's plane stores: those that neighbours read, or all.
    static constexpr bool all_rows = !plan::keep || plan::low_y + plan::high_y >= plan::lane_y;
    static constexpr int stored = all_rows ? plan::lane_y : plan::low_y + plan::high_y;
    static constexpr int level_plane = width * patches * stored;
    // Where a wave's second ring and the levels' planes begin, in elements.
    static constexpr int older = plan::ring * plane, levels = plan::carried * plan::ring * plane;
    static constexpr int scratch = levels + 2 * (plan::time - 1) * level_plane;
    static constexpr int elements = scratch + width * patches;

    static __device__ constexpr bool stores(int row) {
        return all_rows || row < plan::high_y || row >= plan::lane_y - plan::low_y;
    }
    static __device__ constexpr int slot(int row) {
        return all_rows || row < plan::high_y ? row : row - (plan::lane_y - stored);
    }

    static_assert(plan::lane_x % pack == 0 && plan::threads % lanes == 0, "whole packs and rows");
    static_assert(warp_size % lanes == 0 && plan::threads % warp_size == 0, "whole rows of warps");
    static_assert(plan::lane_x * plan::lane_y <= 32, "a bit for each point");
    static_assert(plan::low_x <= plan::lane_x && plan::high_x <= plan::lane_x, "one lane on each side");
    static_assert(plan::low_y <= plan::lane_y && plan::high_y <= plan::lane_y, "one patch on each side");
    static_assert(plan::halo_x >= plan::time * plan::low_x &&
                      plan::halo_x + plan::tile_x + plan::time * plan::high_x <= width &&
                      halo_y + plan::tile_y + plan::time * plan::high_y <= height,
                  "a halo for all steps");
};
using Packed = Pack<Real, tile::pack>;

// The rows of a patch, and those above and below it that its points read, with the columns of the
// neighbouring lanes.
constexpr int rows = plan::low_y + plan::lane_y + plan::high_y;
constexpr int columns = plan::low_x + plan::lane_x + plan::high_x;
using Rows = Real[rows][columns];
using Patch = Real[plan::lane_y][plan::lane_x];
