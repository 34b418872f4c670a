// What the tiles of a persistent scan publish for each other, and how one finds out what comes before
// it. Needs: cooperation.cuh, and a plan.h with `published` and `groups` among its arguments.
//
// Tiles look back by groups of 32. A tile publishes its sum; the last of a group adds up the group
// and publishes that sum, and then the prefix, the sum of everything up to the group's end:
//
//     group     0                  1                  2
//     tile      0 1 2 …  31        32 33 …  63        64 65 66
//     published s s s …            s  s  …            s  s  –
//                      S P                 S –
//                        └────────────→────┴──────────→  before 66: P0 ∘ S1 ∘ (s64 ∘ s65)
//
// So a tile reads 32 words of its group and those of the 32 groups before it, all at once. It takes
// the nearest known prefix, joins the sums of the groups behind that one after another, and then
// those of its own group's tiles by a tree whose shape does not change. A prefix that is published
// was made by the same operations; results are the same bits on every run.
//
// Memory that blocks share is prepared by nobody, and what a launch left in it must mean nothing to a
// replay with the same tag, whatever happened to the memory in between: see cooperation.cuh. Two kinds
// of words do that.
//
//   - Those with the tag itself as their mark have one reader, which erases them once it has seen
//     them. A word that is read was written before, so that what is written last is what erases it;
//     and every one that is written is read, before the launch ends. Up to 32 tiles need no others:
//     there is a word for each two tiles.
//   - Of more tiles each word has many readers. Its mark depends on the moment as well, by which no
//     two launches have the same, and which the first block tells the others by words of the first
//     kind, one for each, while the first elements are on their way. These words stay where they are.

struct alignas(32) GroupWords {
    MarkedWord sum, prefix;
};

// Of `published`, in words: the tickets, one for each two tiles of a single group, one for each block,
// one for each tile.
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
    // The warp that publishes and reads calls it. Where tiles will be drawn the first block sets their
    // counter before it says anything.
    __device__ __forceinline__ void open(bool drawn) {
        if (few == 0)
            mark = mark_of(tag, blockIdx.x == 0 ? tell_moment(drawn) : hear_moment(drawn));
    }
    __device__ __forceinline__ unsigned long long tell_moment(bool drawn) const {
        if (drawn) {
            if (lane() == 0)
                store_relaxed(ticket(), static_cast<int>(gridDim.x) * plan::stages);
            warp_barrier();
            __threadfence(); // whoever hears from any lane sees the counter
        }
        const unsigned long long moment = shuffle(this_moment(), 0);
        for (unsigned block = 1 + lane(); block < gridDim.x; block += warp_size)
            publish(published + moments + block, {tag, moment});
        return moment;
    }
    __device__ __forceinline__ unsigned long long hear_moment(bool drawn) const {
        MarkedWord *const from = published + moments + blockIdx.x;
        MarkedWord word = {0, 0};
        if (lane() == 0) {
            for (word = look_at(from); word.mark != tag; word = look_at(from))
                wait_a_moment();
            erase(from);
            if (drawn)
                __threadfence(); // the counter is seen by who draws after the next barrier
        }
        return shuffle(word.value, 0);
    }
    __device__ __forceinline__ int *ticket() const {
        return reinterpret_cast<int *>(published);
    }
    // Where the tile `reader` finds the sum of another tile of its group, in words from `published` on.
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

// ---- looking back ------------------------------------------------------------------------------

// A step from one prefix to the next: the same operations wherever it stands. Of a function of the
// spec the compiler might contract others at each place.
#if defined(PATTERN_OWN_OPERATOR)
#define PATTERN_CHAIN __noinline__
#else
#define PATTERN_CHAIN SAME_BITS
#endif
__device__ PATTERN_CHAIN Real chain(const Arguments &arguments, Real before, Real value) {
    return combine(arguments, before, value);
}

// Where the sum of the tile after this one is published before this one looks back.
constexpr bool early = plan::ahead > 1;

// What a lane has seen of one tile of the group, and of one of the 32 groups before it, of which the
// last lane has the nearest. It need not look further back: if none of the 32 has its prefix yet, the
// lowest of them that has none will have one soon.
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
    // At first all is asked for at once, as an answer takes as long as all of them. Lanes that want
    // nothing ask for what is there anyway: so none keeps a place for words that do not come.
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

// The prefix of the group before, once all that is needed of it was seen. Of several groups the lanes'
// words are asked for at once.
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

// The sum of the group whose last tile is `mine`, where it is wanted before that tile looks back.
__device__ __forceinline__ void publish_group_early(const Arguments &arguments, const Board &board,
                                                    int mine, Real all) {
    Seen seen(board, mine, all);
    for (; !every_lane(seen.known); seen.look_at_tile(board))
        wait_a_moment();
    publish_group(board, mine, Mates(arguments, seen.of_tile, seen.place).sum);
}
