// What the tiles of a persistent scan publish for each other, and how a tile finds what comes before
// it. A tile publishes its sum. The last tile of a group of 32 publishes the group's sum, and then the
// prefix: the sum of everything up to the group's end.
//
//     group     0                  1                  2
//     tile      0 1 2 …  31        32 33 …  63        64 65 66
//     published s s s …            s  s  …            s  s  –
//                      S P                 S –
//                        └────────────→────┴──────────→  before 66: P0 ∘ S1 ∘ (s64 ∘ s65)
//
// A tile reads 32 words of its group and those of the 32 groups before it, all at once. It takes the
// nearest known prefix, joins the sums of the groups after that, and then those of its own group, by
// a tree whose shape does not change: results are the same bits on every run.
//
// Nobody prepares the memory that blocks share, and a replay has the same tag. So a word is marked
// with the tag where its one reader erases it: up to 32 tiles have a word for each two tiles. Words
// with many readers are marked with the moment of the launch, which the first block tells the others.

struct alignas(32) GroupWords {
    MarkedWord sum, prefix;
};

// Where `published` has a word for each two tiles of a single group, and one for each block; those of
// the tiles follow.
constexpr int pairs = 1, moments = pairs + warp_size * warp_size;

// Tiles and groups have numbers of 32 bits: 2^31 of the smallest tiles are a list of 1 TiB.
__device__ __forceinline__ int place_in_group(int tile) {
    return static_cast<int>(static_cast<unsigned>(tile) % warp_size);
}
__device__ __forceinline__ int group_of(int tile) {
    return static_cast<int>(static_cast<unsigned>(tile) / warp_size);
}

struct Board {
    MarkedWord *published;
    GroupWords *groups;
    unsigned long long tag, mark;
    int few; // how many tiles there are, if they are one group; else 0

    __device__ __forceinline__ Board(const Arguments &arguments, int tiles)
        : published(static_cast<MarkedWord *>(arguments.published)),
          groups(static_cast<GroupWords *>(arguments.groups)), tag(arguments.tag), mark(tag),
          few(tiles <= warp_size ? tiles : 0) {
    }
    // The warp that publishes and reads calls it.
    __device__ __forceinline__ void open() {
        if (few == 0)
            mark = mark_of(tag, blockIdx.x == 0 ? tell_moment() : hear_moment());
    }
    __device__ __forceinline__ unsigned long long tell_moment() const {
#if PLAN_DRAW > 1
        if (lane() == 0)
            store_relaxed(ticket(), static_cast<int>(gridDim.x) * plan::stages);
        warp_barrier();
        __threadfence(); // whoever hears from any lane sees the counter
#endif
        const unsigned long long moment = shuffle(this_moment(), 0);
        for (unsigned block = 1 + lane(); block < gridDim.x; block += warp_size)
            publish(published + moments + block, {tag, moment});
        return moment;
    }
    __device__ __forceinline__ unsigned long long hear_moment() const {
        MarkedWord *const from = published + moments + blockIdx.x;
        MarkedWord word = {0, 0};
        if (lane() == 0) {
            for (word = look_at(from); word.mark != tag; word = look_at(from))
                wait_a_moment();
            erase(from);
#if PLAN_DRAW > 1
            __threadfence(); // whoever draws after the next barrier sees the counter
#endif
        }
        return shuffle(word.value, 0);
    }
    __device__ __forceinline__ int *ticket() const {
        return reinterpret_cast<int *>(published);
    }
    // Where the tile `reader` finds the sum of another tile of its group.
    __device__ __forceinline__ unsigned place(int tile, int reader) const {
        return few != 0 ? pairs + reader * warp_size + tile : moments + gridDim.x + tile;
    }
    __device__ __forceinline__ void put(MarkedWord *to, Real value) const {
        MarkedWord word = {mark, 0};
        memcpy(&word.value, &value, sizeof value);
        publish(to, word);
    }
    // The sum of a tile, but for the last of a group, to all who will read it.
    __device__ __forceinline__ void put_tile(int tile, Real value) const {
        const int in_group = place_in_group(tile);
        if (few != 0 ? lane() > in_group && lane() < few
                     : lane() == 0 && in_group < warp_size - 1)
            put(published + place(tile, lane()), value);
    }
    __device__ __forceinline__ bool is_last(int tile) const {
        return few == 0 && place_in_group(tile) == warp_size - 1;
    }
    // Whether the word is there; else leaves `value`.
    __device__ __forceinline__ bool take(const MarkedWord &word, Real &value) const {
        if (word.mark == mark)
            memcpy(&value, &word.value, sizeof value);
        return word.mark == mark;
    }
};

// A step from one prefix to the next: the same operations at each place.
#if defined(PATTERN_OWN_OPERATOR)
#define PATTERN_CHAIN __noinline__ // the compiler might contract a spec's function differently
#else
#define PATTERN_CHAIN SAME_BITS
#endif
__device__ PATTERN_CHAIN Real chain(const Arguments &arguments, Real before, Real value) {
    return combine(arguments, before, value);
}

// Whether a block publishes the sum of its next tile before it looks back.
constexpr bool early = plan::ahead > 1;

