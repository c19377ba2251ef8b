"""Descriptors in bodies: their media types, and all faults in an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from batsched_py.errors import WorkloadError
from batsched_py.experiments.descriptor_errors import DescriptorSizeError, DescriptorSyntaxError, InvalidDescriptorError
from batsched_py.experiments.model import Experiment
from batsched_py.site.api.bodies import JSON, XML, body_type
from batsched_py.site.api.identity import Asking, Identity
from batsched_py.site.api.problems import Problem, RequestRefusedError, refuse
from batsched_py.site.site import Site
from batsched_py.text.display import displayed

#: The longest message about a fault, in characters.
_LONGEST: Final = 500
#: Media types of descriptors, with those of BonFIRE itself.
DESCRIPTORS: Final = (JSON, XML, "text/xml", "application/vnd.bonfire+xml")


def members_of_descriptor(request: Asking, content: bytes, who: Identity, begun: float) -> dict[str, Any]:
    """Return the members of a descriptor's event without its number.

    RequestRefusedError unless it is text of its type.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise refuse(400, "must be text in UTF-8") from None
    if (body_type(request.headers) == JSON) == text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise refuse(400, "must have the type that Content-Type names")
    return {"descriptor": text, "owner": who.user, "origin": begun}


def checked(site: Site, kind: str, members: Mapping[str, Any]) -> Experiment:
    """Return the experiment of an event; RequestRefusedError with all faults of its descriptor."""
    try:
        return cast(Experiment, site.session.check_request(kind, members, site.inbox.now))
    except LookupError as error:
        raise refuse(409, f"{error}: the site runs without experiments") from None
    except DescriptorSizeError as error:
        raise refuse(413, error.rule) from None
    except DescriptorSyntaxError as error:
        raise refuse(400, error.rule, displayed(error.field)) from None
    except InvalidDescriptorError as error:
        problems = [Problem(fault.path, displayed(fault.rule, _LONGEST)) for fault in error.faults]
        raise RequestRefusedError(422, problems) from None
    except WorkloadError as error:
        raise refuse(422, displayed(error.rule, _LONGEST), displayed(error.field)) from None
