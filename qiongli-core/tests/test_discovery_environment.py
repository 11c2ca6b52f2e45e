"""Discovery in a broken environment: the good subjects are found, the bad ones are named, nothing is imported."""

from __future__ import annotations

import builtins
import os
import random
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qiongli.plugins import Catalogue, discover
from qiongli.plugins._distributions import canonical, scan, searching
from qiongli.records._units import to_json
from qiongli.records.subjects import Reason, SubjectList, SubjectListing
from qiongli.testing import FakeDistributions, example_contract, imports_nothing_from


def row(catalogue: Catalogue, subject: str | None) -> SubjectListing:
    """The only row of that subject."""
    (found,) = [item for item in catalogue.listings if item.subject == subject]
    return found


def only_reason(listing: SubjectListing) -> Reason:
    """The first reason that lowered the subject; what its contract declares of itself may follow."""
    assert {reason.code for reason in listing.reasons[1:]} <= {"below_runtime_enabled"}
    return listing.reasons[0]


def good(fake: FakeDistributions) -> None:
    """Add the subject that must be found whatever else is there."""
    fake.add_subject("good")


def assert_good(catalogue: Catalogue) -> None:
    """The good subject is found, as the candidate that it declares itself to be."""
    found = catalogue.get("good")
    assert found is not None
    assert found.listing.state == "lens_only"
    assert found.available_lenses == {"example"}


def no_metadata(fake: FakeDistributions) -> None:
    fake.add_subject("bad")
    (fake.folder / "fake_subject_bad-1.0.dist-info" / "METADATA").unlink()


def empty_metadata(fake: FakeDistributions) -> None:
    fake.add_subject("bad")
    (fake.folder / "fake_subject_bad-1.0.dist-info" / "METADATA").write_bytes(b"")


def metadata_of_another(fake: FakeDistributions) -> None:
    fake.add_subject("bad")
    (fake.folder / "fake_subject_bad-1.0.dist-info" / "METADATA").write_text(
        "Name: other\nVersion: 1.0\n", encoding="utf-8"
    )


def undecodable_entry_points(fake: FakeDistributions) -> None:
    fake.add("bad-dist", entry_points=b"[qiongli.subjects]\nbad = caf\xe9\n")


def line_without_equals(fake: FakeDistributions) -> None:
    fake.add("bad-dist", entry_points="[qiongli.subjects]\nbad fake_subject_bad\n")


def huge_entry_points(fake: FakeDistributions) -> None:
    fake.add("bad-dist", entry_points=b"[qiongli.subjects]\n" + b"# x\n" * 300_000)


def value_no_module(fake: FakeDistributions) -> None:
    fake.add("bad-dist", entry_points="[qiongli.subjects]\nbad = not a module!!\n")


def value_dotted(fake: FakeDistributions) -> None:
    fake.add("bad-dist", entry_points="[qiongli.subjects]\nbad = fake.inner\n")


def value_with_hyphen(fake: FakeDistributions) -> None:
    fake.add("bad-dist", entry_points="[qiongli.subjects]\nbad = fake:runtime-subject.yaml\n")


def package_missing(fake: FakeDistributions) -> None:
    fake.add("bad-dist", entry_points="[qiongli.subjects]\nbad = nowhere_at_all\n")


def single_module(fake: FakeDistributions) -> None:
    (fake.folder / "lonely.py").write_text("", encoding="utf-8")
    fake.add("bad-dist", entry_points="[qiongli.subjects]\nbad = lonely\n")


def namespace_portion(fake: FakeDistributions) -> None:
    (fake.add_subject("bad", distribution="bad-dist") / "__init__.py").unlink()


def inside_zip(fake: FakeDistributions) -> None:
    archive = fake.folder / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as bundle:
        bundle.writestr("zipped/__init__.py", "raise SystemExit(3)")
        bundle.writestr("zipped/runtime-subject.yaml", example_contract("bad"))
        bundle.writestr("bad_dist-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: bad-dist\nVersion: 1.0\n")
        bundle.writestr("bad_dist-1.0.dist-info/entry_points.txt", "[qiongli.subjects]\nbad = zipped\n")


