"""Files that the user asks for: new ones, in the folder that the program was started in."""

from pathlib import Path

from tracetui.model.strings import clean_text


def written(stem: str, contents: dict[str, bytes]) -> str:
    """Write new files of one name into this folder, never over others; return what was done.

    Args:
        stem: The name; where a file of it exists, a number is added.
        contents: What to write, by suffix.
    """
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}-{number}"
        paths = [Path(f"{name}{suffix}") for suffix in contents]
        if any(path.exists() for path in paths):
            continue
        try:
            for path, content in zip(paths, contents.values(), strict=True):
                with path.open("xb") as file:
                    file.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            return clean_text(str(error))
        return f"written to {clean_text(name + ' and '.join(contents))}"
    return f"{clean_text(stem)}: too many files of this name here"
