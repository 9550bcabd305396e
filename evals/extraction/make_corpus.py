"""Write our small corpus: pages of seven types in ten languages, with their content.

    python -m evals.extraction.make_corpus

All words and all markup were written for this purpose. Layouts differ between pages like those of real sites: semantic
elements, nested divisions or tables, and class names of several systems.
"""

import html
import json
from dataclasses import dataclass

from evals.extraction.corpus import OWN_CORPUS


@dataclass(frozen=True)
class LanguageText:
    """A language's title, paragraphs and headings of the content, and labels around it."""

    code: str
    title: str
    heads: tuple[str, ...]
    paragraphs: tuple[str, ...]
    labels: tuple[str, ...]
    legal: str


LANGUAGE_TEXTS = (
    LanguageText(
        "en",
        "How a small town got its river back",
        ("A plan on a napkin", "What it cost", "The fish return"),
        (
            "For sixty years the river ran under the market square in a concrete pipe, and most people had forgotten it was there.",
            "Then, one dry summer, a retired surveyor drew its old course on a paper napkin and asked the council a simple question: why not?",
            "The work took four years. Engineers lifted the slabs one street at a time, planted willows, and left room for floods.",
            "It was cheaper than replacing the pipe, which had begun to leak, and far cheaper than another flooded basement.",
            "Last spring, children counted eleven trout below the new bridge. The surveyor, now ninety, counted them too.",
        ),
        (
            "Home",
            "News",
            "Sports",
            "Contact us",
            "Log in",
            "Share this",
            "Related stories",
            "Subscribe to our newsletter",
        ),
        "© Riverside Gazette. All rights reserved. Terms of use. Privacy policy.",
    ),
    LanguageText(
        "de",
        "Wie man ein altes Fahrrad wieder flott macht",
        ("Das Werkzeug", "Die Kette", "Die Bremsen"),
        (
            "Ein Fahrrad, das zehn Jahre im Keller stand, braucht meist weniger Arbeit, als man beim ersten Anblick befürchtet.",
            "Zuerst wird alles gründlich geputzt, denn unter dem Staub zeigt sich, welche Teile verschlissen sind und welche nur schmutzig.",
            "Die Kette legt man über Nacht in Petroleum, trocknet sie am Morgen mit einem Lappen und ölt danach jedes Glied einzeln.",
            "Bremsgummis werden mit den Jahren hart. Neue kosten wenig und sind in einer Viertelstunde gewechselt.",
            "Am Ende folgt die Probefahrt, am besten auf einem leeren Parkplatz und nicht gleich den steilsten Berg hinunter.",
        ),
        (
            "Startseite",
            "Ratgeber",
            "Werkstatt",
            "Kontakt",
            "Anmelden",
            "Teilen",
            "Das könnte Sie auch interessieren",
            "Newsletter abonnieren",
        ),
        "© Radwerkstatt am Tor. Alle Rechte vorbehalten. Impressum. Datenschutz.",
    ),
    LanguageText(
        "fr",
        "Le pain au levain sans se presser",
        ("La farine", "L'attente", "La cuisson"),
        (
            "Le levain demande peu de travail mais beaucoup de patience : la pâte lève pendant que l'on dort.",
            "Le soir, on mélange la farine, l'eau et une cuillerée de levain, puis on couvre le saladier d'un torchon humide.",
            "Au matin, la pâte a doublé. On la replie quatre fois sur elle-même, sans la pétrir, et on la laisse reposer une heure.",
            "Le four doit être très chaud et la cocotte aussi, car c'est la vapeur enfermée qui donne à la croûte sa couleur.",
            "Il faut encore attendre que le pain refroidisse avant de le couper, et c'est peut-être le plus difficile.",
        ),
        ("Accueil", "Recettes", "Boutique", "Contact", "Connexion", "Partager", "À lire aussi", "Recevoir la lettre"),
        "© La Table de Jeanne. Tous droits réservés. Mentions légales. Cookies.",
    ),
    LanguageText(
        "es",
        "El faro que todavía se enciende a mano",
        ("La escalera", "La lámpara", "El relevo"),
        (
            "Cada tarde, Inés sube ciento cuarenta peldaños para encender un faro que figura como automático en todos los mapas.",
            "La avería fue hace nueve inviernos, y la pieza de recambio nunca llegó, así que ella se ofreció por una semana.",
            "La lámpara tarda un minuto en alcanzar toda su fuerza, y en ese minuto se oye el mar golpear contra la roca.",
            "Los pescadores le dejan en la puerta lo que sobra de la mañana, y ella lleva un cuaderno con el nombre de cada barco.",
            "Su nieta ya conoce el mecanismo. Dice que, cuando llegue la pieza, la guardarán en un cajón por si acaso.",
        ),
        (
            "Inicio",
            "Noticias",
            "Cultura",
            "Contacto",
            "Entrar",
            "Compartir",
            "Te puede interesar",
            "Suscríbete al boletín",
        ),
        "© Diario de la Costa. Todos los derechos reservados. Aviso legal. Privacidad.",
    ),
    LanguageText(
        "ru",
        "Почему скрипит снег",
        ("Кристаллы", "Мороз", "Звук"),
        (
            "В сильный мороз снег под ногами скрипит, а в оттепель молчит, и причина тому спрятана в каждой снежинке.",
            "Снежинка состоит из хрупких ледяных кристаллов, которые ломаются под тяжестью шага почти одновременно.",
            "Когда воздух теплее, кристаллы покрыты тонкой плёнкой воды, и она гасит звук раньше, чем он возникнет.",
            "Опытный человек по высоте скрипа может назвать температуру с ошибкой всего в два или три градуса.",
            "Попробуйте и вы: запишите звук шагов в разные дни и сравните записи с показаниями термометра.",
        ),
        ("Главная", "Новости", "Наука", "Контакты", "Войти", "Поделиться", "Читайте также", "Подписаться на рассылку"),
        "© Журнал «Погода». Все права защищены. Условия использования.",
    ),
    LanguageText(
        "ja",
        "小さな本屋が続く理由",
        ("店の棚", "夜の読書会", "これから"),
        (
            "駅から十分ほど歩いた路地に、店主が一人で営む小さな本屋がある。開店してから今年で三十年になる。",
            "棚に並ぶのは新刊ばかりではない。店主が読んで面白かった本だけを、短い手書きの紹介とともに置いている。",
            "毎月最後の金曜日には読書会が開かれ、近所の人々が同じ一冊を持ち寄って、夜遅くまで語り合う。",
            "売り上げは決して多くないが、遠くの町から電話で注文してくれる客が少しずつ増えてきたという。",
            "「本を選ぶ時間を売っているのです」と店主は笑い、また新しい紹介の紙を一枚書き始めた。",
        ),
        ("ホーム", "ニュース", "文化", "お問い合わせ", "ログイン", "共有する", "関連記事", "メールマガジン登録"),
        "© 路地裏通信 無断転載を禁じます 利用規約 プライバシー",
    ),
    LanguageText(
        "ar",
        "كيف تُروى واحة من غير مضخات",
        ("القناة", "الحصص", "الساعة"),
        (
            "في أطراف الصحراء واحة صغيرة تُروى منذ ثمانية قرون بقناة حفرها الأجداد تحت الأرض، ولا تزال تعمل إلى اليوم.",
            "ينحدر الماء ببطء من سفح الجبل، فلا يحتاج إلى مضخة ولا إلى وقود، ولا يتبخر منه في الطريق إلا القليل.",
            "تُقسم الحصص بين العائلات بالساعات، ولكل عائلة وقت معلوم تفتح فيه الساقية وتغلقها حين ينتهي دورها.",
            "كان الوقت يُقاس بوعاء مثقوب يطفو على الماء حتى يغرق، واليوم يكفي هاتف في يد الحارس.",
            "يقول الحارس إن القناة علّمت القرية الصبر، وإن من يستعجل الماء يخسره قبل أن يصل إليه.",
        ),
        ("الرئيسية", "أخبار", "ثقافة", "اتصل بنا", "دخول", "مشاركة", "اقرأ أيضا", "اشترك في النشرة"),
        "© صحيفة الواحة. جميع الحقوق محفوظة. شروط الاستخدام.",
    ),
    LanguageText(
        "he",
        "הגן שצמח על הגג",
        ("האדמה", "המים", "השכנים"),
        (
            "לפני חמש שנים העלתה דינה שק אדמה אחד אל גג הבניין, והיום צומחים שם עגבניות, נענע ושלושה עצי לימון.",
            "בהתחלה חששו הדיירים מרטיבות, ולכן הונחה שכבה כפולה של יריעות ומעליה חצץ דק שמנקז את הגשם.",
            "מי המזגנים נאספים בחבית גדולה ומשקים את הערוגות בלילה, כך שכמעט אין צורך במי ברז.",
            "כל קומה אחראית על ערוגה אחרת, ומי שנוסע לחופשה משאיר את המפתח אצל מי שנשאר בבית.",
            "בסוף הקיץ אוכלים יחד ארוחה אחת על הגג, וכל מה שמונח על השולחן גדל במרחק צעדים ספורים ממנו.",
        ),
        ("דף הבית", "חדשות", "תרבות", "צור קשר", "כניסה", "שיתוף", "כתבות נוספות", "הרשמה לעלון"),
        "© עיתון השכונה. כל הזכויות שמורות. תנאי שימוש.",
    ),
    LanguageText(
        "th",
        "ตลาดเช้าริมคลองที่ยังไม่หายไป",
        ("เรือลำแรก", "ราคา", "คนรุ่นใหม่"),
        (
            "ก่อนฟ้าสางทุกวัน เรือพายลำเล็กสิบกว่าลำจะมารวมกันที่ใต้สะพานไม้ เพื่อขายผักที่เพิ่งเก็บมาเมื่อคืน",
            "ป้าสมศรีขายขนมอยู่ที่นี่มาสี่สิบปีแล้ว และจำได้ว่าเมื่อก่อนเรือแน่นจนเดินข้ามคลองได้โดยไม่เปียกเท้า",
            "เมื่อมีถนนตัดผ่าน คนส่วนใหญ่ย้ายไปขายบนฝั่ง แต่ลูกค้าเก่ายังคงพายเรือมาซื้อของเหมือนเดิม",
            "ราคาของที่นี่ไม่เคยติดป้าย ผู้ขายจะถามก่อนว่าวันนี้ทำอาหารให้ใครกิน แล้วจึงบอกราคา",
            "ปีที่แล้วมีคนหนุ่มสาวสามคนกลับมาต่อเรือของปู่ และตอนนี้ตลาดก็มีเรือเพิ่มขึ้นเป็นครั้งแรกในรอบหลายปี",
        ),
        ("หน้าแรก", "ข่าว", "วัฒนธรรม", "ติดต่อเรา", "เข้าสู่ระบบ", "แบ่งปัน", "เรื่องที่เกี่ยวข้อง", "สมัครรับข่าวสาร"),
        "© วารสารริมคลอง สงวนลิขสิทธิ์ ข้อกำหนดการใช้งาน",
    ),
    LanguageText(
        "hi",
        "पहाड़ी गाँव की चलती हुई लाइब्रेरी",
        ("खच्चर", "किताबें", "बच्चे"),
        (
            "हर शनिवार एक खच्चर दो संदूक किताबें लेकर पाँच गाँवों की चढ़ाई पार करता है और बच्चे रास्ते में ही उसका इंतज़ार करते हैं।",
            "यह काम एक रिटायर अध्यापक ने शुरू किया था, जब बारिश में सड़क बह गई और स्कूल तीन महीने बंद रहा।",
            "किताबें लौटाने की कोई तारीख़ नहीं है; शर्त बस इतनी है कि लौटाते समय उसकी कहानी किसी एक को सुनानी होगी।",
            "अब बड़े लोग भी खेती और इलाज की किताबें माँगते हैं, इसलिए तीसरा संदूक जोड़ना पड़ा है।",
            "अध्यापक कहते हैं कि खच्चर को रास्ता उनसे बेहतर याद है, और हर दरवाज़े पर वह ख़ुद रुक जाता है।",
        ),
        ("मुखपृष्ठ", "समाचार", "संस्कृति", "संपर्क करें", "लॉग इन", "साझा करें", "संबंधित लेख", "समाचार पत्र पाएँ"),
        "© पहाड़ पत्रिका। सर्वाधिकार सुरक्षित। उपयोग की शर्तें।",
    ),
)