def contract_missing(fake: FakeDistributions) -> None:
    (fake.add_subject("bad") / "runtime-subject.yaml").unlink()


def contract_a_folder(fake: FakeDistributions) -> None:
    path = fake.add_subject("bad") / "runtime-subject.yaml"
    path.unlink()
    path.mkdir()


def contract_huge(fake: FakeDistributions) -> None:
    with (fake.add_subject("bad") / "runtime-subject.yaml").open("a", encoding="utf-8") as stream:
        stream.write("# x\n" * 300_000)


def contract_leaves_package(fake: FakeDistributions) -> None:
    path = fake.add_subject("bad") / "runtime-subject.yaml"
    outside = fake.folder / "outside.yaml"
    path.rename(outside)
    path.symlink_to(outside)


def contract_a_pipe(fake: FakeDistributions) -> None:
    path = fake.add_subject("bad") / "runtime-subject.yaml"
    path.unlink()
    os.mkfifo(path)


def contract_no_yaml(fake: FakeDistributions) -> None:
    fake.add_subject("bad", "a: [\n")


def contract_aliases(fake: FakeDistributions) -> None:
    fake.add_subject("bad", "a: &x [1]\nb: *x\n")


def contract_deep(fake: FakeDistributions) -> None:
    fake.add_subject("bad", "a: " + "[" * 5_000 + "]" * 5_000 + "\n")


def contract_newer(fake: FakeDistributions) -> None:
    fake.add_subject("bad", example_contract("bad").replace('"1.0"', '"2.0"', 1))


def names_differ(fake: FakeDistributions) -> None:
    fake.add_subject("bad", example_contract("other"))


def requires_missing(fake: FakeDistributions) -> None:
    fake.add_subject("bad", example_contract("bad", requires=""))


def requires_unparsable(fake: FakeDistributions) -> None:
    fake.add_subject("bad", example_contract("bad", requires="about one"))


def requires_another_core(fake: FakeDistributions) -> None:
    fake.add_subject("bad", example_contract("bad", requires=">=7,<8"))


#: What is wrong, what the row then says, and words of the message that name the culprit.
CASES: list[tuple[Callable[[FakeDistributions], None], str, str, str]] = [
    (no_metadata, "broken", "metadata_missing", "METADATA is missing"),
    (empty_metadata, "broken", "metadata_unreadable", "no name and version"),
    (metadata_of_another, "broken", "metadata_contradictory", "'other'"),
    (undecodable_entry_points, "broken", "entry_points_unreadable", "not UTF-8"),
    (line_without_equals, "broken", "entry_points_malformed", "line 2"),
    (huge_entry_points, "broken", "entry_points_unreadable", "too large"),
    (value_no_module, "broken", "entry_point_not_package", "'not a module!!'"),
    (value_dotted, "broken", "entry_point_not_package", "'fake.inner'"),
    (value_with_hyphen, "broken", "entry_point_not_package", "'fake:runtime-subject.yaml'"),
    (package_missing, "broken", "package_missing", "'nowhere_at_all'"),
    (single_module, "broken", "no_package", "single module"),
    (namespace_portion, "broken", "namespace_package", "no __init__.py"),
    (inside_zip, "broken", "zip_import", "bundle.zip"),
    (contract_missing, "broken", "contract_missing", "runtime-subject.yaml"),
    (contract_a_folder, "broken", "contract_unreadable", "runtime-subject.yaml"),
    (contract_huge, "broken", "contract_unreadable", "larger than"),
    (contract_leaves_package, "broken", "contract_unreadable", "leaves its folder"),
    (contract_a_pipe, "broken", "contract_unreadable", "no regular file"),
    (contract_no_yaml, "invalid", "invalid_contract", "runtime-subject.yaml"),
    (contract_aliases, "invalid", "invalid_contract", "runtime-subject.yaml:"),
    (contract_deep, "invalid", "invalid_contract", "runtime-subject.yaml"),
    (contract_newer, "invalid", "newer_schema", "2.0"),
    (names_differ, "invalid", "name_differs", "'other'"),
    (requires_missing, "invalid", "requires_missing", "no requires_qiongli"),
    (requires_unparsable, "invalid", "invalid_contract", "requires_qiongli"),
    (requires_another_core, "invalid", "core_excluded", ">=7,<8"),
]


