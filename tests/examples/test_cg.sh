#!/bin/sh
# The example cg: its own verdict on several matrices, and those that it must refuse.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../cli/arrays.sh"
options cg
failures cg
cg="$EXAMPLES/cg --device cpu"
data=$SOURCE/tests/data/mtx

# residual: of the last run.
residual() {
    sed -n 's/.*from the matrix itself: \([^,]*\),.*/\1/p' out
}

for size in 1 2 3 10 64; do
    begin "the Laplacian of $size points a side"
    exits 0 $cg --size $size
    below "$(residual)" 1e-8 'the residual'
    prints ': right'
done

begin 'as many digits as asked for'
for digits in 1 4 12; do
    exits 0 $cg --size 20 --digits $digits
    below "$(residual)" 1e-$digits 'the residual'
done

begin 'no more iterations than there are different eigenvalues'
exits 0 $cg --size 10
below "$(sed -n 's/ iterations.*//p' out)" 60 'the iterations'

# An admittance matrix of a power network: 1138 buses, its condition is 1e7.
begin 'a real matrix'
exits 0 $cg --matrix "$data/1138_bus.mtx"
prints '1138 rows, 4054 entries'
below "$(residual)" 1e-8 'the residual'

begin 'too few iterations are not taken for a solution'
exits 1 $cg --matrix "$data/1138_bus.mtx" --steps 100
prints 'not converged'
says 'the result is wrong'
exits 1 $cg --size 8 --steps 0
says 'the result is wrong'

begin 'matrices that the method does not serve'
exits 2 $cg --matrix "$data/rajat01.mtx"
says 'the matrix is not symmetric'
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 -1\n' >indefinite.mtx
exits 2 $cg --matrix indefinite.mtx
says 'the matrix is not positive definite'
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n' >wide.mtx
exits 2 $cg --matrix wide.mtx
says 'the matrix is not symmetric'
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >empty.mtx
exits 2 $cg --matrix empty.mtx
says 'the matrix is empty'
exits 1 $cg --matrix nothing.mtx
says 'nothing.mtx'
echo hello >bad.mtx
exits 1 $cg --matrix bad.mtx
says 'bad.mtx'

# An eigenvector is the solution but for a factor, and takes one iteration; ones take more.
begin 'a right-hand side from a file'
r=1.4142135623730951
exits 0 $cg --size 3
[ "$(sed -n 's/ iterations.*//p' out)" -gt 1 ] || flunk "$(cat out)"
list f8 b.npy 1 $r 1 $r 2 $r 1 $r 1
exits 0 $cg --size 3 --rhs b.npy
prints '1 iterations;'
prints ': right'
npy f4 b4.npy '4, 1' 3 3 3 3
exits 0 $cg --size 2 --rhs b4.npy
prints '1 iterations;'
for factor in 1e30 1e-30; do
    list f8 scaled.npy $factor 0 0 0 0 0 0 0 0
    exits 0 $cg --size 3 --rhs scaled.npy
    below "$(residual)" 1e-8 'the residual'
    [ "$(sed -n 's/ iterations.*//p' out)" -gt 0 ] || flunk "$(cat out)"
done
list f8 zero.npy 0 0 0 0
exits 0 $cg --size 2 --rhs zero.npy
prints '0 iterations;'

begin 'right-hand sides that are none'
exits 2 $cg --size 4 --rhs b.npy
says 'cg: b.npy: it is no vector with an element for each row of the matrix'
list f8 nan.npy 1 nan 1 1
exits 2 $cg --size 2 --rhs nan.npy
says 'nan.npy: it holds a number that is not finite'
list i4 whole.npy 1 2 3 4
exits 2 $cg --size 2 --rhs whole.npy
says 'whole.npy: its elements are neither float nor double'
head -c 190 b.npy >short.npy
exits 2 $cg --size 3 --rhs short.npy
says 'short.npy: it ends too early'
cat b.npy b.npy >long.npy
exits 2 $cg --size 3 --rhs long.npy
says 'long.npy: it goes on after its last element'
exits 2 $cg --size 3 --rhs "$data/arrow.mtx"
says 'arrow.mtx: not a .npy file'
exits 2 $cg --size 3 --rhs none.npy
says 'none.npy: it cannot be opened'

begin 'a product that is a little wrong is found'
exits 1 "$SPOILED/cg" --device cpu --size 20 --steps 2000
says 'the result is wrong'
finish
