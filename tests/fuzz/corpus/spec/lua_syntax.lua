local function f(...) local a <const>, b = ... ; if a then return b elseif not b then return a else return a and b or 1 end end
local i = 0
repeat i = i + 1; while true do break end until i >= 3
goto done
::done::
return stencil { name = [[x]], shape = star(1, 1), coefficients = { f(nil, 1) or 0x1p-4, 1e-3 == nil and 1 << 2 or 2 ~ 3, i // 2 % 5 & 7 | 8 >> 1 } }
