"""Sparse matrices on the host and on the device, and their products with vectors."""

from __future__ import annotations

import itertools
import os
from ctypes import byref, c_double, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any, Optional, Sequence

import numpy as np

from . import _abi, _arrays
from ._abi import lib
from ._arrays import library_of, real_number, whole_number
from ._calls import Slot
from ._context import Context, Handle, Shared, at_end, bytes_of, copy_facts, default_context
from ._errors import DataError, UsageError
from ._kernel import Kernel, kernel_kind


@dataclass(frozen=True)
class MatrixInfo:
    """Facts of a sparse matrix."""

    rows: int
    columns: int
    entries: int
    shortest_row: int  #: entries
    longest_row: int
    empty_rows: int
    mean_row: float
    row_deviation: float
    diagonals: int  #: how many hold an entry
    bandwidth: int  #: the largest |column - row|
    symmetric: bool


@dataclass(frozen=True)
class Format:
    """What one storage format would take for a matrix."""

    format: str  #: "csr"
    formula: str  #: the textbook's, in numbers stored
    numbers: float
    bytes: int  #: -1: too many to count
    refusal: str  #: why it cannot be used; ""
    chosen: bool  #: `auto` picks it
    reason: str


@dataclass(frozen=True)
class Conversion:
    """How a matrix came to the device. Times are seconds."""

    format: str
    bytes: int
    on_device: bool
    upload_seconds: float
    convert_seconds: float
    compile_seconds: float


class Matrix(Handle):
    """A sparse matrix of doubles on the host, or the lists of one in a GPU's memory.

        A = stencilgen.Matrix(scipy_matrix)         any format of scipy.sparse; entries at one place are added
        A = stencilgen.Matrix("a.mtx")              a Matrix Market file
        A = stencilgen.Matrix((rows, columns))      one without entries; then A[i, j] = value
        A = stencilgen.Matrix(cupy_matrix)          a csr matrix of CuPy or PyTorch on the GPU, whose lists are used as
                                                    they are: sorted columns, int32 or int64, float or double

    `build(…, matrix=…)` takes all of these as they are, too. Raises DataError for a file that is damaged or lists that
    are not as described.
    """

    def __init__(self, source: Any, *, context: Optional[Context] = None, device: Optional[str] = None) -> None:
        self.context = context or default_context(device)
        out = c_void_p()
        self._keep: Any = None
        if isinstance(source, (str, os.PathLike)):
            status = lib.sg_matrix_read(self.context.handle, bytes_of(source), byref(out))
        elif isinstance(source, tuple):
            status = lib.sg_matrix_new(self.context.handle, *_place("a size", source), byref(out))
        elif _is_compressed_rows(source):
            status = self._from_device(source, out)
        elif hasattr(source, "tocoo"):
            status = self._from_host(source.tocoo(), out)
        else:
            raise UsageError(
                f"this {type(source).__name__} is no sparse matrix: give one of scipy.sparse, as scipy.sparse.csr_array(…) "
                "makes, the path of a .mtx file, or a csr matrix of CuPy or PyTorch"
            )
        self.context.must(status)
        self.handle: int = out.value or 0
        at_end(self, lib.sg_matrix_free, self.handle)

    def _from_host(self, coo: Any, out: c_void_p) -> int:
        if hasattr(coo, "__cuda_array_interface__") or hasattr(coo.data, "__cuda_array_interface__"):
            raise DataError("a matrix in a GPU's memory must be csr: ….tocsr() makes one")
        if len(coo.shape) != 2:
            raise DataError(f"a matrix has 2 axes, not {len(coo.shape)}")
        if not np.can_cast(coo.data.dtype, np.float64, "same_kind"):
            raise DataError(f"the matrix's values are {coo.data.dtype}, and not real numbers: take ….real of it")
        row, column = (np.ascontiguousarray(index, np.int64) for index in (coo.row, coo.col))
        value = np.ascontiguousarray(coo.data, np.float64)
        if not row.shape == column.shape == value.shape == (value.size,):
            raise DataError(f"the matrix has {row.size} rows, {column.size} columns and {value.size} values of entries")
        return int(
            lib.sg_matrix_from(
                self.context.handle, *coo.shape, len(value), row.ctypes.data, column.ctypes.data, value.ctypes.data,
                byref(out),
            )
        )  # fmt: skip

    def _from_device(self, source: Any, out: c_void_p) -> int:
        lists = _compressed_rows(source)
        views = []
        for array in lists:
            library = library_of(array)
            view = library.view(array, library.stream(array))
            if view[2] is not None:
                raise DataError(f"the matrix's lists are not contiguous: {library.dense} makes a copy")
            views.append(view)
        if views[0][4] != self.context.place:
            raise DataError("the matrix is in the memory of another device than the context's")
        # Kernels of the library read the lists on the default stream.
        self.context.synchronize(library_of(lists[2]).stream(lists[2]))
        self._keep = lists
        csr = _abi.sg_csr(
            rows=source.shape[0], columns=source.shape[1], entries=views[2][1][0], offsets=views[0][0],
            column=views[1][0], value=views[2][0], index=views[0][3].encode(), dtype=views[2][3].encode(),
        )  # fmt: skip
        return int(lib.sg_matrix_from_device(self.context.handle, byref(csr), byref(out)))

    @property
    def info(self) -> MatrixInfo:
        """Its facts."""
        out = _abi.sg_matrix_info()
        self.context.must(lib.sg_matrix_facts(self.handle, byref(out)))
        return copy_facts(MatrixInfo, out)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)"""
        info = self.info
        return info.rows, info.columns

    def __repr__(self) -> str:
        info = self.info
        return f"<stencilgen.Matrix: {info.rows}x{info.columns}, {info.entries} entries>"

    def __getitem__(self, place: tuple[int, int]) -> float:
        value = c_double()
        self.context.must(lib.sg_matrix_get(self.handle, *_place("a place", place), byref(value)))
        return value.value

    def __setitem__(self, place: tuple[int, int], value: float) -> None:
        self.context.must(lib.sg_matrix_set(self.handle, *_place("a place", place), real_number("an entry", value)))

    def add(self, row: int, column: int, value: float) -> None:
        """Adds to an entry."""
        self.context.must(lib.sg_matrix_add(self.handle, *_place("a place", (row, column)), real_number("an entry", value)))

    def entries(self) -> tuple[Any, Any, Any]:
        """Rows, columns and values of all entries, by row and then by column, as NumPy arrays."""
        count = self.info.entries
        row, column, value = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.float64)
        self.context.must(
            lib.sg_matrix_entries(self.handle, row.ctypes.data, column.ctypes.data, value.ctypes.data)
        )  # fmt: skip
        return row, column, value

    def formats(self, kernel: Optional[Product] = None) -> list[Format]:
        """What each storage format would take, with the widths of a kernel or of doubles and 32-bit indices."""
        found: list[Format] = []
        callback = _abi.format_callback(lambda _, info: found.append(copy_facts(Format, info.contents)))
        self.context.must(lib.sg_matrix_formats(self.handle, kernel._handle if kernel else None, callback, None))
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a Matrix Market file, with exact values."""
        self.context.must(lib.sg_matrix_write(self.handle, bytes_of(path)))


