"""Groups: who is a player, in which order, under which name; and every mistake."""

import numpy as np
import pytest

from leafgrad import groups
from leafgrad.errors import InputError
from leafgrad.forest import Forest

NAMES = ("age", "city_a", "height", "city_b", "city_c")


def forest(names=NAMES):
    return Forest.from_arrays(
        tree_start=[0, 1], left=[-1], right=[-1], feature=[-1], threshold=[0], cover=[1], value=[1],
        n_features=5, feature_names=names,
    )  # fmt: skip


@pytest.mark.parametrize("none", [None, {}])
def test_without_groups_every_feature_is_a_player(none):
    players = groups.resolve(forest(), none)
    assert players.of_feature is None
    assert players.names == NAMES
    assert players.groups is None
    assert groups.resolve(forest(None), none).names == ("x0", "x1", "x2", "x3", "x4")


def test_a_group_stands_where_its_first_feature_stood():
    players = groups.resolve(forest(), {"city": ["city_c", "city_a", "city_b"]})
    assert players.names == ("age", "city", "height")
    assert players.of_feature.tolist() == [0, 1, 2, 1, 1]
    assert players.of_feature.dtype == np.int32
    assert players.groups == {"city": ("city_c", "city_a", "city_b")}


def test_several_groups():
    players = groups.resolve(forest(), {"body": ("height", "age"), "city": {"city_b": 1}})
    assert players.names == ("body", "city_a", "city", "city_c")
    assert players.of_feature.tolist() == [0, 1, 0, 2, 3]


def test_all_in_one_group():
    players = groups.resolve(forest(), {"all": NAMES})
    assert players.names == ("all",)
    assert players.of_feature.tolist() == [0] * 5


def test_a_group_may_have_the_name_of_one_of_its_own():
    assert groups.resolve(forest(), {"age": ["height", "age"]}).names == ("age", "city_a", "city_b", "city_c")


@pytest.mark.parametrize("members", [[1, 3], np.array([1, 3]), range(1, 4, 2), (np.uint8(1), np.int64(3))])
def test_positions_where_the_model_has_no_names(members):
    players = groups.resolve(forest(None), {"city": members})
    assert players.names == ("x0", "city", "x2", "x4")
    assert players.groups == {"city": (1, 3)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([["age", "height"]], "groups is a list; pass a dict from a name to its features, such as {"),
        ({1: ["age"]}, r"groups has the name 1 \(int\); a group's name is text"),
        ({"city": "city_a"}, r"groups\['city'\] is 'city_a'; pass a list of features, \['city_a'\]"),
        ({"city": 3}, r"groups\['city'\] is 3; pass a list"),
        ({"city": []}, r"groups\['city'\] is empty; name its features or leave it out"),
        (
            {"city": ["city_d"]},
            r"groups\['city'\] has 'city_d', which is no feature of the model; pass names",
        ),
        (
            {"city": [1]},
            r"groups\['city'\] has 1, which is no feature of the model; pass names of the model's",
        ),
        (
            {"a": ["age"], "b": ["age"]},
            r"groups\['b'\] has the feature 'age' in 'a' too; a feature is in one",
        ),
        ({"a": ["age", "age"]}, r"groups\['a'\] has the feature 'age' twice; a feature is in one group once"),
        ({"age": ["height"]}, r"groups\['age'\] has the name of a feature that is not in it; name the group"),
        ({"age": ["height"], "b": ["age"]}, r"groups\['age'\] has the name of a feature that is not in it"),
    ],
)
def test_mistakes(given, message):
    with pytest.raises(InputError, match=message):
        groups.resolve(forest(), given)


@pytest.mark.parametrize("member", [5, -1, True, "x1", 1.0, None])
def test_what_is_no_position_is_refused(member):
    with pytest.raises(InputError, match="the model has no names, so pass positions, 0 to 4"):
        groups.resolve(forest(None), {"city": [member]})


def test_a_group_named_like_a_numbered_feature():
    with pytest.raises(InputError, match=r"groups\['x0'\] has the name of a feature that is not in it"):
        groups.resolve(forest(None), {"x0": [1, 2]})


def test_many_names_are_not_all_told():
    many = Forest.from_arrays(
        tree_start=[0, 1], left=[-1], right=[-1], feature=[-1], threshold=[0], cover=[1], value=[1],
        n_features=9, feature_names=[f"n{i}" for i in range(9)],
    )  # fmt: skip
    with pytest.raises(InputError, match=r"'n0', 'n1', 'n2', 'n3', 'n4', ... \(9 in all\)"):
        groups.resolve(many, {"g": ["x"]})
