#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tables that --nwb writes against the rules of NWB 2.

  nwb.py tables FILE TABLE...    the module has these tables, and they are as the schema of tables says
  nwb.py same FILE COPY          whatever FILE has, COPY has the same
  nwb.py validate SPECS FILE...  by hdmf's validator (pynwb's), with the schema that the file SPECS holds; exit code 77 where
                                 there is no hdmf
  nwb.py pynwb FILE              read and validated by pynwb; 77 where there is none
"""
import pathlib
import shutil
import sys

import h5py
import numpy as np

TYPES = {"VectorData", "VectorIndex", "DynamicTableRegion", "ElementIdentifiers"}


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def check_object(o, seen):
    for name in ("namespace", "neurodata_type", "object_id"):
        assert name in o.attrs, (o.name, name)
    assert o.attrs["object_id"] not in seen, ("two objects of one number", o.name)
    seen.add(o.attrs["object_id"])
    return text(o.attrs["neurodata_type"])


def check_table(table, seen):
    """Rows of each column, from the outside in; ragged ones by their index, references by the table that they are of."""
    kind = check_object(table, seen)
    assert kind in ("DynamicTable", "TimeIntervals"), kind
    columns = [text(name) for name in table.attrs["colnames"]]
    assert text(table.attrs["description"])
    rows = len(table["id"])
    assert list(table["id"][:]) == list(range(rows))
    assert set(table) == {"id", *columns, *(f"{name}_index" for name in columns if f"{name}_index" in table)}
    for name in table:
        assert check_object(table[name], seen) in TYPES
        assert name == "id" or text(table[name].attrs["description"])
    for name in columns:
        column, length = table[name], rows
        if f"{name}_index" in table:
            index = table[f"{name}_index"]
            assert table.file[index.attrs["target"]] == column and len(index) == rows
            ends = index[:].astype(np.int64)
            assert (np.diff(ends, prepend=0) >= 0).all()
            length = ends[-1] if rows else 0
        assert len(column) == length, (name, len(column), length)
        if text(column.attrs["neurodata_type"]) == "DynamicTableRegion":
            of = table.file[column.attrs["table"]]
            assert ((column[:] >= 0) & (column[:] < len(of["id"]))).all(), name
    if kind == "TimeIntervals":
        assert (table["start_time"][:] <= table["stop_time"][:]).all()


def tables(path, *names):
    with h5py.File(path) as file:
        module = file["processing/synfire"]
        seen = set()
        file.visititems(lambda name, o: name.startswith("processing/synfire")
                        or "object_id" in o.attrs and seen.add(o.attrs["object_id"]))
        assert check_object(module, seen) == "ProcessingModule" and text(module.attrs["description"])
        assert set(module) == set(names), (set(module), names)
        for name in names:
            check_table(module[name], seen)


def same(path, copy):
    with h5py.File(path) as one, h5py.File(copy) as other:
        def visit(name, o):
            assert name in other and set(o.attrs) == set(other[name].attrs), name
            if isinstance(o, h5py.Dataset) and o.dtype.kind in "iuf":
                assert np.array_equal(o[()], other[name][()], equal_nan=o.dtype.kind == "f"), name
        one.visititems(visit)


def in_words_of_hdmf(path, specs):
    """A copy in which types stand as hdmf's own classes read them, with the schema of another file."""
    to = pathlib.Path("plain.h5")
    shutil.copy(path, to)
    with h5py.File(to, "r+") as file, h5py.File(specs) as schema:
        def rename(_, o):
            if "neurodata_type" in o.attrs:
                o.attrs["data_type"] = o.attrs["neurodata_type"]
                del o.attrs["neurodata_type"]

        def reword(_, o):
            if isinstance(o, h5py.Dataset):
                o[()] = text(o[()]).replace("neurodata_type", "data_type")
        rename(None, file)
        file.visititems(rename)
        if "specifications" in file:
            del file["specifications"]
        schema.copy("specifications", file)
        file["specifications"].visititems(reword)
        file.attrs[".specloc"] = file["specifications"].ref
    return str(to)


def validate(specs, *paths):
    try:
        from hdmf.backends.hdf5 import HDF5IO
        from hdmf.build import BuildManager, TypeMap
        from hdmf.spec import NamespaceCatalog
        from hdmf.validate import ValidatorMap
    except ImportError:
        sys.exit(77)
    for path in paths:
        plain = in_words_of_hdmf(path, specs)
        catalog = NamespaceCatalog()
        HDF5IO.load_namespaces(catalog, plain)
        with HDF5IO(plain, manager=BuildManager(TypeMap(catalog)), mode="r") as io:
            errors = ValidatorMap(catalog.get_namespace("core")).validate(io.read_builder())
        assert not errors, (path, [str(error) for error in errors])


def with_pynwb(path):
    try:
        import pynwb
    except ImportError:
        sys.exit(77)
    with pynwb.NWBHDF5IO(path, "r") as io:
        errors = pynwb.validate(io=io)
        assert not errors, errors
        module = io.read().processing["synfire"]
        frame = module["episodes"].to_dataframe()
        assert len(frame) == len(module["episodes"]["count"])


def main():
    {"tables": tables, "same": same, "validate": validate, "pynwb": with_pynwb}[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