def _id(value: object) -> str | None:
    return getattr(value, "__name__", None)


@pytest.mark.parametrize(("spoil", "state", "code", "words"), CASES, ids=_id)
def test_a_bad_neighbour_is_named_and_the_good_subject_is_found(
    fake_distributions: FakeDistributions,
    spoil: Callable[[FakeDistributions], None],
    state: str,
    code: str,
    words: str,
) -> None:
    good(fake_distributions)
    spoil(fake_distributions)
    paths = [str(fake_distributions.folder), *map(str, fake_distributions.folder.glob("*.zip"))]
    with imports_nothing_from(fake_distributions.folder):
        catalogue = discover(environment={}, paths=paths)
    assert_good(catalogue)
    (bad,) = [item for item in catalogue.listings if item.subject != "good"]
    assert (bad.state, only_reason(bad).code) == (state, code)
    assert words in only_reason(bad).message
    assert only_reason(bad).hint
    assert canonical(bad.distribution) in ("bad-dist", "fake-subject-bad")
    assert bad.location
    assert "bad" not in {subject.contract.subject for subject in catalogue.subjects}


def test_the_message_of_a_broken_subject_names_distribution_version_file_and_fix(
    fake_distributions: FakeDistributions,
) -> None:
    fake_distributions.add_subject("bad", "subject: [\n", distribution="Org.Bad_Subject", version="3.1")
    listing = row(fake_distributions.discover(), "bad")
    assert (listing.distribution, listing.version) == ("Org.Bad_Subject", "3.1")
    assert "runtime-subject.yaml:" in only_reason(listing).message
    assert only_reason(listing).hint == f"Run: qiongli contract validate {listing.location}"


@pytest.mark.parametrize(
    "code",
    ["raise RuntimeError('no')", "raise SystemExit(7)", "import time; time.sleep(30)", "import not_installed_anywhere"],
    ids=["raises", "exits", "sleeps", "lacks a dependency"],
)
def test_what_the_import_of_a_subject_does_never_happens(fake_distributions: FakeDistributions, code: str) -> None:
    fake_distributions.add_subject("good", code=code)
    assert_good(fake_distributions.discover())


def test_a_subject_that_would_write_a_file_when_imported_never_writes_it(
    fake_distributions: FakeDistributions, tmp_path: Path
) -> None:
    mark = tmp_path / "written"
    fake_distributions.add_subject("good", code=f"open({str(mark)!r}, 'w').close()")
    assert_good(fake_distributions.discover())
    assert not mark.exists()


def test_leftovers_of_an_interrupted_pip_are_ignored_and_known_to_the_scan(
    fake_distributions: FakeDistributions,
) -> None:
    good(fake_distributions)
    leftover = fake_distributions.add(
        "x", folder_name="~ake_subject_bad-1.0.dist-info", entry_points="[qiongli.subjects]\nbad = fake_subject_bad\n"
    )
    catalogue = fake_distributions.discover()
    assert_good(catalogue)
    assert len(catalogue.listings) == 1
    assert scan([str(fake_distributions.folder)]).leftovers == (leftover,)


