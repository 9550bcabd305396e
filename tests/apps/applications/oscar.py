"""django-oscar of PyPI, a shop with its dashboard, with its data in SQLite."""

import os
import re
import secrets
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_python
from tests.apps.person import Person
from tests.apps.servers import find_port, run_server

REQUIREMENTS = ("django-oscar==4.2.1", "sorl-thumbnail==13.0.0", "whoosh==2.7.4")
OSCAR_SETTINGS = """from oscar.defaults import *
DEBUG, SECRET_KEY, ROOT_URLCONF, SITE_ID, USE_TZ = True, '{secret}', 'urls', 1, True
DATABASES = {{'default': {{'ENGINE': 'django.db.backends.sqlite3', 'NAME': '{folder}/shop.sqlite',
  'ATOMIC_REQUESTS': True, 'OPTIONS': {{'timeout': 20}}}}}}
STATIC_URL, MEDIA_URL, MEDIA_ROOT, DEFAULT_AUTO_FIELD = '/static/', '/media/', '{folder}/media', \
  'django.db.models.AutoField'
OSCAR_DEFAULT_CURRENCY, OSCAR_ALLOW_ANON_CHECKOUT, OSCAR_SHOP_NAME = 'EUR', False, 'Harbour shop'
LANGUAGE_CODE, LANGUAGES = 'en', [('en', 'English')]
EMAIL_BACKEND = 'django.core.mail.backends.dummy.EmailBackend'
HAYSTACK_CONNECTIONS = {{'default': {{'ENGINE': 'haystack.backends.whoosh_backend.WhooshEngine',
  'PATH': '{folder}/index'}}}}
AUTHENTICATION_BACKENDS = ['oscar.apps.customer.auth_backends.EmailBackend']
INSTALLED_APPS = ['django.contrib.' + name for name in
  ('auth', 'contenttypes', 'sessions', 'sites', 'messages', 'staticfiles', 'flatpages')]
INSTALLED_APPS += ['oscar.config.Shop', 'oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig',
  'oscar.apps.dashboard.apps.DashboardConfig', 'widget_tweaks',
  'haystack', 'treebeard', 'sorl.thumbnail', 'django_tables2']
INSTALLED_APPS += [f'oscar.apps.{{name}}.apps.{{name.title()}}Config' for name in ('analytics checkout address shipping'
  ' catalogue communication partner basket payment offer order customer search voucher wishlists').split()]
INSTALLED_APPS += [f'oscar.apps.dashboard.{{name}}.apps.{{name.title()}}DashboardConfig' for name in ('reports users'
  ' orders catalogue offers partners pages ranges reviews vouchers communications shipping').split()]
MIDDLEWARE = ['django.contrib.sessions.middleware.SessionMiddleware', 'django.middleware.csrf.CsrfViewMiddleware',
  'django.contrib.auth.middleware.AuthenticationMiddleware', 'django.contrib.messages.middleware.MessageMiddleware',
  'oscar.apps.basket.middleware.BasketMiddleware']
TEMPLATES = [{{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True, 'OPTIONS': {{
  'context_processors': ['django.template.context_processors.' + name for name in ('request', 'debug', 'i18n', 'media',
  'static')] + ['django.contrib.auth.context_processors.auth', 'django.contrib.messages.context_processors.messages',
  'oscar.apps.search.context_processors.search_form', 'oscar.apps.checkout.context_processors.checkout',
  'oscar.apps.communication.notifications.context_processors.notifications',
  'oscar.core.context_processors.metadata']}}}}]
"""
URLS = """from django.apps import apps
from django.urls import include, path
urlpatterns = [path('i18n/', include('django.conf.urls.i18n')), path('', include(apps.get_app_config('oscar').urls[0]))]
"""
SETUP = """import os, django; django.setup()
from django.contrib.auth.models import User
from oscar.apps.address.models import Country
from oscar.apps.catalogue.models import Category, Product, ProductClass
from oscar.apps.partner.models import Partner, StockRecord
User.objects.create_superuser('admin', 'ada@example.org', os.environ['PASSWORD'])
Country.objects.create(iso_3166_1_a2='DE', printable_name='Germany', name='Germany', is_shipping_country=True)
things, partner = ProductClass.objects.create(name='Things'), Partner.objects.create(name='Harbour')
ropes = Category.add_root(name='Ropes')
for number, title in enumerate(['Blue rope', 'Red rope', 'Brass bell']):
    product = Product.objects.create(title=title, product_class=things, upc=str(number))
    if 'rope' in title: product.categories.add(ropes)
    StockRecord.objects.create(product=product, partner=partner, partner_sku=str(number), price=10 + number,
      num_in_stock=9)
"""


