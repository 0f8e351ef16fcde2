"""Tails against mpmath at 50 digits, and the laws that tie the four distributions together."""

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from holdsup.numerics.distributions import FAR, Tail, chi2_tail, f_tail, normal_tail, t_tail

# A rounding of the statistic moves log p by |log p| * 2e-16 or so, and |log p| < 709 where p is a double.
P_RTOL = 1e-12
# The same roundings divided by |log p|; near p = 1 it is the digits of SciPy's 1 - p, off by 4e-13 at worst here.
LOG_RTOL = 1e-12
SUBNORMAL = 1e-320  # a subnormal p has few digits: compare those it has

# Each row: arguments, p, log10 p, made with mpmath 1.4.1 at mp.dps = 50 from the arguments as doubles:
#   chi2    p = gammainc(df/2, x/2, regularized=True),        q = gammainc(df/2, 0, x/2, regularized=True)
#   F       p = betainc(df2/2, df1/2, 0, u, regularized=True), q = betainc(df2/2, df1/2, u, 1, regularized=True)
#           with u = df2 / (df2 + df1 x)
#   t       F = t^2 with df1 = 1, halved for one side;  normal  p = erfc(z / sqrt 2), halved for one side
#   log10 p = log10(p) for p < 1/2, else log1p(-q) / log(10).
# Rows marked * are beyond mpmath's gammainc and betainc. They were made from the integral of
# exp(-x s / 2) (1 + s)^(df/2 - 1) by mpmath.quad (chi2), and from the series DLMF 8.17.8 summed to 50 digits (F).
# Every gamma and beta row was also made a second way (continued fraction or series), with the same first 40 digits.
CHI2 = [
    (1e-12, 1, 0.9999992021154392, -3.465170001927269e-07),
    (1e-09, 3, 0.9999999999999916, -3.652608436984202e-15),
    (0.001, 0.5, 0.8350402492315872, -0.07829259086621723),
    (3.84, 1, 0.050043521248705106, -1.3006521393247688),
    (40, 1, 2.539628589470865e-10, -9.595229792568094),
    (1300, 1, 1.1303728441492743e-284, -283.9467782844378),
    (1420, 1, 9.471274711829e-311, -310.0235915666084),
    (1500, 1, 0.0, -327.4072560441665),
    (1e5, 0.5, 0.0, -21718.807710255125),
    (30, 50, 0.9888352197284497, -0.004876073544377948),
    (200, 50, 7.857610724654743e-20, -19.10470949045448),
    (1e6, 50, 0.0, -217034.2583563454),
    (900, 1000, 0.9892827619087102, -0.004679558367399887),
    (2500, 1000, 2.1059268048481405e-129, -128.6765567275489),
    (7000, 1000, 0.0, -882.8613930562934),
    (
        24517.461007097416,
        17206.045208591913,
        2.8059691445398413e-267,
        -266.55191710894195,
    ),  # SciPy: off by 2e-11
    (999000, 1e6, 0.7601767314598729, -0.11908542801525863),
    (1.01e6, 1e6, 9.068528823262077e-13, -12.042463162307305),
    (1.06e6, 1e6, 0.0, -377.9288063557895),  # *
    (2e6, 1e6, 0.0, -66635.49169638121),  # *
]
NORMAL = [
    (1e-12, 0.9999999999992021, -3.465168619526223e-13),
    (0.5, 0.6170750774519738, -0.2096619936012596),
    (1.96, 0.04999579029644087, -1.3010665622238702),
    (6, 1.973175290075396e-09, -8.704834331812723),
    (37, 1.1451142445049154e-299, -298.94115118294593),
    (38.5, 5e-324, -323.5503110728154),
    (200, 0.0, -8688.2887388559),
    (1e6, 0.0, -217147240957.72397),
]
T = [
    (1e-9, 5, 0.9999999992407866, -3.2972218149210206e-10),
    (0.7, 0.5, 0.6854006625207665, -0.16405548010899113),
    (2.5, 3, 0.08770664700806555, -1.0569674915879832),
    (1e6, 5, 1.898033449092136e-29, -28.721696138258498),
    (1e200, 5, 0.0, -998.7216961382538),
    (1e6, 0.5, 0.0006414019508283977, -3.192869723495948),
    (12, 40, 7.824171304255972e-15, -14.106561649570319),
    (700, 100, 2.435917974452983e-186, -185.61333733994812),
    (2, 1e6, 0.045500533851319205, -1.34198350779735),
    (30, 1e5, 7.378536872222233e-197, -196.13202974811153),
    (38, 1e6, 9.72135e-316, -315.012273420214),
    (45, 1e6, 0.0, -441.02959084398765),
    (1e6, 1e5, 0.0, -350002.60023247486),
]
F = [
    (1e-6, 3, 500, 0.9999999986159529, -6.010840191673703e-10),
    (0.5, 0.5, 0.5, 0.5654401151575745, -0.2476133837248755),
    (3, 3, 500, 0.030251860991650704, -1.5192479038695343),
    (60, 3, 500, 3.811657686859417e-33, -32.41888610892128),
    (1e5, 3, 500, 0.0, -693.4669025315329),
    (1e308, 3, 500, 0.0, -76443.28573695783),
    (1e-3, 50, 50, 1.0, -2.616188773530527e-62),  # *
    (0.4, 50, 50, 0.9992373495918885, -0.0003313412286918538),
    (20, 50, 50, 1.8078901426752815e-20, -19.74282796317452),
    (1e8, 50, 50, 6.320527283171845e-187, -186.1992466896575),
    (1e5, 50, 5, 1.0115794351791306e-12, -11.995000008191816),
    (1e308, 50, 5, 0.0, -769.4949914774181),
    (5, 0.5, 1e4, 0.04726341292720442, -1.3254749208345264),
    (3000, 0.5, 1e4, 6.921544759313242e-307, -306.15979696832125),
    (0.99, 1e4, 1e4, 0.6923431893279327, -0.15967857565167828),
    (2, 1e4, 1e4, 2.065672899585141e-258, -257.68493844813685),
    (10, 1e4, 1e4, 0.0, -2405.938866997968),
    (0.98, 1e6, 1e6, 1.0, -1.1841906836500361e-24),  # *
    (1.01, 1e6, 1e6, 3.2597907372698105e-07, -6.48681027863329),  # *
    (1.03, 1e6, 1e6, 9.986705661344518e-50, -49.00057774991716),  # *
    (3, 1e6, 1e6, 0.0, -62472.46636549994),  # *
    (1e12, 1e6, 0.5, 0.0007801243559054197, -3.107836162977749),  # *
]


