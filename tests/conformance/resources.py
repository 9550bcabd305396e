"""Fixed resources; Outrider's own resources are files that its tools have saved."""

import base64

from mcp_types import (
    BlobResourceContents,
    EmptyResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ResourceTemplate,
    SubscribeRequestParams,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from .scripted import RequestContext
from .tools import PIXEL_PNG

PIXEL_PNG_BASE64 = base64.b64encode(PIXEL_PNG).decode()
STATIC_RESOURCES: dict[str, TextResourceContents | BlobResourceContents] = {
    "test://static-text": TextResourceContents(
        uri="test://static-text", mime_type="text/plain", text="This is the content of the static text resource."
    ),
    "test://static-binary": BlobResourceContents(
        uri="test://static-binary", mime_type="image/png", blob=PIXEL_PNG_BASE64
    ),
    "test://template/123/data": TextResourceContents(
        uri="test://template/123/data",
        mime_type="application/json",
        text='{"id": "123", "templateTest": true, "data": "Data for ID: 123"}',
    ),
}
DATA_TEMPLATE = ResourceTemplate(name="data", uri_template="test://template/{id}/data", mime_type="application/json")


async def list_templates(_: RequestContext, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(resource_templates=[DATA_TEMPLATE])


async def accept_subscription(_: RequestContext, __: SubscribeRequestParams | UnsubscribeRequestParams) -> EmptyResult:
    return EmptyResult()
