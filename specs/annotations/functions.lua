---@meta
-- Functions of numbers and conditions in specs, for lua-language-server. Types are those of stencilgen.lua.

---The least of two or more numbers.
---@param a stencilgen.number
---@param b stencilgen.number
---@param ... stencilgen.number
---@return stencilgen.expression
function min(a, b, ...) end

---The greatest of two or more numbers.
---@param a stencilgen.number
---@param b stencilgen.number
---@param ... stencilgen.number
---@return stencilgen.expression
function max(a, b, ...) end

---The absolute value.
---@param x stencilgen.number
---@return stencilgen.expression
function abs(x) end

---The square root.
---@param x stencilgen.number
---@return stencilgen.expression
function sqrt(x) end

---e to the power of x.
---@param x stencilgen.number
---@return stencilgen.expression
function exp(x) end

---The natural logarithm.
---@param x stencilgen.number
---@return stencilgen.expression
function log(x) end

---The sine of x radians.
---@param x stencilgen.number
---@return stencilgen.expression
function sin(x) end

---The cosine of x radians.
---@param x stencilgen.number
---@return stencilgen.expression
function cos(x) end

---The hyperbolic tangent.
---@param x stencilgen.number
---@return stencilgen.expression
function tanh(x) end

---x to the power of y, also written x ^ y.
---@param x stencilgen.number
---@param y stencilgen.number
---@return stencilgen.expression
function pow(x, y) end

---The greatest whole number not above x.
---@param x stencilgen.number
---@return stencilgen.expression
function floor(x) end

---The condition a < b.
---@param a stencilgen.number
---@param b stencilgen.number
---@return stencilgen.condition
function lt(a, b) end

---The condition a <= b.
---@param a stencilgen.number
---@param b stencilgen.number
---@return stencilgen.condition
function le(a, b) end

---The condition a > b.
---@param a stencilgen.number
---@param b stencilgen.number
---@return stencilgen.condition
function gt(a, b) end

---The condition a >= b.
---@param a stencilgen.number
---@param b stencilgen.number
---@return stencilgen.condition
function ge(a, b) end

---The condition a == b.
---@param a stencilgen.number
---@param b stencilgen.number
---@return stencilgen.condition
function eq(a, b) end

---The condition a ~= b.
---@param a stencilgen.number
---@param b stencilgen.number
---@return stencilgen.condition
function ne(a, b) end

---True if all of two or more conditions are.
---@param a stencilgen.condition
---@param b stencilgen.condition
---@param ... stencilgen.condition
---@return stencilgen.condition
function all(a, b, ...) end

---True if any of two or more conditions is.
---@param a stencilgen.condition
---@param b stencilgen.condition
---@param ... stencilgen.condition
---@return stencilgen.condition
function any(a, b, ...) end

---True if the condition is false.
---@param condition stencilgen.condition
---@return stencilgen.condition
function invert(condition) end

---a if the condition holds, else b.
---@param condition stencilgen.condition
---@param a stencilgen.number
---@param b stencilgen.number
---@return stencilgen.expression
function where(condition, a, b) end