def assert_close(tail: Tail, p: float, log10_p: float) -> None:
    assert tail.p == pytest.approx(p, rel=P_RTOL, abs=SUBNORMAL)
    assert tail.log10_p == pytest.approx(log10_p, rel=LOG_RTOL, abs=0)


@pytest.mark.parametrize(("statistic", "df", "p", "log10_p"), CHI2)
def test_chi2_matches_mpmath(statistic: float, df: float, p: float, log10_p: float) -> None:
    assert_close(chi2_tail(statistic, df), p, log10_p)


@pytest.mark.parametrize(("z", "p", "log10_p"), NORMAL)
def test_normal_matches_mpmath(z: float, p: float, log10_p: float) -> None:
    assert_close(normal_tail(z), p, log10_p)
    assert normal_tail(-z) == normal_tail(z)


@pytest.mark.parametrize(("t", "df", "p", "log10_p"), T)
def test_t_matches_mpmath(t: float, df: float, p: float, log10_p: float) -> None:
    assert_close(t_tail(t, df), p, log10_p)
    assert t_tail(-t, df) == t_tail(t, df)


@pytest.mark.parametrize(("statistic", "df1", "df2", "p", "log10_p"), F)
def test_f_matches_mpmath(statistic: float, df1: float, df2: float, p: float, log10_p: float) -> None:
    assert_close(f_tail(statistic, df1, df2), p, log10_p)


