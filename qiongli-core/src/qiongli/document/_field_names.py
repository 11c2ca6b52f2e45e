"""The names of a task packet's fields: which are subject text, which are references, which are neither."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from qiongli.patterns import LazyPattern

FieldKind = Literal["text", "references", "no_text"]

#: Fields that identify or configure, that hold code, or that hold what Qiongli itself says; they are no subject text.
NOT_TEXT: Final = frozenset(
    {
        *("task_id", "id", "uuid", "run_id", "doi", "isbn", "issn", "arxiv", "url", "urls", "uri", "path", "paths"),
        *("taskid", "runid", "filepath", "link", "links", "href"),
        *("file", "files", "filename", "filenames", "cwd", "folder", "directory", "paper_type", "language", "lang"),
        *("schema_version", "version", "answers", "budget", "created_at", "updated_at", "date", "author", "authors"),
        *("email", "category", "name", "digest", "checksum", "fingerprint"),
        *("code", "source_code", "sourcecode", "code_block", "code_blocks", "script", "scripts", "notebook"),
        *("guidance", "guidance_block", "domain_profile", "domain_profiles", "overlay", "overlays", "resource"),
        *(
            "resources",
            "method_pack",
            "method_packs",
            "venue_profile",
            "venue_profiles",
            "method_lens",
            "method_lenses",
        ),
        *(
            "borrowed_lens",
            "borrowed_lenses",
            "skill",
            "skills",
            "subject_skill",
            "loaded_resources",
            "packet",
            "packets",
        ),
        *("refinement", "refinement_packet", "latest_refinement", "manifest", "manifest_state"),
        *(
            "active_subject",
            "primary_subject",
            "secondary_subjects",
            "subject_mode",
            "dismissed_subjects",
            "suggestion",
        ),
        *("promotion_recommendation", "missing_resources"),
    }
)
#: So are fields whose names end like this.
_ENDINGS: Final = (
    *("_id", "_ids", "_path", "_paths", "_file", "_files", "_url", "_urls", "_uri", "_uris", "_digest", "_checksum"),
    *("_filename", "_folder", "_directory"),
)
#: Fields that hold nothing but references: context, and no evidence.
REFERENCES: Final = frozenset(
    {
        *("references", "reference_list", "bibliography", "citation", "citations", "cited", "works_cited"),
        *("cited_works", "literature_cited", "cited_literature", "cited_references", "bibtex", "参考文献", "參考文獻"),
    }
)
#: Between two words of a name: `taskId`, `PDFUrl`, `task-id`, `task id`.
_BOUNDARY: Final = LazyPattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-\s.]+")


@lru_cache(maxsize=512)
def field_key(name: str) -> str:
    """The name in lower case with underscores, however its words are told apart."""
    if name.islower() and name.isalpha():
        return name
    return _BOUNDARY.sub("_", name.strip()).casefold()


@lru_cache(maxsize=512)
def field_kind(name: str) -> FieldKind:
    """What the values of a field are."""
    for key in (field_key(name), name.casefold()):
        bare = key.removesuffix("_list").removesuffix("_lists")
        if bare in NOT_TEXT or bare.endswith(_ENDINGS):
            return "no_text"
        if bare in REFERENCES or key in REFERENCES:
            return "references"
    return "text"
