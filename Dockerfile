# The first stage builds, the second has neither pip's cache nor the sources.
FROM python:3.11-slim AS build
RUN python -m venv /opt/batsched-py
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY batsched_py batsched_py
COPY schedulers schedulers
RUN /opt/batsched-py/bin/pip install --no-cache-dir ".[redis]"

FROM python:3.11-slim
RUN useradd --create-home --uid 1000 batsched
COPY --from=build /opt/batsched-py /opt/batsched-py
ENV PATH=/opt/batsched-py/bin:$PATH PYTHONUNBUFFERED=1
USER batsched
WORKDIR /home/batsched
EXPOSE 28000
ENTRYPOINT ["batsched-py"]
# 0.0.0.0 is the container's own; what the machine shows of it is for whoever starts the container to say.
CMD ["serve", "-s", "easy", "-b", "tcp://0.0.0.0:28000"]