@dataclass(frozen=True)
class GeneratedBody:
    """A page's body and the blocks of its content, in order."""

    body: str
    content: tuple[str, ...]


def _format_paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def _format_menu(language: LanguageText, name: str) -> str:
    items = "".join(
        f'<li><a href="/{at}">{html.escape(label)}</a></li>' for at, label in enumerate(language.labels[:5])
    )
    return f'<ul class="{name}">{items}</ul>'


def _format_page(language: LanguageText, inside: str, variant: int) -> str:
    """Format a page around its content, in one of three styles."""
    more = "".join(
        f'<li><a href="/more/{at}">{html.escape(head)}</a></li>' for at, head in enumerate(language.labels[1:4])
    )
    teasers = "".join(
        f'<div class="teaser"><a href="/more/t{at}"><b>{html.escape(head)}</b></a><p>{html.escape(language.title)} …</p></div>'
        for at, head in enumerate(language.heads)
    )
    aside = (
        f"<h4>{html.escape(language.labels[6])}</h4><ul>{more}</ul>{teasers}<p>{html.escape(language.labels[7])}</p>"
    )
    legal = html.escape(language.legal)
    if variant == 0:
        return (
            f"<header><nav>{_format_menu(language, 'menu')}</nav></header><main>{inside}</main>"
            f'<aside class="related">{aside}</aside><footer><p>{legal}</p></footer>'
        )
    if variant == 1:
        return (
            f'<div id="page" class="site"><div class="navbar">{_format_menu(language, "nav navbar-nav")}</div><div class="container">'
            f'<div class="col-md-8 content">{inside}</div><div class="col-md-4 sidebar widget">{aside}</div></div>'
            f'<div class="footer-bottom"><span>{legal}</span></div></div>'
        )
    return (
        f'<table width="100%"><tr><td colspan="2">{_format_menu(language, "topnav")}</td></tr><tr><td width="20%">{aside}</td>'
        f'<td>{inside}</td></tr><tr><td colspan="2"><small>{legal}</small></td></tr></table>'
    )