class TestOneDistributionTwice:
    """Several metadata folders of one distribution: one counts, the others are named."""

    def test_a_stale_egg_info_beside_a_new_dist_info_does_not_hide_it(
        self, fake_distributions: FakeDistributions
    ) -> None:
        good(fake_distributions)
        stale = fake_distributions.add("fake-subject-good", folder_name="fake_subject_good.egg-info")
        catalogue = fake_distributions.discover()
        assert_good(catalogue)
        assert row(catalogue, "good").version == "1.0"
        (warning,) = catalogue.warnings
        assert str(stale) in warning
        assert "fake_subject_good-1.0.dist-info" in warning

    def test_a_stale_egg_info_earlier_on_the_path_does_not_hide_it(
        self, fake_distributions: FakeDistributions, tmp_path: Path
    ) -> None:
        good(fake_distributions)
        early = FakeDistributions(tmp_path / "early")
        early.add("fake-subject-good", folder_name="fake_subject_good-0.9-py3.11.egg-info")
        catalogue = discover(environment={}, paths=[str(early.folder), str(fake_distributions.folder)])
        assert_good(catalogue)
        assert row(catalogue, "good").version == "1.0"

    def test_of_two_versions_in_one_folder_the_newer_counts(self, fake_distributions: FakeDistributions) -> None:
        fake_distributions.add_subject("good", version="1.9")
        text = "[qiongli.subjects]\ngood = fake_subject_good\n"
        fake_distributions.add("fake-subject-good", "1.10", entry_points=text)
        fake_distributions.add("fake-subject-good", "not a version", entry_points=text)
        catalogue = fake_distributions.discover()
        assert_good(catalogue)
        assert row(catalogue, "good").version == "1.10"
        assert len(catalogue.warnings) == 2
        assert all("1.10" in warning for warning in catalogue.warnings)

    @pytest.mark.parametrize("other", ["Fake.Subject.Good", "FAKE_subject-good", "fake--subject__good"])
    def test_spellings_of_one_name_are_one_distribution(
        self, fake_distributions: FakeDistributions, other: str
    ) -> None:
        good(fake_distributions)
        text = "[qiongli.subjects]\ngood = fake_subject_good\n"
        fake_distributions.add(other, "0.2", folder_name=f"{other}-0.2.dist-info", entry_points=text)
        catalogue = fake_distributions.discover()
        assert_good(catalogue)
        assert row(catalogue, "good").version == "1.0"

    def test_the_earlier_folder_of_the_path_counts_as_for_an_import(
        self, fake_distributions: FakeDistributions, tmp_path: Path
    ) -> None:
        fake_distributions.add_subject("good", version="2.0")
        early = FakeDistributions(tmp_path / "early")
        early.folder.mkdir()
        early.add_subject("good", version="1.0")
        catalogue = discover(environment={}, paths=[str(early.folder), str(fake_distributions.folder)])
        assert row(catalogue, "good").version == "1.0"
        assert row(catalogue, "good").location.startswith(str(early.folder))
        text = " ".join(catalogue.warnings)
        assert "fake_subject_good-2.0.dist-info is ignored" in text
        assert f"hides {fake_distributions.folder / 'fake_subject_good'}" in text

    def test_one_folder_twice_on_the_path_is_one_folder(self, fake_distributions: FakeDistributions) -> None:
        good(fake_distributions)
        folder = str(fake_distributions.folder)
        link = fake_distributions.folder.parent / "link"
        link.symlink_to(folder)
        catalogue = discover(environment={}, paths=[folder, folder, str(link)])
        assert_good(catalogue)
        assert len(catalogue.listings) == 1
        assert catalogue.warnings == ()


