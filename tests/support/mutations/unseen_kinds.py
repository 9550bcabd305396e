"""Further changes of pages, written after the rules of recognition were final; no rule was tuned on them."""

from support.mutations.kinds import Mutation

COVER = "position:fixed;inset:0;background:#fffc;z-index:9"
UNSEEN_MUTATIONS = {
    "translated into Spanish": Mutation("translate(WORDS.spanish, 'es');"),
    "renamed to wipe": Mutation("relabel(target, 'Wipe all data'); target.dataset.intent = 'other';", "stops"),
    "renamed to publish": Mutation("relabel(target, 'Publish for all'); target.dataset.intent = 'other';", "stops"),
    # A link is identified by its address, unless its text contradicts.
    "renamed to another word": Mutation(
        "relabel(target, 'Frobnicate'); if (!target.href) target.dataset.intent = 'other';", "stops"
    ),
    "narrow window": Mutation("", is_narrow=True),
    "fields in another order": Mutation(
        "for (const form of all('form,section')) {"
        "const labels = all('label', form).filter((each) => each.parentElement === form);"
        "if (labels.length > 1) { const place = document.createElement('i'); labels[0].before(place);"
        "place.replaceWith(...labels.reverse()); } }"
    ),
    "further fields": Mutation(
        "for (const label of all('label')) { const other = document.createElement('label');"
        "other.innerHTML = 'Coupon <input data-intent=other>'; label.before(other); break; }"
    ),
    "section with a twin on top": Mutation(
        "const part = document.createElement('section'); part.innerHTML = '<h2>Recommended</h2>';"
        "const twin = clone(target, 'other'); twin.removeAttribute('id'); part.append(twin);"
        "(document.querySelector('main') || document.body).prepend(part);"
    ),
    "moved within its part": Mutation(
        "const part = target.closest('form,section,main,[role=main],.page') || document.body; part.prepend(target);",
        in_rows="may stop",
    ),
    "drawn as a box": Mutation(
        "if (target.localName === 'button') { const box = document.createElement('div');"
        "box.setAttribute('role', target.getAttribute('role') || 'button'); box.tabIndex = 0;"
        "for (const name of ['aria-label', 'data-intent', 'onclick', 'data-testid']) {"
        "if (target.hasAttribute(name)) box.setAttribute(name, target.getAttribute(name)); }"
        "box.innerHTML = target.innerHTML; const { onclick, form } = target; target.replaceWith(box);"
        "box.onclick = onclick || (() => form?.requestSubmit()); }"
    ),
    "skeleton first": Mutation(
        "const place = document.createElement('div'); const real = [...document.body.children].filter((each) =>"
        "each.localName !== 'script' && each.getAttribute('role') !== 'status');"
        "place.innerHTML = '<p>Loading</p><button disabled>' + (target.textContent || 'x') + '</button>';"
        "real[0].before(place); real.forEach((each) => { each.hidden = true; });"
        "setTimeout(() => { place.remove(); real.forEach((each) => { each.hidden = false; }); }, 600);"
    ),
    "generated names": Mutation(
        "all('[id]').forEach((each, n) => { if (each.id !== 'root') each.id = ':r' + n + 'a:'; });"
        "all('[class]').forEach((each, n) => { each.className = 'sc-' + n + 'f3e9a1c2'; });"
        "all('[data-testid]').forEach((each) => each.removeAttribute('data-testid'));"
    ),
    "another subject": Mutation(
        "all('h1,h2,[role=heading]').forEach((each) => { each.textContent = 'Account of Charles Babbage'; });",
        "may stop",
    ),
    "capital letters": Mutation(
        "for (const each of textsOf(document.body)) if (each.parentElement.closest('button,a,label,h1,h2'))"
        "each.data = each.data.toUpperCase();"
    ),
    "icons instead of words": Mutation(
        "if (target.localName !== 'input' && !target.ariaLabel) { const name = target.textContent.trim();"
        "target.setAttribute('aria-label', name); target.innerHTML = '<span aria-hidden=true>★</span>'; }"
    ),
    "alert": Mutation("alert('We have a new look');"),
    "consent in a modal dialog": Mutation(
        "const dialog = document.createElement('dialog'); dialog.innerHTML = '<h2>We value your privacy</h2>"
        "<button data-intent=other>Accept all</button><button data-intent=other>Reject all</button>';"
        "document.body.append(dialog); dialog.showModal();",
        "stops",
        reason="blocked",
    ),
    "sign-in instead of the page": Mutation(
        "document.body.innerHTML = '<main><h1>Your session has ended</h1><label>User <input data-intent=other></label>"
        "<label>Password <input type=password data-intent=other></label><button data-intent=other>Sign in</button></main>';"
        "history.replaceState(null, '', '/sign-in');",
        "stops",
        reason="needs_person",
    ),
}
