# SPDX-License-Identifier: Apache-2.0
"""What the tests of smd-report share: a page read by an HTML parser."""

import base64
import hashlib
import html.parser
import math
import re
import shlex

NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
VOID = {"meta", "br", "img", "link", "input", "hr"}
TAGS = {"html", "head", "meta", "title", "style", "script", "body", "header", "main", "footer", "nav", "section", "h1", "h2",
        "h3", "p", "a", "ul", "li", "div", "figure", "details", "summary", "pre", "code", "table", "caption", "thead",
        "tbody", "tr", "th", "td", "span", "dl", "dt", "dd", "bdi", "strong",
        "img", "svg", "desc", "g", "path", "rect", "text", "image"}
ATTRIBUTES = {"charset", "name", "content", "http-equiv", "lang", "id", "class", "href", "title", "scope", "aria-label",
              "aria-labelledby", "data-axes", "data-key", "src", "alt", "role", "viewbox", "width", "height", "x", "y", "d", "transform",
              "text-anchor", "fill", "preserveaspectratio"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children = tag, dict(attributes), parent, []

    def all(self, tag=None, class_name=None):
        for child in self.children:
            if isinstance(child, Node):
                if tag in (None, child.tag) and (class_name is None or
                                                 class_name in child.attributes.get("class", "").split()):
                    yield child
                yield from child.all(tag, class_name)

    def text(self):
        return "".join(child.text() if isinstance(child, Node) else child for child in self.children)


class Page(html.parser.HTMLParser):
    """The tree of a page. Every element must be closed, in order: then no name of a trial opened or closed one."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("#", {}, None)
        self.feed(text)
        self.close()
        assert self.at is self.root, f"<{self.at.tag}> is not closed"

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs, self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.children.append(Node(tag, attrs, self.at))

    def handle_endtag(self, tag):
        assert self.at.tag == tag, f"</{tag}> in <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data[:60]}")

    def one(self, tag, **attributes):
        found = [node for node in self.root.all(tag)
                 if all(node.attributes.get(name) == value for name, value in attributes.items())]
        assert len(found) == 1, f"{len(found)} of {tag} {attributes}"
        return found[0]

    def by_id(self, name):
        found = [node for node in self.root.all() if node.attributes.get("id") == name]
        assert len(found) <= 1, f"the id {name} is there {len(found)} times"
        return found[0] if found else None


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_page(page):
    """Nothing runs but the page's own script, nothing is fetched, links lead to places of the page."""
    ids = [node.attributes["id"] for node in page.root.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids)), "an id is there twice"
    for node in page.root.all():
        assert node.tag in TAGS, node.tag
        for name, value in node.attributes.items():
            assert name in ATTRIBUTES, f"{node.tag} {name}"
            if name == "href" and node.tag == "image":
                assert re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/]+=*", value), value[:40]
            elif name == "src":
                assert re.fullmatch(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/]+=*", value), value[:60]
            elif name == "href":
                assert value.startswith("#") and value[1:] in ids, value
            elif name == "id":
                assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", value), value
    (style,), (script,) = list(page.root.all("style")), list(page.root.all("script"))
    policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert policy == (f"default-src 'none'; style-src {digest(style.text())}; script-src {digest(script.text())}; "
                      "img-src data:; base-uri 'none'; form-action 'none'"), policy
    assert "url(" not in style.text() and "@import" not in style.text()
    return page


def table_rows(table):
    """Rows of a table by the names of its columns; numbers as text."""
    header = [cell.text() for cell in table.all("th")]
    return [dict(zip(header, [cell.text() for cell in row.all("td")])) for row in next(table.all("tbody")).all("tr")]


def figures(page):
    """For each figure: title, rows of the table behind it, commands."""
    for figure in page.root.all("figure"):
        svg = next(figure.all("svg"))
        title = next(svg.all("title")).text()
        yield (title, table_rows(next(figure.all("table"))),
               [code.text() for code in figure.all("code")], figure)


def number(value):
    """A number of JSON Lines."""
    return NON_FINITE.get(value, value) if isinstance(value, str) else value


def six(value):
    """A number as a page shows it: six digits, if it is not whole."""
    return float(value) if float(value).is_integer() and abs(value) < 1e9 else float(f"{value:.6g}")


def summary(values):
    """Of (step, number) pairs what the table behind a figure says, as text: NaN equals NaN."""
    finite = [value for _, value in values if math.isfinite(value)]
    first, last = values[0], values[-1]
    return repr((len(values), float(first[0]), six(first[1]), float(last[0]), six(last[1]),
                 six(min(finite)) if finite else "", six(max(finite)) if finite else ""))


def compare_with_commands(case, page, rows):
    """Every curve of a figure has the first, last, least and greatest number that the command behind it prints. `rows` runs
    a command and returns its rows. Returns how many curves were compared."""
    compared = 0
    for title, table, commands, _ in figures(page):
        words = shlex.split(commands[0]) if commands else [""]
        if words[0] != "smd-reduce" or "-r" not in words or not table or "points" not in table[0]:
            continue
        statistic = words[words.index("-r") + 1]
        if "," in statistic:  # a fan
            continue
        printed = {}
        for row in rows(*words):
            if row[statistic] is not None:
                key = (row["trial"], row["tensor"], row["mode"], row["worker"] if "-w" in words else "")
                printed.setdefault(key, []).append((row["step"], number(row[statistic])))
        expected = [summary(values) for values in printed.values()]
        for row in table:
            step = next(name for name in row if name.startswith("first ") and name != "first")[len("first "):]
            shown = (row[f"first {step}"], row["first"], row[f"last {step}"], row["last"], row["least"], row["greatest"])
            found = repr((int(row["points"]), *(text and float(text) for text in shown)))
            case.assertIn(found, expected, (title, row["curve"], commands))
            compared += 1
        if "-n" in words:
            case.assertEqual(len(table), len(expected), (title, commands))
    return compared