class TestTwoDistributionsOneSlug:
    """Neither activates, both are named, and a local setting picks one."""

    def claim_twice(self, fake: FakeDistributions) -> None:
        fake.add_subject("law", distribution="first-law", package="law_a")
        fake.add_subject("law", distribution="second-law", version="2.0", package="law_b")

    def test_neither_is_used_and_both_are_named_with_their_versions(
        self, fake_distributions: FakeDistributions
    ) -> None:
        good(fake_distributions)
        self.claim_twice(fake_distributions)
        catalogue = fake_distributions.discover()
        assert_good(catalogue)
        assert catalogue.get("law") is None
        rows = [item for item in catalogue.listings if item.subject == "law"]
        assert [item.distribution for item in rows] == ["first-law", "second-law"]
        for listing in rows:
            assert listing.state == "invalid"
            assert only_reason(listing).code == "duplicate_subject"
            assert "first-law 1.0, second-law 2.0" in only_reason(listing).message
            assert "qiongli plugins allow DISTRIBUTION --pin law" in only_reason(listing).hint

    def test_a_pin_picks_one(self, fake_distributions: FakeDistributions) -> None:
        from qiongli.plugins.settings import allow

        self.claim_twice(fake_distributions)
        allow("Second_Law", pin="law")
        catalogue = fake_distributions.discover()
        chosen = catalogue.get("law")
        assert chosen is not None
        assert chosen.listing.distribution == "second-law"
        first = next(item for item in catalogue.listings if item.distribution == "first-law")
        assert (first.state, only_reason(first).code) == ("invalid", "pinned_elsewhere")

    def test_blocking_one_leaves_the_other(self, fake_distributions: FakeDistributions) -> None:
        from qiongli.plugins.settings import block

        self.claim_twice(fake_distributions)
        block("first-law")
        catalogue = fake_distributions.discover()
        assert [item.state for item in catalogue.listings] == ["inactive", "lens_only"]

    def test_a_pin_to_somebody_else_picks_nobody(self, fake_distributions: FakeDistributions) -> None:
        from qiongli.plugins.policy import Policy

        self.claim_twice(fake_distributions)
        catalogue = fake_distributions.discover(policy=Policy(pinned={"law": "third-law"}))
        assert [item.state for item in catalogue.listings] == ["invalid", "invalid"]

    def test_one_distribution_that_claims_a_slug_twice_has_it_twice(
        self, fake_distributions: FakeDistributions
    ) -> None:
        fake_distributions.add_subject("law", distribution="first-law", package="law_a")
        fake_distributions.add_package("law_b", {"runtime-subject.yaml": example_contract("law")})
        entry_points = "[qiongli.subjects]\nlaw = law_a\nlaw = law_b\n"
        (fake_distributions.folder / "first_law-1.0.dist-info" / "entry_points.txt").write_text(
            entry_points, encoding="utf-8"
        )
        catalogue = fake_distributions.discover()
        assert [item.state for item in catalogue.listings] == ["invalid", "invalid"]
        assert "declare law once" in only_reason(catalogue.listings[0]).hint

    def test_a_broken_claimant_does_not_take_the_slug_from_a_good_one(
        self, fake_distributions: FakeDistributions
    ) -> None:
        good(fake_distributions)
        fake_distributions.add_subject("good", "a: [", distribution="attacker", package="attacker")
        catalogue = fake_distributions.discover()
        assert_good(catalogue)
        assert {item.state for item in catalogue.listings} == {"lens_only", "invalid"}


@pytest.mark.parametrize("spelling", ["org.qiongli-Economics_x", "ORG_qiongli.economics-X"])
def test_dots_and_capitals_in_a_distribution_name_survive_everywhere(
    fake_distributions: FakeDistributions, spelling: str
) -> None:
    from qiongli.plugins.listing import list_plugins
    from qiongli.plugins.settings import block

    fake_distributions.add_subject("good", distribution="org.qiongli-Economics_x")
    assert row(fake_distributions.discover(), "good").distribution == "org.qiongli-Economics_x"
    assert block(spelling).blocked == ("org-qiongli-economics-x",)
    assert row(fake_distributions.discover(), "good").state == "inactive"
    assert [item.setting for item in list_plugins()] == ["blocked"]