def build_article(language: LanguageText) -> GeneratedBody:
    """Build a headline, paragraphs, and one heading among them."""
    first, *rest = language.paragraphs
    parts = [first, language.heads[0], *rest]
    share = f'<div class="share-buttons"><a href="#">{html.escape(language.labels[5])}</a></div>'
    body = f'<article class="post"><h1>{html.escape(language.title)}</h1>{share}<div class="entry-content">{_format_paragraph(first)}'
    body += f"<h2>{html.escape(language.heads[0])}</h2>" + "".join(map(_format_paragraph, rest)) + "</div></article>"
    return GeneratedBody(body, tuple(parts))


def build_documentation(language: LanguageText) -> GeneratedBody:
    """Build sections with a listing and a table."""
    code = 'import tool\n\ntool.run(\n    path="data",\n)'
    rows = (("path", language.heads[1]), ("mode", language.heads[2]))
    body = f'<div class="document"><h1>{html.escape(language.title)}</h1>'
    content = [language.title]
    for head, text in zip(language.heads, language.paragraphs, strict=False):
        body += f'<h2 id="s">{html.escape(head)}<a class="headerlink" href="#s">¶</a></h2>{_format_paragraph(text)}'
        content += [head, text]
    body += f'<pre><code class="language-python">{html.escape(code)}</code></pre><table class="docutils">'
    body += "".join(f"<tr><td>{a}</td><td>{html.escape(b)}</td></tr>" for a, b in rows)
    body += f"</table>{_format_paragraph(language.paragraphs[4])}</div>"
    return GeneratedBody(body, (*content, code, *(f"{a} {b}" for a, b in rows), language.paragraphs[4]))


