"""The tests of scipy/integrate/_ivp/tests/test_ivp.py, as python3-scipy has them."""
from scipy.integrate._ivp.tests import test_ivp as _theirs

globals().update({name: value for name, value in vars(_theirs).items() if name.startswith("test_")})