@pytest.mark.parametrize(
    ("group", "near"),
    [
        ("qiongli.subject", "qiongli.subjects"),
        ("qiongli.plugin", "qiongli.plugins"),
        ("Qiongli.Commands", "qiongli.commands"),
        ("qiongli-subjects", "qiongli.subjects"),
    ],
)
def test_a_misspelt_group_is_reported_with_the_one_that_was_meant(
    fake_distributions: FakeDistributions, group: str, near: str
) -> None:
    good(fake_distributions)
    fake_distributions.add("typo", entry_points=f"[{group}]\nbad = fake_subject_bad\n")
    catalogue = fake_distributions.discover()
    assert_good(catalogue)
    assert f"typo declares the entry-point group {group!r}, which nobody reads; did you mean {near}?" in (
        catalogue.warnings
    )


def test_a_group_that_is_misspelt_beyond_our_name_is_found_when_neighbours_are_examined(
    fake_distributions: FakeDistributions,
) -> None:
    folder = fake_distributions.add("typo", entry_points="[qionlgi.subjects]\nbad = x\n")
    other = fake_distributions.add("foreign", entry_points=b"[console_scripts]\nx = \xff:y\n")
    fake_distributions.add("harmless", entry_points="[console_scripts]\nx = y:z\n")
    assert scan(neighbours=True).neighbours == (
        (other, "its entry_points.txt is not UTF-8"),
        (folder, "its entry-point group 'qionlgi.subjects' is read by nobody here; did you mean qiongli.subjects?"),
    )
    assert scan().neighbours == ()


def test_lines_of_foreign_groups_may_be_malformed(fake_distributions: FakeDistributions) -> None:
    text = "stray line\n[console_scripts]\nbroken\n[qiongli.subjects]\n# a comment\ngood = fake_subject_good\n"
    fake_distributions.add_subject("good")
    (fake_distributions.folder / "fake_subject_good-1.0.dist-info" / "entry_points.txt").write_text(
        text, encoding="utf-8"
    )
    assert_good(fake_distributions.discover())


class TestEditableInstallations:
    """The package is elsewhere: behind a path file, or behind an import hook."""

    def test_a_package_in_another_folder_of_the_path_is_found(
        self, fake_distributions: FakeDistributions, tmp_path: Path
    ) -> None:
        root = fake_distributions.add_subject("good")
        source = tmp_path / "checkout" / "src"
        source.mkdir(parents=True)
        shutil.move(root, source / root.name)
        catalogue = discover(environment={}, paths=[str(fake_distributions.folder), str(source)])
        assert_good(catalogue)
        assert row(catalogue, "good").location == str(source / root.name)

    def test_a_package_behind_an_import_hook_is_found_without_importing_it(
        self, fake_distributions: FakeDistributions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from importlib.util import spec_from_file_location

        source = tmp_path / "checkout" / "fake_subject_good"
        source.parent.mkdir()
        shutil.move(fake_distributions.add_subject("good"), source)

        class Hook:
            @staticmethod
            def find_spec(name: str, path: object = None, target: object = None) -> object:
                if name != "fake_subject_good":
                    raise LookupError("a finder that does not behave must not matter")
                return spec_from_file_location(name, source / "__init__.py", submodule_search_locations=[str(source)])

        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Hook])
        monkeypatch.setattr(sys, "path", [str(fake_distributions.folder)])
        with searching(None), imports_nothing_from(source):
            catalogue = discover(environment={})
        assert_good(catalogue)


def test_shuffled_installation_orders_give_identical_bytes(tmp_path: Path, isolated_qiongli: Path) -> None:
    slugs = ["alpha", "beta", "gamma", "delta"]
    seen = set()
    for seed in range(20):
        order: list[tuple[Callable[..., Any], str]] = [(FakeDistributions.add_subject, slug) for slug in slugs]
        order += [(_claim, "first-law"), (_claim, "second-law"), (_twice, "beta"), (_spoil, "a"), (_spoil, "b")]
        random.Random(seed).shuffle(order)
        folder = tmp_path / "same"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        fake = FakeDistributions(folder)
        for build, argument in order:
            build(fake, argument)
        catalogue = fake.discover()
        packet = SubjectList(catalogue.listings).to_packet()
        seen.add(to_json(packet) + "\n".join(catalogue.warnings))
    assert len(seen) == 1
    assert len(catalogue.listings) == 8


