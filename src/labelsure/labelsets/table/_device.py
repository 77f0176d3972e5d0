"""Devices that tables are made on: where their arrays live, and how the kernels of ``table.cu`` run there."""

from functools import cache
from importlib.resources import files
from typing import Any, Protocol

from labelsure._core.optional import import_optional
from labelsure._core.validation import check_choice

ON_THE_CARD = """
#define SHARED_ROOM(name) extern __shared__ __align__(16) unsigned char name[]
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define BOUNDED __launch_bounds__(SLOTS << LOW, 1)
"""
"""What the source takes for granted, in the words of CUDA C."""


class Device(Protocol):
    """Where tables are made.

    Attributes
    ----------
    arrays : module
        numpy, or what stands in for it there.
    number : int
        Of the device among others of its kind.
    n_processors, shared_bytes, free_bytes : int
        How many work side by side, the fast memory of each, and what is free of the large one.
    low_labels, piece_labels : int
        Threads of a block, and codes that a block reduces, are two to the power of this.
    """

    arrays: Any
    n_processors: int
    shared_bytes: int
    low_labels: int
    piece_labels: int

    @property
    def number(self) -> int:
        """Which of them it is."""
        ...

    @property
    def free_bytes(self) -> int:
        """The memory that is free."""
        ...

    def to_host(self, array: Any) -> Any:
        """Return an array of the device as one of numpy."""
        ...

    def launch(self, name: str, macros: tuple[tuple[str, str], ...], shape: tuple[int, int, int], *given: Any) -> None:
        """Run a kernel.

        Parameters
        ----------
        name : str
            Of the kernel.
        macros : tuple of (str, str)
            What the source is compiled with.
        shape : tuple of int
            Blocks, threads of each, and bytes of fast memory of each.
        *given
            Arrays of the device and whole numbers.
        """
        ...


def source() -> str:
    """Return the source of the kernels."""
    return files("labelsure.labelsets.table").joinpath("table.cu").read_text(encoding="utf-8")


class CudaDevice:
    """The GPU that CuPy uses."""

    low_labels = 10
    piece_labels = 16

    def __init__(self) -> None:
        self.arrays = import_optional("cupy", extra="cuda13 or cuda12", purpose='device="cuda"')
        try:
            properties = self.arrays.cuda.runtime.getDeviceProperties(self.number)
        except self.arrays.cuda.runtime.CUDARuntimeError as error:
            raise ValueError(
                'device="cuda" needs an NVIDIA GPU with a driver that CuPy can use, found none:'
                f' {error}. Use device="cpu", which gives the same answers.'
            ) from error
        self._modules: dict[tuple[tuple[str, str], ...], Any] = {}
        self.n_processors = int(properties["multiProcessorCount"])
        self.shared_bytes = int(properties["sharedMemPerBlockOptin"])

    @property
    def number(self) -> int:
        """The card that CuPy uses now."""
        return int(self.arrays.cuda.Device().id)

    @property
    def free_bytes(self) -> int:
        """The memory that is free on the card, that which CuPy keeps for later included."""
        free, _ = self.arrays.cuda.runtime.memGetInfo()
        return int(free + self.arrays.get_default_memory_pool().free_bytes())

    def to_host(self, array: Any) -> Any:
        """Return an array of the card as one of numpy."""
        return self.arrays.asnumpy(array)

    def launch(self, name: str, macros: tuple[tuple[str, str], ...], shape: tuple[int, int, int], *given: Any) -> None:
        """Run a kernel."""
        n_blocks, n_threads, n_bytes = shape
        kernel = self._module(macros).get_function(name)
        kernel.max_dynamic_shared_size_bytes = n_bytes
        kernel((n_blocks,), (n_threads,), given, shared_mem=n_bytes)

    def _module(self, macros: tuple[tuple[str, str], ...]) -> Any:
        if macros not in self._modules:
            defined = tuple(f"-D{name}={value}" for name, value in macros)
            self._modules[macros] = self.arrays.RawModule(code=ON_THE_CARD + source(), options=("-std=c++17", *defined))
        return self._modules[macros]


@cache
def find_device(device: str) -> Device:
    """Return a device other than the processor, or say what is missing."""
    check_choice(device, ("cuda",), name="device")
    return CudaDevice()