def build_forum(language: LanguageText) -> GeneratedBody:
    """Build a question and its answers, each with a name and buttons."""
    names = ("ada77", "M. Ito", "borealis", "quill")
    body, content = f'<h1 class="topic-title">{html.escape(language.title)}</h1><div class="posts">', [language.title]
    for at, (name, text) in enumerate(zip(names, language.paragraphs, strict=False)):
        body += f'<div class="post" id="p{at}"><div class="post-author"><b>{name}</b></div>'
        body += f'<div class="post-body">{_format_paragraph(text)}{_format_paragraph(language.paragraphs[-1]) if at == 0 else ""}</div>'
        body += f'<div class="post-actions"><a href="#">{html.escape(language.labels[5])}</a></div></div>'
        content += [name, text] + ([language.paragraphs[-1]] if at == 0 else [])
    return GeneratedBody(body + "</div>", tuple(content))


def build_product(language: LanguageText) -> GeneratedBody:
    """Build a name, a price, a description and facts."""
    facts = tuple(f"{head}: {at * 12} cm" for at, head in enumerate(language.heads, 1))
    body = f'<div class="product-page"><h1 class="product-title">{html.escape(language.title)}</h1><div class="price">€ 49,90</div>'
    body += f'<div class="product-description">{"".join(map(_format_paragraph, language.paragraphs[:3]))}</div><ul class="product-features">'
    body += "".join(f"<li>{html.escape(fact)}</li>" for fact in facts) + "</ul></div>"
    return GeneratedBody(body, (language.title, "€ 49,90", *language.paragraphs[:3], *facts))