def _claim(fake: FakeDistributions, distribution: str) -> None:
    fake.add_subject("law", distribution=distribution, package=distribution.replace("-", "_"))


def _twice(fake: FakeDistributions, slug: str) -> None:
    fake.add(f"fake-subject-{slug}", "0.3", entry_points=f"[qiongli.subjects]\n{slug} = fake_subject_{slug}\n")


def _spoil(fake: FakeDistributions, name: str) -> None:
    fake.add(f"broken-{name}", entry_points=b"[qiongli.subjects]\n\xff\n")


def test_metadata_of_a_thousand_foreign_distributions_is_never_opened(
    fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(fake_distributions)
    for number in range(1_000):
        folder = fake_distributions.folder / f"foreign_{number}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Name: foreign\n", encoding="utf-8")
        if number % 2:
            (folder / "entry_points.txt").write_text("[console_scripts]\nx = y:z\n", encoding="utf-8")
    opened: list[str] = []
    real_open, real_path_open = builtins.open, Path.open

    def watch(file: Any, *arguments: Any, **options: Any) -> Any:
        opened.append(str(file))
        return real_open(file, *arguments, **options)

    def watch_path(self: Path, *arguments: Any, **options: Any) -> Any:
        opened.append(str(self))
        return real_path_open(self, *arguments, **options)

    monkeypatch.setattr(builtins, "open", watch)
    monkeypatch.setattr(Path, "open", watch_path)
    assert_good(fake_distributions.discover())
    metadata = [path for path in opened if path.endswith("METADATA")]
    assert metadata == [str(fake_distributions.folder / "fake_subject_good-1.0.dist-info" / "METADATA")]


@pytest.mark.parametrize("path", ["/nonexistent-qiongli-folder", "\0", ""])
def test_entries_of_the_path_that_are_no_folders_are_skipped(fake_distributions: FakeDistributions, path: str) -> None:
    good(fake_distributions)
    file = fake_distributions.folder / "no.zip"
    file.write_bytes(b"no zip at all")
    assert_good(discover(environment={}, paths=[path, str(file), str(fake_distributions.folder)]))


def test_an_installation_that_only_a_finder_knows_is_found(
    fake_distributions: FakeDistributions, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib_metadata

    folder = fake_distributions.add("hidden", entry_points="[qiongli.plugins]\nx = hidden_plugin\n")
    hidden = fake_distributions.folder / "elsewhere" / folder.name
    hidden.parent.mkdir()
    shutil.move(folder, hidden)

    class Finder:
        @staticmethod
        def find_spec(*_arguments: object) -> None:
            return None

        @staticmethod
        def find_distributions(_context: object) -> list[importlib_metadata.Distribution]:
            return [importlib_metadata.PathDistribution(hidden)]

    class Broken(Finder):
        @staticmethod
        def find_distributions(_context: object) -> list[importlib_metadata.Distribution]:
            raise RuntimeError

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Broken, Finder])
    monkeypatch.setattr(sys, "path", [])
    with searching(None):
        (found,) = scan().distributions
    assert (found.name, found.entry_points[0].value) == ("hidden", "hidden_plugin")


def test_plugins_in_a_broken_distribution_are_a_warning_and_no_subject(fake_distributions: FakeDistributions) -> None:
    fake_distributions.add("bad-dist", entry_points="[qiongli.plugins]\nx = y\n", metadata="")
    catalogue = fake_distributions.discover()
    assert catalogue.listings == ()
    assert catalogue.warnings == ("bad_dist: its METADATA states no name and version",)
