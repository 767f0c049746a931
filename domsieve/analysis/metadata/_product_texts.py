"""What the texts of a page say about its product: codes with labels, availability, buttons to buy."""

import re
from typing import NamedTuple

from domsieve.analysis.metadata._elements import Elements, Places
from domsieve.analysis.metadata.values import clean_text
from domsieve.budget import check
from domsieve.urls import split_url

# Codes

# A label is not part of a longer word, and not of a word of letters and digits.
_END = r"(?![^\W\d_])(?:(?<=[#.№°º)])|(?<![\x00-\x7f])|(?!\d))"
_SKU_LABEL = re.compile(
    r"(?:(?:store |shop )?sku|tcin|dpci|(?:item|product|article|artikel|catalogu?e?|web|internet|style|"
    r"listing|offer|order|stock|lot|ad|deal)[ .-]{0,2}"
    r"(?:no\.?|nr\.?|number|num\.?|code|id|#|№)|item ?#|(?:artikel|bestell|produkt|art\.?|"
    r"best\.?)[ -]?(?:nr\.?|nummer|code)|"
    r"(?:code|r[eé]f[eé]?rence|r[eé]f\.?|n[°º]|numer|num[eé]ro|c[oó]d(?:igo|ice|\.)?|kods?|kód|kod|koda|šifra|sifra|"
    r"cod)(?: (?:de |do |del |de l['’])?(?:prod\w{0,8}|art\w{0,8}|objet|annonce|towaru|výrobku|tovaru|zboží|"
    r"preces|oggetto))?"
    r"|id[ -]prod\w{1,8}|produkta kods|kód tovaru|asin|артикул|код(?: товара)?|код на продукта|номер (?:товара|лота)|"
    r"(?:商品|產品|产品|品號|品号)(?:編號|编号|番号|コード|代碼|型號)?|딜번호|상품번호|상품코드|מק[\"״]?ט|"
    r"رقم المنتج|رمز المنتج)"
    rf"(?: ?\([^()]{{0,20}}\))?{_END}",
    re.IGNORECASE,
)
_MPN_LABEL = re.compile(
    r"(?:mpn|model(?:l|o|e)?(?:[ -]?(?:no\.?|nr\.?|number|nummer|code))?|part[ -]?(?:no\.?|number)|"
    r"(?:hersteller|manufacturer)[\w' -]{0,20}(?:nr\.?|nummer|number|code|id))"
    rf"{_END}",
    re.IGNORECASE,
)
_GTIN_LABEL = re.compile(
    r"(?:ean|gtin|upc|isbn|jan|barcode|штрих-?код)(?:[ -]?(?:13|10|8|12|14|code|kód|number|no\.?))?"
    rf"{_END}",
    re.IGNORECASE,
)
_BRAND_LABEL = re.compile(
    r"(?:brand|marke|marque|marca|merk|marka|märke|varumärke|merkki|značka|výrobce|výrobca|producent|hersteller|"
    r"manufacturer|fabricante|fabricant|бренд|производитель|ražotājs|品牌|ブランド|브랜드)"
    rf"{_END}",
    re.IGNORECASE,
)
# Labels that can also stand before another code, such as that of a voucher.
_VAGUE_LABEL = re.compile(
    r"(?:ad|cod|code|id|koda?|kods|kód|lot|n[°º]|num[eé]ro?|numer|order|r[eé]f[a-zé]{0,7}|stock|style|код|номер)\W{0,4}\Z",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9./_-]{1,38}[A-Za-z0-9]|\d{3,}")
_MARKS = " \t:：#№.-–〈〉<>()[]【】|"
_LONGEST_LABELLED, _LONGEST_BRAND = 120, 60  # characters
_BEFORE, _AFTER = 400, 1_500  # shown texts before and after the name that are read. A guess


class Labelled(NamedTuple):
    """A value behind a label in the page.

    Parameters
    ----------
    field : ``"sku"``, ``"mpn"``, ``"gtin"`` or ``"brand"``.
    label : the label as the page shows it.
    text : the value.
    node : the text node with the value.
    cost : distance from the name of the product.
    is_vague : whether the label can be that of another code.
    """

    field: str
    label: str
    text: str
    node: int
    cost: int
    is_vague: bool = False


def _label(text: str) -> tuple[str, re.Match[str]] | None:
    """Return the field of the label that a text begins with, and the label."""
    matches = (
        ("gtin", _GTIN_LABEL.match(text)),
        ("mpn", _MPN_LABEL.match(text)),
        ("sku", _SKU_LABEL.match(text)),
        ("brand", _BRAND_LABEL.match(text)),
    )
    return next(((field, match) for field, match in matches if match is not None), None)


