"""Words that identify page widgets: class names that site builders use, and texts of buttons and links.

Phrases are folded: words in lower case, separated by single spaces.
"""


def _classes(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(lines: str) -> frozenset[str]:
    return frozenset(map(str.strip, lines.strip().splitlines()))


COPY = _phrases(
    """
    copy
    copied
    copy code
    copy code to clipboard
    copy as markdown
    copy command
    copy for llm
    copy item path
    copy link
    copy link to clipboard
    copy markdown
    copy page
    copy page as markdown
    copy snippet
    copy text
    copy the code
    copy to clipboard
    copy url
    kopieren
    code kopieren
    link kopieren
    copier
    copier le code
    copier le lien
    copiar
    copiar código
    copiar enlace
    copia
    copia link
    kopiëren
    kopiera
    kopiuj
    копировать
    コピー
    コードをコピー
    复制
    复制代码
    複製
    복사
    """
)
PAGE_TOOLS = _phrases(
    """
    ask ai about this page
    ask chatgpt
    ask claude
    ask docs ai
    collapse description
    create documentation issue
    edit on bitbucket
    edit on github
    edit on gitlab
    edit page
    edit page on github
    edit source
    edit the source
    edit this doc
    edit this document
    edit this page
    edit this page on github
    edit this page on gitlab
    edit this section
    expand description
    file an issue
    improve this doc
    improve this document
    improve this page
    open an issue
    open as markdown
    open markdown
    open in binder
    open in chatgpt
    open in claude
    open in colab
    open in codesandbox
    open in codepen
    open in cursor
    open in github
    open in markdown
    open in perplexity
    open in playground
    open in stackblitz
    open in vs code
    raise an issue
    report a bug in this page
    report an issue
    report an issue with this page
    report issue
    show source
    suggest a change
    suggest an edit
    suggest changes
    suggest edits
    view as markdown
    view as plain text
    view markdown
    view in markdown
    view on github
    view page as markdown
    view page source
    view source
    view source on github
    view this page on github
    diese seite bearbeiten
    seite bearbeiten
    auf github bearbeiten
    modifier cette page
    modifier sur github
    éditer cette page
    editar esta página
    editar esta pagina
    modifica questa pagina
    このページを編集
    编辑此页
    編輯此頁
    이 페이지 편집
    редактировать эту страницу
    """
)
# On buttons that open a table of contents.
CONTENTS = _phrases(
    """
    contents
    in this article
    on this page
    show contents
    show table of contents
    table of contents
    toggle table of contents
    auf dieser seite
    inhalt
    inhaltsverzeichnis
    sur cette page
    sommaire
    en esta página
    nesta página
    in questa pagina
    op deze pagina
    このページの内容
    本页总览
    本頁導覽
    """
)
SKIP = (
    "skip to ",
    "skip navigation",
    "skip main navigation",
    "skip the navigation",
    "skip links",
    "jump to content",
    "jump to main",
    "jump to navigation",
    "jump to search",
    "go to content",
    "go to main content",
    "zum inhalt",
    "zum hauptinhalt",
    "direkt zum inhalt",
    "aller au contenu",
    "passer au contenu",
    "accéder au contenu",
    "saltar al contenido",
    "ir al contenido",
    "ir para o conteúdo",
    "pular para o conteúdo",
    "vai al contenuto",
    "salta al contenuto",
    "naar de inhoud",
    "ga naar de inhoud",
    "gå till innehåll",
    "hopp til innhold",
    "przejdź do treści",
    "перейти к содержимому",
    "本文へ",
    "コンテンツへ",
    "跳到主要内容",
    "跳至内容",
    "본문 바로가기",
)
PERMALINK = _phrases(
    """
    anchor
    anchor link
    copy link to heading
    copy link to section
    copy link to this section
    direct link
    link
    link to heading
    link to section
    link to this definition
    link to this heading
    link to this headline
    link to this section
    permalink
    permalink to this definition
    permalink to this heading
    permalink to this headline
    section link
    """
)
# Beginnings of the text of heading anchors that repeat the heading.
PERMALINK_TO = ("direct link to ", "permalink to ", "permalink for ", "section titled ", "link to ")
PERMALINK_MARKS = frozenset("#¶§🔗⚓∞⌗☍\u200b\uf0c1")  # the last is a link in Font Awesome

# Whole classes in lower case.
PERMALINK_CLASSES = _classes(
    """
    anchor anchor-heading anchor-link anchorjs-link anchorlink deep-link direct-link hash-link header-anchor
    header-link headerlink heading-anchor heading-link headinglink markdownit-anchor permalink section-link
    sl-anchor-link toc-anchor
    """
)
LINE_NUMBER_CLASSES = _classes(
    """
    blob-num blob-line-num code-line-number gl gutter hljs-ln-line hljs-ln-n hljs-ln-numbers line-num
    line-number line-numbers line-numbers-rows line_number line_numbers linenodiv lineno linenos linenr linenum
    linenumber linenumbers ln lnr lnt nr react-syntax-highlighter-line-number rouge-gutter
    """
)
SKIP_CLASSES = _classes(
    """
    header-skip-link s-topbar--skip-link skip skip-link skip-links skip-main skip-nav skip-navigation
    skip-to-content skip-to-content-link skip-to-main skiplink skiplinks skipnav unav__skiplinks
    """
)
EDIT_CLASSES = frozenset(["editsection", "mw-editsection", "mw-editsection-like", "test-arrow"])
# Parts of classes.
COPY_PARTS = (
    "clipboard",
    "copybtn",
    "copy-btn",
    "btn-copy",
    "copy-button",
    "copy-code",
    "code-copy",
    "copybutton",
)