def install() -> Path:
    return install_python("oscar", *REQUIREMENTS)


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    programs, password = install(), secrets.token_urlsafe(12)
    url = f"http://127.0.0.1:{(port := find_port())}"
    (folder / "settings.py").write_text(OSCAR_SETTINGS.format(folder=folder, secret=secrets.token_hex(16)))
    (folder / "urls.py").write_text(URLS)
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": str(folder), "PASSWORD": password}
    for command in (["-m", "django", "migrate"], ["-c", SETUP], ["-m", "django", "rebuild_index", "--noinput"]):
        subprocess.run([programs / "python", *command], cwd=folder, env=environ, check=True, capture_output=True)
    command = [programs / "python", "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"]
    with run_server(command, url, folder=folder, environ=environ):
        yield Site(url, folder, user="ada@example.org", password=password)


application = Application("django-oscar", install, serve)


def query(site: Site, statement: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(site.folder / "shop.sqlite", timeout=20)) as database:
        return database.execute(statement, values).fetchall()


def read_basket(site: Site) -> list[tuple[object, ...]]:
    statement = """select p.title, l.quantity from basket_line l join catalogue_product p on p.id = l.product_id
        join basket_basket b on b.id = l.basket_id where b.status = 'Open' order by p.title"""
    return query(site, statement)


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/accounts/login/")
    await person.type(re.compile("^Email"), site.user)
    await person.type(re.compile("^Password"), site.password)
    await person.click("Log In", "button")
    await person.read("Log out")
    return True


@application.task("find a thing by its category and put it into the cart")
async def add_by_category(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("Ropes", "link")
    await person.click("Blue rope", "link")
    await person.click("Add to cart", "button")
    return await becomes(lambda: read_basket(site) == [("Blue rope", 1)])


@application.task("search for a thing and put it into the cart")
async def add_by_search(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.submit("Search", "bell")
    await person.click("Brass bell", "link")
    await person.click("Add to cart", "button")
    return await becomes(lambda: ("Brass bell", 1) in read_basket(site))


@application.task("change how many of a thing are in the cart")
async def change_quantity(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/basket/")
    await person.type(re.compile(""), "3", "spinbutton", after="Blue rope")
    await person.click("Update", "button", after="Blue rope")
    return await becomes(lambda: ("Blue rope", 3) in read_basket(site))


@application.task("order what is in the cart to an address")
async def order(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/basket/")
    await person.click(re.compile("^Proceed to checkout"))
    for name, text in {
        "First name": "Ada",
        "Last name": "Admin",
        "First line of address": "Pier 4",
        "City": "Kiel",
        "Post/Zip-code": "24103",
    }.items():
        await person.type(re.compile(f"^{name}"), text)
    await person.click("Continue", "button")
    await person.click(re.compile("^(Continue|View preview|Preview)"))
    await person.click(re.compile("^Place order"), "button")
    await person.read("Confirmation")
    address = query(site, "select line1, line4, postcode from order_shippingaddress")
    return address == [("Pier 4", "Kiel", "24103")] and query(site, "select sum(quantity) from order_line") == [(4,)]


@application.task("change an address of the account")
async def change_address(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/accounts/addresses/")
    await person.click("Edit", "link")
    await person.type(re.compile("^First line of address"), "Pier 9")
    await person.click("Save", "button")
    return await becomes(lambda: query(site, "select line1 from address_useraddress") == [("Pier 9",)])


@application.task("write a review of a thing")
async def review(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("Red rope", "link")
    await person.click("Write a review", "link")
    await person.type(re.compile("^(Review )?[Tt]itle"), "Strong")
    await person.type(re.compile("^Body|^Review body"), "It holds a ship.")
    await person.click(re.compile(r"^(\.fa-star)?$"), after="Score", number=4)
    await person.click(re.compile("^Save review"), "button")
    return await becomes(lambda: query(site, "select score, title from reviews_productreview") == [(4, "Strong")])


@application.task("mark the order as being processed in the dashboard")
async def process_order(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/dashboard/orders/")
    await person.click("View", "link")
    await person.click(re.compile("^Order notes|^Notes"))
    await person.type(re.compile("^Message|^note", re.IGNORECASE), "Packed on Monday")
    await person.click("Save note", "button")
    return await becomes(lambda: query(site, "select message from order_ordernote") == [("Packed on Monday",)])


@application.task("change the title of a thing in the dashboard")
async def rename(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/dashboard/catalogue/")
    await person.click("Red rope", "link")
    await person.type(re.compile("^Title"), "Crimson rope")
    await person.click("Save", "button")
    return await becomes(lambda: ("Crimson rope",) in query(site, "select title from catalogue_product"))