def labelled_values(places: Places) -> list[Labelled]:
    """Return the codes and brands behind labels, such as ``Item number: 12-345``, nearest to the name first.

    A value is in the line of its label, or is the next text.
    """
    found = []
    texts = places.texts(_BEFORE, _AFTER)
    for at, (node, text) in enumerate(texts):
        if not 1 < len(text) <= _LONGEST_LABELLED:
            continue
        check()
        text = " ".join(text.split()).strip(_MARKS_OF_LABELS)
        if (labelled := _label(text)) is None:
            continue
        field, match = labelled
        rest = text[match.end() :]
        held, value = node, rest.strip(_MARKS)
        if not value:
            following = (
                (other, " ".join(said.split()).strip(_MARKS)) for other, said in texts[at + 1 : at + 4]
            )
            held, value = next((pair for pair in following if pair[1]), (node, ""))
        elif field == "brand" and not rest.lstrip().startswith((":", "：")):
            continue
        if value := _code(value) if field != "brand" else value[:_LONGEST_BRAND]:
            label = clean_text(match[0], 40)
            is_vague = _VAGUE_LABEL.match(label) is not None
            found.append(Labelled(field, label, value, held, places.cost(held), is_vague))
    return sorted(found, key=lambda one: one.cost)


_MARKS_OF_LABELS = " \t:：〈〉<>()[]【】|•·-*"


def _code(text: str) -> str:
    """Return the code that a text is, or begins with if the rest is in brackets; else an empty string."""
    text = text.removeprefix("\u200e").strip()
    match = _CODE.match(text)
    if match is None or sum(map(str.isdigit, match[0])) < 2:
        return ""
    rest = text[match.end() :].strip(_MARKS)
    return (
        match[0]
        if not rest or rest[0] in ",;/|" or (text[match.end()] in " \u00a0)]】〉" and len(rest.split()) <= 3)
        else ""
    )


def address_codes(places: Places, address: str) -> list[Labelled]:
    """Return the codes that the page shows near the name and that are also in its address, nearest first."""
    own = "".join(filter(str.isalnum, address.lower()))
    found = []
    for node, line in places.lines(_CODES_BEFORE, _CODES_AFTER):
        for part in line.split(" "):
            text = part.strip(_MARKS)
            plain = "".join(filter(str.isalnum, text.lower()))
            if sum(map(str.isdigit, plain)) >= 5 and plain in own and _code(text) == text:
                found.append(Labelled("sku", "in the address", text, node, places.cost(node)))
    return sorted(found, key=lambda one: one.cost)


_CODES_BEFORE, _CODES_AFTER = 10, 15  # shown texts around the name. A guess


def is_gtin(text: str) -> bool:
    """Return whether a text is a GTIN of 8, 12, 13 or 14 digits with the right check digit."""
    if len(text) not in {8, 12, 13, 14} or not (text.isascii() and text.isdigit()):
        return False
    digits = [int(digit) for digit in text]
    return sum(digit * (3 if i % 2 else 1) for i, digit in enumerate(reversed(digits))) % 10 == 0


_ID_KEYS = (
    "sku",
    "pid",
    "productid",
    "product_id",
    "itemid",
    "item_id",
    "item",
    "goods_id",
    "goodsid",
    "prodid",
    "id",
    "code",
)
_RUN = re.compile(r"\d{5,}")


def address_code(address: str) -> str:
    """Return the code of a product in its address, empty if there is none.

    It is the value of a parameter such as ``pid``, or else in the path a part of capitals and digits, or the last
    number of five or more digits.
    """
    parts = split_url(address)
    if parts is None:
        return ""
    query = [pair.partition("=") for pair in parts.query.split("&")[:50]]
    values = {name.lower(): value for name, _, value in query}
    for key in _ID_KEYS:
        if (value := values.get(key, "")) and _CODE.fullmatch(value) and sum(map(str.isdigit, value)) >= 3:
            return value
    pieces = [
        piece.rpartition(".")[0] if "." in piece[-6:] else piece
        for piece in parts.path[:2_000].split("/")
        if piece
    ]
    for piece in reversed(pieces[-4:]):
        if 6 <= len(piece) <= 20 and piece.isalnum() and piece.isupper() and any(map(str.isdigit, piece)):
            return piece
        if runs := _RUN.findall(piece):
            return str(runs[-1])
    return ""


# Availability

