// A tile publishes its sum. The last tile of a group of 32 publishes the group's sum, and then the prefix:
// the sum of everything up to the group's end.
//
//     tile      0 1 2 …  31        32 33 …  63        64 65 66
//     published s s s …            s  s  …            s  s  –
//                      S P                 S –
//                        └────────────→────┴──────────→  before 66: P0 ∘ S1 ∘ (s64 ∘ s65)
//
// A tile reads the words of its group and of the 32 groups before it at once, takes the nearest known prefix, and
// joins sums by a tree of one shape: results are the same bits on every run. A replay has the same tag. So if all
// tiles are one group, there is a word for each two tiles, marked with the tag, and its reader erases it. Other words
// have many readers, and are marked with the moment of the launch, which the first block tells the others.
struct alignas(32) GroupWords { MarkedWord sum, prefix; };
constexpr int pairs = 1, moments = pairs + warp_size * warp_size; // of the words `published`
using Tile = unsigned; // its number: 2^31 of the smallest tiles are a list of 1 TiB

struct Board {
    MarkedWord *published;
    GroupWords *groups;
    unsigned long long mark;
    Tile few; // how many tiles there are, if they are one group; else 0

    // By the warp that publishes and reads, if there are several groups: the first block tells its mark.
    __device__ __forceinline__ void open() {
        MarkedWord *const words = published + moments;
        unsigned long long moment = new_mark(mark);
        if (blockIdx.x == 0) {
#if PLAN_DRAW > 1
            if (lane() == 0)
                store_relaxed(ticket(), static_cast<int>(gridDim.x) * plan::stages);
            warp_barrier();
            __threadfence(); // whoever hears from any lane sees the counter
#endif
            moment = shuffle(moment, 0);
            for (unsigned block = 1 + lane(); block < gridDim.x; block += warp_size)
                publish(words + block, mark, moment);
        } else if (lane() == 0) {
            while (!take(look_at(words + blockIdx.x), moment))
                wait_a_moment();
            erase(words + blockIdx.x);
#if PLAN_DRAW > 1
            __threadfence(); // whoever draws after the next barrier sees the counter
#endif
        }
        mark = shuffle(moment, 0);
    }
    __device__ __forceinline__ int *ticket() const { return reinterpret_cast<int *>(published); }
    // Where the tile `reader` finds the sum of another tile of its group.
    __device__ __forceinline__ MarkedWord *word_of(Tile tile, Tile reader) const {
        return published + (few != 0 ? pairs + reader * warp_size + tile : moments + gridDim.x + tile);
    }
    // The sum of a tile, but for the last of a group, to all who will read it.
    __device__ __forceinline__ void put_tile(Tile tile, Real value) const {
        const Tile in_group = tile % warp_size, reader = lane();
        if (few != 0 ? reader > in_group && reader < few : reader == 0 && in_group < warp_size - 1)
            publish(word_of(tile, reader), mark, value);
    }
    __device__ __forceinline__ bool is_last(Tile tile) const {
        return few == 0 && tile % warp_size == warp_size - 1;
    }
    // Whether the word is there; else leaves `value`.
    template <class T> __device__ __forceinline__ bool take(const MarkedWord &word, T &value) const {
        if (word.mark == mark)
            memcpy(&value, &word.value, sizeof value);
        return word.mark == mark;
    }
};

// Whether a block publishes the sum of its next tile before it looks back.
constexpr bool early = plan::ahead > 1;

// Waits until the lanes know the sums of a group's tiles, one each. Gives the sums up to the lane's tile.
__device__ __forceinline__ Real scan_group(const Arguments &arguments, const Board &board, bool &known, Real &value,
                                           const MarkedWord *word) {
    for (; any_lane(!known); known = known || board.take(look_at(word), value))
        wait_a_moment();
    return scan_warp(arguments, value);
}

// The prefix of the group before, of what the lanes know: the nearest prefix, and sums of the groups behind it.
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
    // Of the 32 groups before, the last lane has the nearest. The lowest without a prefix will have one soon.
    const int group = mine / warp_size, seen = group - warp_size + lane();
    GroupWords *const own = board.groups + group, *const words = board.groups + (seen < 0 ? 0 : seen);
    bool wanted = seen >= 0, any = false, prefix = false;
    int nearest; // lane of the nearest group whose prefix is known, or −1
    Real of_group = identity(); // the prefix, or else the sum
    const auto take = [&](const MarkedWord &sum, const MarkedWord &both) {
        any = board.take(sum, of_group), prefix = board.take(both, of_group);
    };
    const auto judge = [&] {
        nearest = warp_size - 1 - __clz(static_cast<int>(ballot_lanes(prefix)));
        wanted = wanted && !prefix && (nearest < 0 || (lane() > nearest && !any));
    };
    // All words are asked for at once, also by lanes that want nothing: no register waits for a word that never comes.
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
        erase(mate);
    const bool tells = lane() == warp_size - 1 && board.is_last(mine); // of the group
    if (!early && tells)
        publish(&own->sum, board.mark, through);
    for (; any_lane(wanted); judge()) {
        wait_a_moment();
        if (wanted)
            take(look_at(&words->sum), look_at(&words->prefix));
    }
    const Real before = group == 0 ? initial(arguments) : before_group(arguments, of_group, nearest);
    if (tells)
        publish(&own->prefix, board.mark, PATTERN_CHAIN(arguments, before, through));
    const Real inside = shuffle(through, place == 0 ? 0 : place - 1);
    return place == 0 ? before : PATTERN_CHAIN(arguments, before, inside);
}
