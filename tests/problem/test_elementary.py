import numpy as np
from scipy.special import expit

from manifill.likelihoods.logistic import sigmoid_and_softplus
from tests.kernels.wrapped import wrapped

evaluate = wrapped(sigmoid_and_softplus)

ULP = np.finfo(float).eps


def test_within_a_few_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate(
        [np.linspace(-40.0, 40.0, 4001), rng.normal(size=4000), [0.0, 1e-300, -1e-8, 650.0, -650.0]]
    )
    sigmoid, softplus = np.array([evaluate(x) for x in points]).T
    np.testing.assert_allclose(sigmoid, expit(points), rtol=4 * ULP)
    np.testing.assert_allclose(softplus, np.logaddexp(0.0, points), rtol=6 * ULP)


def test_far_out_and_not_a_number() -> None:
    assert evaluate(1e5) == (1.0, 1e5)
    sigmoid, softplus = evaluate(-1e5)
    assert 0.0 < sigmoid < 1e-300
    assert 0.0 < softplus < 1e-300
    assert np.isnan(evaluate(np.nan)).all()
