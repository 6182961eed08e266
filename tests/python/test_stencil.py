"""Stencils from names, files and text."""

import copy
import pickle
import subprocess
import sys

import numpy
import pytest

import stencil_tune as st
from stencil_tune._stencil import written_stencil

WAVE = """
rank = 2
fields = ["p", "p_prev", "v", "p_next"]
[update]
p_next = "2*p - p_prev + v * laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
"""
LAYERED = """
rank = 2
fields = ["u", "m(y in layer)", "u_next", "m_next(y in layer)"]
[update]
u_next = "u + m[y+1]"
m_next = "m + x_in_layer"
"""


def test_nothing_else_is_needed():
    """Neither NumPy nor any other library of arrays, to import, look up and export."""
    code = ("import sys; sys.modules['numpy'] = sys.modules['torch'] = sys.modules['cupy'] = None; import stencil_tune as st; "
            "k = st.lookup('star3d1r', dims=512, steps=100, gpu='h200'); print(k.match, len(k.export()))")
    done = subprocess.run([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    assert done.returncode == 0 and done.stdout.split()[0] in ("exact", "stale"), done.stdout


def test_a_line_is_understood():
    heat = st.stencil("u_next = u + alpha * laplacian(u); alpha = 0.1", rank=2)
    assert heat.rank == 2
    assert heat.arguments == heat.fields == ("u", "u_next"), "what is read comes first, whatever the text says first"
    assert heat.coefficients == {"alpha": 0.1}
    assert "o O o" in heat.show()


def test_a_definition_says_the_order_of_its_fields():
    turned = st.stencil('rank = 1\nfields = ["v", "u"]\n[update]\nv = "u[x-1]"\n')
    assert turned.arguments == turned.fields == ("v", "u"), "in every language"
    assert turned.key == st.stencil("v = u[x-1]", rank=1).key


def test_numbers_of_a_definition_may_be_expressions():
    assert st.stencil("v = a*u[x-1]; a = 1/3", rank=1).coefficients == {"a": 1 / 3}
    with pytest.raises(st.DefinitionError, match="line 1, column 20: division by zero"):
        st.stencil("v = a*u[x-1]; a = 1/0", rank=1)


def test_a_rank_that_is_given_is_the_stencils():
    for definition in (WAVE, "heat2d"):
        assert st.stencil(definition, rank=2).rank == 2
        with pytest.raises(st.ArgumentError, match="rank is 3: stencil '.*' says itself that it has 2"):
            st.stencil(definition, rank=3)


def test_names_files_and_definitions_are_told_apart(tmp_path):
    path = tmp_path / "wave.toml"
    path.write_text(WAVE)
    assert st.stencil("heat3d").rank == 3
    assert st.stencil(path).key == st.stencil(str(path)).key == st.stencil(WAVE).key
    assert st.stencil(WAVE).arguments == ("p", "p_prev", "v", "p_next")
    assert st.stencil(WAVE).outputs == ("p_next",)
    assert st.stencil(st.stencil(WAVE).definition()).key == st.stencil(WAVE).key


def test_layers_have_the_widths_that_are_given():
    bare = st.stencil(LAYERED)
    assert bare.layer_fields == {"m": "y", "m_next": "y"} and not bare.profiles
    with pytest.raises(st.ArgumentError, match=r'say how many cells they have \(with_layer\("20"\)\)'):
        st.lookup(bare, shape=(6, 4), dtype="f64", device="cpu")
    wide = bare.with_layer("x=1:0,y=0:2")
    assert wide.key == bare.key and wide.layer_fields == bare.layer_fields
    arrays = [numpy.ones((6, 4)) for _ in range(4)]
    st.lookup(wide, like=arrays[0], boundary="zero", device="cpu")(*arrays)
    assert arrays[2].tolist() == 3*[[1]*4] + 2*[[2]*4] + [[1]*4], "beyond the edge is 0"
    assert arrays[3].tolist() == 4*[[0]*4] + 2*[[2, 1, 1, 1]]
    assert bare.with_layer(2).definition() == bare.with_layer("2:2").definition() == wide.with_layer(2).definition()
    for wrong in (-1, 2.0, "1 2", "z=1"):
        with pytest.raises(st.ArgumentError):
            bare.with_layer(wrong)


def test_what_is_no_stencil_says_where():
    with pytest.raises(st.DefinitionError, match="u_next = u [+]"):
        st.stencil("u_next = u +")
    with pytest.raises(st.ArgumentError, match="heat3d") as error:
        st.stencil("heta3d")
    assert error.value.code == "unknown_name"
    with pytest.raises(ValueError, match="rank"):
        st.stencil("u_next = u", rank=4)


def test_html_hides_nothing():
    assert "<pre>" in st.stencil("heat2d")._repr_html_()


def test_what_made_it_makes_it_again():
    for made in (st.stencil("heat2d"), st.stencil("v = c*u[x-1]; c = 2", rank=1), st.stencil(WAVE),
                 st.stencil("v = u*u[x-1]", rank=2).adjoint(), st.stencil(LAYERED).with_layer("x=3,y=0:2")):
        again = written_stencil(made._written)
        assert (again.key, again.arguments, again.coefficients) == (made.key, made.arguments, made.coefficients)
        assert again.definition() == made.definition()


def test_stencils_are_pickled_with_all_of_their_text(tmp_path):
    path = tmp_path / "ground_wave.toml"
    path.write_text(LAYERED)
    made = st.stencil(path).with_layer("x=3,y=0:2")
    path.unlink()
    assert made.name == "ground_wave" and copy.deepcopy(made) is made
    code = "import pickle, sys; made = pickle.load(sys.stdin.buffer); print(made.name, made.key, made.definition(), sep='\\n')"
    there = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(made), stdout=subprocess.PIPE, check=True)
    assert there.stdout.decode() == f"{made.name}\n{made.key}\n{made.definition()}\n"
    with pytest.raises(TypeError, match="a kernel stays in its process: send its stencil"):
        pickle.dumps(st.lookup(made, dims=8, device="cpu"))


def test_what_is_shown_says_the_definitions_own_boundary():
    walls = st.stencil(WAVE + '[boundary]\nx = "reflect"\ny = "clamp"\n')
    assert repr(walls).endswith("p, p_prev, v -> p_next, beyond the edges: x reflect, y clamp>")
    assert "boundary x=reflect,y=clamp" in repr(st.lookup(walls, dims=8, device="cpu"))
    assert repr(st.stencil("heat2d")).endswith("u -> u_next>")
