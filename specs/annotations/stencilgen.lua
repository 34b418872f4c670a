---@meta
-- What specs are made of, for lua-language-server; functions.lua has the functions of numbers. Editors read these
-- files; stencilgen does not.

---@class stencilgen.expression
---@operator add(stencilgen.number): stencilgen.expression
---@operator sub(stencilgen.number): stencilgen.expression
---@operator mul(stencilgen.number): stencilgen.expression
---@operator div(stencilgen.number): stencilgen.expression
---@operator pow(stencilgen.number): stencilgen.expression
---@operator unm: stencilgen.expression

---@alias stencilgen.number number | stencilgen.expression

---@class stencilgen.condition

---@class stencilgen.weights
---@operator add(stencilgen.weights): stencilgen.weights
---@operator sub(stencilgen.weights): stencilgen.weights
---@operator mul(stencilgen.number): stencilgen.weights
---@operator div(stencilgen.number): stencilgen.weights
---@operator unm: stencilgen.weights

---@class stencilgen.shape
---@class stencilgen.constant
---@class stencilgen.spec

---A field at a time level: u(dx, dy, dz) is one of its points.
---@class stencilgen.field
---@field prev stencilgen.field the previous time level, of a field with levels = 2
---@overload fun(dx: integer, dy?: integer, dz?: integer): stencilgen.expression

---@alias stencilgen.axis "x" | "y" | "z"
---@alias stencilgen.dtype "float" | "double"
---@alias stencilgen.storage stencilgen.dtype | "half" | "bfloat16"
---@alias stencilgen.list_dtype stencilgen.storage | "int32" | "int64" | "uint32"
---@alias stencilgen.use
---| "in" # read only
---| "out" # written only
---| "inout" # read, and written for the next step
---@alias stencilgen.side
---| "fixed" # a cell whose shape reaches over the edge keeps its value
---| "zero" # cells outside read as 0
---| "clamp" # cells outside read as the nearest cell of the edge
---| "mirror" # cells outside read as their reflection about the edge cell
---| "periodic" # the grid repeats without end
---| stencilgen.constant
---@alias stencilgen.method
---| "auto" # the fastest of the others by the planner's model
---| "naive" # one thread for each point
---| "tiled" # a block's tile with its halo in shared memory
---| "coarsened" # a block walks the last axis with planes in shared memory
---| "register" # a block walks the last axis with neighbours in registers
---| "constant" # one thread for each point, with the weights in constant memory
---| "cached-halo" # a block's tile in shared memory, its halo through the caches
---| "streamed" # threads walk the last axis with packs of x and the neighbours along the walk in registers
---| "bulk" # bulk copies bring tiles to shared memory (sm_90 on), and each plane adds to partial sums in registers; in 3D a block walks the last axis
---| "chained" # stages of a system one after the other: a block walks the last axis, and planes of all that stages read lie in shared memory
---| "temporal" # many steps between reading a grid and writing it
---| "resident" # many steps in one launch, each block with its tile in shared memory
---| "rows" # for processors: a block is one thread, which makes rows that become vectors
---| "overlapped" # for processors: several steps on a tile and its halo in a cache

---@class stencilgen.axes
---@field x? integer
---@field y? integer
---@field z? integer

---@class stencilgen.spacing
---@field x? number
---@field y? number
---@field z? number

---@class stencilgen.boundary
---@field x? stencilgen.side | stencilgen.side[]
---@field y? stencilgen.side | stencilgen.side[]
---@field z? stencilgen.side | stencilgen.side[]

---@class stencilgen.field_keys
---@field use stencilgen.use
---@field components? integer 2 or more: read as f[1](dx, dy), f[2](dx, dy), …; one array holds them all
---@field boundary? stencilgen.side | stencilgen.boundary what reads of this field find outside; the spec's by default
---@field levels? 1 | 2 2 keeps the previous time level
---@field storage? stencilgen.storage "half" or "bfloat16": the array holds 16 bits
---@field values? number[] the numbers that the field holds, from which checks draw
---@field range? number[] the least and the greatest number that the field holds, for checks

---@class stencilgen.schedule
---@field method? stencilgen.method
---@field tile? stencilgen.axes points a block computes at once
---@field coarsen? stencilgen.axes how often a block repeats its tile
---@field vector? integer points along x that a thread loads and stores at once
---@field time? integer time steps fused into one launch
---@field passes? 1 | 2 | 3 how many kernels make a convolution: 1, or one for each axis
---@field lane? stencilgen.axes points that a thread of the method temporal holds
---@field stages? integer warps of the method temporal in 2D, each of which makes the next time steps

