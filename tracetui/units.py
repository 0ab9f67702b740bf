"""Constants that convert at the edges."""

from typing import Final

NS_PER_US: Final = 1_000
NS_PER_MS: Final = 1_000_000
NS_PER_S: Final = 1_000_000_000
BYTES_PER_KIB: Final = 1 << 10
BYTES_PER_MIB: Final = 1 << 20
BYTES_PER_GIB: Final = 1 << 30
BYTES_PER_MB: Final = 1_000_000
