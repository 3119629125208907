"""Problems with a count in a corpus, and the scores of two methods that rise with the counts."""

from typing import Any

import numpy as np
import pandas as pd

drawn = np.random.default_rng(1)
COUNTS: Any = pd.DataFrame({"id": range(40), "n": (np.exp(drawn.normal(4, 2, 40))).astype(int)})
SCORES: Any = pd.DataFrame(
    {
        "dataset": "d",
        "model": "m",
        "method": method,
        "id": str(number),
        "epoch": None,
        "rule": "r",
        "value": float(drawn.random() < 0.2 + lift * np.log10(COUNTS["n"][number] + 0.5)),
        "topic": f"t{number % 13}",
        "length": 20 + 7 * number % 11,
    }
    for method, lift in (("cot", 0.1), ("pot", 0.25))
    for number in range(40)
)