def _place(what: str, numbers: Any) -> tuple[int, int]:
    """Rows and columns, or a row and a column, as C takes them."""
    if not isinstance(numbers, tuple) or len(numbers) != 2:
        raise UsageError(f"{what} is a pair, of rows and columns, not {numbers!r}")
    return whole_number("a row", numbers[0]), whole_number("a column", numbers[1])


def _compressed_rows(source: Any) -> list[Any]:
    if hasattr(source, "crow_indices"):  # a tensor of PyTorch
        return [source.crow_indices(), source.col_indices(), source.values()]
    return [source.indptr, source.indices, source.data]


def _is_compressed_rows(source: Any) -> bool:
    """Whether it is a csr matrix in a GPU's memory."""
    if hasattr(source, "crow_indices"):
        return str(getattr(source, "layout", "")) == "torch.sparse_csr"
    return getattr(source, "format", "") == "csr" and hasattr(source.data, "__cuda_array_interface__")


def matrix_of(source: Any, context: Context) -> Optional[Matrix]:
    """A Matrix as it is, anything else made one."""
    return source if source is None or isinstance(source, Matrix) else Matrix(source, context=context)


_numbers = itertools.count()


class DeviceMatrix(Shared):
    """A matrix in a kernel's format in its device's memory; `Product.upload` makes it."""

    def __init__(self, matrix: Matrix, kernel: Kernel) -> None:
        out = c_void_p()
        kernel.context.must(lib.sg_matrix_upload(matrix.handle, kernel._handle, byref(out)))
        self.handle: int = out.value or 0
        at_end(self, lib.sg_device_matrix_free, self.handle)
        self.number = next(_numbers)  # of this one alone, unlike the handle
        self._keep = matrix  # whose lists in the GPU's memory may be used as they are
        self.context = kernel.context
        #: (rows, columns)
        self.shape: tuple[int, int] = matrix.shape

    @property
    def info(self) -> Conversion:
        """How it came to the device."""
        out = _abi.sg_conversion_info()
        self.context.must(lib.sg_conversion_facts(self.handle, byref(out)))
        return copy_facts(Conversion, out)


class _ProductFrame:
    def __init__(self) -> None:
        self.arguments = _abi.sg_spmv_arguments()
        self.reference = byref(self.arguments)
        self.known: Any = None  # matrix and vectors that temporary_bytes is of
        self.temporary_bytes = 0


@kernel_kind("SG_KIND_PRODUCT")
class Product(Kernel):
    """The product of a sparse matrix with vectors, y = alpha·A·x + beta·y: of `spmv` specs.

    product = stencilgen.build(text='return spmv { name = "p", dtype = "double" }', matrix=A)
    y = product(x)
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._matrix: Optional[DeviceMatrix] = None
        self._own: list[_ProductFrame] = []
        self._x, self._y = (self._array_index[name] for name in ("x", "y"))

    def upload(self, matrix: Any) -> DeviceMatrix:
        """Another matrix (of scipy.sparse, a .mtx path, a Matrix) in the kernel's format, for calls' `matrix=…`.

        Raises PlanError where the format does not suit the matrix.
        """
        made = matrix_of(matrix, self.context)
        if made is None:
            raise UsageError("there is no matrix")
        return DeviceMatrix(made, self)

    @property
    def matrix(self) -> DeviceMatrix:
        """The matrix that the kernel was built with, in the device's memory."""
        if self._matrix is None:
            if self._request is None or self._request.matrix is None:
                raise UsageError(f"'{self.name}' was built without a matrix: give matrix=… here or in build")
            self._matrix = self.upload(self._request.matrix)
        return self._matrix

    def __call__(
        self,
        x: Any,
        y: Any = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        matrix: Optional[DeviceMatrix] = None,
        stream: Any = None,
    ) -> Any:
        """alpha·A·x + beta·y.

        x:      an array of shape (columns,), or of (k, columns) where the spec says vectors = k; contiguous, of the
                kernel's dtype
        y:      an array of shape (rows,) or (k, rows) that is read (unless beta is 0) and gets the result; None: a new one
        matrix: what `upload` made; None: the one that the kernel was built with
        stream: an integer or an object with `__cuda_stream__`; None: the caller's current one

        Returns y, an array of the library of x.
        """
        there = self.matrix if matrix is None else matrix
        if not isinstance(there, DeviceMatrix):
            raise UsageError(f"matrix=… is what upload() makes of a matrix, not a {type(there).__name__}")
        if y is None and beta != 0.0:
            raise UsageError("beta needs a y to be multiplied with")
        library = library_of(x)
        on = self._stream(stream, library, x)
        slot = self._bring(self._x, x, on, library)
        vectors = _vectors(slot, there.shape[1], "x", self)
        if y is None:
            result = self._fresh(self._y, slot, slot.shape[:-1] + (there.shape[0],), None if stream is None else on)
        else:
            result = self._bring(self._y, y, on, library_of(y), True)
            if _vectors(result, there.shape[0], "y", self) != vectors:
                raise DataError("x and y hold different numbers of vectors")
        try:
            frame = self._own.pop()
        except IndexError:
            frame = _ProductFrame()
        try:
            a = frame.arguments
            a.matrix, a.x, a.y, a.vectors = there.handle, slot.pointer, result.pointer, vectors
            a.alpha, a.beta = real_number("alpha", alpha), real_number("beta", beta)
            if frame.known != (there.number, vectors):
                size = c_size_t()
                self.context.must(lib.sg_spmv_bytes(self._handle, there.handle, vectors, byref(size)))
                frame.known, frame.temporary_bytes = (there.number, vectors), size.value
                a.temporary, a.temporary_bytes = None, size.value
            if frame.temporary_bytes:
                a.temporary = self.context.scratch(on, frame.temporary_bytes)
            status = lib.sg_spmv(self._handle, frame.reference, on)
            if status:
                self._fail(status)
        finally:
            self._own.append(frame)
        out = self._hand_out(self._y, result, on)
        self._keep(on, stream, (slot, result))
        return out

    def launch(
        self, x: Any, y: Any, *, alpha: float = 1.0, beta: float = 0.0, matrix: Optional[DeviceMatrix] = None,
        stream: Any = None,
    ) -> None:  # fmt: skip
        """The product on arrays of the caller's in the device's memory; on a GPU nothing is waited for."""
        if self._place != _arrays.HOST and library_of(x).view(x, 0)[4] == _arrays.HOST:
            raise UsageError("x is in the host's memory, but launches use the GPU's")
        self(x, y, alpha=alpha, beta=beta, matrix=matrix, stream=stream)


def _vectors(slot: Slot, length: int, name: str, kernel: Kernel) -> int:
    """How many vectors an array holds."""
    if slot.strides is not None:
        step = 1
        for n, s in zip(reversed(slot.shape), reversed(slot.strides)):
            if n > 1 and s != step:
                raise DataError(f"{name} is not contiguous: {slot.library.dense} makes a copy")
            step *= n
    if len(slot.shape) not in (1, 2) or slot.shape[-1] != length:
        shape: Sequence[int] = slot.shape
        raise DataError(f"{name} has the shape {tuple(shape)}, but '{kernel.name}' takes ({length},) or (k, {length})")
    return slot.shape[0] if len(slot.shape) == 2 else 1