_OUT = re.compile(
    r"out of stock|sold[ -]out|currently unavailable|temporarily unavailable|no longer available|"
    r"not available(?! (?:in|for|at))|"
    r"discontinued|nicht (?:mehr )?(?:verfügbar|lieferbar|auf lager|vorrätig)|ausverkauft|vergriffen|derzeit nicht|"
    r"actuellement indisponible|indisponible|rupture de stock|épuisé|non disponibile|esaurito|agotado|no disponible|"
    r"sin existencias|esgotado|indisponível|sem estoque|niet (?:op voorraad|leverbaar|beschikbaar)|uitverkocht|"
    r"niedostępny|wyprzedan|brak w magazynie|vyprodáno|není skladem|vypredané|nedostupn|slutsåld|udsolgt|utsolgt|"
    r"loppuunmyyty|stoc epuizat|indisponibil|нет в наличии|распродан|немає в наявності|изчерпан|rasprodano|"
    r"缺貨|缺货|售完|售罄|已售完|補貨中|品切れ|売り切れ|在庫なし|품절|매진|אזל|אינו במלאי|לא במלאי|غير متوفر|"
    r"نفدت الكمية|tükendi|hết hàng",
    re.IGNORECASE,
)
_IN = re.compile(
    r"in stock|only \d+ left|available now|auf lager|sofort lieferbar|lieferbar|vorrätig|verfügbar|en stock|"
    r"disponible|"
    r"disponibile|disponibilità|disponível|em estoque|op voorraad|dostępny|w magazynie|skladem|na sklade|"
    r"i lager|på lager|"
    r"varastossa|în stoc|in stoc|в наличии|есть в наличии|в наявності|na zalihi|na zalogi|ir noliktavā|有貨|"
    r"有货|現貨|在庫あり|"
    r"متوفر|במלאי|stokta",
    re.IGNORECASE,
)
_BUY = re.compile(
    r"\W{0,6}(?:add to (?:your |my )?(?:cart|basket|bag|trolley|order)|buy (?:it )?now|buy$|add item|place bid|"
    r"in den (?:warenkorb|einkaufswagen)|jetzt kaufen|ajouter (?:au|à mon) panier|acheter|aggiungi al carrello|"
    r"acquista|añadir (?:al? |a la )(?:carrito|cesta|bolsa)|agregar al carr|comprar|adicionar ao carrinho|"
    r"in winkelwagen|in winkelmand|dodaj do koszyka|do koszyka|do košíku|do košíka|vložiť do|dodaj v košarico|"
    r"u košaricu|lägg i (?:varukorg|kundvagn)|læg i kurv|legg i handlekurv|lisää (?:ostos)?koriin|"
    r"adaug[aă] [iî]n co[sș]|"
    r"kosárba|в корзину|купить|до кошика|купи|pievienot grozam|ielikt grozā|į krepšelį|lisa ostukorvi|sepete ekle|"
    r"加入購物車|加入购物车|放入購物車|立即購買|立即购买|我要買|カートに入れる|カートに追加|購入|장바구니|"
    r"구매하기|바로구매|"
    r"הוסף לסל|הוספה לסל|أضف إلى|thêm vào giỏ|mua ngay)",
    re.IGNORECASE,
)
_BUTTON_WORDS = re.compile(
    r"add[-_]?(?:to)?[-_]?(?:cart|basket|bag)|buy[-_]?(?:now|button|box)|tocart", re.IGNORECASE
)
_NO_NOTES = frozenset(("a", "label", "li", "option"))
_PICTURE = re.compile(
    r"bild|image|immagine|imagem|imagen|photo|foto|picture|video|chat|obráz|изображ", re.IGNORECASE
)
_LONGEST_NOTE = 45
_NEAR = 120  # cost of a text about the availability of the product itself. A guess


def availability_said(elements: Elements, places: Places, last: int) -> tuple[str, int]:
    """Return InStock or OutOfStock by the text nearest to the name or price that says so, and its node.

    Parameters
    ----------
    last : the node with the price; -1 without one.
    """
    best: tuple[int, str, int] | None = None
    for node, text in places.texts(_BEFORE, _AFTER):
        if not 3 < len(text) <= _LONGEST_NOTE:
            continue
        term = "OutOfStock" if _OUT.search(text) else "InStock" if _IN.search(text) else ""
        if not term or _PICTURE.search(text) or elements.tag(int(elements.parent[node])) in _NO_NOTES:
            continue
        check()
        cost = places.cost(node)
        if last >= 0:
            cost = min(cost, abs(places.distance(node) - places.distance(last)))
        if cost <= _NEAR and (best is None or cost < best[0]):
            best = (cost, term, node)
    return (best[1], best[2]) if best else ("", -1)


def buy_button(elements: Elements, places: Places) -> int:
    """Return the control to buy the product that is nearest to its name; -1 without one that is near."""
    controls = []
    for text in elements.nodes_beginning_with(_BUY, longest=_LONGEST_BUTTON):
        around = text
        for _ in range(_DEPTH):
            if elements.tag(around) in {"a", "button"}:
                controls.append(around)
                break
            around = max(int(elements.parent[around]), 0)
    for node in elements.tagged("button", "input"):
        attributes = elements.attributes(node)
        if elements.tag(node) == "input" and attributes.get("type", "").lower() not in _BUTTONS:
            continue
        said = (attributes.get(name, "")[:300] for name in ("value", "aria-label", "title"))
        named = (attributes.get(name, "")[:300] for name in ("class", "id", "name"))
        if any(map(_BUY.match, said)) or _BUTTON_WORDS.search(" ".join(named)):
            controls.append(node)
    best, found = _NEAR, -1
    for node in sorted(set(controls)):
        check()
        if (cost := places.cost(node)) < best and "disabled" not in elements.attributes(node):
            best, found = cost, node
    return found


_DEPTH = 5  # elements between a text and its button
_LONGEST_BUTTON = 60
_BUTTONS = frozenset(("button", "image", "submit"))
