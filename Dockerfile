# batsched-py in a container: docker build -t batsched-py .
# The base needs Python 3.11 or newer with venv, and a shell; nothing else is taken from the network but Python packages.
ARG BASE=python:3.12-slim

# The first stage builds, the second has neither pip nor the sources.
FROM ${BASE} AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY batsched_py batsched_py
COPY schedulers schedulers
COPY platforms platforms
COPY workloads workloads
RUN python3 -m venv /opt/batsched-py \
    && /opt/batsched-py/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .
# A live site needs redis,site. What comes before is the same for all images, and is built once.
ARG EXTRAS=redis
RUN /opt/batsched-py/bin/pip install --no-cache-dir "$(echo /wheel/*.whl)[$EXTRAS]" \
    && /opt/batsched-py/bin/python -m pip uninstall --yes pip setuptools

FROM ${BASE}
COPY --from=build /opt/batsched-py /opt/batsched-py
# A volume that is mounted on /out takes its owner from here.
RUN mkdir -p /out && chown 1000:1000 /out
ENV PATH=/opt/batsched-py/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
USER 1000:1000
WORKDIR /data
EXPOSE 28000
# For `serve` as below; whoever runs something else turns it off.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
    CMD ["python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 28000), 3).close()"]
ENTRYPOINT ["batsched-py"]
# 0.0.0.0 is the container's own; what the machine shows of it is for whoever starts the container to say.
CMD ["serve", "-s", "easy", "-b", "tcp://0.0.0.0:28000"]