def powers_of_ten(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


DF = powers_of_ten(-1, 5)
STATISTIC = powers_of_ten(-6, 6)


@given(t=STATISTIC, df=DF)
def test_t_squared_is_f_on_one_df(t: float, df: float) -> None:
    squared = f_tail(t * t, 1, df)
    assert_close(t_tail(t, df), squared.p, squared.log10_p)


@given(z=powers_of_ten(-6, 6))
def test_z_squared_is_chi2_on_one_df(z: float) -> None:
    squared = chi2_tail(z * z, 1)
    assert_close(normal_tail(z), squared.p, squared.log10_p)


@given(t=st.floats(-50, 50))
def test_t_on_infinite_df_is_normal(t: float) -> None:
    assert t_tail(t, math.inf) == normal_tail(t)


@given(t=powers_of_ten(-6, 1.7))
def test_t_tends_to_normal(t: float) -> None:
    # they differ by t^4 / (4 df) in log p: below 2e-14 here
    limit = normal_tail(t)
    assert_close(t_tail(t, 1e20), limit.p, limit.log10_p)


@given(statistic=STATISTIC, df1=DF)
def test_f_on_infinite_df2_is_chi2_over_df1(statistic: float, df1: float) -> None:
    assert f_tail(statistic, df1, math.inf) == chi2_tail(df1 * statistic, df1)


@given(f=STATISTIC, df1=DF, df2=DF)
def test_upper_tail_of_f_is_lower_tail_of_its_inverse(f: float, df1: float, df2: float) -> None:
    # the two p add up to 1 by themselves: SciPy is asked for different functions
    assert f_tail(f, df1, df2).p + f_tail(1 / f, df2, df1).p == pytest.approx(1, rel=P_RTOL)


Curve = Callable[[float, float, float], Tail]  # of a statistic, df1 and df2
CURVES: dict[str, Curve] = {
    "chi2": lambda statistic, df1, df2: chi2_tail(statistic, df1),
    "normal": lambda statistic, df1, df2: normal_tail(statistic),
    "t": lambda statistic, df1, df2: t_tail(statistic, df2),
    "F": f_tail,
}
each_curve = pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES.keys())


@each_curve
@given(statistic=STATISTIC, step=powers_of_ten(-6, 2), df1=DF, df2=DF)
def test_tail_falls_as_the_statistic_rises(curve: Curve, statistic: float, step: float, df1: float, df2: float) -> None:
    # a step of 1e-6 moves any tail by far more than its rounding, unless p is 1 or 0 to all digits
    near, far = curve(statistic, df1, df2), curve(statistic * (1 + step), df1, df2)
    assert far.log10_p < near.log10_p or far.log10_p == near.log10_p == 0
    assert far.p <= near.p


@pytest.mark.parametrize(("name", "switch"), [("chi2", FAR), ("normal", FAR), ("t", FAR / 2), ("F", FAR)])
@given(df1=powers_of_ten(0.4, 4), df2=powers_of_ten(0, 4))
def test_tail_has_no_jump_where_the_expansion_takes_over(name: str, switch: float, df1: float, df2: float) -> None:
    curve = CURVES[name]
    low, high = 0.0, 1e100
    while (middle := (low + high) / 2) not in (low, high):
        if curve(middle, df1, df2).p >= switch:
            low = middle
        else:
            high = middle
    before, after = curve(low, df1, df2), curve(high, df1, df2)
    # low and high are neighbouring doubles: what remains is SciPy's own error at p = FAR
    assert after.p == pytest.approx(before.p, rel=P_RTOL)
    assert after.log10_p == pytest.approx(before.log10_p, rel=LOG_RTOL)


@each_curve
@given(statistic=STATISTIC, df1=DF, df2=DF)
def test_log10_p_agrees_with_p_wherever_p_is_normal(curve: Curve, statistic: float, df1: float, df2: float) -> None:
    tail = curve(statistic, df1, df2)
    assert 0 <= tail.p <= 1
    assert tail.log10_p <= 0
    if tail.p >= sys.float_info.min:
        assert 10**tail.log10_p == pytest.approx(tail.p, rel=P_RTOL)