def build_listing(language: LanguageText) -> GeneratedBody:
    """Build teasers below each other."""
    body, content = f"<h1>{html.escape(language.title)}</h1>", [language.title]
    for at, text in enumerate(language.paragraphs):
        head = f"{language.heads[at % 3]} {at + 1}"
        body += f'<div class="teaser card"><h3><a href="/read/{at}">{html.escape(head)}</a></h3>{_format_paragraph(text)}</div>'
        content += [head, text]
    return GeneratedBody(f'<div class="listing">{body}</div>', tuple(content))


def build_collection(language: LanguageText) -> GeneratedBody:
    """Build an introduction and a grid of things with prices."""
    body, content = (
        f"<h1>{html.escape(language.title)}</h1>{_format_paragraph(language.paragraphs[0])}",
        [language.title, language.paragraphs[0]],
    )
    body += '<div class="product-grid">'
    for at in range(8):
        name, price = f"{language.heads[at % 3]} {at + 3}", f"€ {at * 3 + 7},50"
        body += f'<div class="product-card"><h3 class="name"><a href="/p/{at}">{html.escape(name)}</a></h3>'
        body += f'<span class="price">{price}</span></div>'
        content += [name, price]
    return GeneratedBody(body + "</div>", tuple(content))


def build_service(language: LanguageText) -> GeneratedBody:
    """Build a service page: a promise and its reasons."""
    body = f'<section class="hero"><h1>{html.escape(language.title)}</h1>{_format_paragraph(language.paragraphs[0])}</section>'
    content = [language.title, language.paragraphs[0]]
    for head, text in zip(language.heads, language.paragraphs[1:], strict=False):
        body += f'<section class="feature"><h2>{html.escape(head)}</h2>{_format_paragraph(text)}</section>'
        content += [head, text]
    return GeneratedBody(body, tuple(content))


PAGE_BUILDERS = {
    "article": build_article,
    "documentation": build_documentation,
    "forum": build_forum,
    "product": build_product,
    "listing": build_listing,
    "collection": build_collection,
    "service": build_service,
}


def main() -> None:
    """Write 49 pages: each type in seven of the ten languages, with alternating layouts."""
    (OWN_CORPUS / "html").mkdir(parents=True, exist_ok=True)
    lines = []
    for kind, (name, build) in enumerate(PAGE_BUILDERS.items()):
        for at in range(7):
            language = LANGUAGE_TEXTS[(kind * 7 + at) % len(LANGUAGE_TEXTS)]
            lines.append(_write_page(language, name, build(language), (kind + at) % 3))
    (OWN_CORPUS / "pages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_page(language: LanguageText, kind: str, made: GeneratedBody, variant: int) -> str:
    """Write a page's source, and return its line of the list."""
    name = f"{kind}-{language.code}"
    file = f"html/{name}.html"
    head = f'<meta charset="utf-8"><title>{html.escape(language.title)}</title>'
    page = f'<!doctype html><html lang="{language.code}"><head>{head}</head><body>{_format_page(language, made.body, variant)}</body></html>\n'
    (OWN_CORPUS / file).write_text(page, encoding="utf-8")
    facts = {"id": name, "url": f"https://{language.code}.example/{kind}/1", "type": kind, "html": file}
    facts |= {"text": "\n\n".join(made.content), "with": [language.paragraphs[0]], "without": [language.legal]}
    return json.dumps(facts, ensure_ascii=False)


if __name__ == "__main__":
    main()