// What a lane has seen of one tile of the group, and of one of the 32 groups before it; the last lane
// has the nearest. A tile need not look further back: the lowest of these groups without a prefix will
// have one soon.
struct Seen {
    unsigned tile; // its word's place
    int group;
    Real of_tile, of_group; // the prefix of a group, or else the sum
    int place;              // in its group, of the tile that looks back
    bool known, any, prefix, wanted;
    int nearest; // lane of the nearest group whose prefix is known, or −1

    __device__ __forceinline__ Seen(const Board &board, int mine, Real all)
        : of_group(identity()), place(place_in_group(mine)), known(lane() >= place), any(false),
          prefix(false), nearest(-1) {
        tile = board.place(known ? mine : mine - place + lane(), place);
        group = group_of(mine) - warp_size + lane();
        of_tile = lane() == place ? all : identity();
        wanted = group >= 0;
    }
    // First all words are asked for at once. Lanes that want nothing ask, too, so that no register
    // waits for a word that does not come.
    __device__ __forceinline__ void look(const Board &board) {
        const GroupWords *const at = board.groups + (wanted ? group : 0);
        const MarkedWord word = look_at(board.published + tile);
        const MarkedWord sum = look_at(&at->sum), both = look_at(&at->prefix);
        if (!known)
            known = board.take(word, of_tile);
        if (wanted)
            take_group(board, sum, both);
        judge_groups();
    }
    __device__ __forceinline__ void look_at_tile(const Board &board) {
        if (!known)
            known = board.take(look_at(board.published + tile), of_tile);
    }
    __device__ __forceinline__ void look_at_group(const Board &board) {
        if (wanted)
            take_group(board, look_at(&board.groups[group].sum), look_at(&board.groups[group].prefix));
        judge_groups();
    }
    __device__ __forceinline__ void take_group(const Board &board, const MarkedWord &sum,
                                               const MarkedWord &both) {
        any = board.take(sum, of_group);
        prefix = board.take(both, of_group);
        any = any || prefix;
    }
    __device__ __forceinline__ void judge_groups() {
        nearest = warp_size - 1 - __clz(static_cast<int>(ballot_lanes(prefix)));
        wanted = wanted && !prefix && (nearest < 0 || (lane() > nearest && !any));
    }
};

// Of the tiles of a group up to one: the sum of all, and of those before it. Lane l comes to hold the
// sum of its tile and those before it.
struct Mates {
    Real sum, before;
    __device__ __forceinline__ Mates(const Arguments &arguments, Real value, int place) {
#pragma unroll
        for (int distance = 1; distance < warp_size; distance *= 2) {
            const Real other = shuffle_up(value, distance);
            if (lane() >= distance)
                value = combine(arguments, other, value);
        }
        sum = shuffle(value, warp_size - 1);
        before = shuffle(value, place == 0 ? 0 : place - 1);
    }
};

// The prefix of the group before, once all that it takes was seen.
__device__ __forceinline__ Real before_group(const Arguments &arguments, const Seen &seen) {
    constexpr int at_once = 4;
    Real before = shuffle(seen.of_group, seen.nearest);
#pragma unroll 1
    for (int l = seen.nearest + 1; l < warp_size; l += at_once) {
        Real next[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i)
            next[i] = shuffle(seen.of_group, (l + i) % warp_size);
#pragma unroll
        for (int i = 0; i < at_once; ++i)
            if (l + i < warp_size)
                before = chain(arguments, before, next[i]);
    }
    return before;
}

__device__ __forceinline__ void publish_group(const Board &board, int mine, Real sum) {
    if (lane() == 0 && board.is_last(mine))
        board.put(&board.groups[group_of(mine)].sum, sum);
}

// What comes before a tile, whose sum is `all` and is published. One warp calls it.
__device__ __forceinline__ Real look_back(const Arguments &arguments, const Board &board, int mine,
                                          Real all) {
    const int group = group_of(mine);
    Seen seen(board, mine, all);
    for (seen.look(board); !every_lane(seen.known); seen.look_at_tile(board))
        wait_a_moment();
    if (board.few != 0 && lane() < seen.place)
        erase(board.published + seen.tile);
    const Mates mates(arguments, seen.of_tile, seen.place);
    if (!early)
        publish_group(board, mine, mates.sum);
    for (; any_lane(seen.wanted); seen.look_at_group(board))
        wait_a_moment();
    const Real before = group == 0 ? initial(arguments) : before_group(arguments, seen);
    if (lane() == 0 && board.is_last(mine))
        board.put(&board.groups[group].prefix, chain(arguments, before, mates.sum));
    return seen.place == 0 ? before : chain(arguments, before, mates.before);
}

// Publishes the sum of the group whose last tile is `mine`, before that tile looks back.
__device__ __forceinline__ void publish_group_early(const Arguments &arguments, const Board &board,
                                                    int mine, Real all) {
    Seen seen(board, mine, all);
    for (; !every_lane(seen.known); seen.look_at_tile(board))
        wait_a_moment();
    publish_group(board, mine, Mates(arguments, seen.of_tile, seen.place).sum);
}