@each_curve
@given(
    statistic=powers_of_ten(-300, 308),
    df1=powers_of_ten(-150, 10),
    df2=powers_of_ten(-150, 150),
)
def test_extreme_arguments_still_give_a_probability(curve: Curve, statistic: float, df1: float, df2: float) -> None:
    tail = curve(statistic, df1, df2)
    assert 0 <= tail.p <= 1
    assert tail.log10_p <= 0


@pytest.mark.parametrize("statistic", [0.0, -0.0, -3.5, -math.inf])
def test_chi2_and_f_not_above_zero_have_the_whole_tail(statistic: float) -> None:
    for tail in (chi2_tail(statistic, 3), f_tail(statistic, 3, 7), f_tail(statistic, 3, math.inf)):
        assert (tail.p, tail.log10_p) == (1.0, 0.0)
        assert math.copysign(1, tail.log10_p) == 1  # prints as 0, not as -0


@pytest.mark.parametrize("df", [0.5, 5, math.inf])
def test_t_of_zero_is_the_middle(df: float) -> None:
    assert t_tail(0.0, df) == Tail(1.0, 0.0)


def test_infinite_statistic_has_no_tail() -> None:
    nothing = Tail(0.0, -math.inf)
    assert chi2_tail(math.inf, 3) == f_tail(math.inf, 3, 7) == f_tail(math.inf, 3, math.inf) == nothing
    assert normal_tail(-math.inf) == t_tail(-math.inf, 3) == nothing


def test_nan_stays_nan() -> None:
    tails = [chi2_tail(math.nan, 3), f_tail(math.nan, 3, 7), f_tail(math.nan, 3, math.inf)]
    tails += [normal_tail(math.nan), t_tail(math.nan, 3)]
    assert all(math.isnan(tail.p) and math.isnan(tail.log10_p) for tail in tails)


@pytest.mark.parametrize("df", [0, -1, math.nan, -math.inf, 1e-200, 1e200])
def test_bad_degrees_of_freedom_are_refused_by_name(df: float) -> None:
    with pytest.raises(ValueError, match=r"^df must be a positive number, .*, but is "):
        chi2_tail(1.0, df)
    with pytest.raises(ValueError, match=r"^df must be a positive number, .* or inf, but is "):
        t_tail(1.0, df)
    with pytest.raises(ValueError, match=r"^df1 must be"):
        f_tail(1.0, df, 5)
    with pytest.raises(ValueError, match=r"^df2 must be"):
        f_tail(1.0, 5, df)


def test_infinite_df_is_refused_where_the_tail_has_no_limit() -> None:
    with pytest.raises(ValueError, match="but is inf"):
        chi2_tail(1.0, math.inf)
    with pytest.raises(ValueError, match=r"df1 .* but is inf"):
        f_tail(1.0, math.inf, 5)


def test_numpy_scalars_give_plain_floats_and_no_warnings() -> None:
    for tail in (chi2_tail(np.float64(1500), np.float64(1)), t_tail(np.float64(1e200), np.float64(5))):
        assert type(tail.p) is float
        assert type(tail.log10_p) is float


@pytest.mark.parametrize("t", [3e3, 1e5, 1e6, 1e9, 1e12])
def test_t_on_two_df_follows_its_closed_form_far_out(t: float) -> None:
    # P(|T| > t) = 1 - t / sqrt(2 + t^2) = 2 / (s (s + t)) with s = sqrt(2 + t^2), which loses no digits
    s = math.hypot(t, math.sqrt(2))
    expected = 2 / (s * (s + t))
    found = t_tail(t, 2)
    assert found.p == pytest.approx(expected, rel=1e-12)
    assert found.log10_p == pytest.approx(math.log10(expected), rel=1e-12)


@pytest.mark.parametrize("df", [1, 2, 3, 4])
@pytest.mark.parametrize("t", [1e2, 1e4, 1e6, 1e9, 1e12])
def test_t_on_few_df_agrees_with_scipy_far_out(t: float, df: int) -> None:
    assert t_tail(t, df).p == pytest.approx(2 * float(stats.t.sf(t, df)), rel=1e-9)
