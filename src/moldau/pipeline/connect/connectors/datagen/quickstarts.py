"""Well-known streams of examples, by the names that Confluent's Datagen connector has for them.

The fields are theirs, so that queries written for them work. The values are our own.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class Quickstart(NamedTuple):
    key_field: str
    schema: str
    """Avro, as JSON."""


def _of(kind: str | Mapping[str, Any], **arguments: Any) -> dict[str, Any]:
    named = {"type": kind} if isinstance(kind, str) else dict(kind)
    return {**named, "arg.properties": arguments}


def _counted(kind: str = "long", start: int = 0, **more: Any) -> dict[str, Any]:
    return _of(kind, iteration={"start": start, **more})


def _between(kind: str, low: float, high: float) -> dict[str, Any]:
    return _of(kind, range={"min": low, "max": high})


def _like(regex: str) -> dict[str, Any]:
    return _of("string", regex=regex)


def _one_of(*options: Any, kind: str | Mapping[str, Any] = "string") -> dict[str, Any]:
    return _of(kind, options=options)


def _record(name: str, options: list[dict[str, Any]] | None = None, /, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "record",
        "name": name,
        "namespace": "datagen",
        "fields": [{"name": label, "type": kind} for label, kind in fields.items()],
    }
    return made if options is None else {**made, "arg.properties": {"options": options}}


def _rows(names: str, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


_REGISTERED: Final = _between("long", 1_700_000_000_000, 1_731_622_400_000)
_USER: Final = _like("User_[1-9]")
_PERSON: Final[Mapping[str, Any]] = {
    "registertime": _REGISTERED,
    "userid": _USER,
    "regionid": _like("Region_[1-9]"),
    "gender": _one_of("MALE", "FEMALE", "OTHER"),
}
_ADDRESS: Final = _record(
    "address",
    city=_like("City_[1-9]{1,2}"),
    state=_like("State_[1-9]{1,2}"),
    zipcode=_between("long", 10_000, 99_999),
)
_PRICE: Final = _of(
    {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, range={"min": 10.0, "max": 50.0}
)
_CITIES: Final = _rows(
    "store_id city state",
    (1, "Portland", "OR"),
    (2, "Denver", "CO"),
    (3, "Madison", "WI"),
    (4, "Savannah", "GA"),
    (5, "Tucson", "AZ"),
    (6, "Albany", "NY"),
    (7, "Mobile", "AL"),
)
_CARDS: Final = _rows(
    "card_id card_number cvv expiration_date",
    *(
        (card, 4_000_000_000_000_000 + card * 7_919, 100 + card, f"{card % 12 + 1:02}/31")
        for card in range(1, 25)
    ),
)
_CODES: Final = _rows(
    "code definition",
    (200, "Successful"),
    (302, "Redirect"),
    (404, "Page not found"),
    (405, "Method not allowed"),
    (406, "Not acceptable"),
    (407, "Proxy authentication required"),
)

_SCHEMAS: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "users": ("userid", _record("users", **_PERSON)),
    "users_": (
        "userid",
        _record(
            "users",
            **_PERSON,
            interests=_of(
                {"type": "array", "items": _one_of("News", "Sport", "Movies")}, length={"min": 1, "max": 4}
            ),
            contactinfo=_of(
                {"type": "map", "values": "string"},
                options=[
                    {"phone": "5550100", "city": "Portland", "state": "OR", "zipcode": "97201"},
                    {"phone": "5550101", "city": "Denver", "state": "CO", "zipcode": "80202"},
                    {"phone": "5550102", "city": "Madison", "state": "WI", "zipcode": "53703"},
                ],
            ),
        ),
    ),
    "pageviews": (
        "viewtime",
        _record(
            "pageviews",
            viewtime=_counted(start=1, step=10),
            userid=_USER,
            pageid=_like("Page_[1-9][0-9]"),
        ),
    ),
    "orders": (
        "orderid",
        _record(
            "orders",
            ordertime=_REGISTERED,
            orderid=_counted("int"),
            itemid=_like("Item_[1-9][0-9]{0,2}"),
            orderunits=_between("double", 0.1, 10.0),
            address=_ADDRESS,
        ),
    ),
    "ratings": (
        "rating_id",
        _record(
            "ratings",
            rating_id=_counted(start=1),
            user_id=_between("int", -1, 20),
            stars=_between("int", 1, 5),
            route_id=_between("int", 1, 9_999),
            rating_time=_counted(start=1, step=12),
            channel=_one_of("web", "iOS", "ios", "iOS-test", "android"),
            message=_one_of(
                "on time and quiet", "lost my bag again", "friendly crew", "two hours on the runway", "fine"
            ),
        ),
    ),
    "stock_trades": (
        "symbol",
        _record(
            "StockTrade",
            side=_one_of("BUY", "SELL"),
            quantity=_between("int", 1, 5_000),
            symbol=_one_of("ZBZX", "ZJZZT", "ZTEST", "ZVV", "ZVZZT", "ZWZZT", "ZXZZT"),
            price=_between("int", 5, 1_000),
            account=_one_of("ABC123", "LMN456", "XYZ789"),
            userid=_USER,
        ),
    ),
    "clickstream": (
        "ip",
        _record(
            "events",
            ip=_like("192\\.0\\.2\\.[1-9][0-9]?"),
            userid=_between("int", -1, 40),
            remote_user=_one_of("-"),
            time=_of("string", iteration={"start": 1, "step": 10}),
            _time=_counted(start=1, step=10),
            request=_one_of(
                "GET /index.html HTTP/1.1", "GET /site/login.html HTTP/1.1", "GET /images/logo.png HTTP/1.1"
            ),
            status=_one_of("200", "302", "404", "405", "406", "407"),
            bytes=_one_of("278", "1289", "2048", "4096", "14096"),
            referrer=_one_of("-"),
            agent=_one_of("Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0"),
        ),
    ),
    "clickstream_users": (
        "user_id",
        _record(
            "clickstream_users",
            user_id=_counted("int", 1),
            username=_like("[a-z]{4,8}_[0-9]{2}"),
            registered_at=_REGISTERED,
            first_name=_one_of("Ada", "Emil", "Greta", "Ivan", "Lena", "Omar"),
            last_name=_one_of("Berg", "Dvorak", "Lind", "Novak", "Okafor", "Weiss"),
            city=_one_of("Prague", "Oslo", "Lagos", "London"),
            level=_one_of("Gold", "Silver", "Platinum"),
        ),
    ),
    "clickstream_codes": ("code", _record("codes", _CODES, code="int", definition="string")),
    "inventory": (
        "id",
        _record("inventory", id=_counted(), quantity=_counted(), productid=_counted()),
    ),
    "product": (
        "id",
        _record(
            "product",
            id=_counted(),
            name=_of("string", iteration={"start": 0}),
            description=_of("string", iteration={"start": 0}),
            price=_of("double", iteration={"start": 0.0}),
        ),
    ),
    "purchases": (
        "id",
        _record(
            "purchase",
            id=_counted(),
            item_type=_one_of("boots", "chair", "clock", "guitar", "lamp", "scarf", "vase"),
            quantity=_between("long", 1, 10),
            price_per_unit=_PRICE,
        ),
    ),
    "transactions": (
        "transaction_id",
        _record(
            "transactions",
            transaction_id=_counted(start=1),
            card_id=_between("long", 1, 25),
            user_id=_USER,
            purchase_id=_counted(),
            store_id=_between("int", 1, 8),
        ),
    ),
    "stores": ("store_id", _record("stores", _CITIES, store_id="int", city="string", state="string")),
    "credit_cards": (
        "card_id",
        _record(
            "credit_cards", _CARDS, card_id="int", card_number="long", cvv="int", expiration_date="string"
        ),
    ),
}
NAMES: Final = tuple(_SCHEMAS)


def quickstart(name: str) -> Quickstart:
    key_field, schema = _SCHEMAS[name.lower()]
    return Quickstart(key_field, json.dumps(schema))
