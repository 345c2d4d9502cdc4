"""Why a call is not lowered."""


class Unsupported(Exception):
    """A call that uop has no form for: why, and what the user can do instead."""

    def __init__(self, reason: str, advice: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice
