import pathlib
import sys

# The package of the tree, and what several folders of tests share.
sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / "python"), str(pathlib.Path(__file__).parent)]