---@class stencilgen.tuned_axes
---@field x? integer | integer[]
---@field y? integer | integer[]
---@field z? integer | integer[]

---@alias stencilgen.tuned stencilgen.axes[] | stencilgen.tuned_axes a list of values, or the combinations of some by axis

---What tuning tries, in place of the planner's own values.
---@class stencilgen.tune
---@field method? stencilgen.method[]
---@field tile? stencilgen.tuned
---@field coarsen? stencilgen.tuned
---@field vector? integer[]
---@field time? integer[]
---@field passes? integer[]
---@field lane? stencilgen.tuned
---@field stages? integer[]

---@class stencilgen.positions
---@field x stencilgen.expression the cell's index along x in the whole grid, from 0
---@field y stencilgen.expression the cell's index along y
---@field z stencilgen.expression the cell's index along z
---@field nx stencilgen.expression cells of the whole grid along x
---@field ny stencilgen.expression cells of the whole grid along y
---@field nz stencilgen.expression cells of the whole grid along z
---@field step stencilgen.expression which step of the run it is, from 0

---Places where values are added to a field after each step, or recorded.
---@class stencilgen.points
---@field field string the field that values are added to, or that is recorded
---@field inject? fun(s: stencilgen.expression, f: any, p: table<string, stencilgen.expression>): stencilgen.number what is added; s is the point's sample of the step
---@field sample? boolean the field is recorded

---A reduction over the grid, while steps run.
---@class stencilgen.monitor
---@field op stencilgen.operator how the numbers of all cells are joined
---@field map fun(f: any, p: table<string, stencilgen.expression>, at: stencilgen.positions): stencilgen.number the number of a cell

---@class stencilgen.stencil_keys
---@field name string an identifier; names the kernel and the file
---@field dims? 1 | 2 | 3
---@field shape? stencilgen.shape
---@field coefficients? stencilgen.number[] | stencilgen.weights
---@field update? fun(f: any, p: table<string, stencilgen.expression>, at: stencilgen.positions): stencilgen.number | table<string, stencilgen.number>
---@field fields? table<string, stencilgen.use | stencilgen.field_keys>
---@field parameters? table<string, number | true> default values; true for none
---@field dtype? stencilgen.dtype
---@field storage? stencilgen.storage "half" or "bfloat16": the arrays hold 16 bits
---@field boundary? stencilgen.side | stencilgen.boundary
---@field points? table<string, stencilgen.points> places where values are added or recorded
---@field monitors? table<string, stencilgen.monitor> reductions over the grid
---@field schedule? stencilgen.schedule
---@field tune? stencilgen.tune what tuning tries

---@alias stencilgen.system_use stencilgen.use | "scratch" a field that lives inside a step

---One of the things that a step does.
---@class stencilgen.stage
---@field update fun(f: table<string, stencilgen.field>, p: table<string, stencilgen.expression>): table<string, stencilgen.number> the fields that the stage writes
---@field boundary? stencilgen.side | stencilgen.boundary the system's by default
---@field times? integer how often a step repeats the stage; 1 by default
---@field schedule? stencilgen.schedule the stage then has a launch of its own

---@class stencilgen.system_keys
---@field name string an identifier; names the kernels and the file
---@field dims? 1 | 2 | 3
---@field fields table<string, stencilgen.system_use | stencilgen.field_keys>
---@field stages stencilgen.stage[] what a step does, in this order
---@field parameters? table<string, number | true> default values; true for none
---@field dtype? stencilgen.dtype
---@field storage? stencilgen.storage "half" or "bfloat16": all fields hold 16 bits
---@field boundary? stencilgen.side | stencilgen.boundary of stages that have none of their own
---@field schedule? stencilgen.schedule for the launches of all stages
---@field fuse? boolean false: every stage has a launch of its own

---@alias stencilgen.filter stencilgen.number[] | stencilgen.number[][] | stencilgen.number[][][]

