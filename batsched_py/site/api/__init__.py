"""The HTTP API of a site: authentication, requests and answers.

Start with app.py, which builds the application (Litestar) from these parts:

* identity.py: authentication, and the identity of the caller;
* rate.py: the rate limit of each user;
* parts.py: objects that handlers share, kept in the application's state;
* handlers.py: decorators of all handlers;
* problems.py: error answers, each with a status, paths and messages;
* member_types.py: strict checks of the types of members of bodies;
* lease_requests.py: checks of bodies that request leases or jobs, and their conversion to requests for the inbox;
* acceptance.py: batches of concurrent requests, written off the event loop;
* lease_views.py, request_counts.py: leases and jobs by owner; schedule.py: the use of hosts over time;
* answers.py: a cache of encoded answers that are the same for all callers;
* description.py: the completed OpenAPI description;
* experiment_views.py, experiment_xml.py: experiments by owner, and as XML; bodies.py: media types of bodies;
* descriptors.py: descriptors in bodies;
* reservation_views.py: reservations by owner;
* timeline_views.py: the experiment of an algorithm that runs timelines;
* lease_routes.py, experiment_routes.py, reservation_routes.py, timeline_routes.py, notice_routes.py, site_routes.py,
  page_routes.py: the resources, and the web page;
* server.py: the HTTP server; listening.py and connections.py: its limits on the number, the size and the duration of
  requests; error_lines.py: rate-limited log lines about errors there.

No request can name code, a file or a header to be trusted; the size of a body is limited before it is read.
"""
