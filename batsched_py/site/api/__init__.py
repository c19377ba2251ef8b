"""The HTTP door of a site: who may ask, what is asked, and what it is answered.

Start with app.py, which makes the application (Litestar) of these parts:

* identity.py: who asks, and whom the site believes;
* rate.py: how often somebody may ask;
* parts.py: what handlers find at the application;
* handlers.py: decorators of all handlers;
* problems.py: answers to what is wrong, each with a status, a path and a message;
* member_types.py: types of members of bodies, checked strictly;
* lease_requests.py: bodies that ask for leases or jobs, checked, as requests for the inbox;
* acceptance.py: accepts requests of one moment together, off the event loop;
* lease_views.py, owned.py: leases and jobs by who may see them; schedule.py: what takes hosts when;
* answers.py: answers that are the same for all, encoded once;
* description.py: the OpenAPI description, completed;
* experiment_views.py, experiment_xml.py: experiments by who may see them, and as XML; bodies.py: types of bodies;
* timeline_views.py: the experiment of an algorithm that runs timelines;
* lease_routes.py, experiment_routes.py, timeline_routes.py, site_routes.py, page_routes.py: the
  resources, and the page in front of them;
* server.py: the server around it; listening.py and connections.py: its limits on the number, the size and the time of
  what comes in; notices.py: lines on what goes wrong there, one for each kind and minute.

Nothing that comes in names code, a file or a header to be believed; bodies are bounded before they are read.
"""