---@class stencilgen.convolution_keys
---@field name string an identifier; names the kernel and the file
---@field weights stencilgen.filter nested lists, one for each row; not flipped; the middle is at half the size, rounded down
---@field parameters? table<string, number | true> default values; true for none
---@field dtype? stencilgen.storage
---@field storage? stencilgen.storage "half" or "bfloat16": the arrays hold 16 bits
---@field boundary? stencilgen.side | stencilgen.boundary any but "fixed"; "zero" by default
---@field schedule? stencilgen.schedule
---@field tune? stencilgen.tune what tuning tries

---@alias stencilgen.list_dtype
---| "float"
---| "double"
---| "half"
---| "bfloat16"
---| "int32"
---| "int64"
---| "uint32"

---@alias stencilgen.operator
---| "sum" a + b
---| "product" a * b
---| "min" the lesser; NaN if either is NaN
---| "max" the greater; NaN if either is NaN
---| "all" 1 if neither is 0, else 0
---| "any" 0 if both are 0, else 1
---| "and" the bits that both have
---| "or" the bits that one of them has
---| "xor" the bits that exactly one of them has
---| fun(a: stencilgen.expression, b: stencilgen.expression, p: table): stencilgen.expression

---@alias stencilgen.place_operator
---| "argmin" the least element and its first index
---| "argmax" the greatest element and its first index

---@class stencilgen.reduce_keys
---@field name string an identifier; names the kernel and the file
---@field op? stencilgen.operator | stencilgen.place_operator associative; "sum" by default
---@field identity? number if op is a function: op(identity, a) = op(a, identity) = a
---@field commutative? boolean if op is a function: whether op(a, b) = op(b, a)
---@field dtype? stencilgen.list_dtype
---@field map? fun(x: stencilgen.expression, y: any, p: table): stencilgen.expression applied to every element: map(x, p) or, for two inputs, map(x, y, p)
---@field inputs? 1 | 2 how many lists map takes; 1 by default
---@field segmented? boolean one result for each segment of the list
---@field parameters? table<string, number | true> default values; true for none
---@field algorithm? "auto" | "one-pass" | "interleaved" | "coalesced" | "shared" | "coarsened" | "runs"
---@field schedule? { threads?: integer, items?: integer, blocks?: integer, run?: integer }
---@field tune? { algorithm?: string[], threads?: integer[], items?: integer[], blocks?: integer[], run?: integer[] } what tuning tries

---@class stencilgen.scan_keys
---@field name string an identifier; names the kernel and the file
---@field op? stencilgen.operator associative; "sum" by default
---@field identity? number if op is a function: op(identity, a) = op(a, identity) = a
---@field commutative? boolean if op is a function: whether op(a, b) = op(b, a)
---@field dtype? stencilgen.list_dtype
---@field kind? "inclusive" | "exclusive" "inclusive" by default
---@field init? number | stencilgen.expression what comes before the first element
---@field map? fun(x: stencilgen.expression, p: table): stencilgen.expression applied to every element
---@field deterministic? boolean the same bits on every run, even if the operator rounds
---@field parameters? table<string, number | true> default values; true for none
---@field algorithm? "auto" | "look-back" | "persistent" | "kogge-stone" | "double-buffer" | "brent-kung" | "runs"
---@field schedule? { threads?: integer, items?: integer, stages?: integer, blocks?: integer, ahead?: integer, draw?: integer, run?: integer }
---@field tune? { algorithm?: string[], threads?: integer[], items?: integer[], stages?: integer[], blocks?: integer[], ahead?: integer[], draw?: integer[], run?: integer[] } what tuning tries

---@class stencilgen.merge_keys
---@field name string an identifier; names the kernel and the file
---@field keys? stencilgen.list_dtype the dtype of the keys; "float" by default
---@field values? stencilgen.list_dtype the dtype of the values that go with the keys; none by default
---@field order? "ascending" | "descending" | fun(a: stencilgen.expression, b: stencilgen.expression, p: table): stencilgen.expression whether a comes before b
---@field parameters? table<string, number | true> default values; true for none
---@field algorithm? "auto" | "merge-path" | "one-launch" | "co-rank" | "tiled" | "circular"
---@field schedule? { threads?: integer, items?: integer, rounds?: integer, lanes?: integer, stages?: integer, blocks?: integer }
---@field tune? { algorithm?: string[], threads?: integer[], items?: integer[], rounds?: integer[], lanes?: integer[], stages?: integer[], blocks?: integer[] } what tuning tries

