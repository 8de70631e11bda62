"""Model text as HTML: what survives, what is inert, and what becomes a button."""

from __future__ import annotations

import uuid

import pytest

from apps.chat.pages.rendering import Citation, render_answer

MESSAGE = uuid.UUID(int=7)
CITATIONS = {"S1": Citation("S1", '手册"<b>.pdf 第 3 页')}
BUTTON = (
    f'<button class="cite" form="sources-{MESSAGE}" name="source" value="S1" '
    'aria-label="来源 1：手册&quot;&lt;b&gt;.pdf 第 3 页">1</button>'
)
GONE = '<span class="cite-gone">2 来源已删除</span>'


def render(text):
    return str(render_answer(text, CITATIONS, MESSAGE)).strip()


def test_labels_become_buttons_and_deleted_ones_a_note():
    assert render("十五天[S1][S2]。") == f"<p>十五天{BUTTON}{GONE}。</p>"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`[S1]`", "<p><code>[S1]</code></p>"),
        ("[S1](http://a.b)", f"<p>{BUTTON}(http://a.b)</p>"),
        ("[S1]: http://a.b", f"<p>{BUTTON}: http://a.b</p>"),
        ("[S123]", "<p>[S123]</p>"),
        ("\ue0001\ue001[S1]\ue002", f"<p>1{BUTTON}</p>"),
    ],
)
def test_label_in_an_odd_place_is_read_once(text, html):
    assert render(text) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("<img src=x onerror=y>", "<p>&lt;img src=x onerror=y&gt;</p>"),
        ('<div hx-get="/x">y</div>', '<p>&lt;div hx-get="/x"&gt;y&lt;/div&gt;</p>'),
        ("![pixel](http://evil.invalid/p.png)", "<p>pixel</p>"),
        ("![a <b>](http://evil.invalid/p.png)", "<p>a &lt;b&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](data:text/html,1)", "<p>[x](data:text/html,1)</p>"),
        ("[x](/admin/)", "<p>[x](/admin/)</p>"),
        ("[x](//evil.invalid)", "<p>[x](//evil.invalid)</p>"),
        ("<javascript:alert(1)>", "<p>&lt;javascript:alert(1)&gt;</p>"),
        ("[x](http:/admin/)", "<p>[x](http:/admin/)</p>"),
        ("[x](http:javascript:1)", "<p>[x](http:javascript:1)</p>"),
        ("[x](https:///evil.invalid)", "<p>[x](https:///evil.invalid)</p>"),
        ("[x](https://a.b@evil.invalid)", "<p>[x](https://a.b@evil.invalid)</p>"),
        ("[x](blob:https://a.b/1)", "<p>[x](blob:https://a.b/1)</p>"),
        ("[x](&#106;avascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](java\nscript:alert(1))", "<p>[x](java\nscript:alert(1))</p>"),
        ("http://evil.invalid www.evil.invalid", "<p>http://evil.invalid www.evil.invalid</p>"),
        ("![x][r]\n\n[r]: http://e.e/x.png", "<p>![x][r]</p>\n<p>[r]: http://e.e/x.png</p>"),
        (
            "[![i](http://evil.invalid/x.png)](https://a.b)",
            '<p><a href="https://a.b" rel="noopener nofollow">i</a></p>',
        ),
        ("[x]: https://a.b\n\n[x]", "<p>[x]: https://a.b</p>\n<p>[x]</p>"),
        (
            '[x](https://a.b "t\' onclick=y")',
            '<p><a href="https://a.b" title="t\' onclick=y" rel="noopener nofollow">x</a></p>',
        ),
    ],
)
def test_hostile_markdown_is_inert(text, html):
    assert render(text) == html


def test_info_string_of_a_code_block_leaves_no_attribute():
    assert " onclick" not in render('```js" onclick="alert(1)\nx\n```')


def test_table_code_list_and_link_survive():
    text = "# T\n\n- a\n\n| x |\n|--:|\n| 1 |\n\n```py\n<b> & [S1]\n```\n\n[l](https://a.b/?c=1&d)"
    assert render(text) == (
        "<h3>T</h3>\n<ul>\n<li>a</li>\n</ul>\n<table>\n<thead>\n<tr>\n"
        '<th class="right">x</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td class="right">1</td>\n'
        "</tr>\n</tbody>\n</table>\n"
        '<div class="code"><button class="tool code-copy" type="button" data-copy-code>'
        "复制</button>"
        "<pre><code>&lt;b&gt; &amp; [S1]\n</code></pre></div>\n"
        '<p><a href="https://a.b/?c=1&amp;d" rel="noopener nofollow">l</a></p>'
    )
