"""The file that an assertion on the device names says where, not what."""

from __future__ import annotations

from llir.llir_samples import canonical_of

FILE = '@assertFile_0 = internal constant [{size} x i8] c"{path}\\00"\n'
TEXT = (
    '@assertMessage_0 = internal constant [{length} x i8] c"{message}\\00"\n'
    + FILE
    + "declare void @__assertfail(ptr, ptr, i32, ptr, i64)\n"
    "define ptx_kernel void @k() {{\n"
    "  tail call void @__assertfail(ptr @assertMessage_0, ptr @assertFile_0, i32 7, ptr @assertMessage_0, i64 1)\n"
    "  ret void\n}}\n"
)


def text(path: str = "/a/k.py", message: str = "out of bounds") -> str:
    return TEXT.format(size=len(path) + 1, path=path, length=len(message) + 1, message=message)


def test_the_same_assertion_in_another_folder_has_the_same_form_and_says_why_bytes_differ() -> None:
    one, other = canonical_of(text()), canonical_of(text("/quite/another/folder/k.py"))
    assert one.lines == other.lines
    assert one.erased["source-paths"] != other.erased["source-paths"]
    assert {name for name in one.erased if one.erased[name] != other.erased[name]} == {"source-paths"}


def test_another_message_is_another_form() -> None:
    assert canonical_of(text()).lines != canonical_of(text(message="overflow")).lines


def test_paths_count_where_they_are_asked_for() -> None:
    one, other = (canonical_of(each, "source-paths") for each in (text(), text("/b/k.py")))
    assert one.lines != other.lines