---@class stencilgen.spmv_keys
---@field name string an identifier; names the kernel and the file
---@field dtype? stencilgen.dtype of x and y
---@field matrix? stencilgen.dtype of the matrix's values: that of x and y, or "float"
---@field storage? "half" | "bfloat16" the matrix's values have 16 bits; in the place of `matrix`
---@field index? "int32" | "int64" of rows, columns and offsets; "int32" by default
---@field vectors? integer how many right-hand sides are multiplied at once, 1 to 16
---@field diagonals? number[][] for format "stencil": the entries of most rows, {column - row, value}
---@field format? "auto" | "coo" | "csr" | "csc" | "ell" | "hyb" | "jds" | "dia" | "bcsr" | "pkt" | "sell" | "stencil"
---@field algorithm? "auto" | "thread" | "warp" | "balanced" | "grouped" | "runs" of csr and bcsr
---@field schedule? { threads?: integer, items?: integer, lanes?: integer, rows?: integer, columns?: integer, slice?: integer, sigma?: integer, packet?: integer, run?: integer, abreast?: integer, taper?: integer, cut?: integer, passes?: integer, cache?: integer, apart?: integer, ahead?: integer }
---@field tune? { format?: string[], algorithm?: string[], threads?: integer[], items?: integer[], lanes?: integer[], rows?: integer[], columns?: integer[], slice?: integer[], sigma?: integer[], packet?: integer[], run?: integer[], abreast?: integer[], taper?: integer[], cut?: integer[], passes?: integer[], cache?: integer[], apart?: integer[], ahead?: integer[] } what tuning tries

---@class stencilgen.derivative_keys
---@field axis stencilgen.axis
---@field order? integer 1 for the first derivative (the default), 2 for the second, ...
---@field accuracy? integer the order of the error: 2 (the default), 4, 6, ...
---@field spacing? number the distance of neighbours; 1 by default
---@field stagger? 0.5 | -0.5 | 0 half a distance above or below the point; 0 (at it) by default

---@class stencilgen.laplacian_keys
---@field dims 1 | 2 | 3
---@field accuracy? integer the order of the error: 2 (the default), 4, 6, ...
---@field spacing? number | stencilgen.spacing

---A stencil spec.
---@param keys stencilgen.stencil_keys
---@return stencilgen.spec
function stencil(keys) end

---A spec of several fields that each step updates in stages.
---@param keys stencilgen.system_keys
---@return stencilgen.spec
function system(keys) end

---A convolution spec: computes `result` from `image` by the weights of a filter.
---@param keys stencilgen.convolution_keys
---@return stencilgen.spec
function convolution(keys) end

---A reduce spec: reduces a list, or each segment of a list, to one element by an associative operator.
---@param keys stencilgen.reduce_keys
---@return stencilgen.spec
function reduce(keys) end

---A scan spec: the prefix sums of a list, by any associative operator.
---@param keys stencilgen.scan_keys
---@return stencilgen.spec
function scan(keys) end

---A merge spec: merges two sorted lists into one; of equal keys those of the first list come first.
---@param keys stencilgen.merge_keys
---@return stencilgen.spec
function merge(keys) end

---An spmv spec: y = alpha * A * x + beta * y for a sparse matrix A.
---@param keys stencilgen.spmv_keys
---@return stencilgen.spec
function spmv(keys) end

---The centre and the points of the axes up to radius.
---@param dims 1 | 2 | 3
---@param radius integer
---@return stencilgen.shape
function star(dims, radius) end

---Every offset from -radius to radius.
---@param dims 1 | 2 | 3
---@param radius integer
---@return stencilgen.shape
function box(dims, radius) end

---The offsets given: points { {0, 0}, {1, 0} }.
---@param list integer[][]
---@return stencilgen.shape
function points(list) end

---The weight table that is 1 at the centre.
---@return stencilgen.weights
function identity() end

---The weights of a centred derivative along one axis.
---@param keys stencilgen.derivative_keys
---@return stencilgen.weights
function derivative(keys) end

---The weights of the sum of the second derivatives.
---@param keys stencilgen.laplacian_keys
---@return stencilgen.weights
function laplacian(keys) end

---The weighted sum of a field's points, in update.
---@param weights stencilgen.weights
---@param field stencilgen.field
---@return stencilgen.expression
function apply(weights, field) end

---A parameter, given at launch.
---@param name string
---@return stencilgen.expression
function param(name) end

---A boundary: cells outside of the grid read as v, a number or a parameter alone.
---@param v stencilgen.number
---@return stencilgen.constant
function constant(v) end
