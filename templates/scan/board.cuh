// A tile publishes its sum. The last tile of a group of 32 publishes the group's sum, and then the prefix:
// the sum of everything up to the group's end.
//
//     tile      0 1 2 …  31        32 33 …  63        64 65 66
//     published s s s …            s  s  …            s  s  –
//                      S P                 S –
//                        └────────────→────┴──────────→  before 66: P0 ∘ S1 ∘ (s64 ∘ s65)
//
// A tile reads the words of its group and of the 32 groups before it, all at once. It takes the nearest
// known prefix and joins sums by a tree of one shape: results are the same bits on every run.
// Nobody prepares this memory, and a replay has the same tag. Where all tiles are one group, there is a word
// for each two tiles, marked with the tag, and its reader erases it. Other words have many readers, and are
// marked with the moment of the launch, which the first block tells the others.
struct alignas(32) GroupWords { MarkedWord sum, prefix; };
// Of `published`: a word for each two tiles of a single group, one for each block, and the tiles'.
constexpr int pairs = 1, moments = pairs + warp_size * warp_size;
using Tile = unsigned; // its number: 2^31 of the smallest tiles are a list of 1 TiB

struct Board {
    MarkedWord *published;
    GroupWords *groups;
    unsigned long long mark;
    Tile few; // how many tiles there are, if they are one group; else 0

    // By the warp that publishes and reads, if there are several groups: the first block tells its mark.
    __device__ __forceinline__ void open() {
        MarkedWord *const words = published + moments, word = {mark, new_mark(mark)};
        if (blockIdx.x == 0) {
#if PLAN_DRAW > 1
            if (lane() == 0)
                store_relaxed(ticket(), static_cast<int>(gridDim.x) * plan::stages);
            warp_barrier();
            __threadfence(); // whoever hears from any lane sees the counter
#endif
            word.value = shuffle(word.value, 0);
            for (unsigned block = 1 + lane(); block < gridDim.x; block += warp_size)
                publish(words + block, word);
        } else if (lane() == 0) {
            while ((word = look_at(words + blockIdx.x)).mark != mark)
                wait_a_moment();
            publish(words + blockIdx.x, {0, 0});
#if PLAN_DRAW > 1
            __threadfence(); // whoever draws after the next barrier sees the counter
#endif
        }
        mark = shuffle(word.value, 0);
    }
    __device__ __forceinline__ int *ticket() const { return reinterpret_cast<int *>(published); }
    // Where the tile `reader` finds the sum of another tile of its group.
    __device__ __forceinline__ MarkedWord *word_of(Tile tile, Tile reader) const {
        return published + (few != 0 ? pairs + reader * warp_size + tile : moments + gridDim.x + tile);
    }
    __device__ __forceinline__ void put(MarkedWord *to, Real value) const {
        MarkedWord word = {mark, 0};
        memcpy(&word.value, &value, sizeof value);
        publish(to, word);
    }
    // The sum of a tile, but for the last of a group, to all who will read it.
    __device__ __forceinline__ void put_tile(Tile tile, Real value) const {
        const Tile in_group = tile % warp_size, reader = lane();
        if (few != 0 ? reader > in_group && reader < few : reader == 0 && in_group < warp_size - 1)
            put(word_of(tile, reader), value);
    }
    __device__ __forceinline__ bool is_last(Tile tile) const {
        return few == 0 && tile % warp_size == warp_size - 1;
    }
    // Whether the word is there; else leaves `value`.
    __device__ __forceinline__ bool take(const MarkedWord &word, Real &value) const {
        if (word.mark == mark)
            memcpy(&value, &word.value, sizeof value);
        return word.mark == mark;
    }
};

// Whether a block publishes the sum of its next tile before it looks back.
constexpr bool early = plan::ahead > 1;

// Waits until the lanes know the sums of a group's tiles, one each. Gives the sum of the lane's tile and
// those before it.
__device__ __forceinline__ Real scan_group(const Arguments &arguments, const Board &board, bool &known, Real &value,
                                           const MarkedWord *word) {
    for (; any_lane(!known); known = known || board.take(look_at(word), value))
        wait_a_moment();
    return scan_warp(arguments, value);
}

// The prefix of the group before, by what the lanes know of the 32 groups before: the prefix of the
// nearest that has one, and sums.
__device__ __forceinline__ Real before_group(const Arguments &arguments, Real of_group, int nearest) {
    constexpr int at_once = 4;
    Real before = shuffle(of_group, nearest);
#pragma unroll 1
    for (int l = nearest + 1; l < warp_size; l += at_once) {
        Real next[at_once];
        for (int i = 0; i < at_once; ++i)
            next[i] = shuffle(of_group, (l + i) % warp_size);
        for (int i = 0; i < at_once; ++i)
            if (l + i < warp_size)
                before = PATTERN_CHAIN(arguments, before, next[i]);
    }
    return before;
}

// What comes before a tile, whose sum is `all` and is published. One warp calls it.
__device__ __forceinline__ Real look_back(const Arguments &arguments, const Board &board, Tile mine, Real all) {
    // Of the 32 groups before, the last lane has the nearest. A tile need not look further back: the
    // lowest of these groups without a prefix will have one soon.
    const int group = mine / warp_size, seen = group - warp_size + lane();
    GroupWords *const own = board.groups + group, *const words = board.groups + (seen < 0 ? 0 : seen);
    bool wanted = seen >= 0, any = false, prefix = false;
    int nearest; // lane of the nearest group whose prefix is known, or −1
    Real of_group = identity(); // the prefix, or else the sum
    const auto take = [&](const MarkedWord &sum, const MarkedWord &both) {
        any = board.take(sum, of_group);
        prefix = board.take(both, of_group);
    };
    const auto judge = [&] {
        nearest = warp_size - 1 - __clz(static_cast<int>(ballot_lanes(prefix)));
        wanted = wanted && !prefix && (nearest < 0 || (lane() > nearest && !any));
    };
    // First all words are asked for at once, also by lanes that want nothing, so that no register waits for
    // a word that does not come.
    const int place = mine % warp_size; // in its group, of whose tiles up to this one the lanes take one each
    bool known = lane() >= place;
    Real value = lane() == place ? all : identity();
    MarkedWord *const mate = board.word_of(known ? mine : mine - place + lane(), place);
    const MarkedWord word = look_at(mate), sum = look_at(&words->sum), both = look_at(&words->prefix);
    known = known || board.take(word, value);
    if (wanted)
        take(sum, both);
    judge();
    const Real through = scan_group(arguments, board, known, value, mate);
    if (board.few != 0 && lane() < place)
        publish(mate, {0, 0});
    const bool tells = lane() == warp_size - 1 && board.is_last(mine); // of the group
    if (!early && tells)
        board.put(&own->sum, through);
    for (; any_lane(wanted); judge()) {
        wait_a_moment();
        if (wanted)
            take(look_at(&words->sum), look_at(&words->prefix));
    }
    const Real before = group == 0 ? initial(arguments) : before_group(arguments, of_group, nearest);
    if (tells)
        board.put(&own->prefix, PATTERN_CHAIN(arguments, before, through));
    const Real inside = shuffle(through, place == 0 ? 0 : place - 1);
    return place == 0 ? before : PATTERN_CHAIN(arguments, before, inside);
}
